"""Seat rotation: who plays game k of an item and in which seats, computed from k alone. Pure.

*Patterns.* An item with n seats is played by groups of n of the m members who are able to play it.
A pattern selects the groups: it has a step for each seat, beginning with 0 for the first seat.
Group g consists of the members (g + step) modulo m, by seat. The patterns are played in order,
beginning with 0, 1, .., n-1, and repeat after the last one. Of the patterns that are rotations of
each other, only the smallest is played. So all members play equally often within a pattern, and
over all patterns everybody meets everybody in every order.

*Blocks.* A block consists of the n rotations of one group: everybody moves up by one seat until all
have had every seat. The games of a block share one *deal*, and so one seed: each player gets the
luck of each seat once.

*Laps.* A lap consists of m matches: the groups 0, 1, .., m-1 in one rotation, so that everybody has
every seat once. The next lap has the same groups in the next rotation, until the blocks of the
pattern are complete.

A pattern has as many games in blocks as in laps, so game k is located by its pattern and an offset.
The lengths of the patterns depend only on m and n. They are computed on demand and shared by all
lobbies. Recent results are cached, because the server looks up each match several times.
"""

from __future__ import annotations

import itertools
import math
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple, TypeAlias

Steps: TypeAlias = tuple[int, ...]
"""The steps from the member in the first seat to the member in each seat: ``(0, 1, 2)``."""


class Lineup(NamedTuple):
    """The members of one match by seat, and the number of its deal."""

    seats: tuple[int, ...]
    deal: int


class _Stretch(NamedTuple):
    """The games of one pattern; `turns` are the rotations of the pattern, the first unchanged."""

    turns: list[Steps]
    first_game: int
    first_deal: int
    groups: int
    """The number of groups before the pattern selects the same members again."""


def fixed_lineup(seats: int, game: int, shift: int) -> Lineup:
    """Return the lineup of an item without rotation: the same members, rotated only by `shift`."""
    return Lineup(tuple((seat + shift) % seats for seat in range(seats)), game)


@lru_cache(maxsize=256)
def block_lineup(members: int, seats: int, game: int, shift: int) -> Lineup:
    """Return the lineup of game `game`, counted from 0, of an item that is played in blocks."""
    stretch, rest, cycled = _series(members, seats).find(game)
    start, first = divmod(rest, seats)
    steps = stretch.turns[0][first:] + stretch.turns[0][:first]
    who = tuple((start + shift + step) % members for step in steps)
    return Lineup(who, cycled + stretch.first_deal + start)


@lru_cache(maxsize=256)
def lap_lineup(members: int, seats: int, game: int, shift: int) -> Lineup:
    """Return the lineup of game `game`, counted from 0, of an item that is played in laps."""
    stretch, rest, cycled = _series(members, seats).find(game)
    turn, start = divmod(rest, members)
    who = tuple((start + shift + step) % members for step in stretch.turns[turn])
    # This group has the deal that it had in the first rotation, where its number was smaller by
    # turns[0][turn]. Groups whose numbers differ by `groups` have the same members.
    return Lineup(
        who, cycled + stretch.first_deal + (start - stretch.turns[0][turn]) % stretch.groups
    )


class _Series:
    """The patterns of n seats among m members, computed on demand."""

    def __init__(self, members: int, seats: int) -> None:
        self._members = members
        self._patterns = _patterns(members, seats)
        self._found: list[_Stretch] = []
        self._games = 0
        self._deals = 0
        self._complete = False

    def find(self, game: int) -> tuple[_Stretch, int, int]:
        """Return the pattern of a game, the game's index in it, and the number of earlier deals."""
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
"""The most recently used patterns, by members and seats, shared by all lobbies."""


def _patterns(members: int, seats: int) -> Iterator[Steps]:
    """Yield every pattern once, as the smallest of its rotations.

    If everybody plays, yield only patterns with laps that consist of all rotations of one group.
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
    """Return the distinct rotations of a pattern, each one seat further than the last."""
    turns = [pattern]
    for first in range(1, len(pattern)):
        moved = pattern[first:] + pattern[:first]
        turned = tuple((step - moved[0]) % members for step in moved)
        if turned == pattern:
            break
        turns.append(turned)
    return turns
