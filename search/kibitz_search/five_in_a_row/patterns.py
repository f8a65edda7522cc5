"""Tables of the patterns on a line through a cell, for the color that plays there.

A line is seen from an empty cell, its center, as far as a five through it can reach: four cells
to either side, and one more where exactly five win, because a stone there would make a six. With
two bits a cell (empty, black, white, off the board) that is a key of 16 or 20 bits.

A pattern is what the line becomes when the color plays the center. It is defined by what one more
stone of the color makes of it:

    =============  ==================================================================
    `FIVE`         five in a row (where exactly five win: not six)
    `OPEN_FOUR`    a five is next in at least two cells
    `FOUR`         a five is next in one cell
    `OPEN_THREE`   an open four is next, `THREE` a four
    `OPEN_TWO`     an open three is next, `TWO` a three
    `OPEN_ONE`     an open two is next, `ONE` a two
    `NOTHING`      no five is left on this line
    =============  ==================================================================

So rows with gaps are included by construction, and rows that can only become too long are not. To
one color a cell is its own, empty or blocked, which makes 3^8 or 3^10 lines. Their patterns are
computed once, beginning with the most stones, and copied to all keys.
"""

from __future__ import annotations

import functools

import numpy as np

Array = np.ndarray

NOTHING, ONE, OPEN_ONE, TWO, OPEN_TWO, THREE, OPEN_THREE, FOUR, OPEN_FOUR, FIVE = range(10)
EMPTY, OWN, BLOCKED = range(3)
"""A cell of a line as one color sees it."""


def reach(exact: bool) -> int:
    """Return how far from its center a line is seen."""
    return 5 if exact else 4


@functools.cache
def lines(exact: bool) -> Array:
    """Return all lines, uint8 [3^(2r), 2r + 1], with `OWN` in the center.

    Row number n has the digits of n in base 3, the lowest one being the leftmost cell.
    """
    r = reach(exact)
    numbers = np.arange(3 ** (2 * r))[:, None] // 3 ** np.arange(2 * r) % 3
    return np.insert(numbers, r, OWN, axis=1).astype(np.uint8)


def longest(rows: Array) -> Array:
    """Return how many stones in a row the centers of lines belong to."""
    r = rows.shape[1] // 2
    left = np.cumprod(rows[:, r::-1] == OWN, axis=1).sum(axis=1)
    right = np.cumprod(rows[:, r:] == OWN, axis=1).sum(axis=1)
    length: Array = left + right - 1
    return length


@functools.cache
def patterns(exact: bool) -> Array:
    """Return the pattern of each line of `lines`, uint8 [3^(2r)]."""
    rows = lines(exact)
    length = longest(rows)
    cells = np.delete(rows, reach(exact), axis=1)
    own = (cells == OWN).sum(axis=1)
    found = np.where(length == 5 if exact else length >= 5, FIVE, NOTHING).astype(np.uint8)
    for stones in range(cells.shape[1] - 1, -1, -1):
        at = np.flatnonzero((own == stones) & (found != FIVE))
        found[at] = _by_next(found, cells, at)
    return found


def _by_next(found: Array, cells: Array, at: Array) -> Array:
    """Return the patterns of the lines `at`, those with one more stone being known."""
    fives, best = np.zeros(len(at), np.int64), np.zeros(len(at), np.int64)
    for i in range(cells.shape[1]):
        empty = cells[at, i] == EMPTY
        after = np.where(empty, found[np.where(empty, at + 3**i, 0)], NOTHING)
        fives += after == FIVE
        best = np.maximum(best, np.where(after == FIVE, 0, after))
    later = np.maximum(best - 2, NOTHING)  # a four makes a three, an open four an open three
    return np.where(fives > 1, OPEN_FOUR, np.where(fives == 1, FOUR, later))


def spread(codes: Array, exact: bool) -> Array:
    """Return a table over keys, uint8 [4^(2r)]: black's code, and white's in the upper half.

    `codes` are for the lines of `lines`, below 16. The lowest two bits of a key are the leftmost
    cell: 0 empty, 1 black, 2 white, 3 off the board.
    """
    n = 2 * reach(exact)
    halves = []
    for colours in ((EMPTY, OWN, BLOCKED, BLOCKED), (EMPTY, BLOCKED, OWN, BLOCKED)):
        numbers = np.zeros(1, np.int64)
        for i in range(n):
            numbers = (np.array(colours)[:, None] * 3**i + numbers).ravel()
        halves.append(codes[numbers])
    table: Array = halves[0] | halves[1] << np.uint8(4)
    return table


def four_directions() -> Array:
    """Return the codes of the four directions for each of their combinations, uint8 [65536, 4]."""
    return (np.arange(65536)[:, None] >> np.arange(0, 16, 4) & 15).astype(np.uint8)
