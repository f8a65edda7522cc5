"""The evaluation for five in a row, by the rows of both colors and the side to move.

Rows are named as in the report "5 in a Row": a *live* row of N can grow at both ends, a *sleep* row
at one end only. Here, rows are found with windows of five adjacent cells. A window with N stones of
one color and none of the other is a row of N. The row is live if the next window along the line
contains the same stones, with an empty cell on either side. Broken rows (``x.xx``) therefore count
as the rows that they can become. If exactly five are required, windows that could only become
longer rows are ignored. Each line counts once, with its best row. In addition, each window has a
small value by its number of stones, which attracts stones to the center and to each other.

A row has a higher value for the color to move: its four wins immediately, while the other color's
four can still be blocked. A *verdict* is the fixed value of a position with a decisive threat; the
first that matches applies:

    ==================  ==============================================================
    `MOVER_FOUR`        the mover has a four and makes a five next
    `WAITING_FORK`      the opponent can complete a five in two cells, but only one can be blocked
    `WAITING_PAIR`      the opponent has a four, which must be blocked, and a live three
    `MOVER_THREE`       the mover has a live three and no four to block, and makes a live four next
    `WAITING_THREES`    the opponent has two live threes
    ==================  ==============================================================

All weights are data and whole numbers, so that equal positions have exactly equal values. The
values for both seats add up to zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kibitz_games.compiled import kernels, operations
from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.five_in_a_row import geometry as geo
from kibitz_games.five_in_a_row import rules
from kibitz_search.algorithms.result import WIN_SCORE

i64 = kernels.int64_cast()

LINES = 6 * geo.LARGEST
TWO, LIVE_TWO, THREE, LIVE_THREE, FOUR = 4, 5, 6, 7, 8
ROWS = 10
"""The number of row kinds: a row of N stones has kind 2N, a live one 2N + 1."""
MOVER_FOUR, WAITING_FORK, WAITING_PAIR, MOVER_THREE, WAITING_THREES = range(5)

WEIGHTS = kernels.record_type(
    "row_weights",
    [
        ("verdicts", np.float64, (5,)),
        ("mover", np.float64, (ROWS,)),  # value of a line's best row for the color to move
        ("waiting", np.float64, (ROWS,)),  # the same for the other color
        ("windows", np.float64, (5,)),  # value of a window by its number of stones
        ("count", np.int32),
        ("lines", np.int32, (LINES, 3)),  # first cell, step, cells
    ],
    source=__file__,
)


@kernel
def _hole(st: Any, start: Int, step: Int) -> Int:
    """Return the empty cell of a window with four stones."""
    cell = i64(start)
    while st.board[cell] != rules.EMPTY:
        cell += step
    return cell


@kernel
def _best(st: Any, line: Any, colour: Int, five: Any, windows: Any) -> Int:
    """Return a color's best row on a line.

    Counts windows by stones in `windows`. ``five[0]`` receives a cell that completes a five, and
    ``five[1]`` the number of such cells so far, at most 2.
    """
    board = st.board
    step, length = i64(line[1]), i64(line[2])
    exact = st.exact != 0
    best = i64(0)
    before, own, foreign = i64(-1), i64(0), i64(0)  # `before` is the stone count of the last window
    cell = i64(line[0])
    for k in range(length):
        stone = i64(board[cell])
        own += i64(stone == colour)
        foreign += i64(stone == 3 - colour)
        if k >= 4:
            start = cell - 4 * step
            barred = exact and (board[start - step] == colour or board[cell + step] == colour)
            if foreign == 0 and not barred:
                windows[own] += 1
                live = before == own and stone == 0 and board[start - step] == 0
                best = max(best, 2 * own + i64(live))
                before = own
                if own == 4:
                    hole = _hole(st, start, step)
                    five[1] = 1 if five[1] == 0 or (five[1] == 1 and five[0] == hole) else 2
                    five[0] = hole
            else:
                before = i64(-1)
            stone = i64(board[start])
            own -= i64(stone == colour)
            foreign -= i64(stone == 3 - colour)
        cell += step
    return best


@kernel
def count_rows(ev: Any, st: Any, colour: Int, rows: Any, windows: Any) -> Int:
    """Count a color's lines by best row, and its windows by number of stones.

    Returns the number of cells in which the color can complete a five, at most 2.
    """
    five = np.zeros(2, np.int64)
    for i in range(ev.count):
        rows[_best(st, ev.lines[i], colour, five, windows)] += 1
    return i64(five[1])


@kernel
def _first_verdict(ev: Any, mover: Any, ours: Int, waiting: Any, theirs: Int) -> Any:
    """Return the value of the first matching verdict for the mover, or 0."""
    if ours > 0:
        return ev.verdicts[MOVER_FOUR]
    if theirs > 1:
        return -ev.verdicts[WAITING_FORK]
    if theirs > 0 and waiting[LIVE_THREE] > 0:
        return -ev.verdicts[WAITING_PAIR]
    if theirs == 0 and mover[LIVE_THREE] > 0:
        return ev.verdicts[MOVER_THREE]
    if waiting[LIVE_THREE] > 1:
        return -ev.verdicts[WAITING_THREES]
    return 0.0


@kernel
def _to_mover(ev: Any, st: Any) -> Any:
    """Return the value of the position for the color to place the next stone."""
    colour = i64(rules.BLACK + (i64(st.stones) & 1))
    mover, waiting = np.zeros(ROWS), np.zeros(ROWS)
    own, foreign = np.zeros(6), np.zeros(6)
    ours = count_rows(ev, st, colour, mover, own)
    theirs = count_rows(ev, st, i64(3 - colour), waiting, foreign)
    total = 0.0 + _first_verdict(ev, mover, ours, waiting, theirs)
    for row in range(ROWS):
        total += ev.mover[row] * mover[row] - ev.waiting[row] * waiting[row]
    for stones in range(5):
        total += ev.windows[stones] * (own[stones] - foreign[stones])
    return total


@kernel
def _evaluate(ev: Any, st: Any, seat: Int) -> Any:
    """Return the value of the position for `seat`; the other seat has the negated value.

    Before the colors are chosen, the seat that chooses is assumed to take the better color. A
    balanced position is therefore best for the opener.
    """
    if st.side < 0:
        if st.winner < 0:
            return 0.0
        return WIN_SCORE if st.winner == seat else -WIN_SCORE
    value = 0.0 + _to_mover(ev, st)
    if st.unsettled != 0:
        return -abs(value) if seat == st.opener else abs(value)
    return value if st.side == seat else -value


operations.implement(WEIGHTS, evaluate=_evaluate)


def usual(state: Any) -> np.record:
    """Return the hand-tuned weights for the board of `state`."""
    ev: Any = kernels.new(WEIGHTS)
    ev.verdicts[:] = (100_000, 50_000, 20_000, 10_000, 4_000)
    ev.mover[[TWO, LIVE_TWO, THREE, LIVE_THREE, FOUR]] = (8, 60, 70, 400, 300)
    ev.waiting[[TWO, LIVE_TWO, THREE, LIVE_THREE, FOUR]] = (6, 40, 40, 300, 250)
    ev.windows[:] = (0, 1, 3, 6, 10)
    lines = geo.lines(int(state.width))
    ev.count = len(lines)
    ev.lines[: len(lines)] = lines
    record: np.record = ev
    return record
