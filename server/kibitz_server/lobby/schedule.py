"""Programmes: which matches a lobby plays, who sits where, and which may begin now. Pure.

*Patterns.* A group of an item with n seats is n of the m members who are able, and a pattern
says who: the steps from the first seat's member to each seat's, the first of them 0. Group g of
a pattern is the members g + step, modulo m. The patterns come in order, 0, 1, .., n-1 first,
and begin anew when all have been; of those that are turns of each other only the smallest one
comes. So over the groups of a pattern everybody takes part equally often, and over all patterns
everybody meets everybody in every order.

*Blocks.* The n turns of one group are a block: everybody moves up by one seat, until all have
had every seat. What luck gives to one seat of the start, everybody in the group is given in turn,
because the block shares one *deal*, and so one seed. A balanced game is planned block by block, and
the matches of a block carry its number: they are one unit, which nobody should read apart.

*Laps.* Every other game says enough in a single match, and then it matters more that everybody
plays soon. It is planned in laps of m matches: the first turn of group 0, 1, .., m-1, in which
everybody takes every seat once, then the next turn of the same groups, until the blocks of the
pattern are complete.

*Secrets.* Where a game hides something each match has a seed of its own, also inside a block:
the seed is published when its match is over, and would tell what the others of the block hide,
or what the server will draw for a seat in them. A block of such a game is balanced by the seats
alone, which is all that there is to balance where nothing is dealt. For the same reason a seed
that the host gave is not counted up there but hashed, so that one tells nothing about the next.
"""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from kibitz_protocol.wire.clocks import TimeControl
from kibitz_protocol.wire.lobbies import ProgrammeItem
from kibitz_protocol.wire.messages import Capabilities
from kibitz_protocol.wire.records import Player

SEED_LIMIT = 2**53
"""Seeds are below this number, which every JSON implementation reads back exactly."""
MAX_OVERTAKE = 256
"""How far a match may overtake another that waits for a busy player."""

Steps: TypeAlias = tuple[int, ...]
"""Who sits at a match, counted in members from the first seat's: ``(0, 1, 2)``."""


class Unplayable(ValueError):
    """A programme that these members cannot play; `str()` is fit for a person."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A member who may be seated. A person has the default capabilities."""

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


class Lineup(NamedTuple):
    """The members of one match by seat, and the number of its deal."""

    seats: tuple[int, ...]
    deal: int


def plan(
    items: Sequence[ProgrammeItem],
    candidates: Sequence[Candidate],
    *,
    round: int,
    base_seed: int,
    hidden: Collection[str],
    balanced: Collection[str] = (),
) -> list[PlannedMatch]:
    """Plan one round, item after item; `hidden` and `balanced` name games that are so.

    Each round after the first rotates all seats by one. Raises `Unplayable` when an item has
    more seats than there are members able to play it.
    """
    planned: list[PlannedMatch] = []
    blocks = 0
    for index, item in enumerate(items):
        able = _able_players(item, candidates)
        size = block_size(item, balanced)
        lineups = _lineups(item, len(able), round - 1, blocks=size > 1)
        seed_of = _hidden_game_seed if item.game in hidden else _seed
        for game, lineup in enumerate(itertools.islice(lineups, match_count(item, balanced))):
            deal = game if item.game in hidden else lineup.deal
            players = tuple(able[seat] for seat in lineup.seats)
            seed = seed_of(item, index, base_seed, deal)
            block = blocks + game // size + 1 if size > 1 else None
            planned.append(PlannedMatch(len(planned) + 1, item, players, seed, block))
        blocks += match_count(item, balanced) // size if size > 1 else 0
    return planned


def block_size(item: ProgrammeItem, balanced: Collection[str]) -> int:
    """Return how many matches of an item are one unit: all turns of a group, or a single one."""
    return item.seats if item.rotate and item.game in balanced else 1


def match_count(item: ProgrammeItem, balanced: Collection[str]) -> int:
    """Return how many matches an item is: what was asked for, else one match or one block."""
    return block_size(item, balanced) if item.games is None else item.games


def uneven_blocks_problem(item: ProgrammeItem, balanced: Collection[str]) -> str | None:
    """Say why the number of matches asked for does not make whole blocks; None when it does."""
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
    """Raise `Unplayable` where `plan` would."""
    for item in items:
        _able_players(item, candidates)


def next_matches(
    waiting: Iterable[PlannedMatch],
    running: Collection[PlannedMatch],
    *,
    at_once: int,
    capacity: Mapping[str, int],
    fewest: int = 1,
) -> list[PlannedMatch]:
    """Choose what may begin now, in order, with at most `at_once` matches running in all.

    `waiting` is in the order of the numbers. `capacity` says how many matches each player
    plays at the same time; 0, or no line, is a player who is not here: its matches wait and
    hold nobody up. Where a player is busy, later matches go first, but none that is more than
    `AHEAD` numbers later than the first one that waits for a busy player, so that it comes to
    its turn. `fewest` is the smallest number of seats of any waiting match.
    """
    free = {player: places for player, places in capacity.items() if places > 0}
    here = frozenset(free)
    for planned in running:
        _occupy(free, planned)
    room = at_once - len(running)
    chosen: list[PlannedMatch] = []
    last: int | None = None
    for planned in waiting:
        full = len(chosen) >= room or len(free) < fewest
        if full or (last is not None and planned.number > last):
            break
        if all(each.player in free for each in planned.players):
            chosen.append(planned)
            _occupy(free, planned)
        elif last is None and all(each.player in here for each in planned.players):
            last = planned.number + MAX_OVERTAKE
    return chosen


def unable_reason(item: ProgrammeItem, capabilities: Capabilities) -> str | None:
    """Say why a bot with these capabilities does not play `item`; None when it does."""
    if capabilities.games:
        claims = [claim for claim in capabilities.games if claim.game == item.game]
        if not claims:
            return f"it does not claim the game {item.game!r}"
        if not any(not claim.seats or item.seats in claim.seats for claim in claims):
            return f"it does not claim {item.game!r} with {item.seats} seats"
    return _clock_problem(item.time_control, capabilities)


def _able_players(item: ProgrammeItem, candidates: Sequence[Candidate]) -> list[Player]:
    able = [each.player for each in candidates if unable_reason(item, each.capabilities) is None]
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


def _seed(item: ProgrammeItem, index: int, base_seed: int, deal: int) -> int:
    if item.seed is not None:
        return (item.seed + deal) % SEED_LIMIT
    return derive_seed(base_seed, "match", index, deal)


def _hidden_game_seed(item: ProgrammeItem, index: int, base_seed: int, deal: int) -> int:
    if item.seed is not None:
        return derive_seed(item.seed, "deal", deal)
    return derive_seed(base_seed, "match", index, deal)


def derive_seed(seed: int, *path: str | int) -> int:
    """Return a seed that `seed` and `path` determine and that tells nothing about others."""
    text = "/".join(str(part) for part in (seed, *path))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") % SEED_LIMIT


def arranged_seed(item: ProgrammeItem, tag: str, base_seed: int, hidden: Collection[str]) -> int:
    """Return the seed of a match that a host arranged.

    It is the one that the host gave, which several matches may share; but where the game hides
    something it is one of its own, by tag, since the seed of the first to end is published.
    """
    if item.seed is None:
        return derive_seed(base_seed, "tag", tag)
    return derive_seed(item.seed, "tag", tag) if item.game in hidden else item.seed


def _lineups(item: ProgrammeItem, members: int, shift: int, *, blocks: bool) -> Iterator[Lineup]:
    if not item.rotate:
        seats = tuple((seat + shift) % item.seats for seat in range(item.seats))
        return (Lineup(seats, game) for game in itertools.count())
    return (_blocks if blocks else _laps)(members, item.seats, shift)


def _blocks(members: int, seats: int, shift: int) -> Iterator[Lineup]:
    deal = 0
    for pattern in itertools.cycle(_patterns(members, seats)):
        for start in range(_groups(pattern, members)):
            group = tuple((start + shift + step) % members for step in pattern)
            for first in range(seats):
                yield Lineup(group[first:] + group[:first], deal)
            deal += 1


def _laps(members: int, seats: int, shift: int) -> Iterator[Lineup]:
    first_deal = 0
    for pattern in itertools.cycle(_patterns(members, seats)):
        turns = _turns(pattern, members)
        groups = _groups(pattern, members)
        for turn, steps in enumerate(turns):
            for start in range(members):
                who = tuple((start + shift + step) % members for step in steps)
                # The group that starts here in this turn started pattern[turn] earlier in
                # the first one, and every `groups` starts the same members come again.
                yield Lineup(who, first_deal + (start - pattern[turn]) % groups)
        first_deal += groups


def _groups(pattern: Steps, members: int) -> int:
    """Return after how many starts a pattern comes to the same members again."""
    return members * len(_turns(pattern, members)) // len(pattern)


def _patterns(members: int, seats: int) -> Iterator[Steps]:
    """Yield every pattern once, of all that are turns of each other the smallest.

    Where everybody plays, only those whose lap is one group in all its turns.
    """
    if members == seats:
        for step in range(1, members + 1):
            if math.gcd(step, members) == 1:
                yield tuple(seat * step % members for seat in range(seats))
        return
    for rest in itertools.permutations(range(1, members), seats - 1):
        pattern = (0, *rest)
        if pattern == min(_turns(pattern, members)):
            yield pattern


def _turns(pattern: Steps, members: int) -> list[Steps]:
    """Return the different patterns that come of letting everybody move up by one seat."""
    turns = [pattern]
    for first in range(1, len(pattern)):
        moved = pattern[first:] + pattern[:first]
        turned = tuple((step - moved[0]) % members for step in moved)
        if turned == pattern:
            break
        turns.append(turned)
    return turns


def _occupy(free: dict[str, int], planned: PlannedMatch) -> None:
    """Take a place of every player; who has none left is not in `free`."""
    for each in planned.players:
        places = free.pop(each.player, 0) - 1
        if places > 0:
            free[each.player] = places
