"""The view as JSON, written by a kernel; byte for byte the JSON of `models.view`."""

from __future__ import annotations

import numpy as np

from kibitz_games.compiled.calls import StateArray
from kibitz_games.compiled.kernels import Int, int64_cast, kernel
from kibitz_games.compiled.operations import Record
from kibitz_games.compiled.text import Text, choice, constant, put, put_int, put_one
from kibitz_games.five_in_a_row import geometry as geo
from kibitz_games.five_in_a_row import rules

i64 = int64_cast()

_SIZE, _EXACT = constant(b'{"options":{"size":'), constant(b',"exact":')
_FIRST = constant(b',"first":"')
_FIRSTS, _FIRSTS_AT = choice([rule.encode() for rule in rules.FIRSTS])
_DEAD_DRAW, _PLACED = constant(b'","dead_board_draw":'), constant(b',"opening":[')
_SWAP, _OPTIONS_END = constant(b'],"swap":'), constant(b"}")
_BOOLS, _BOOLS_AT = choice([b"false", b"true"])
_PLY, _TO_ACT, _OVER = constant(b',"ply":'), constant(b',"to_act":'), constant(b',"over":"')
_WINNER, _OPENER = constant(b'","winner":'), constant(b',"opener":')
_QUOTE = constant(b'"')
_BLACK_FIRST = constant(b',"colours":["black","white"]')
_WHITE_FIRST = constant(b',"colours":["white","black"]')
_BOARD, _MOVES, _OPENING = (
    constant(b',"board":["'),
    constant(b'"],"moves":['),
    constant(b'],"opening":'),
)
_NEXT_ROW = constant(b'","')
_TOOK_BLACK = constant(b',"last":{"colour":"black"}')
_TOOK_WHITE = constant(b',"last":{"colour":"white"}')
_LAST_X, _LAST_Y, _LAST_END = constant(b',"last":{"x":'), constant(b',"y":'), constant(b"}")
_LINE, _LIST_END, _END = constant(b',"line":['), constant(b"]"), constant(b"}")
_REASONS, _REASONS_AT = choice([reason.encode() for reason in rules.REASONS])
_STONES = constant(b".xo")
_BRACKET, _BRACKET_END, _COMMA, _MARK, _A = (ord(mark) for mark in '[],"a')

_CELL_CHARS = len("[19,19],")
SIZE = (
    512  # parts of fixed length, under 400
    + geo.LARGEST * (geo.LARGEST + len('","'))
    + (2 * rules.MOST + geo.LARGEST) * _CELL_CHARS  # an opening, the stones, the winning row
)
"""An upper bound on the length of a view."""


@kernel
def _put_cell(out: Text, at: Int, cell: Int) -> Int:
    """Write the column and row of a cell as a list."""
    y = (cell - geo.ORIGIN) // geo.PITCH
    out[at] = _BRACKET
    at = put_int(out, at + 1, cell - geo.ORIGIN - y * geo.PITCH)
    out[at] = _COMMA
    at = put_int(out, at + 1, y)
    out[at] = _BRACKET_END
    return at + 1


@kernel
def _put_name(out: Text, at: Int, cell: Int) -> Int:
    """Write the name of a cell as a string: the letter of its column and its row from 1."""
    y = (cell - geo.ORIGIN) // geo.PITCH
    out[at] = _MARK
    out[at + 1] = _A + cell - geo.ORIGIN - y * geo.PITCH
    at = put_int(out, at + 2, y + 1)
    out[at] = _MARK
    return at + 1


@kernel
def _put_bool(out: Text, at: Int, value: Int) -> Int:
    return put_one(out, at, _BOOLS, _BOOLS_AT, value)


@kernel
def _put_options(st: Record, out: Text, at: Int) -> Int:
    """Write the options."""
    at = put_int(out, put(out, at, _SIZE), st.width)
    at = put(out, _put_bool(out, put(out, at, _EXACT), st.exact), _FIRST)
    at = put_one(out, at, _FIRSTS, _FIRSTS_AT, st.first)
    at = put(out, _put_bool(out, put(out, at, _DEAD_DRAW), st.dead_draw), _PLACED)
    history = st.history
    for i in range(st.placed):
        if i > 0:
            out[at] = _COMMA
            at += 1
        at = _put_name(out, at, i64(history[i]))
    return put(out, _put_bool(out, put(out, at, _SWAP), st.swap), _OPTIONS_END)


@kernel
def _put_end(st: Record, out: Text, at: Int) -> Int:
    """Write the reason for the end and the winner."""
    if st.end == 0:
        return at
    at = put_one(out, put(out, at, _OVER), _REASONS, _REASONS_AT, st.end)
    if st.winner < 0:
        return put(out, at, _QUOTE)
    return put_int(out, put(out, at, _WINNER), st.winner)


@kernel
def _put_board(st: Record, out: Text, at: Int) -> Int:
    """Write the rows of the board, and the stones in playing order."""
    board, history = st.board, st.history
    at = put(out, at, _BOARD)
    for y in range(st.width):
        if y > 0:
            at = put(out, at, _NEXT_ROW)
        first = i64(geo.ORIGIN + y * geo.PITCH)
        for cell in range(first, first + st.width):
            out[at] = _STONES[board[cell]]
            at += 1
    at = put(out, at, _MOVES)
    for i in range(st.stones):
        if i > 0:
            out[at] = _COMMA
            at += 1
        at = _put_cell(out, at, i64(history[i]))
    return at


@kernel
def _put_last(st: Record, out: Text, at: Int) -> Int:
    """Write the last action, if any: a chosen color or a stone."""
    if st.swap != 0 and st.unsettled == 0 and st.stones == rules.SWAP_STONES:
        return put(out, at, _TOOK_BLACK if st.black != st.opener else _TOOK_WHITE)
    if st.ply == 0:
        return at
    cell = i64(st.history[st.stones - 1])
    y = (cell - geo.ORIGIN) // geo.PITCH
    at = put_int(out, put(out, at, _LAST_X), cell - geo.ORIGIN - y * geo.PITCH)
    return put(out, put_int(out, put(out, at, _LAST_Y), y), _LAST_END)


@kernel
def _put_line(st: Record, out: Text, at: Int) -> Int:
    """Write the winning row, if any."""
    if st.end != rules.END_FIVE:
        return at
    cells = np.empty(geo.LARGEST, np.int32)
    at = put(out, at, _LINE)
    for i in range(rules.winning_row(st, cells)):
        if i > 0:
            out[at] = _COMMA
            at += 1
        at = _put_cell(out, at, i64(cells[i]))
    return put(out, at, _LIST_END)


@kernel
def write_view(states: StateArray, out: Text) -> Int:
    """Write the view; return the length."""
    st = states[0]
    at = put_int(out, put(out, _put_options(st, out, i64(0)), _PLY), st.ply)
    at = put_int(out, put(out, at, _TO_ACT), st.side)
    at = _put_end(st, out, at)
    at = put_int(out, put(out, at, _OPENER), st.opener)
    if st.unsettled == 0:
        at = put(out, at, _BLACK_FIRST if st.black == 0 else _WHITE_FIRST)
    at = put_int(out, put(out, _put_board(st, out, at), _OPENING), st.placed)
    return put(out, _put_line(st, out, _put_last(st, out, at)), _END)
