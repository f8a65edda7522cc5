"""The exact values of Chinese Checkers on a small rhombus, by retrograde analysis.

It shares only the neighbors of holes with the rules and the searches. A position is a pair of sets
of holes, the mover's and the opponent's, each numbered among all sets of that size. The board is
rotated after every move, so the mover's goal is always the same.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from kibitz_games.chinese_checkers import geometry as geo
from kibitz_games.compiled.kernels import Int, kernel

SOUTH = 3


@kernel
def _targets(mask: Any, occupied: Any, hole: Int, near: Any, land: Any, out: Any) -> Int:
    """Write the destinations of the peg in `hole`; return their number."""
    n = 0
    free = occupied & ~(np.int64(1) << hole)
    been = np.int64(1) << hole
    for d in range(6):
        to = np.int64(near[hole, d])
        if to >= 0 and (free >> to) & 1 == 0:
            out[n] = to
            n += 1
            been |= np.int64(1) << to
    head = n
    here = np.int64(hole)
    while True:
        for d in range(6):
            over, to = np.int64(near[here, d]), np.int64(land[here, d])
            if to >= 0 and (free >> over) & 1 and (free >> to) & 1 == 0 and (been >> to) & 1 == 0:
                been |= np.int64(1) << to
                out[n] = to
                n += 1
        if head == n:
            return np.int64(n)
        here = np.int64(out[head])
        head += 1


@kernel
def _number(mask: Any, choose: Any) -> Int:
    """Return the number of a set of holes given as a bit mask."""
    total, k, hole = np.int64(0), 1, 0
    while mask >> hole:
        if (mask >> hole) & 1:
            total += np.int64(choose[hole, k])
            k += 1
        hole += 1
    return total


@kernel
def _over(own: Any, other: Any, goal: Any, home: Any) -> bool:
    """Return whether a player has reached the goal; the mover's home is the opponent's goal."""
    full = own | other
    return bool((full & goal == goal and own & goal) or (full & home == home and other & home))


@kernel
def _solve(sets: Any, turned: Any, near: Any, land: Any, choose: Any, goal: Any, home: Any) -> Any:
    """Return for each pair of sets the plies until the mover wins (> 0) or loses (< 0).

    0 means that the pair is not a position, that the game is over, or that nobody can win.
    """
    count = len(sets)
    values = np.zeros((count, count), np.int8)
    out = np.empty(64, np.int64)
    plies, before, solved = 0, -1, 0
    while plies < 2 or solved > before:
        before = solved
        plies += 1
        for a in range(count):
            for b in range(count):
                own, other = np.int64(sets[a]), np.int64(sets[b])
                if own & other or values[a, b] != 0 or _over(own, other, goal, home):
                    continue
                wins, loses, moves = False, True, 0
                for hole in range(len(near)):
                    if (own >> hole) & 1 == 0:
                        continue
                    for i in range(_targets(own, own | other, np.int64(hole), near, land, out)):
                        moves += 1
                        after = own ^ (np.int64(1) << hole) ^ (np.int64(1) << np.int64(out[i]))
                        if (after | other) & goal == goal and after & goal:
                            wins = wins or plies == 1
                            loses = False
                        elif (after | other) & home == home and other & home:
                            continue
                        else:
                            value = values[turned[b], turned[_number(after, choose)]]
                            wins = wins or (value == -(plies - 1) and plies > 1)
                            loses = loses and 0 < value < plies
                if moves == 0:
                    value = values[turned[b], turned[a]]
                    wins = value == -(plies - 1) and plies > 1
                    loses = 0 < value < plies
                if wins:
                    values[a, b] = plies
                    solved += 1
                elif loses:
                    values[a, b] = -plies
                    solved += 1
    return values


class Retrograde:
    """The exact values of one board."""

    def __init__(self, size: int, pegs: int) -> None:
        shape = geo.geometry("rhombus", size)
        self.holes = shape.holes
        self.sets = list(combinations(range(self.holes), pegs))
        self.sets.sort(key=lambda holes: holes[::-1])  # the order of the numbers below
        self._numbers = {holes: number for number, holes in enumerate(self.sets)}
        near = np.full((self.holes, 6), -1)
        land = near.copy()
        for hole in range(self.holes):
            for d in range(6):
                one, two = shape.away(hole, d, 1), shape.away(hole, d, 2)
                near[hole, d] = -1 if one is None else one
                land[hole, d] = -1 if one is None or two is None else two
        choose = np.zeros((64, pegs + 2), np.int64)
        choose[:, 0] = 1
        for n in range(1, 64):
            choose[n, 1:] = choose[n - 1, 1:] + choose[n - 1, :-1]
        masks = np.array([_bits(holes) for holes in self.sets], np.int64)
        turned = np.array([self._turned(holes) for holes in self.sets], np.int64)
        goal, home = (_bits(shape.home(corner, pegs)) for corner in (SOUTH, 0))
        self.values = _solve(masks, turned, near, land, choose, np.int64(goal), np.int64(home))

    def _turned(self, holes: tuple[int, ...]) -> int:
        return self._numbers[tuple(sorted(self.holes - 1 - hole for hole in holes))]

    def value(self, own: tuple[int, ...], other: tuple[int, ...]) -> int:
        """Return the plies until the mover, from the N corner, wins (> 0) or loses (< 0)."""
        return int(self.values[self._numbers[own], self._numbers[other]])


def _bits(holes: Any) -> int:
    return sum(1 << int(hole) for hole in holes)
