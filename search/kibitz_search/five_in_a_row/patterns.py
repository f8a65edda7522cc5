"""Tables of the patterns that a color makes on a line by playing a cell.

A line is centered on an empty cell and includes all cells that a five through it can reach: four
cells on either side, or five if exactly five win, because a stone there would make a six. With two
bits per cell (empty, black, white, off the board), its key has 16 or 20 bits.

A pattern describes the line after the color plays the center. It is defined by what one more stone
of the color can achieve:

    =============  ==================================================================
    `FIVE`         five in a row (if exactly five win: not six)
    `OPEN_FOUR`    a five is possible in at least two cells
    `FOUR`         a five is possible in one cell
    `OPEN_THREE`   an open four is possible; `THREE`: a four
    `OPEN_TWO`     an open three is possible; `TWO`: a three
    `OPEN_ONE`     an open two is possible; `ONE`: a two
    `NOTHING`      no five is possible on this line
    =============  ==================================================================

By construction, this includes rows with gaps and excludes rows that can only become too long. For
one color, each cell is occupied by it, empty or blocked, so there are 3^8 or 3^10 lines. Their
patterns are computed once, starting with the most stones, and copied to all keys.

A line *code* also says how free a pattern is: in how many cells one more stone makes the next
pattern of an open row. `SPLITS` divides open threes, twos and ones by this number.
"""

from __future__ import annotations

import functools

import numpy as np

Array = np.ndarray

NOTHING, ONE, OPEN_ONE, TWO, OPEN_TWO, THREE, OPEN_THREE, FOUR, OPEN_FOUR, FIVE = range(10)
SPLITS = {OPEN_ONE: (5,), OPEN_TWO: (3, 4), OPEN_THREE: (2,)}
"""The numbers of cells from which on a pattern has a code of its own, by pattern."""
PATTERN_OF_CODE = tuple(
    pattern for pattern in range(FIVE + 1) for _ in range(1 + len(SPLITS.get(pattern, ())))
)
"""The pattern of each line code; a higher code of a pattern is freer."""
CODES = len(PATTERN_OF_CODE)
EMPTY, OWN, BLOCKED = range(3)
"""The contents of a cell from the perspective of one color."""


def reach(exact: bool) -> int:
    """Return the number of cells of a line on each side of its center."""
    return 5 if exact else 4


@functools.cache
def lines(exact: bool) -> Array:
    """Return all lines, uint8 [3^(2r), 2r + 1], with `OWN` in the center.

    Row n contains the digits of n in base 3, the least significant digit first.
    """
    r = reach(exact)
    numbers = np.arange(3 ** (2 * r))[:, None] // 3 ** np.arange(2 * r) % 3
    return np.insert(numbers, r, OWN, axis=1).astype(np.uint8)


def longest(rows: Array) -> Array:
    """Return the length of the run of the color's stones through the center of each line."""
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
    """Return the patterns of the lines `at`; `found` has those of lines with one more stone."""
    fives, best = np.zeros(len(at), np.int64), np.zeros(len(at), np.int64)
    for i in range(cells.shape[1]):
        empty = cells[at, i] == EMPTY
        after = np.where(empty, found[np.where(empty, at + 3**i, 0)], NOTHING)
        fives += after == FIVE
        best = np.maximum(best, np.where(after == FIVE, 0, after))
    # One stone turns a three into a four, and an open three into an open four.
    later = np.maximum(best - 2, NOTHING)
    return np.where(fives > 1, OPEN_FOUR, np.where(fives == 1, FOUR, later))


@functools.cache
def codes(exact: bool) -> Array:
    """Return the code of each line of `lines`, uint8 [3^(2r)]."""
    found = patterns(exact)
    cells = np.delete(lines(exact), reach(exact), axis=1)
    code: Array = np.array([PATTERN_OF_CODE.index(pattern) for pattern in range(FIVE + 1)])[found]
    code = code.astype(np.uint8)
    for pattern, limits in SPLITS.items():
        at = np.flatnonzero(found == pattern)
        ways = sum(
            (cells[at, i] == EMPTY) & (found[np.minimum(at + 3**i, len(found) - 1)] == pattern + 2)
            for i in range(cells.shape[1])
        )
        code[at] += np.searchsorted(limits, ways, side="right").astype(np.uint8)
    return code


def spread(codes: Array, exact: bool) -> Array:
    """Return a table by key, uint8 [4^(2r)]: black's code in the low half, white's in the high
    half.

    `codes` are the codes of `lines`, below 16. The lowest two bits of a key are the leftmost cell:
    0 empty, 1 black, 2 white, 3 off the board.
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
    """Return the four codes in each combination of four directions, uint8 [65536, 4]."""
    return (np.arange(65536)[:, None] >> np.arange(0, 16, 4) & 15).astype(np.uint8)
