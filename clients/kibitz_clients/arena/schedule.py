"""Schedules: which games an event has, in order.

A *game* is one rotation of a *block*: one group of entrants, one seed, one opening. The same
event has the same schedule in every process; a Swiss round follows from the event and from the
points of the rounds before it.

Every format plays in *cycles*, one block of every pairing or group and then the next, so that
the counts of an event that ends early are as even as they can be:

    round-robin    everybody against everybody, by the circle method: an entrant plays again only
                   after (nearly) all others have played
    gauntlet       each challenger against everybody who is none
    free-for-all   the groups of a design (see `design` for what it guarantees)
    swiss          rounds of pairs (see `pairing`); blocks of one pairing follow each other

In whole blocks everybody has every seat equally often. A last block that is cut short
(`balanced: false`) leaves out other rotations for every pairing, so that no entrant begins all
of its games.
"""

from __future__ import annotations

import hashlib
import itertools
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from kibitz_clients.arena import design, pairing
from kibitz_clients.arena.event import Event, RandomPlies
from kibitz_clients.arena.openings import random_opening
from kibitz_games import registry
from kibitz_protocol.values import Options

SEEDS = 2**53
"""Seeds are below this number, which every JSON implementation reads back exactly."""

Group: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Game:
    """One game: who sits where, and all that the start of play depends on but the options.

    `tag` is unique in the event and the same whenever its schedule is made: ``b17.2`` is the
    second rotation of block 17, ``r3.b2.1`` belongs to the third round of a Swiss event.
    """

    tag: str
    block: str
    round: int | None
    players: Group
    """Names by seat."""
    seed: int
    opening: int
    """Which opening of the event it has, counted without end."""


@dataclass(frozen=True, slots=True)
class Block:
    """The games of one group on one seed; the names are in the order of the first rotation."""

    tag: str
    round: int | None
    group: Group
    games: tuple[Game, ...]


class Schedule:
    """The blocks of an event. Only `add_round`, for Swiss events, ever adds to it."""

    def __init__(self, event: Event) -> None:
        self.event = event
        self.blocks: list[Block] = []
        self.byes: Counter[str] = Counter()
        """How many rounds each entrant had nobody to play in."""
        self.rounds = 0
        """How many rounds of a Swiss event are known."""
        self._met: Counter[pairing.Pair] = Counter()
        if event.format == "swiss":
            self.add_round(dict.fromkeys(event.names, 0.0))
        else:
            self.blocks.extend(_cycles(event, _groups(event)))

    @property
    def complete(self) -> bool:
        """Whether all blocks are known."""
        return self.event.format != "swiss" or self.rounds == self.event.rounds

    @property
    def total(self) -> int:
        """How many games the whole event has."""
        if self.event.format != "swiss":
            return sum(len(block.games) for block in self.blocks)
        pairs = len(self.event.entrants) // 2
        return (self.event.rounds or 0) * pairs * self.event.games_each

    def add_round(self, points: Mapping[str, float]) -> None:
        """Add the next round of a Swiss event; call it once all games of the last have ended.

        `points` are those of games alone; what byes are worth is known here.
        """
        if self.complete:
            raise ValueError(f"all {self.rounds} rounds are there already")
        self.rounds += 1
        worth = {name: points[name] + self.bye_points(name) for name in self.event.names}
        ranking = sorted(_seeded(self.event), key=lambda name: -worth[name])
        seed = derive(self.event.seed, "round", self.rounds)
        paired = pairing.pair(ranking, worth, self._met, self.byes, seed)
        self._met.update(map(frozenset, paired.pairs))
        self.byes.update([paired.bye] if paired.bye else [])
        self.blocks.extend(_round(self.event, paired.pairs, self.rounds))

    def bye_points(self, name: str) -> float:
        """Return what the byes of an entrant are worth: as if it had won every game."""
        return float(self.byes[name] * self.event.games_each)

    def options(self, game: Game) -> Options:
        """Return the options of a game, its opening included."""
        options, openings = self.event.game.options, self.event.openings
        if openings is None:
            return options
        if isinstance(openings, RandomPlies):
            seed = derive(self.event.seed, "opening", game.block)
            rules = registry.get(self.event.game.name)
            plies = openings.random_plies
            return options | random_opening(rules, options, self.event.seats, plies, seed)
        return options | openings[game.opening % len(openings)]


def derive(seed: int, *path: str | int) -> int:
    """Return a seed that `seed` and `path` determine and that tells nothing about others."""
    text = "/".join(str(part) for part in (seed, *path))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") % SEEDS


def _groups(event: Event) -> list[Group]:
    """Return the groups of a cycle, in order."""
    names = event.names
    if event.format == "round-robin":
        return [*_circle(names)]
    if event.format == "gauntlet":
        first, others = names[: event.challengers], names[event.challengers :]
        return [(challenger, other) for other in others for challenger in first]
    chosen = design.groups(len(names), event.seats, event.seed)
    return [tuple(names[place] for place in group) for group in chosen]


def _circle(names: Sequence[str]) -> Iterator[Group]:
    """Yield all pairs, round after round: one stays, the others go around the circle.

    After J. Schurig (1886); the one that stays takes the seats in turn.
    """
    ring: list[str | None] = [*names, *([None] if len(names) % 2 else [])]
    for turn in range(len(ring) - 1):
        half = len(ring) // 2
        for place, (a, b) in enumerate(zip(ring[:half], reversed(ring[half:]), strict=True)):
            if a is not None and b is not None:
                yield (a, b) if (turn + place) % 2 == 0 else (b, a)
        ring[1:] = [ring[-1], *ring[1:-1]]


def _cycles(event: Event, groups: Sequence[Group]) -> Iterator[Block]:
    numbers = itertools.count(1)
    for cycle in range(event.blocks_each):
        for index, group in enumerate(groups):
            yield _block(event, f"b{next(numbers)}", group, cycle, index, None)


def _round(event: Event, pairs: Sequence[Group], round: int) -> Iterator[Block]:
    numbers = itertools.count(1)
    for index, group in enumerate(pairs):
        for again in range(event.blocks_each):
            cycle = (round - 1) * event.blocks_each + again
            tag = f"r{round}.b{next(numbers)}"
            yield _block(event, tag, group, cycle, index, round)


def _block(
    event: Event, tag: str, group: Group, cycle: int, index: int, round: int | None
) -> Block:
    """Return a block: block number `cycle` of group number `index`."""
    seating = _seating(event, tag, group, cycle)
    again = cycle % event.blocks_each
    count = min(event.seats, event.games_each - again * event.seats)
    games = tuple(
        Game(
            tag=f"{tag}.{turn + 1}",
            block=tag,
            round=round,
            players=seating[turn:] + seating[:turn],
            seed=derive(event.seed, tag, *([turn] if event.deals == "game" else [])),
            opening=cycle + index,
        )
        for turn in range(count)
    )
    return Block(tag, round, seating, games)


def _seating(event: Event, tag: str, group: Group, cycle: int) -> Group:
    """Return who sits where first: two take turns, of more the order around is drawn anew."""
    if len(group) == 2:
        return group if cycle % 2 == 0 else group[::-1]
    rng = random.Random(derive(event.seed, "seating", tag))
    return tuple(design.shuffled(group, rng))


def _seeded(event: Event) -> list[str]:
    """Return the names in the order of the seeding; those without a place keep their order."""
    last = len(event.entrants) + 1
    return [each.name for each in sorted(event.entrants, key=lambda each: each.seeding or last)]
