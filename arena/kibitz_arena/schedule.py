"""The schedule of a tournament: its games, in order.

A *game* is one rotation of a *block*: one group of entrants, one seed, one opening. A tournament
has the same schedule in every process; a Swiss round depends only on the tournament and the points
of earlier rounds.

Every format is played in *cycles* with one block of every pairing or group, so that game counts are
as even as possible if a tournament ends early:

    round-robin    all against all, by the circle method: an entrant plays again only
                   after (nearly) all others have played
    gauntlet       each challenger against every other entrant
    free-for-all   the groups of a design (see `block_design` for its guarantees)
    swiss          rounds of pairs (see `swiss`); the blocks of a pairing are consecutive

In complete blocks every entrant has every seat equally often. An incomplete last block (`balanced:
false`) omits different rotations for different pairings, so that no entrant has the first move in
all of its games.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from kibitz_arena import block_design, swiss
from kibitz_arena.openings import random_opening
from kibitz_arena.tournament import OpeningFile, RandomPlies, Tournament
from kibitz_games.core import registry
from kibitz_protocol.wire.values import Options, derive_seed

SEED_LIMIT = 2**53
"""The exclusive upper limit of seeds for openings and seatings."""

Group: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ScheduledGame:
    """One game: the players by seat, and everything that determines its start except the options.

    `tag` is unique in the tournament and stable across processes: ``b17.2`` is the second rotation
    of block 17, ``r3.b2.1`` belongs to the third round of a Swiss tournament.
    """

    tag: str
    block: str
    round: int | None
    players: Group
    """Names by seat."""
    seed: str
    """64 hexadecimal digits."""
    opening: int
    """The number of the opening; the tournament's openings repeat cyclically."""


@dataclass(frozen=True, slots=True)
class Block:
    """The games of one group with one seed; the names are in the first rotation's order."""

    tag: str
    round: int | None
    group: Group
    games: tuple[ScheduledGame, ...]


class Schedule:
    """The blocks of a tournament. Only `add_round`, for Swiss tournaments, adds blocks later."""

    def __init__(self, tournament: Tournament) -> None:
        self.tournament = tournament
        self.blocks: list[Block] = []
        self.byes: Counter[str] = Counter()
        """The number of byes of each entrant."""
        self.rounds = 0
        """The number of rounds of a Swiss tournament that have been paired."""
        self._met: Counter[swiss.NamePair] = Counter()
        if tournament.format == "swiss":
            self.add_round(dict.fromkeys(tournament.names, 0.0))
        else:
            self.blocks.extend(_cycle_blocks(tournament, _groups_of_cycle(tournament)))

    @property
    def complete(self) -> bool:
        """Whether all blocks are known."""
        return self.tournament.format != "swiss" or self.rounds == self.tournament.rounds

    @property
    def total(self) -> int:
        """The number of games in the whole tournament."""
        if self.tournament.format != "swiss":
            return sum(len(block.games) for block in self.blocks)
        pairs = len(self.tournament.entrants) // 2
        return (self.tournament.rounds or 0) * pairs * self.tournament.games_per_pairing

    def add_round(self, points: Mapping[str, float]) -> None:
        """Add the next round of a Swiss tournament, after all games of the previous one have ended.

        `points` must not include byes; they are added here.
        """
        if self.complete:
            raise ValueError(f"all {self.rounds} rounds have already been paired")
        self.rounds += 1
        worth = {name: points[name] + self.bye_points(name) for name in self.tournament.names}
        ranking = sorted(_seeding_order(self.tournament), key=lambda name: -worth[name])
        paired = swiss.pair_round(ranking, worth, self._met, self.byes)
        self._met.update(map(frozenset, paired.pairs))
        self.byes.update([paired.bye] if paired.bye else [])
        self.blocks.extend(_round_blocks(self.tournament, paired.pairs, self.rounds))

    def bye_points(self, name: str) -> float:
        """Return the points for an entrant's byes, each worth winning every game of a block."""
        return float(self.byes[name] * self.tournament.games_per_pairing)

    def options(self, game: ScheduledGame) -> Options:
        """Return the options of a game, including its opening."""
        options, openings = self.tournament.game.options, self.tournament.openings
        if openings is None:
            return options
        if isinstance(openings, RandomPlies):
            seed = _short_seed(self.tournament, "opening", game.block)
            rules = registry.get(self.tournament.game.name)
            plies = openings.random_plies
            return options | random_opening(rules, options, self.tournament.seats, plies, seed)
        if isinstance(openings, OpeningFile):
            raise AssertionError("the configuration must contain the openings of the file")
        return options | openings[game.opening % len(openings)]


class FixedSchedule(Schedule):
    """Blocks that were selected elsewhere, for a worker to play.

    Swiss rounds depend on points that a worker does not have, so a worker receives its games
    instead of computing them.
    """

    def __init__(self, tournament: Tournament, games: Sequence[ScheduledGame]) -> None:
        self.tournament = tournament
        self.blocks = [*_blocks_of(games)]
        self.byes = Counter()
        self.rounds = 0

    @property
    def complete(self) -> bool:
        """Always true, since all blocks are known."""
        return True

    @property
    def total(self) -> int:
        """The number of games."""
        return sum(len(block.games) for block in self.blocks)


def _blocks_of(games: Sequence[ScheduledGame]) -> Iterator[Block]:
    """Group consecutive games into complete or partial blocks."""
    for tag, block_games in itertools.groupby(games, key=lambda game: game.block):
        inside = tuple(block_games)
        yield Block(tag, inside[0].round, inside[0].players, inside)


def game_seed(tournament: Tournament, *path: str | int) -> str:
    """Return the seed of a block or of one game: 256 bits in hexadecimal."""
    return f"{derive_seed(tournament.base_seed, *path):064x}"


def _short_seed(tournament: Tournament, *path: str | int) -> int:
    """Return a seed below `SEED_LIMIT` from the first 64 bits of a full seed."""
    return (derive_seed(tournament.base_seed, *path) >> 192) % SEED_LIMIT


def _groups_of_cycle(tournament: Tournament) -> list[Group]:
    """Return the groups of a cycle in order."""
    names = tournament.names
    if tournament.format == "round-robin":
        return [*_circle_method(names)]
    if tournament.format == "gauntlet":
        first, others = names[: tournament.challengers], names[tournament.challengers :]
        return [(challenger, other) for other in others for challenger in first]
    chosen = block_design.design_groups(len(names), tournament.seats, tournament.base_seed)
    return [tuple(names[place] for place in group) for group in chosen]


def _circle_method(names: Sequence[str]) -> Iterator[Group]:
    """Yield all pairs, round by round: one entrant is fixed, the others rotate.

    After J. Schurig (1886); the fixed entrant alternates between the seats.
    """
    ring: list[str | None] = [*names, *([None] if len(names) % 2 else [])]
    for turn in range(len(ring) - 1):
        half = len(ring) // 2
        for place, (a, b) in enumerate(zip(ring[:half], reversed(ring[half:]), strict=True)):
            if a is not None and b is not None:
                yield (a, b) if (turn + place) % 2 == 0 else (b, a)
        ring[1:] = [ring[-1], *ring[1:-1]]


def _cycle_blocks(tournament: Tournament, groups: Sequence[Group]) -> Iterator[Block]:
    numbers = itertools.count(1)
    for cycle in range(tournament.blocks_per_pairing):
        for index, group in enumerate(groups):
            yield _make_block(tournament, f"b{next(numbers)}", group, cycle, index, None)


def _round_blocks(tournament: Tournament, pairs: Sequence[Group], round: int) -> Iterator[Block]:
    numbers = itertools.count(1)
    for index, group in enumerate(pairs):
        for again in range(tournament.blocks_per_pairing):
            cycle = (round - 1) * tournament.blocks_per_pairing + again
            tag = f"r{round}.b{next(numbers)}"
            yield _make_block(tournament, tag, group, cycle, index, round)


def _make_block(
    tournament: Tournament, tag: str, group: Group, cycle: int, index: int, round: int | None
) -> Block:
    """Return the block for a cycle and a group: block number `cycle` of group number `index`."""
    seating = _first_seating(tournament, tag, group, cycle)
    again = cycle % tournament.blocks_per_pairing
    count = min(tournament.seats, tournament.games_per_pairing - again * tournament.seats)
    games = tuple(
        ScheduledGame(
            tag=f"{tag}.{turn + 1}",
            block=tag,
            round=round,
            players=seating[turn:] + seating[:turn],
            seed=game_seed(tournament, tag, *([turn] if tournament.deals == "game" else [])),
            opening=cycle + index,
        )
        for turn in range(count)
    )
    return Block(tag, round, seating, games)


def _first_seating(tournament: Tournament, tag: str, group: Group, cycle: int) -> Group:
    """Return the seating of a block's first game.

    Two entrants swap seats from cycle to cycle; more entrants are seated randomly.
    """
    if len(group) == 2:
        return group if cycle % 2 == 0 else group[::-1]
    rng = random.Random(_short_seed(tournament, "seating", tag))
    return tuple(block_design.shuffled(group, rng))


def _seeding_order(tournament: Tournament) -> list[str]:
    """Return the names in seeding order; unseeded entrants are last, in the tournament's order."""
    last = len(tournament.entrants) + 1
    return [
        entrant.name
        for entrant in sorted(tournament.entrants, key=lambda entrant: entrant.seeding or last)
    ]
