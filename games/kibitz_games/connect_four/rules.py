"""The rules: ``board[row, column]`` is 0 for an empty cell, otherwise 1 + the piece's seat.

Row 0 is at the top. An action is the column that a piece is dropped into.
"""

from __future__ import annotations

import numpy as np

from kibitz_games.compiled import kernels, operations
from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.compiled.operations import Moves, Planes, Record
from kibitz_games.compiled.snapshot import end_play, state_type

i64 = kernels.int64_cast()

ROWS, COLUMNS = 6, 7
CELLS = ROWS * COLUMNS
DIRECTIONS = ((0, 1), (1, 0), (1, 1), (1, -1))
END_FOUR, END_FULL = 1, 2
BOARD = ("board", np.uint8, (ROWS, COLUMNS))
STATE = state_type("connect_four", position=[BOARD], max_plies=CELLS, source=__file__)


@kernel
def generate(st: Record, moves: Moves) -> Int:
    """Write the columns that are not full, or none if the match is over."""
    n = i64(0)
    for column in range(COLUMNS):
        if st.side >= 0 and st.board[0, column] == 0:
            moves[n] = column
            n += 1
    return n


@kernel
def _run(st: Record, row: Int, column: Int, down: Int, right: Int) -> Int:
    """Count the pieces of the same seat that follow a cell in a direction."""
    n = i64(0)
    y, x = row + down, column + right
    while 0 <= y < ROWS and 0 <= x < COLUMNS and st.board[y, x] == st.board[row, column]:
        n += 1
        y, x = y + down, x + right
    return n


@kernel
def apply(st: Record, m: Int) -> None:
    """Drop a piece into a column, and end the match if it makes four or fills the board."""
    seat, row = i64(st.side), i64(ROWS - 1)
    while st.board[row, m] != 0:
        row -= 1
    st.board[row, m] = 1 + seat
    st.side = 1 - seat
    if st.ply == CELLS - 1:
        end_play(st, END_FULL, -1)
    for down, right in DIRECTIONS:
        if _run(st, row, m, down, right) + _run(st, row, m, -down, -right) >= 3:
            end_play(st, END_FOUR, seat)


@kernel
def observe(st: Record, seat: Int, out: Planes) -> None:
    """Write a plane for each seat, the seat to observe first."""
    for row in range(ROWS):
        for column in range(COLUMNS):
            place, piece = row * COLUMNS + column, i64(st.board[row, column])
            out[place] = piece == 1 + seat
            out[CELLS + place] = piece == 2 - seat


@kernel
def num_dense(st: Record) -> Int:
    """Return the number of columns."""
    return i64(COLUMNS)


operations.implement(
    STATE,
    max_actions=COLUMNS,
    generate=generate,
    apply=apply,
    observe=observe,
    num_dense=num_dense,
)
