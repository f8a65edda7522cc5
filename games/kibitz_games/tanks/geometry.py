"""The board of Tanks: 15x15 places, the rocks, and the tanks' starting places.

A place is (row, column), both from 1; row 1 is at the top. Kernels use cell numbers on a board with
a border one cell wide: ``row * STRIDE + column``. A step in any direction is an addition, and a
step off the board reaches `rules.EDGE`. No place has the number 0.
"""

from __future__ import annotations

from typing import Literal

Start = Literal["corners", "table1"]
Rocks = Literal["classic", "none"]
Hull = Literal["up", "right", "down", "left"]
Place = tuple[int, int]

SIDE = 15
STRIDE = SIDE + 2
CELLS = STRIDE * STRIDE
SEATS = 4

HULLS: tuple[Hull, ...] = ("up", "right", "down", "left")
"""The directions of a hull, clockwise; kernels use the index."""
AHEAD = (-STRIDE, 1, STRIDE, -1)
"""The difference of the cell numbers for a step ahead, for each hull direction."""

STARTS: dict[Start, tuple[Place, ...]] = {
    "corners": ((15, 1), (1, 15), (1, 1), (15, 15)),
    "table1": ((13, 2), (3, 14), (1, 2), (13, 14)),
}
"""The starting place of each seat."""
FACING: tuple[Hull, ...] = ("up", "down", "right", "left")
"""The initial hull direction of each seat."""

CLASSIC: tuple[Place, ...] = (
    *((8, 1), (8, 2), (8, 3), (8, 13), (8, 14), (8, 15)),
    *((1, 8), (2, 8), (3, 8), (13, 8), (14, 8), (15, 8)),
    *((4, 4), (4, 5), (5, 4), (4, 11), (4, 12), (5, 12)),
    *((11, 4), (12, 4), (12, 5), (11, 12), (12, 11), (12, 12)),
    *((8, 6), (8, 8), (8, 10), (6, 8), (10, 8)),
)
"""A wall from the middle of each side, a corner in each quarter, and a cross in the center."""
ROCKS: dict[Rocks, tuple[Place, ...]] = {"classic": CLASSIC, "none": ()}

NUMBERS: tuple[int, ...] = tuple(
    row * STRIDE + column for row in range(1, SIDE + 1) for column in range(1, SIDE + 1)
)
"""The numbers of all places, row by row."""


def number(place: Place) -> int:
    """Return the number of a place."""
    return place[0] * STRIDE + place[1]


def place(cell: int) -> Place:
    """Return the place with a number."""
    return cell // STRIDE, cell % STRIDE
