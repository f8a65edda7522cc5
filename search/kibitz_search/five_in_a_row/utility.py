"""The utility of a stone, as defined in the report "5 in a Row - Tic Tac Toe (10 x 10 Grid)".

The report examines the four lines through the stone. A *live* N is an unbroken row of N with both
ends open, a *sleep* N one with one end open. A *tricky five* is four stones in a window of five
with the gap inside; windows with the same gap count once. The first matching row of its table gives
the utility:

    =============  ========================================================  =======  ===========
    row            what the stone makes                                      own      the other's
    =============  ========================================================  =======  ===========
    `FIVE`         a five                                                    500000   400000
    `WINNING`      live 4; two sleep 4; two tricky; tricky + sleep 4;        100000   90000
                   tricky + two live 3; live 3 + sleep 4
    `LIVE_THREES`  two live 3                                                40000    30000
    `BOTH_THREES`  sleep 3 + live 3                                          10000    9000
    `SLEEP_FOUR`   sleep 4                                                   4000     3000
    `TRICKY`       tricky                                                    3999     2999
    `LIVE_THREE`   live 3                                                    1000     900
    `LIVE_TWOS`    two live 2                                                400      300
    `SLEEP_THREE`  sleep 3                                                   100      90
    `SLEEP_TWOS`   two sleep 2                                               40       30
    `LIVE_TWO`     live 2                                                    10       9
    `SLEEP_TWO`    sleep 2                                                   4        3
    center         the middle of an empty board                              1
    =============  ========================================================  =======  ===========

The last column applies to what a stone of the *other* color would have made in the same cell; the
report's first level tests it after each row for the stone's own color. Because the numbers decrease
in the order of the tests, the utility is the larger of the two. The last column is used only for a
candidate stone. In minimax, it would reward the opponent for answering each threat, so neither side
would ever make a threat. If exactly five win, longer rows match no row of the table.

Two bugs in the report's listing are not reproduced: one test for a tricky five checks the wrong
stone, and a test that returns early leaves its trial stone on the board.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from kibitz_games.compiled import kernels
from kibitz_search.five_in_a_row import pattern_board, patterns

(
    NOTHING,
    SLEEP_TWO,
    LIVE_TWO,
    SLEEP_TWOS,
    SLEEP_THREE,
    LIVE_TWOS,
    LIVE_THREE,
    TRICKY,
    SLEEP_FOUR,
    BOTH_THREES,
    LIVE_THREES,
    WINNING,
    FIVE,
) = range(13)

OWN = (0, 4, 10, 40, 100, 400, 1000, 3999, 4000, 10_000, 40_000, 100_000, 500_000)
OTHER = (0, 3, 9, 30, 90, 300, 900, 2999, 3000, 9000, 30_000, 90_000, 400_000)
CENTRE = 1

UTILITIES = kernels.record_type(
    "report_utilities",
    [
        ("own", np.int64, (pattern_board.CLASSES,)),
        ("other", np.int64, (pattern_board.CLASSES,)),
        ("centre", np.int64),
    ],
    source=__file__,
)


def usual(state: np.record) -> np.record:
    """Return both columns of the report's table."""
    ev: Any = kernels.new(UTILITIES)
    ev.own[: len(OWN)], ev.other[: len(OTHER)], ev.centre = OWN, OTHER, CENTRE
    record: np.record = ev
    return record


# Line codes. The code of a line is the kind of its row, plus 6 if there is a gap to fill. A line
# with a winning row or a five has a code of its own, regardless of gaps.
_SLEEP_TWO, _LIVE_TWO, _SLEEP_THREE, _LIVE_THREE, _SLEEP_FOUR = range(1, 6)
_WITH_GAP, _WINS, _FIVE = 6, 12, 13


def along(exact: bool) -> np.ndarray:
    """Return the code of each line in `patterns.lines`, uint8 [3^(2r)]."""
    rows = patterns.lines(exact)
    length, ends, gaps = patterns.longest(rows), _open_ends(rows), _gaps(rows)
    conditions = [
        length == 5 if exact else length >= 5,
        (length == 4) & (ends == 2) | (gaps > 1),
        (length == 4) & (ends == 1),
        (length == 3) & (ends == 2),
        (length == 3) & (ends == 1),
        (length == 2) & (ends == 2),
        (length == 2) & (ends == 1),
    ]
    kinds = [_FIVE, _WINS, _SLEEP_FOUR, _LIVE_THREE, _SLEEP_THREE, _LIVE_TWO, _SLEEP_TWO]
    code = np.select(conditions, kinds, 0)
    with_gap: np.ndarray = np.where((code < _WITH_GAP) & (gaps == 1), code + _WITH_GAP, code)
    return with_gap.astype(np.uint8)


def _open_ends(rows: np.ndarray) -> np.ndarray:
    """Return the number of open ends of the row through the center of each line."""
    r, at = rows.shape[1] // 2, np.arange(len(rows))
    ends = np.zeros(len(rows), np.int64)
    for half in (rows[:, r::-1], rows[:, r:]):
        beyond = np.cumprod(half == patterns.OWN, axis=1).sum(axis=1)
        there = half[at, np.minimum(beyond, r)]
        ends += (beyond <= r) & (there == patterns.EMPTY)
    return ends


def _gaps(rows: np.ndarray) -> np.ndarray:
    """Return the number of cells in each line that are inner gaps of tricky fives."""
    r = rows.shape[1] // 2
    gap = np.zeros(rows.shape, bool)
    for start in range(r - 4, r + 1):
        window = rows[:, start : start + 5]
        four = (window == patterns.OWN).sum(axis=1) == 4
        for i in (1, 2, 3):
            gap[:, start + i] |= four & (window[:, i] == patterns.EMPTY)
    count: np.ndarray = gap.sum(axis=1)
    return count


def together() -> np.ndarray:
    """Return the table row of each shape in `pattern_board.shapes`, uint8 [SHAPES]."""
    four = pattern_board.shapes()
    low = np.where(four < _WITH_GAP, four, four - _WITH_GAP)

    def number(kind: int) -> np.ndarray:
        found: np.ndarray = ((low == kind) & (four < _WINS)).sum(axis=1)
        return found

    tricky = ((four >= _WITH_GAP) & (four < _WINS)).sum(axis=1)
    sleep_4, live_3, sleep_3 = number(_SLEEP_FOUR), number(_LIVE_THREE), number(_SLEEP_THREE)
    live_2, sleep_2 = number(_LIVE_TWO), number(_SLEEP_TWO)
    winning = (four == _WINS).any(axis=1) | (sleep_4 >= 2) | (tricky >= 2)
    winning |= (tricky >= 1) & ((sleep_4 >= 1) | (live_3 >= 2))
    winning |= (live_3 >= 1) & (sleep_4 >= 1)
    cases = [
        ((four == _FIVE).any(axis=1), FIVE),
        (winning, WINNING),
        (live_3 >= 2, LIVE_THREES),
        ((sleep_3 >= 1) & (live_3 >= 1), BOTH_THREES),
        (sleep_4 >= 1, SLEEP_FOUR),
        (tricky >= 1, TRICKY),
        (live_3 >= 1, LIVE_THREE),
        (live_2 >= 2, LIVE_TWOS),
        (sleep_3 >= 1, SLEEP_THREE),
        (sleep_2 >= 2, SLEEP_TWOS),
        (live_2 >= 1, LIVE_TWO),
        (sleep_2 >= 1, SLEEP_TWO),
    ]
    conditions, rows = zip(*cases, strict=True)
    found: np.ndarray = np.select(conditions, rows, NOTHING)
    return found.astype(np.uint8)


@functools.cache
def vocabulary(exact: bool) -> np.record:
    """Return the lookup tables for boards; they are never modified."""
    return pattern_board.tables(along(exact), together(), exact)
