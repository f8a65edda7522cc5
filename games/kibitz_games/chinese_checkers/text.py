"""The view and the legal moves as JSON. Kernels write the same bytes as `models`, but faster."""

from __future__ import annotations

from typing import Any

import numpy as np

from kibitz_games.chinese_checkers import geometry as geo
from kibitz_games.chinese_checkers import rules
from kibitz_games.compiled.calls import StateArray
from kibitz_games.compiled.kernels import Int, int64_cast, kernel, kernel_array
from kibitz_games.compiled.operations import Moves, Record
from kibitz_games.compiled.text import (
    Text,
    choice,
    constant,
    put,
    put_int,
    put_ints,
    put_one,
)

i64 = int64_cast()

_BOARD, _SIZE, _PEGS_EACH = (
    constant(b'{"options":{"board":"'),
    constant(b'","size":'),
    constant(b',"pegs":'),
)
_STOP, _PASS, _STICKY = constant(b',"stop":"'), constant(b'","pass":'), constant(b',"sticky_goal":')
_LONG, _WIN, _REPETITION = (
    constant(b',"long_jumps":'),
    constant(b',"win":"'),
    constant(b'","repetition":"'),
)
_OPTIONS_END = constant(b'"},"ply":')
_TO_ACT, _TURN, _OVER = constant(b',"to_act":'), constant(b',"turn":'), constant(b',"over":"')
_QUOTE, _IDLE, _REPEATS = constant(b'"'), constant(b',"idle":'), constant(b',"repeats":')
_PAST, _DIGITS = (
    constant(b',"past":"'),
    constant(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"),
)
_CORNERS, _RANKS, _BEST = (
    constant(b',"corners":['),
    constant(b'],"ranks":['),
    constant(b'],"best":['),
)
_PEGS, _NEXT, _PEGS_END = constant(b'],"pegs":[['), constant(b"],["), constant(b"]]")
_LAST_PASS = constant(b',"last":{"pass":true}')
_LAST_FROM, _TO, _PATH = constant(b',"last":{"from":'), constant(b',"to":'), constant(b',"path":[')
_PATH_END, _END = constant(b"]}"), constant(b"}")
_MOVE_FROM, _MOVE_PASS = constant(b'{"from":'), constant(b'{"pass":true}')
_COMMA, _LIST, _LIST_END, _PADDING = (ord(mark) for mark in ",[]=")

_BOOLS, _BOOLS_AT = choice([b"false", b"true"])
_BOARDS, _BOARDS_AT = choice([board.encode() for board, _ in geo.ALL])
_SIZES: Any = kernel_array(np.array([size for _, size in geo.ALL], np.int32))
_STOPS, _STOPS_AT = choice([rule.encode() for rule in rules.STOPS])
_WINS, _WINS_AT = choice([rule.encode() for rule in rules.WINS])
_REPETITIONS, _REPETITIONS_AT = choice([rule.encode() for rule in rules.REPETITIONS])
_REASONS, _REASONS_AT = choice([reason.encode() for reason in rules.REASONS])

_HOLE_CHARS = len("120,")
SIZE = (
    1024  # parts of fixed length and lists over seats, under 600
    + rules.SEATS * geo.MAX_PEGS * _HOLE_CHARS
    + rules.CELLS * _HOLE_CHARS  # the path of the last move
    + rules.MAX_PLIES * 3  # the moves of the past
)
"""An upper bound on the length of a view."""
MOVE_CHARS = len('{"from":120,"to":120},')
"""The maximum length of a move in a list, including the separator."""


@kernel
def _put_options(st: Record, out: Text, at: Int) -> Int:
    """Write the options, including the size and the number of pegs."""
    at = put_one(out, put(out, at, _BOARD), _BOARDS, _BOARDS_AT, st.geometry)
    at = put_int(out, put(out, at, _SIZE), _SIZES[st.geometry])
    at = put_int(out, put(out, at, _PEGS_EACH), st.each)
    at = put_one(out, put(out, at, _STOP), _STOPS, _STOPS_AT, st.stop)
    at = put_one(out, put(out, at, _PASS), _BOOLS, _BOOLS_AT, st.through)
    at = put_one(out, put(out, at, _STICKY), _BOOLS, _BOOLS_AT, st.sticky)
    at = put_one(out, put(out, at, _LONG), _BOOLS, _BOOLS_AT, st.long_jumps)
    at = put_one(out, put(out, at, _WIN), _WINS, _WINS_AT, st.win)
    at = put_one(out, put(out, at, _REPETITION), _REPETITIONS, _REPETITIONS_AT, st.repetition)
    return put(out, at, _OPTIONS_END)


@kernel
def _put_past(st: Record, out: Text, at: Int) -> Int:
    """Write the moves since the first position that can recur in base64, if any."""
    first = rules.first_recurrable(st)
    count = 2 * (i64(st.ply) - first)
    if count == 0:
        return at
    at = put(out, at, _PAST)
    for k in range(0, count, 3):
        word = i64(0)
        for j in range(k, k + 3):
            byte = i64(0)
            if j < count:
                byte = (i64(st.history[first + j // 2]) >> (8 * (j % 2))) & 255
            word = (word << 8) | byte
        for j in range(4):
            out[at] = _DIGITS[(word >> (18 - 6 * j)) & 63] if k + j <= count else _PADDING
            at += 1
    return put(out, at, _QUOTE)


@kernel
def _put_pegs(st: Record, out: Text, at: Int) -> Int:
    """Write the holes of each seat's pegs in ascending order."""
    pegs, each = st.pegs, i64(st.each)
    holes = np.empty(geo.MAX_PEGS, np.int32)
    for seat in range(st.seats):
        if seat > 0:
            at = put(out, at, _NEXT)
        for slot in range(each):
            hole = i64(pegs[seat, slot])
            place = slot
            while place > 0 and holes[place - 1] > hole:
                holes[place] = holes[place - 1]
                place -= 1
            holes[place] = hole
        at = put_ints(out, at, holes, each)
    return at


@kernel
def _put_last(st: Record, out: Text, at: Int) -> Int:
    """Write the last action, if any, with a shortest path."""
    if st.ply == 0:
        return at
    action, holes = i64(st.history[st.ply - 1]), i64(st.holes)
    if action == holes * holes:
        return put(out, at, _LAST_PASS)
    path: Any = np.empty(rules.CELLS, np.int32)
    length = rules.shortest_path(st, action, path)
    at = put_int(out, put(out, at, _LAST_FROM), path[0])
    at = put_int(out, put(out, at, _TO), path[length - 1])
    return put(out, put_ints(out, put(out, at, _PATH), path, length), _PATH_END)


@kernel
def write_view(states: StateArray, out: Text) -> Int:
    """Write the view; return the length."""
    st = states[0]
    at = put_int(out, _put_options(st, out, i64(0)), st.ply)
    at = put_int(out, put(out, at, _TO_ACT), st.side)
    at = put_int(out, put(out, at, _TURN), st.turn)
    if st.end != 0:
        at = put_one(out, put(out, at, _OVER), _REASONS, _REASONS_AT, st.end)
        at = put(out, at, _QUOTE)
    at = put_int(out, put(out, at, _IDLE), st.since)
    at = put_int(out, put(out, at, _REPEATS), rules.occurrences(st))
    at = _put_past(st, out, at)
    at = put_ints(out, put(out, at, _CORNERS), st.corner, st.seats)
    at = put_ints(out, put(out, at, _RANKS), st.rank, st.seats)
    at = put_ints(out, put(out, at, _BEST), st.best, st.seats)
    at = put(out, _put_pegs(st, out, put(out, at, _PEGS)), _PEGS_END)
    return put(out, _put_last(st, out, at), _END)


@kernel
def _sort(moves: Moves, count: Int) -> None:
    """Sort the first moves (Shell's method); numba takes half a second to compile `np.sort`."""
    gap = i64(count) // 2
    while gap > 0:
        for i in range(gap, count):
            move, at = moves[i], i64(i)
            while at >= gap and moves[at - gap] > move:
                moves[at] = moves[at - gap]
                at -= gap
            moves[at] = move
        gap = gap // 2


@kernel
def write_legal(states: StateArray, out: Text, most: Int) -> Any:
    """Write the legal moves in ascending order, unless there are more than `most`.

    Return the length of the text and the number of moves.
    """
    st = states[0]
    moves = np.empty(rules.MAX_ACTIONS, np.int32)
    count = rules.generate(st, moves)
    if count > most:
        return i64(0), count
    holes = i64(st.holes)
    _sort(moves, count)
    out[0] = _LIST
    at: Int = i64(1)
    for i in range(count):
        if i > 0:
            out[at] = _COMMA
            at += 1
        action = i64(moves[i])
        if action == holes * holes:
            at = put(out, at, _MOVE_PASS)
        else:
            source = action // holes
            at = put_int(out, put(out, at, _MOVE_FROM), source)
            at = put_int(out, put(out, at, _TO), action - source * holes)
            at = put(out, at, _END)
    out[at] = _LIST_END
    return at + 1, count
