"""The rules, as kernels that operate on a state record.

The position
------------
``board[cell]`` is `OBSTACLE`, `FREE`, or ``GONE + seat`` after that seat has crossed the cell out.
``board[WALL]`` is an obstacle that represents everything off the board, which avoids bounds checks.
An action is the number of a line (`geometry.LINES`), regardless of the end at which a player starts
it.

Seats alternate and cannot pass, so the seat to move is ``ply & 1``; `side` is the same, or -1 when
the match is over. The game is impartial: the seat that crossed out a cell matters only for drawing
and is not part of the key.

The seat that crosses out the last free cell loses (misère play). `undo` needs only the action;
``history`` exists because a view shows the last one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np

from kibitz_games.compiled import calls, kernels, operations
from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.compiled.operations import Moves, Planes, Record, Values
from kibitz_games.line_nim import geometry as geo

i64 = kernels.int64_cast()

SEATS = 2
MAX_ACTIONS = len(geo.LINES)
MAX_PLIES = geo.CELLS
"""Each ply crosses out at least one cell."""
WALL = geo.CELLS

OBSTACLE, FREE, GONE = 0, 1, 2
END_LAST, END_DROPPED = 1, 2
REASONS = ("", "last cell", "dropped")

STATE = kernels.record_type(
    "line_nim",
    [
        ("key", np.uint64),
        ("seats", np.int32),
        ("ply", np.int32),
        ("side", np.int32),
        ("end", np.int32),  # the reason for the end, or 0
        ("loser", np.int32),  # -1 until the match ends
        ("free", np.int32),  # number of free cells
        ("given", np.int32),  # whether the host wrote the map
        ("history", np.int16, (MAX_PLIES,)),  # the action of each ply
        ("board", np.uint8, (geo.CELLS + 1,)),
    ],
    source=__file__,
)


def _next_cells() -> np.ndarray:
    """Return the neighbor of each cell in direction d at ``cell*6 + d - 1``, or `WALL`."""
    near = np.full((geo.CELLS + 1) * 6, WALL, np.int32)
    for cell in range(geo.CELLS):
        for d in geo.DIRECTIONS:
            beside = geo.neighbour(cell, d)
            near[cell * 6 + d - 1] = WALL if beside is None else beside
    return near


def _line_cells() -> np.ndarray:
    """Return the cells of each line, three entries per line, padded with `WALL`."""
    cells = np.full(MAX_ACTIONS * geo.LONGEST, WALL, np.int32)
    for number, line in enumerate(geo.LINES):
        cells[number * geo.LONGEST : number * geo.LONGEST + len(line)] = line
    return cells


def _numbers() -> np.ndarray:
    """Return the line for each head, direction and length, or -1 if it leaves the board.

    The index is ``(head*3 + d - 4)*3 + length - 1``, for directions from 4 to 6.
    """
    numbers = np.full(geo.CELLS * 9, -1, np.int32)
    for head in range(geo.CELLS):
        for d in geo.ONWARD:
            for length in range(1, geo.LONGEST + 1):
                way = geo.walk(head, length, d)
                at = (head * 3 + d - 4) * 3 + length - 1
                numbers[at] = -1 if way is None else geo.LINE_OF[frozenset(way)]
    return numbers


NEAR = kernels.kernel_array(_next_cells())
LINE = kernels.kernel_array(_line_cells())
NUMBER = kernels.kernel_array(_numbers())
SIZE = kernels.kernel_array(np.array([len(line) for line in geo.LINES], np.int32))
HEADING = kernels.kernel_array(np.array([heading or 0 for heading in geo.DIRECTION_OF], np.int32))


def _keys() -> np.ndarray:
    """Return a Zobrist key for each free cell, and one for seat 1 to move."""
    source = np.random.Generator(np.random.PCG64(869))
    return source.integers(0, 2**64, size=geo.CELLS + 1, dtype=np.uint64)


KEY = kernels.kernel_array(_keys())


@kernel
def generate(st: Record, moves: Moves) -> Int:
    """Write the legal actions in ascending order; none when the match is over."""
    n: Int = i64(0)
    if st.side < 0:
        return n
    board = st.board
    for head in range(WALL):
        if board[head] != FREE:
            continue
        moves[n] = NUMBER[head * 9]
        n += 1
        for d in range(3):
            near = i64(NEAR[head * 6 + d + 3])
            if board[near] != FREE:
                continue
            moves[n] = NUMBER[(head * 3 + d) * 3 + 1]
            n += 1
            if board[NEAR[near * 6 + d + 3]] == FREE:
                moves[n] = NUMBER[(head * 3 + d) * 3 + 2]
                n += 1
    return i64(n)


@kernel
def allows(st: Record, action: Int) -> bool:
    """Return whether an action is legal: all cells of its line are free."""
    if st.side < 0:
        return False
    taken = 0
    for i in range(action * 3, action * 3 + i64(SIZE[action])):
        taken += i64(st.board[LINE[i]] != FREE)
    return taken == 0


@kernel
def play(st: Record, m: Int) -> None:
    """Apply a legal action."""
    ply = i64(st.ply)
    seat = ply & 1
    key = st.key ^ KEY[WALL]
    for i in range(m * 3, m * 3 + i64(SIZE[m])):
        cell = i64(LINE[i])
        st.board[cell] = GONE + seat
        key = key ^ KEY[cell]
    st.key = key
    st.free -= i64(SIZE[m])
    st.history[ply] = m
    st.ply = ply + 1
    st.side = 1 - seat
    if st.free == 0:
        st.end = END_LAST
        st.loser = seat
        st.side = -1


@kernel
def undo(st: Record, m: Int) -> None:
    """Take back `m`, the last action played."""
    ply = i64(st.ply) - 1
    key = st.key ^ KEY[WALL]
    for i in range(m * 3, m * 3 + i64(SIZE[m])):
        cell = i64(LINE[i])
        st.board[cell] = FREE
        key = key ^ KEY[cell]
    st.key = key
    st.free += i64(SIZE[m])
    st.history[ply] = 0
    st.ply = ply
    st.side = ply & 1
    st.end = 0
    st.loser = -1


@kernel
def forfeit(st: Record, seat: Int) -> None:
    """Remove a seat from an unfinished match; the other seat wins."""
    st.end = END_DROPPED
    st.loser = seat
    st.side = -1


@kernel
def returns(st: Record, out: Values) -> None:
    """Write 0.0 for the loser and 1.0 for the other seat."""
    for seat in range(SEATS):
        out[seat] = 0.0 if seat == st.loser else 1.0


@kernel
def move_score(st: Record, m: Int) -> Int:
    """Prefer long lines, since the trees below them are smaller."""
    return i64(SIZE[m])


@kernel
def longest_line(st: Record, cell: Int, d: Int) -> Int:
    """Return the length of the longest line from a free cell in direction ``d + 1``: 1, 2 or 3."""
    near = i64(NEAR[cell * 6 + d])
    if st.board[near] != FREE:
        return i64(1)
    return i64(3) if st.board[NEAR[near * 6 + d]] == FREE else i64(2)


@kernel
def policy_weight(st: Record, m: Int) -> Any:
    """Return the probability that the random player of the original assignment takes `m`.

    That player draws a free cell, one of the six directions, and one of the lengths possible there,
    each uniformly. The result adds up the probabilities of all draws that give this line.
    """
    head = i64(LINE[m * 3])
    share = 0.0
    if SIZE[m] == 1:
        for d in range(6):
            share += 1.0 / longest_line(st, head, i64(d))
    else:
        d = i64(HEADING[m]) - 1
        tail = i64(LINE[m * 3 + i64(SIZE[m]) - 1])
        share = 1.0 / longest_line(st, head, d) + 1.0 / longest_line(st, tail, 5 - d)
    return share / (6.0 * i64(st.free))


@kernel
def compute_key(st: Record) -> Any:
    """Return the key, computed from scratch."""
    key = np.uint64(0)
    if i64(st.ply) & 1:
        key = key ^ KEY[WALL]
    for cell in range(WALL):
        if st.board[cell] == FREE:
            key = key ^ KEY[cell]
    return key


@kernel
def observe(st: Record, seat: Int, out: Planes) -> None:
    """Write two planes over the map: free cells, and crossed out cells."""
    board = st.board
    for cell in range(WALL):
        out[cell] = board[cell] == FREE
    for cell in range(WALL):
        out[WALL + cell] = board[cell] >= GONE


@kernel
def num_dense(st: Record) -> Any:
    """Return the number of lines on the board."""
    return i64(MAX_ACTIONS)


StateArray: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"
"""A one-element array from `as_array`. Kernels that Python calls take it instead of a record."""


@kernel
def allows_in(states: StateArray, action: Int) -> bool:
    """Call `allows` for the state in the array."""
    return allows(states[0], action)


operations.implement(
    STATE,
    max_actions=MAX_ACTIONS,
    generate=generate,
    play=play,
    undo=undo,
    returns=returns,
    forfeit=forfeit,
    move_score=move_score,
    policy_weight=policy_weight,
    compute_key=compute_key,
    observe=observe,
    num_dense=num_dense,
)


def make_state(
    free: Iterable[int],
    *,
    gone: tuple[Iterable[int], Iterable[int]] = ((), ()),
    ply: int = 0,
    given: bool = False,
) -> np.record:
    """Return an unfinished state at `ply` with these free cells, and the cells crossed out by each
    seat.

    Its history is empty. The arguments are not validated.
    """
    st: Record = kernels.new(STATE)
    st.board[list(free)] = FREE
    for seat, cells in enumerate(gone):
        st.board[list(cells)] = GONE + seat
    st.seats, st.ply, st.side, st.loser, st.given = SEATS, ply, ply & 1, -1, given
    st.free = int((st.board == FREE).sum())
    st.key = calls.compute_key(st)
    state: np.record = st
    return state
