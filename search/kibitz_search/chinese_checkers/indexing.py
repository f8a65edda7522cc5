"""The holes nearest a goal, as a triangle, and the sets of pegs in them as numbers.

The triangle of side n at the tip of a goal has rows of 1, 2, ..., n holes, counted row by row from
the tip; the goal itself is its first holes. All goals of a board see the same triangle, so one
table serves them all. It lies in the goal and in the hexagon that belongs to nobody, where every
player may stop whatever the rules say of foreign triangles.

A set of k pegs is a mask of bits; its *rank* is its place among all sets of k in ascending order of
masks (the combinatorial number system), looked up in two halves.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from math import comb

import numpy as np

from kibitz_games.chinese_checkers import geometry as geo

MAX_SETS = 1 << 24
"""The most entries of a table: 8 MiB of half bytes."""
MAX_SIDE = 7
"""The longest side of a triangle: its 28 holes are two halves of 14 bits."""
AXES = ((1, 0), (0, 1), (-1, 1), (-1, 0), (0, -1), (1, -1))
"""The six directions, in steps along the two edges of the triangle that leave the tip."""
OUTSIDE = 255
"""The number of a hole that is not in the triangle."""

Place = tuple[int, int]
"""A hole in steps from the tip of a goal along its two edges."""


@dataclass(frozen=True)
class Triangle:
    """A triangle of `side` with `pegs` pegs in it."""

    side: int
    pegs: int

    @property
    def holes(self) -> int:
        return self.side * (self.side + 1) // 2

    @property
    def half(self) -> int:
        """How many bits of a mask are its lower half."""
        return (self.holes + 1) // 2

    @property
    def sets(self) -> int:
        """How many sets of pegs there are."""
        return comb(self.holes, self.pegs)

    @property
    def goal(self) -> int:
        """The mask of the full goal."""
        return (1 << self.pegs) - 1

    @functools.cached_property
    def axial(self) -> tuple[tuple[int, int], ...]:
        """Each hole in steps along the two edges."""
        return tuple((row - i, i) for row in range(self.side) for i in range(row + 1))

    def neighbours(self, far: int) -> np.ndarray:
        """Return the hole `far` steps away in each direction, -1 for none: int8 [holes, 6]."""
        number = {place: hole for hole, place in enumerate(self.axial)}
        found = [
            [number.get((a + far * da, b + far * db), -1) for da, db in AXES] for a, b in self.axial
        ]
        return np.array(found, np.int8)

    def low(self) -> np.ndarray:
        """Return the rank of every lower half: int32 [2 ** half]."""
        return _ranks(self.half, 0, 0)

    def high(self) -> np.ndarray:
        """Return what every upper half adds to the rank, by the pegs below it: int32."""
        upper = self.holes - self.half
        return np.array([_ranks(upper, self.half, below) for below in range(self.pegs + 1)])


def _ranks(bits: int, shift: int, below: int) -> np.ndarray:
    """Return what each mask of `bits` adds to the rank of one with `below` bits below them.

    The mask is shifted up by `shift` bits. Entries that belong to no set of the size are undefined.
    """
    ranks = [0]
    for bit in range(bits):
        ones = (mask.bit_count() for mask in range(1 << bit))
        more = [comb(shift + bit, below + index + 1) for index in ones]
        ranks += [rank + step for rank, step in zip(ranks, more, strict=True)]
    return np.minimum(np.array(ranks, np.int64), MAX_SETS).astype(np.int32)


def largest(shape: geo.Geometry, pegs: int) -> Triangle:
    """Return the largest triangle of a board that a table is kept for.

    It ends at the middle of the board, where it would leave the hexagon. Raises `ValueError` where
    not even the pegs fit in with a hole to spare, which is on no board on offer.
    """
    middle = 2 * shape.size + 1 if shape.board == "star" else shape.size
    fits = [Triangle(side, pegs) for side in range(1, min(middle, MAX_SIDE) + 1)]
    good = [triangle for triangle in fits if triangle.holes > pegs and triangle.sets <= MAX_SETS]
    if not good:
        raise ValueError(f"{pegs} pegs have no room to race on a {shape.board} of {shape.size}")
    return good[-1]


def holes(shape: geo.Geometry, triangle: Triangle, goal: int) -> tuple[int, ...]:
    """Return the hole of the board for each hole of the triangle at a goal."""
    left, right = geo.DIRECTIONS[(2 + goal) % 6], geo.DIRECTIONS[(1 + goal) % 6]
    x, y = shape.points[shape.tips[goal]]
    return tuple(
        shape.ids[x + a * left[0] + b * right[0], y + a * left[1] + b * right[1]]
        for a, b in triangle.axial
    )


@functools.cache
def places(shape: geo.Geometry, goal: int) -> tuple[Place, ...]:
    """Return the place of each hole of the board, as a goal sees it."""
    edges = np.array([geo.DIRECTIONS[(2 + goal) % 6], geo.DIRECTIONS[(1 + goal) % 6]])
    away = np.array(shape.points) - np.array(shape.points[shape.tips[goal]])
    both = np.rint(away @ np.linalg.inv(edges)).astype(int)
    return tuple((int(a), int(b)) for a, b in both.tolist())


def in_order(shape: geo.Geometry, goal: int) -> list[int]:
    """Return the holes of the board row by row, as a goal sees it."""
    seen = places(shape, goal)
    return sorted(range(shape.holes), key=lambda hole: (sum(seen[hole]), seen[hole]))
