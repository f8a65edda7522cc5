"""Programmes: the matches of a lobby, their seeds, and which of them can begin. Pure.

A programme is computed instead of stored, so waiting matches take no memory. Match k is a function
of k and of values that are fixed when a round starts: the items, the members able to play them, and
the round's seed.

*Blocks and laps.* A balanced game is planned in blocks (`rotation`), and its matches have the
number of their block, because only the results of a whole block are a fair comparison. In other
games a single match is meaningful. They are planned in laps, so that everybody plays soon.

*Secrets.* In a game with hidden information each match has its own seed, even within a block. A
seed is published after its match. A shared seed would reveal hidden parts and future random events
of the block's other matches. Blocks of such a game therefore balance only the seats, not the deals.
For the same reason these seeds are hashes of the host's seed, not successive numbers, so that one
seed reveals nothing about the next.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from kibitz_protocol.wire.lobbies import ProgrammeItem
from kibitz_protocol.wire.records import Player
from kibitz_protocol.wire.values import derive_seed, seed_number
from kibitz_server.lobby.capabilities import unable_reason
from kibitz_server.lobby.rotation import Lineup, block_lineup, fixed_lineup, lap_lineup
from kibitz_server.lobby.seats import SeatedMember

SEED_LIMIT = 2**256
"""Upper limit of seeds; every JSON implementation reads smaller numbers exactly."""
MAX_OVERTAKE = 256
"""While a match waits for a busy player, matches with numbers up to this much higher may begin."""


class Unplayable(ValueError):
    """Raised for a programme that the members cannot play; `str()` is a message for users."""


@dataclass(frozen=True, slots=True)
class PlannedMatch:
    """A match to play. `number` counts the matches of a round from 1, and `players` are by seat.
    `block` counts the blocks of the round from 1, and is None outside blocks.
    """

    number: int
    item: ProgrammeItem
    players: tuple[Player, ...]
    seed: int
    block: int | None = None
    tag: str | None = None
    """The tag that the host gave it, if the host arranged it."""


class Fixture(NamedTuple):
    """A waiting match: its number, and its players by seat."""

    number: int
    players: tuple[Player, ...]


_Waiting = TypeVar("_Waiting", bound=Fixture | PlannedMatch)


@dataclass(frozen=True, slots=True)
class Part:
    """The matches of one item; `index` is the item's index in the programme."""

    item: ProgrammeItem
    index: int
    able: Sequence[Player]
    first: int
    """The number of its first match."""
    first_block: int
    block_size: int
    count: int
    hidden: bool

    @property
    def last(self) -> int:
        """The number of its last match."""
        return self.first + self.count - 1

    @property
    def everybody_plays(self) -> bool:
        """Whether the same players take part in all of its matches."""
        return not self.item.rotate or len(self.able) == self.item.seats

    def regulars(self) -> Sequence[Player]:
        """Return the players who take part in any of its matches."""
        return self.able if self.item.rotate else self.able[: self.item.seats]

    def is_playable(self, here: Collection[str]) -> bool:
        """Return whether enough players are connected (`here`) for at least one of its matches."""
        present = sum(player.player in here for player in self.regulars())
        return present >= self.item.seats

    def lineup(self, game: int, shift: int) -> Lineup:
        if not self.item.rotate:
            return fixed_lineup(self.item.seats, game, shift)
        of_rotation = block_lineup if self.block_size > 1 else lap_lineup
        return of_rotation(len(self.able), self.item.seats, game, shift)

    def block(self, game: int) -> int | None:
        return self.first_block + game // self.block_size if self.block_size > 1 else None

    def seed(self, game: int, deal: int, base_seed: int) -> int:
        if self.hidden:
            deal = game
        if self.item.seed is None:
            return derive_seed(base_seed, "match", self.index, deal)
        given = seed_number(self.item.seed)
        return derive_seed(given, "deal", deal) if self.hidden else (given + deal) % SEED_LIMIT


@dataclass(frozen=True, slots=True)
class Programme:
    """The matches of one round in the order of its items, numbered from 1 to `count`."""

    _parts: Sequence[Part]
    _shift: int
    _base_seed: int
    count: int

    @classmethod
    def of_round(
        cls,
        items: Sequence[ProgrammeItem],
        candidates: Sequence[SeatedMember],
        *,
        round: int,
        base_seed: int,
        hidden: Collection[str],
        balanced: Collection[str] = (),
        first: int = 0,
    ) -> Programme:
        """Return the programme of a round; `hidden` and `balanced` name games. Seats are rotated by
        `first` in the first round, and by one more in each later round. Raises `Unplayable` if an
        item has more seats than members able to play it.
        """
        parts: list[Part] = []
        count = blocks = 0
        for index, item in enumerate(items):
            size, matches = block_size(item, balanced), match_count(item, balanced)
            able = _able_players(item, candidates)
            secret = item.game in hidden
            parts.append(Part(item, index, able, count + 1, blocks + 1, size, matches, secret))
            count += matches
            blocks += matches // size if size > 1 else 0
        return cls(parts, first + round - 1, base_seed, count)

    def players(self, number: int) -> tuple[Player, ...]:
        """Return the players of a match, by seat."""
        part = self.part_of(number)
        able = part.able
        return tuple(able[index] for index in part.lineup(number - part.first, self._shift).seats)

    def match(self, number: int) -> PlannedMatch:
        """Return a match by its number, with its item, players and seed."""
        part = self.part_of(number)
        game = number - part.first
        lineup = part.lineup(game, self._shift)
        players = tuple(part.able[index] for index in lineup.seats)
        seed = part.seed(game, lineup.deal, self._base_seed)
        return PlannedMatch(number, part.item, players, seed, part.block(game))

    @property
    def parts(self) -> Sequence[Part]:
        """The matches by item, in order; an item may have none."""
        return self._parts

    def part_of(self, number: int) -> Part:
        """Return the part that a match belongs to; raises `KeyError`."""
        if not 1 <= number <= self.count:
            raise KeyError(f"a programme of {self.count} matches has no match {number}")
        parts = self._parts
        if len(parts) == 1:
            return parts[0]
        return parts[bisect_right(parts, number, key=lambda part: part.first) - 1]


def block_size(item: ProgrammeItem, balanced: Collection[str]) -> int:
    """Return the number of matches in a block of an item, 1 if it is not played in blocks."""
    return item.seats if item.rotate and item.game in balanced else 1


def match_count(item: ProgrammeItem, balanced: Collection[str]) -> int:
    """Return the number of matches of an item: the requested number, or one block by default."""
    return block_size(item, balanced) if item.games is None else item.games


def uneven_blocks_problem(item: ProgrammeItem, balanced: Collection[str]) -> str | None:
    """Return an error if the number of matches is not a multiple of the block size, or None."""
    size = block_size(item, balanced)
    rest = match_count(item, balanced) % size
    if not rest:
        return None
    below, above = match_count(item, balanced) - rest, match_count(item, balanced) - rest + size
    fits = f"{below} or {above}" if below else f"{above}"
    return (
        f"{item.game!r} with {item.seats} seats is played in blocks of {size} matches, in which"
        f" everybody takes every seat: {item.games} is not a multiple of {size}; use {fits},"
        " or rotate=false (--no-rotate) to play single matches"
    )


def require_playable(items: Sequence[ProgrammeItem], candidates: Sequence[SeatedMember]) -> None:
    """Raise `Unplayable` if `Programme.of_round` would."""
    for item in items:
        _able_players(item, candidates)


def next_matches(
    waiting: Iterable[_Waiting],
    running: Collection[PlannedMatch],
    *,
    at_once: int,
    capacity: Mapping[str, int],
    fewest: int = 1,
) -> list[_Waiting]:
    """Choose the matches that begin now, in order, so that at most `at_once` are running.

    `waiting` is ordered by number, and may omit matches of absent players. `capacity` is how many
    matches each player can play at the same time. A player with 0 or no entry is absent; its
    matches do not delay others. If a match waits for a busy player, later matches may begin before
    it, but only the next `MAX_OVERTAKE`, so that it does not wait forever. `fewest` is the smallest
    number of seats of any waiting match.
    """
    free = {player: places for player, places in capacity.items() if places > 0}
    here = frozenset(free)
    for begun in running:
        _occupy(free, begun)
    room = at_once - len(running)
    chosen: list[_Waiting] = []
    last: int | None = None
    for planned in waiting if room > 0 and len(free) >= fewest else ():
        if last is not None and planned.number > last:
            break
        if all(who.player in free for who in planned.players):
            chosen.append(planned)
            _occupy(free, planned)
            if len(chosen) >= room or len(free) < fewest:
                break
        elif last is None and all(who.player in here for who in planned.players):
            last = planned.number + MAX_OVERTAKE
    return chosen


def _able_players(item: ProgrammeItem, candidates: Sequence[SeatedMember]) -> list[Player]:
    able = [
        candidate.player
        for candidate in candidates
        if unable_reason(item, candidate.capabilities) is None
    ]
    if len(able) < item.seats:
        raise Unplayable(
            f"{item.game!r} with {item.seats} seats needs {item.seats} members who can play it,"
            f" but there are {len(able)}"
        )
    return able


def arranged_seed(
    item: ProgrammeItem, tag: str, base_seed: int, hidden: Collection[str], *, drawn: bool = False
) -> int:
    """Return the seed of an arranged match.

    It is the host's seed, which several matches may share. In a game with hidden information each
    tag has its own seed, because seeds are published after a match. If the server draws all deals
    (`drawn`), matches with the same seed from the host share a deal.
    """
    if item.seed is None or (drawn and item.game in hidden):
        return derive_seed(base_seed, "tag", tag)
    if drawn:
        return derive_seed(base_seed, "deal", item.seed)
    given = seed_number(item.seed)
    return derive_seed(given, "tag", tag) if item.game in hidden else given


def _occupy(free: dict[str, int], planned: Fixture | PlannedMatch) -> None:
    """Count a match for its players; remove players from `free` who can play no more matches."""
    for player in planned.players:
        places = free.pop(player.player, 0) - 1
        if places > 0:
            free[player.player] = places
