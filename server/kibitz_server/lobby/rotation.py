"""Rotation: the members and seats of game k of an item, computed from k. Pure.

*Patterns.* A group of an item with n seats is n of the m able members. A pattern selects them: it
is the steps from the first seat's member to each seat's, the first of them 0. Group g of a pattern
is the members g + step, modulo m. The patterns come in order, 0, 1, .., n-1 first, and begin anew
when all have been; of those that are turns of each other only the smallest one comes. So over the
groups of a pattern everybody takes part equally often, and over all patterns everybody meets
everybody in every order.

*Blocks.* The n turns of one group are a block: everybody moves up by one seat, until all have had
every seat. The block shares one *deal*, and so one seed, so everybody in the group gets each seat's
luck in turn.

*Laps.* m matches are a lap: the first turn of group 0, 1, .., m-1, in which everybody takes every
seat once, then the next turn of the same groups, until the blocks of the pattern are complete.

A pattern is as many games in blocks as in laps, so game k is found by its pattern and the rest. The
lengths of the patterns depend on m and n alone. They are computed once, as far as any programme has
come, and shared by all lobbies. The last results are cached, because a match that begins is asked
for more than once.
"""

from __future__ import annotations

import itertools
import math
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple, TypeAlias

Steps: TypeAlias = tuple[int, ...]
"""The members at a match, counted from the first seat's member: ``(0, 1, 2)``."""


class Lineup(NamedTuple):
    """The members of one match by seat, and the number of its deal."""

    seats: tuple[int, ...]
    deal: int


class _Stretch(NamedTuple):
    """The games of one pattern: `turns` are the pattern and what moving up makes of it."""

    turns: list[Steps]
    first_game: int
    first_deal: int
    groups: int
    """The number of starts after which the pattern comes to the same members again."""


def fixed_lineup(seats: int, game: int, shift: int) -> Lineup:
    """Return the lineup of a game without rotation: always the first members."""
    return Lineup(tuple((seat + shift) % seats for seat in range(seats)), game)


@lru_cache(maxsize=256)
def block_lineup(members: int, seats: int, game: int, shift: int) -> Lineup:
    """Return the lineup of a game, counted from 0, of an item that is played in blocks."""
    stretch, rest, cycled = _series(members, seats).find(game)
    start, first = divmod(rest, seats)
    steps = stretch.turns[0][first:] + stretch.turns[0][:first]
    who = tuple((start + shift + step) % members for step in steps)
    return Lineup(who, cycled + stretch.first_deal + start)


@lru_cache(maxsize=256)
def lap_lineup(members: int, seats: int, game: int, shift: int) -> Lineup:
    """Return the lineup of a game, counted from 0, of an item that is played in laps."""
    stretch, rest, cycled = _series(members, seats).find(game)
    turn, start = divmod(rest, members)
    who = tuple((start + shift + step) % members for step in stretch.turns[turn])
    # The group that starts here in this turn started turns[0][turn] earlier in the first one,
    # and every `groups` starts the same members come again.
    return Lineup(
        who, cycled + stretch.first_deal + (start - stretch.turns[0][turn]) % stretch.groups
    )


class _Series:
    """The patterns of n seats among m members, each computed when a game needs it."""

    def __init__(self, members: int, seats: int) -> None:
        self._members = members
        self._patterns = _patterns(members, seats)
        self._found: list[_Stretch] = []
        self._games = 0
        self._deals = 0
        self._complete = False

    def find(self, game: int) -> tuple[_Stretch, int, int]:
        """Return a game's pattern, its place in there, and the deals of earlier cycles."""
        while game >= self._games and not self._complete:
            self._find_next()
        cycle, game = divmod(game, self._games) if self._complete else (0, game)
        index = bisect_right(self._found, game, key=lambda series: series.first_game) - 1
        stretch = self._found[index]
        return stretch, game - stretch.first_game, cycle * self._deals

    def _find_next(self) -> None:
        pattern = next(self._patterns, None)
        if pattern is None:
            self._complete = True
            return
        turns = _turns(pattern, self._members)
        groups = self._members * len(turns) // len(pattern)
        self._found.append(_Stretch(turns, self._games, self._deals, groups))
        self._games += self._members * len(turns)
        self._deals += groups


_series = lru_cache(maxsize=256)(_Series)
"""The patterns by members and seats, the most recently used; all lobbies share them."""


def _patterns(members: int, seats: int) -> Iterator[Steps]:
    """Yield every pattern once: the smallest of all that are turns of each other.

    If everybody plays, yield only patterns whose lap is one group in all its turns.
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
