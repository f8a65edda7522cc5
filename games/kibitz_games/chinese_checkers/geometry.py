"""The boards: holes, neighbors, homes, goals and distances, as data.

Coordinates are *doubled*: neighbors in a row differ by 2 in x, rows by 1 in y, and the holes
of adjacent rows interleave, so the six directions are (2, 0), (1, 1), (-1, 1) and their
opposites. Hole ids are row-major from the top, and rotation by 180 degrees maps id to holes-1-id.

``star`` of size s: a hexagon of side s+1 with six triangles of side s, and s(s+1)/2 pegs per
player. Size 4 is the common board with 121 holes and ten pegs. ``rhombus`` of size n: n x n holes
standing on an acute corner (rows of 1, 2, ..., n, ..., 2, 1). Only its corners N and S have homes:
the first and the last `pegs` ids.

Corners are numbered clockwise from the top: N=0, NE=1, SE=2, S=3, SW=4, NW=5; the goal of a corner
is the opposite one, corner + 3.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Literal

Board = Literal["star", "rhombus"]
Point = tuple[int, int]

DIRECTIONS: tuple[Point, ...] = ((2, 0), (1, 1), (-1, 1), (-2, 0), (-1, -1), (1, -1))
CORNERS = 6
SIZES: dict[Board, range] = {"star": range(1, 6), "rhombus": range(3, 10)}
"""The available sizes."""
COMMON: dict[Board, int] = {"star": 4, "rhombus": 9}
"""The default size of each board."""
MAX_PEGS = 15
LAYOUTS: dict[int, tuple[int, ...]] = {
    2: (0, 3),
    3: (0, 2, 4),
    4: (1, 2, 4, 5),
    5: (0, 1, 2, 3, 4),
    6: (0, 1, 2, 3, 4, 5),
}
"""The corners of the seats for each number of players."""


@dataclass(frozen=True)
class Geometry:
    """A board; `points` are the doubled coordinates of each hole, by id."""

    board: Board
    size: int
    points: tuple[Point, ...]

    @property
    def holes(self) -> int:
        return len(self.points)

    @functools.cached_property
    def ids(self) -> dict[Point, int]:
        return {point: hole for hole, point in enumerate(self.points)}

    @functools.cached_property
    def rows(self) -> tuple[tuple[int, ...], ...]:
        """The hole ids of each row, from the top."""
        last = self.points[-1][1]
        return tuple(
            tuple(hole for hole, (_, y) in enumerate(self.points) if y == row)
            for row in range(last + 1)
        )

    def away(self, hole: int, direction: int, steps: int) -> int | None:
        """Return the hole `steps` away in a direction, or None if it is off the board."""
        (x, y), (dx, dy) = self.points[hole], DIRECTIONS[direction]
        return self.ids.get((x + steps * dx, y + steps * dy))

    def steps(self, a: int, b: int) -> int:
        """Return the number of steps from hole `a` to hole `b` on an empty board."""
        (ax, ay), (bx, by) = self.points[a], self.points[b]
        across, down = abs(ax - bx), abs(ay - by)
        return down + max(0, (across - down) // 2)

    def euclid(self, a: int, b: int) -> float:
        """Return the Euclidean distance of two holes; neighbors are 1.0 apart."""
        (ax, ay), (bx, by) = self.points[a], self.points[b]
        return float(((ax - bx) ** 2 + 3 * (ay - by) ** 2) ** 0.5 / 2)

    def parity(self, hole: int) -> tuple[int, int]:
        """Return the axial coordinates of a hole modulo 2, which jumps do not change."""
        x, y = self.points[hole]
        return ((x - y) // 2 % 2, y % 2)

    @functools.cached_property
    def tips(self) -> tuple[int, ...]:
        """The outermost hole of each corner; on a rhombus, all are the tips N and S."""
        last = self.holes - 1
        if self.board == "rhombus":
            return (0, 0, last, last, last, 0)
        upper, lower = self.rows[self.size], self.rows[3 * self.size]
        return (0, upper[-1], lower[-1], last, lower[0], upper[0])

    def home(self, corner: int, pegs: int) -> tuple[int, ...]:
        """Return the holes of a corner's home in ascending order."""
        return _home(self.board, self.size, corner, pegs)

    def _home(self, corner: int, pegs: int) -> tuple[int, ...]:
        if self.board == "rhombus":
            ends = {0: range(pegs), 3: range(self.holes - pegs, self.holes)}
            return tuple(ends[corner])
        tip = self.tips[corner]
        return tuple(h for h in range(self.holes) if self.steps(h, tip) < self.size)

    def lattice(self, hole: int) -> tuple[int, int]:
        """Return a hole's coordinates for drawing: x >= 0, and x is even in even rows."""
        x, y = self.points[hole]
        left = self._left
        return x - left + left % 2, y

    @functools.cached_property
    def _left(self) -> int:
        return min(x for x, _ in self.points)

    def remaining(self, corner: int, holes: tuple[int, ...]) -> int:
        """Return the total number of steps from `holes` to a corner's tip."""
        return sum(map(self._to_tips[corner].__getitem__, holes))

    @functools.cached_property
    def _to_tips(self) -> tuple[tuple[int, ...], ...]:
        """The steps from each hole to the tip of each corner, by corner and hole."""
        return tuple(
            tuple(self.steps(hole, tip) for hole in range(self.holes)) for tip in self.tips
        )


@functools.cache
def geometry(board: Board, size: int) -> Geometry:
    """Return the board of this kind and size."""
    return Geometry(board, size, tuple(_points(_widths(board, size))))


@functools.cache
def _home(board: Board, size: int, corner: int, pegs: int) -> tuple[int, ...]:
    return geometry(board, size)._home(corner, pegs)


def _widths(board: Board, size: int) -> list[int]:
    if board == "rhombus":
        return [*range(1, size), *range(size, 0, -1)]
    point = list(range(1, size + 1))
    waist = list(range(3 * size + 1, 2 * size, -1))
    return point + waist + waist[-2::-1] + point[::-1]


def _points(widths: list[int]) -> list[Point]:
    return [(2 * i - (w - 1), y) for y, w in enumerate(widths) for i in range(w)]


def usual_pegs(board: Board, size: int) -> int:
    """Return the default number of pegs per player."""
    side = size if board == "star" else min(4, size // 2)
    return side * (side + 1) // 2


def corners_of(board: Board) -> tuple[int, ...]:
    """Return the corners of a board that have homes."""
    return (0, 3) if board == "rhombus" else tuple(range(CORNERS))


ALL: tuple[tuple[Board, int], ...] = tuple(
    (board, size) for board, sizes in SIZES.items() for size in sizes
)
"""All available boards; a state refers to its board by the index in this list."""
MAX_HOLES = max(geometry(board, size).holes for board, size in ALL)
