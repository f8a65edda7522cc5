"""The triangle of holes nearest a goal, and the numbering of peg sets in it.

The triangle of side n at the tip of a goal has rows of 1, 2, ..., n holes, numbered row by row from
the tip, so the goal is its first holes. The triangles of all goals of a board are equivalent, so
one table serves them all. The triangle consists of the goal and part of the central hexagon, where
all players may stop, regardless of the rules on other players' triangles.

A set of k pegs is a bit mask. Its *rank* is its index among all masks with k bits in ascending
order (the combinatorial number system), computed with one lookup for each half of the mask.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from math import comb

import numpy as np

from kibitz_games.chinese_checkers import geometry as geo

MAX_SETS = 1 << 24
"""The maximum number of entries in a table: 8 MiB of half bytes."""
MAX_SIDE = 7
"""The maximum side of a triangle: its 28 holes are two halves of 14 bits."""
AXES = ((1, 0), (0, 1), (-1, 1), (-1, 0), (0, -1), (1, -1))
"""The six directions, in steps along the triangle's two edges from the tip."""
OUTSIDE = 255
"""The number for holes outside the triangle."""

Place = tuple[int, int]
"""The coordinates of a hole: steps from the tip of a goal along both edges."""


@dataclass(frozen=True)
class Triangle:
    """A triangle of side `side` with `pegs` pegs."""

    side: int
    pegs: int

    @property
    def holes(self) -> int:
        return self.side * (self.side + 1) // 2

    @property
    def half(self) -> int:
        """The number of bits in the lower half of a mask."""
        return (self.holes + 1) // 2

    @property
    def sets(self) -> int:
        """The number of peg sets."""
        return comb(self.holes, self.pegs)

    @property
    def goal(self) -> int:
        """The mask of a full goal."""
        return (1 << self.pegs) - 1

    @functools.cached_property
    def axial(self) -> tuple[tuple[int, int], ...]:
        """The coordinates of each hole, in steps along both edges."""
        return tuple((row - i, i) for row in range(self.side) for i in range(row + 1))

    def neighbours(self, far: int) -> np.ndarray:
        """Return the hole `far` steps away in each direction, or -1: int8 [holes, 6]."""
        number = {place: hole for hole, place in enumerate(self.axial)}
        found = [
            [number.get((a + far * da, b + far * db), -1) for da, db in AXES] for a, b in self.axial
        ]
        return np.array(found, np.int8)

    def low(self) -> np.ndarray:
        """Return the rank of each lower half: int32 [2 ** half]."""
        return _ranks(self.half, 0, 0)

    def high(self) -> np.ndarray:
        """Return the contribution of each upper half to the rank, by pegs below it: int32."""
        upper = self.holes - self.half
        return np.array([_ranks(upper, self.half, below) for below in range(self.pegs + 1)])


def _ranks(bits: int, shift: int, below: int) -> np.ndarray:
    """Return what each mask of `bits` bits adds to the rank if `below` lower bits are set.

    The mask is shifted left by `shift` bits. Entries that do not occur in any valid set are
    undefined.
    """
    ranks = [0]
    for bit in range(bits):
        ones = (mask.bit_count() for mask in range(1 << bit))
        more = [comb(shift + bit, below + index + 1) for index in ones]
        ranks += [rank + step for rank, step in zip(ranks, more, strict=True)]
    return np.minimum(np.array(ranks, np.int64), MAX_SETS).astype(np.int32)


def largest(shape: geo.Geometry, pegs: int) -> Triangle:
    """Return the largest supported triangle on a board.

    It ends at the middle of the board, where it would leave the hexagon. Raises `ValueError` if it
    has no free hole besides the pegs, which does not happen on any available board.
    """
    middle = 2 * shape.size + 1 if shape.board == "star" else shape.size
    fits = [Triangle(side, pegs) for side in range(1, min(middle, MAX_SIDE) + 1)]
    good = [triangle for triangle in fits if triangle.holes > pegs and triangle.sets <= MAX_SETS]
    if not good:
        raise ValueError(
            f"{pegs} pegs are too many for a race on a {shape.board} of size {shape.size}"
        )
    return good[-1]


def holes(shape: geo.Geometry, triangle: Triangle, goal: int) -> tuple[int, ...]:
    """Return the board hole for each hole of the triangle at a goal."""
    left, right = geo.DIRECTIONS[(2 + goal) % 6], geo.DIRECTIONS[(1 + goal) % 6]
    x, y = shape.points[shape.tips[goal]]
    return tuple(
        shape.ids[x + a * left[0] + b * right[0], y + a * left[1] + b * right[1]]
        for a, b in triangle.axial
    )


@functools.cache
def places(shape: geo.Geometry, goal: int) -> tuple[Place, ...]:
    """Return the coordinates of each board hole relative to a goal."""
    edges = np.array([geo.DIRECTIONS[(2 + goal) % 6], geo.DIRECTIONS[(1 + goal) % 6]])
    away = np.array(shape.points) - np.array(shape.points[shape.tips[goal]])
    both = np.rint(away @ np.linalg.inv(edges)).astype(int)
    return tuple((int(a), int(b)) for a, b in both.tolist())


def in_order(shape: geo.Geometry, goal: int) -> list[int]:
    """Return the holes of the board row by row, starting from a goal."""
    seen = places(shape, goal)
    return sorted(range(shape.holes), key=lambda hole: (sum(seen[hole]), seen[hole]))
