"""The board: cells on a padded row of bytes, their names, and the lines that a five can lie on.

A cell at column `x` and row `y`, both from 0 at the top left, has the index
``ORIGIN + y*PITCH + x``, whatever the size of the board. Around the board is a border of `REACH`
places, as far as a five through a cell can reach, so that no walk along a line tests for borders.
The border to the right of a row is the border to the left of the next.

A cell's name is the letter of its column and the number of its row from 1: ``a1`` is the corner at
the top left, 0,0 in the protocol of the Gomocup. No letter is left out.
"""

from __future__ import annotations

import re

SMALLEST = 5
LARGEST = 20
REACH = 4
"""A five through a cell lies within so many cells on either side."""
PITCH = LARGEST + REACH
ORIGIN = REACH * PITCH + REACH
CELLS = (LARGEST + 2 * REACH) * PITCH + REACH
STEPS = (1, PITCH, PITCH + 1, PITCH - 1)
"""From a cell to the next one: along a row, down a column, down right, down left."""


def cell(x: int, y: int) -> int:
    """Return the index of a cell."""
    return ORIGIN + y * PITCH + x


def place(index: int) -> tuple[int, int]:
    """Return column and row of a cell."""
    y, x = divmod(index - ORIGIN, PITCH)
    return x, y


def name(x: int, y: int) -> str:
    """Return the name of a cell: ``h8`` for column 7 and row 7."""
    return f"{chr(ord('a') + x)}{y + 1}"


def read(text: str) -> tuple[int, int] | None:
    """Return column and row of a named cell, ignoring case; None if it is on no board."""
    match = re.fullmatch(r"\s*([a-t])([1-9]|1[0-9]|20)\s*", text.lower(), re.ASCII)
    return None if match is None else (ord(match[1]) - ord("a"), int(match[2]) - 1)


def board(size: int) -> tuple[int, ...]:
    """Return all cells, row by row."""
    return tuple(cell(x, y) for y in range(size) for x in range(size))


def lines(size: int) -> tuple[tuple[int, int, int], ...]:
    """Return the lines with room for a five: first cell, step to the next, number of cells."""
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
    """Return every five cells in a row."""
    return tuple(
        tuple(first + (start + i) * step for i in range(5))
        for first, step, length in lines(size)
        for start in range(length - 4)
    )
