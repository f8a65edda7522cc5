"""Programmes: the matches of a lobby, their seeds, and which of them may begin now. Pure.

A programme is computed, not stored: match k follows from k and from the facts that are fixed when a
round starts: the items, the members able to play them, and the round's seed. Matches that have not
begun take no memory.

*Blocks and laps.* A balanced game is planned block by block (`rotation`), and the matches of a
block carry its number: they are one unit, whose results should be read together. In every other
game a single match is meaningful, and it matters more that everybody plays soon: it is planned in
laps.

*Secrets.* In a game with hidden information each match has its own seed, also inside a block. The
seed is published when its match is over, and a shared one would reveal the hidden parts of the
block's other matches, and the server's future draws in them. Blocks of such a game only balance the
seats, which suffices if nothing is dealt. For the same reason the seed that a host gave is hashed,
not counted up, so that one seed reveals nothing about the next.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from kibitz_protocol.wire.clocks import TimeControl
from kibitz_protocol.wire.lobbies import ProgrammeItem
from kibitz_protocol.wire.messages import Capabilities
from kibitz_protocol.wire.records import Player
from kibitz_protocol.wire.values import derive_seed, seed_number
from kibitz_server.lobby.rotation import Lineup, block_lineup, fixed_lineup, lap_lineup

SEED_LIMIT = 2**256
"""Seeds are below this number, which every JSON implementation reads back exactly."""
MAX_OVERTAKE = 256
"""The number of places by which a match may overtake another that waits for a busy player."""


class Unplayable(ValueError):
    """A programme that these members cannot play; `str()` is a message for people."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A member who may be seated. People have the default capabilities."""

    player: Player
    capabilities: Capabilities


@dataclass(frozen=True, slots=True)
class PlannedMatch:
    """A match to be played: `number` counts a round's matches from 1, `players` are by seat.

    `block` counts the round's blocks from 1, None for a match that is not part of one.
    """

    number: int
    item: ProgrammeItem
    players: tuple[Player, ...]
    seed: int
    block: int | None = None
    tag: str | None = None
    """The host's name for it, where the host arranged it."""


class Fixture(NamedTuple):
    """A match that waits: its number and its players, by seat."""

    number: int
    players: tuple[Player, ...]


_Waiting = TypeVar("_Waiting", bound=Fixture | PlannedMatch)


@dataclass(frozen=True, slots=True)
class Part:
    """The matches of one item: `index` is its place in the programme."""

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
        """Whether all of its matches have the same players."""
        return not self.item.rotate or len(self.able) == self.item.seats

    def regulars(self) -> Sequence[Player]:
        """Return the players of any of its matches."""
        return self.able if self.item.rotate else self.able[: self.item.seats]

    def is_playable(self, here: Collection[str]) -> bool:
        """Return whether enough of its players are `here` for any of its matches."""
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
    """The matches of one round, item after item, numbered from 1 to `count`."""

    _parts: Sequence[Part]
    _shift: int
    _base_seed: int
    count: int

    @classmethod
    def of_round(
        cls,
        items: Sequence[ProgrammeItem],
        candidates: Sequence[Candidate],
        *,
        round: int,
        base_seed: int,
        hidden: Collection[str],
        balanced: Collection[str] = (),
        first: int = 0,
    ) -> Programme:
        """Return the programme of a round; `hidden` and `balanced` name games that are so.

        Each round after the first rotates all seats by one, and all are rotated by `first`. Raises
        `Unplayable` when an item has more seats than there are members able to play it.
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
        """Return a match with all that is fixed of it."""
        part = self.part_of(number)
        game = number - part.first
        lineup = part.lineup(game, self._shift)
        players = tuple(part.able[index] for index in lineup.seats)
        seed = part.seed(game, lineup.deal, self._base_seed)
        return PlannedMatch(number, part.item, players, seed, part.block(game))

    @property
    def parts(self) -> Sequence[Part]:
        """The items' matches, in order; an item may have none."""
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
    """Return how many matches of an item form one unit: all turns of a group, or a single one."""
    return item.seats if item.rotate and item.game in balanced else 1


def match_count(item: ProgrammeItem, balanced: Collection[str]) -> int:
    """Return the number of matches of an item: as asked for, else one match or one block."""
    return block_size(item, balanced) if item.games is None else item.games


def uneven_blocks_problem(item: ProgrammeItem, balanced: Collection[str]) -> str | None:
    """Return why the number of matches does not make whole blocks, or None."""
    size = block_size(item, balanced)
    rest = match_count(item, balanced) % size
    if not rest:
        return None
    below, above = match_count(item, balanced) - rest, match_count(item, balanced) - rest + size
    fits = f"{below} or {above}" if below else f"{above}"
    return (
        f"{item.game!r} with {item.seats} seats is played in blocks of {size} matches, in which"
        f" everybody takes every seat: {item.games} is no multiple of {size}, {fits} would do,"
        " and rotate=false (--no-rotate) plays single matches"
    )


def require_playable(items: Sequence[ProgrammeItem], candidates: Sequence[Candidate]) -> None:
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
    """Choose what may begin now, in order, with at most `at_once` matches running in all.

    `waiting` is in the order of the numbers; matches of players who are not here may be left out.
    `capacity` is how many matches each player plays at the same time. A player with 0 or no entry
    is not here; its matches wait and block no others. If a player is busy, later matches go first.
    But none begins that is more than `MAX_OVERTAKE` numbers later than the first match that waits
    for a busy player, so that no match waits forever. `fewest` is the smallest number of seats of
    any waiting match.
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


def unable_reason(item: ProgrammeItem, capabilities: Capabilities) -> str | None:
    """Return why a bot with these capabilities does not play `item`, or None."""
    if capabilities.games:
        claims = [claim for claim in capabilities.games if claim.game == item.game]
        if not claims:
            return f"it does not claim the game {item.game!r}"
        if not any(not claim.seats or item.seats in claim.seats for claim in claims):
            return f"it does not claim {item.game!r} with {item.seats} seats"
    return _clock_problem(item.time_control, capabilities)


def _able_players(item: ProgrammeItem, candidates: Sequence[Candidate]) -> list[Player]:
    able = [
        candidate.player
        for candidate in candidates
        if unable_reason(item, candidate.capabilities) is None
    ]
    if len(able) < item.seats:
        raise Unplayable(
            f"{item.game!r} with {item.seats} seats needs {item.seats} members who can play it,"
            f" and there are {len(able)}"
        )
    return able


def _clock_problem(control: TimeControl, capabilities: Capabilities) -> str | None:
    if not control.limited:
        return None if capabilities.untimed else "it does not play without a clock"
    sure = assured_ms(control)
    if sure < capabilities.min_move_ms:
        return f"it needs {capabilities.min_move_ms} ms on a move and {control} assures {sure}"
    return None


def assured_ms(control: TimeControl) -> int:
    """Return the milliseconds that a clock leaves on every move, however long the match."""
    period = control.period_ms if control.periods else 0
    return control.move_ms + control.increment_ms + period


def arranged_seed(
    item: ProgrammeItem, tag: str, base_seed: int, hidden: Collection[str], *, drawn: bool = False
) -> int:
    """Return the seed of a match that a host arranged.

    It is the one that the host gave, which several matches may share. In a game with hidden
    information each tag has its own seed, since the seed of the first match to end is published. If
    the server draws all deals (`drawn`), the host's seed only selects which matches share one.
    """
    if item.seed is None or (drawn and item.game in hidden):
        return derive_seed(base_seed, "tag", tag)
    if drawn:
        return derive_seed(base_seed, "deal", item.seed)
    given = seed_number(item.seed)
    return derive_seed(given, "tag", tag) if item.game in hidden else given


def _occupy(free: dict[str, int], planned: Fixture | PlannedMatch) -> None:
    """Take a place of every player; players without a place left are removed from `free`."""
    for player in planned.players:
        places = free.pop(player.player, 0) - 1
        if places > 0:
            free[player.player] = places
