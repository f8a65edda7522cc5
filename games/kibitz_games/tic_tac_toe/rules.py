"""The rules: ``board[row, column]`` is 0 for an empty cell, otherwise 1 + the piece's seat.

Row 0 is at the top. An action is a cell, ``row * SIDE + column``.
"""

from __future__ import annotations

import numpy as np

from kibitz_games.compiled import kernels, operations
from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.compiled.operations import Moves, Planes, Record
from kibitz_games.compiled.snapshot import end_play, state_type

i64 = kernels.int64_cast()

SIDE = 3
CELLS = SIDE * SIDE
LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))
END_LINE, END_FULL = 1, 2
BOARD = ("board", np.uint8, (SIDE, SIDE))
STATE = state_type("tic_tac_toe", position=[BOARD], max_plies=CELLS, source=__file__)


@kernel
def generate(st: Record, moves: Moves) -> Int:
    """Write the empty cells, or none if the match is over."""
    n = i64(0)
    for cell in range(CELLS):
        if st.side >= 0 and st.board[cell // SIDE, cell % SIDE] == 0:
            moves[n] = cell
            n += 1
    return n


@kernel
def has_line(st: Record, seat: Int) -> bool:
    """Return whether three pieces of a seat are in a row, a column or a diagonal."""
    for line in LINES:
        n = i64(0)
        for cell in line:
            n += st.board[cell // SIDE, cell % SIDE] == 1 + seat
        if n == SIDE:
            return True
    return False


@kernel
def apply(st: Record, m: Int) -> None:
    """Put a piece on a cell, and end the match if it makes three in a line or fills the board."""
    seat = i64(st.side)
    st.board[m // SIDE, m % SIDE] = 1 + seat
    st.side = 1 - seat
    if st.ply == CELLS - 1:
        end_play(st, END_FULL, -1)
    if has_line(st, seat):
        end_play(st, END_LINE, seat)


@kernel
def observe(st: Record, seat: Int, out: Planes) -> None:
    """Write a plane for each seat, the seat to observe first."""
    for cell in range(CELLS):
        piece = i64(st.board[cell // SIDE, cell % SIDE])
        out[cell] = piece == 1 + seat
        out[CELLS + cell] = piece == 2 - seat


@kernel
def num_dense(st: Record) -> Int:
    """Return the number of cells."""
    return i64(CELLS)


operations.implement(
    STATE,
    max_actions=CELLS,
    generate=generate,
    apply=apply,
    observe=observe,
    num_dense=num_dense,
)
