"""The board: 12x12 hexagons, their names and neighbors, and all lines of one to three cells.

A cell has a column x and a row y, both from 0; rows with odd y are shifted half a cell to the right
("odd-r" coordinates). Its number is ``12*y + x``; its name is the letter of its column and its row
counted from 1, so (5, 6) is ``f7``.

Directions are numbered as in the university assignment that introduced the game (NYCU AI Capstone,
spring 2023): 1 up-left, 2 up-right, 3 left, 4 right, 5 down-left, 6 down-right; ``7 - d`` is the
opposite of d.

A *line* is a set of one to three cells in a straight row. There are 144 + 385 + 340 = 869 lines;
their numbers are the actions of the game. A line starts at its cell with the smallest number, its
*head*, and extends in direction 4, 5 or 6. Lines are numbered by head, direction and length.
"""

from __future__ import annotations

import re
from typing import Final

SIDE: Final = 12
CELLS: Final = SIDE * SIDE
DIRECTIONS: Final = (1, 2, 3, 4, 5, 6)
ONWARD: Final = (4, 5, 6)
"""The directions in which cell numbers increase."""
LONGEST: Final = 3
COLUMNS: Final = "abcdefghijkl"

_STEPS: Final = {
    0: {1: (-1, -1), 2: (0, -1), 3: (-1, 0), 4: (1, 0), 5: (-1, 1), 6: (0, 1)},
    1: {1: (0, -1), 2: (1, -1), 3: (-1, 0), 4: (1, 0), 5: (0, 1), 6: (1, 1)},
}
"""The changes of x and y by a step in each direction, for even and odd y."""


def neighbour(cell: int, direction: int) -> int | None:
    """Return the neighbor of `cell` in a direction, or None if it is off the board."""
    y, x = divmod(cell, SIDE)
    dx, dy = _STEPS[y % 2][direction]
    inside = 0 <= x + dx < SIDE and 0 <= y + dy < SIDE
    return cell + SIDE * dy + dx if inside else None


def neighbours(cell: int) -> tuple[int, ...]:
    """Return the neighbors of `cell`, ordered by direction."""
    near = (neighbour(cell, direction) for direction in DIRECTIONS)
    return tuple(cell for cell in near if cell is not None)


def walk(cell: int, length: int, direction: int) -> tuple[int, ...] | None:
    """Return `length` cells from `cell` in a direction, or None if they leave the board."""
    way = [cell]
    while len(way) < length:
        onward = neighbour(way[-1], direction)
        if onward is None:
            return None
        way.append(onward)
    return tuple(way)


def _lines() -> list[tuple[int, ...]]:
    lines: list[tuple[int, ...]] = []
    for cell in range(CELLS):
        lines.append((cell,))
        ways = [walk(cell, n, d) for d in ONWARD for n in range(2, LONGEST + 1)]
        lines += [way for way in ways if way is not None]
    return lines


LINES: Final = tuple(_lines())
"""The cells of each line, starting with its head."""
LINE_OF: Final = {frozenset(line): number for number, line in enumerate(LINES)}
"""The number of each line, by its set of cells."""
DIRECTION_OF: Final = tuple(
    next((d for d in ONWARD if line[1:2] == (neighbour(line[0], d),)), None) for line in LINES
)
"""The direction of each line from its head; None for a single cell."""

NAMES: Final = tuple(f"{COLUMNS[n % SIDE]}{n // SIDE + 1}" for n in range(CELLS))
"""The name of each cell."""
NUMBERS: Final = {name: number for number, name in enumerate(NAMES)}

_WRITTEN: Final = re.compile(r"\s*([a-l][0-9]{1,2})\s*(?:-\s*([a-l][0-9]{1,2})\s*)?", re.IGNORECASE)


def parse_row(written: str) -> tuple[int, ...] | None:
    """Parse a cell, ``f7``, or a straight row of cells of any length, ``f7-k7``.

    Returns the cells in the written order, or None if the text is invalid.
    """
    match = _WRITTEN.fullmatch(written)
    ends = [NUMBERS.get(name.lower()) for name in match.groups() if name] if match else []
    if not ends or None in ends:
        return None
    first, last = ends[0], ends[-1]
    assert first is not None
    if first == last:
        return (first,)
    ways = (walk(first, length, d) for d in DIRECTIONS for length in range(2, SIDE + 1))
    return next((way for way in ways if way is not None and way[-1] == last), None)


def components(cells: frozenset[int]) -> list[tuple[int, ...]]:
    """Return the connected components of a set of cells, the largest first."""
    left, parts = set(cells), []
    while left:
        part = [left.pop()]
        for cell in part:  # extended during the loop
            near = left.intersection(neighbours(cell))
            left -= near
            part += sorted(near)
        parts.append(tuple(sorted(part)))
    return sorted(parts, key=lambda part: (-len(part), part))
