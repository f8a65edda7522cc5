"""The board: cells in a padded byte array, their names, and the lines that can contain a five.

A cell at column `x` and row `y`, both from 0 at the top left, has the index ``ORIGIN + y*PITCH +
x`` for every board size. The border around the board is `REACH` cells wide, the reach of a five
through a cell, so loops along a line need no bounds checks. The right border of a row is the left
border of the next.

A cell's name is the letter of its column and the number of its row from 1: ``a1`` is the top left
corner, 0,0 in the Gomocup protocol. Unlike in Go, the letter i is used.
"""

from __future__ import annotations

import re

SMALLEST = 5
LARGEST = 20
REACH = 4
"""The maximum distance from a cell to the end of a five through it."""
PITCH = LARGEST + REACH
ORIGIN = REACH * PITCH + REACH
CELLS = (LARGEST + 2 * REACH) * PITCH + REACH
STEPS = (1, PITCH, PITCH + 1, PITCH - 1)
"""The steps from a cell to the next: right, down, down right, down left."""


def cell(x: int, y: int) -> int:
    """Return the index of a cell."""
    return ORIGIN + y * PITCH + x


def place(index: int) -> tuple[int, int]:
    """Return the column and row of a cell."""
    y, x = divmod(index - ORIGIN, PITCH)
    return x, y


def name(x: int, y: int) -> str:
    """Return the name of a cell: ``h8`` for column 7 and row 7."""
    return f"{chr(ord('a') + x)}{y + 1}"


def read(text: str) -> tuple[int, int] | None:
    """Return the column and row of a named cell, ignoring case, or None if the name is invalid."""
    match = re.fullmatch(r"\s*([a-t])([1-9]|1[0-9]|20)\s*", text.lower(), re.ASCII)
    return None if match is None else (ord(match[1]) - ord("a"), int(match[2]) - 1)


def board(size: int) -> tuple[int, ...]:
    """Return all cells, row by row."""
    return tuple(cell(x, y) for y in range(size) for x in range(size))


def lines(size: int) -> tuple[tuple[int, int, int], ...]:
    """Return all lines of at least five cells: first cell, step to the next, number of cells."""
    inside, found = set(board(size)), []
    for step in STEPS:
        for first in sorted(inside):
            if first - step not in inside:
                length = 1
                while first + length * step in inside:
                    length += 1
                found.append((first, step, length))
    return tuple(line for line in found if line[2] >= 5)


def windows(size: int) -> tuple[tuple[int, ...], ...]:
    """Return all runs of five adjacent cells."""
    return tuple(
        tuple(first + (start + i) * step for i in range(5))
        for first, step, length in lines(size)
        for start in range(length - 4)
    )
