"""The rules, as kernels that operate on a state record.

The position
------------
``board[cell]`` is `EMPTY`, `BLACK`, `WHITE` or, off the board, `WALL` (see `geometry` for cells).
Black places the first stone, colors alternate, and stones are never removed, so the color to move
follows from the number of stones. `black` is the seat that plays black, `opener` the seat that acts
first. ``history[i]`` is the cell of stone number `i`, including the stones of an opening.

An action is a cell. Two border cells represent the choice of a color: `TAKE_BLACK` and
`TAKE_WHITE`.

Swap
----
This is the only option that changes the order of turns: the opener places the first three stones,
black, white, black; then the other seat chooses a color, which counts as a ply; then white moves.
Until that choice, `unsettled` is 1 and `black` is provisionally the opener.

Ends
----
The match ends with a five, which must be on a line through the last stone; with a full board; and,
if `dead_draw` is set, when no five adjacent cells are open to either color. Five cells are open to
a color if the other color has no stone on them. If exactly five are required, the cells at both
ends must not have the color either: a stone there would turn the five into a six. The values of the
colors are chosen for this test: the bitwise or of five cells is 3 if both colors are on them, or if
they extend beyond the board.

The rules search for an open row instead of updating a count of them. On most boards, one of the
first rows checked is open, so this is cheaper, and `undo` has no count to restore.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from kibitz_games.compiled import calls, kernels, operations
from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.compiled.operations import Moves, Planes, Record
from kibitz_games.five_in_a_row import geometry as geo

i64 = kernels.int64_cast()

EMPTY, BLACK, WHITE, WALL = 0, 1, 2, 3
TAKE_BLACK, TAKE_WHITE, CHOICES = 0, 1, 2
SWAP_STONES = 3
LEAST = 9
"""The minimum number of stones on the board for a five."""
MOST = geo.LARGEST * geo.LARGEST
MAX_PLIES = MOST + 1
MAX_ACTIONS = MOST

END_FIVE, END_FULL, END_DEAD, END_DROPPED = 1, 2, 3, 4
REASONS = ("", "five", "full", "dead", "dropped")
FIRSTS = ("random", "seat-0", "seat-1")
"""The values of the option for the first seat."""

PITCH, ORIGIN, STEPS = geo.PITCH, geo.ORIGIN, geo.STEPS

STATE = kernels.record_type(
    "five_in_a_row",
    [
        ("key", np.uint64),
        ("seats", np.int32),
        ("ply", np.int32),
        ("side", np.int32),
        ("width", np.int32),
        ("exact", np.int32),
        ("dead_draw", np.int32),
        ("swap", np.int32),
        ("unsettled", np.int32),  # in a match with swap, 1 until a color is chosen
        ("first", np.int32),  # the option as an index
        ("opener", np.int32),
        ("black", np.int32),
        ("placed", np.int32),  # stones of the opening
        ("stones", np.int32),
        ("end", np.int32),  # the reason for the end, or 0
        ("winner", np.int32),  # a seat, or -1
        ("board", np.uint8, (geo.CELLS,)),
        ("history", np.uint16, (MOST,)),
    ],
    source=__file__,
)


def _keys() -> np.ndarray:
    """Return Zobrist keys for a stone of each color on each cell, and three other keys."""
    source = np.random.Generator(np.random.PCG64(5))
    return source.integers(0, 2**64, size=(3, geo.CELLS), dtype=np.uint64)


_KEYS = _keys()
STONE_KEY = kernels.kernel_array(_KEYS)
TURN_KEY, BLACK_KEY, UNSETTLED_KEY = (
    kernels.kernel_array(np.array([0, _KEYS[EMPTY, i]], np.uint64)) for i in range(3)
)
"""Keys for the seat to act, for the seat that plays black, and for a pending color choice."""


@kernel
def seat_of_colour(st: Record, colour: Int) -> Int:
    """Return the seat that plays a color."""
    return i64(st.black) if colour == BLACK else 1 - i64(st.black)


@kernel
def seat_to_move(st: Record) -> Int:
    """Return the seat to move, ignoring whether the match is over."""
    if st.unsettled == 0:
        return seat_of_colour(st, BLACK + (i64(st.stones) & 1))
    return i64(st.opener) if st.stones < SWAP_STONES else 1 - i64(st.opener)


@kernel
def choosing(st: Record) -> bool:
    """Return whether the next action is to choose a color."""
    return bool(st.unsettled != 0 and st.stones == SWAP_STONES and st.side >= 0)


@kernel
def count(st: Record) -> Int:
    """Return the number of legal actions."""
    if st.side < 0:
        return i64(0)
    if choosing(st):
        return i64(CHOICES)
    return i64(st.width) * i64(st.width) - i64(st.stones)


@kernel
def generate(st: Record, moves: Moves) -> Int:
    """Write the empty cells, row by row, or the choices of color; nothing after the end."""
    if st.side < 0:
        return i64(0)
    if choosing(st):
        moves[0] = TAKE_BLACK
        moves[1] = TAKE_WHITE
        return i64(CHOICES)
    board = st.board
    size = i64(st.width)
    n = i64(0)
    for y in range(size):
        start = i64(ORIGIN + y * PITCH)
        for cell in range(start, start + size):
            moves[n] = cell  # overwritten unless the cell is empty: avoids a branch
            n += i64(board[cell] == EMPTY)
    return n


@kernel
def allows(st: Record, action: Int) -> bool:
    """Return whether `action`, a cell or a choice, is legal."""
    if st.side < 0 or choosing(st) != (action < CHOICES):
        return False
    return bool(action < CHOICES or st.board[action] == EMPTY)


@kernel
def run_length(st: Record, cell: Int, step: Int) -> Int:
    """Return the length of the run of one color through a stone."""
    board = st.board
    colour = board[cell]
    length = i64(1)
    there = i64(cell + step)
    while board[there] == colour:
        there += step
        length += 1
    there = i64(cell - step)
    while board[there] == colour:
        there -= step
        length += 1
    return length


@kernel
def winning_step(st: Record, cell: Int) -> Int:
    """Return the step of the line on which the stone in `cell` wins, or 0."""
    for step in STEPS:
        length = run_length(st, cell, i64(step))
        if length == 5 or (length > 5 and st.exact == 0):
            return i64(step)
    return i64(0)


@kernel
def _open_to(st: Record, cell: Int, step: Int, stones: Int, colour: Int) -> bool:
    """Return whether the five cells starting at `cell` can become exactly five of a color."""
    if stones != EMPTY and stones != colour:
        return False
    return bool(st.board[cell - step] != colour and st.board[cell + 5 * step] != colour)


@kernel
def is_open(st: Record, cell: Int, step: Int) -> bool:
    """Return whether the five cells starting at `cell` are on the board and open to a color."""
    board = st.board
    stones = i64(board[cell]) | i64(board[cell + step]) | i64(board[cell + 2 * step])
    stones = stones | i64(board[cell + 3 * step]) | i64(board[cell + 4 * step])
    if stones == BLACK | WHITE:
        return False
    if st.exact == 0:
        return True
    return _open_to(st, cell, step, stones, BLACK) or _open_to(st, cell, step, stones, WHITE)


@kernel
def any_window_open(st: Record) -> bool:
    """Return whether any five adjacent cells are open to a color."""
    size = i64(st.width)
    for y in range(size):
        start = i64(ORIGIN + y * PITCH)
        for cell in range(start, start + size):
            for step in STEPS:
                if is_open(st, i64(cell), i64(step)):
                    return True
    return False


@kernel
def _end_reason(st: Record, m: Int) -> Int:
    """Return why the stone in `m` ends the match, or 0 if the match continues."""
    if st.stones >= LEAST and winning_step(st, m) != 0:
        return i64(END_FIVE)
    if st.stones == i64(st.width) * i64(st.width):
        return i64(END_FULL)
    if st.dead_draw != 0 and not any_window_open(st):
        return i64(END_DEAD)
    return i64(0)


@kernel
def put_stone(st: Record, m: Int) -> Int:
    """Place the next stone without passing the turn; return its color."""
    stones = i64(st.stones)
    colour = i64(BLACK + (stones & 1))
    st.board[m] = colour
    st.history[stones] = m
    st.stones = stones + 1
    st.key = st.key ^ STONE_KEY[colour, m]
    return colour


@kernel
def _assign_colours(st: Record, black: Int, unsettled: Int) -> None:
    """Set the seat that plays black and whether this may change; update the key."""
    st.key = st.key ^ BLACK_KEY[st.black] ^ BLACK_KEY[black]
    st.key = st.key ^ UNSETTLED_KEY[st.unsettled] ^ UNSETTLED_KEY[unsettled]
    st.black = black
    st.unsettled = unsettled


@kernel
def _pass_turn(st: Record, before: Int, after: Int) -> None:
    """Pass the turn to the seat `after`; update the key."""
    st.key = st.key ^ TURN_KEY[before] ^ TURN_KEY[after]
    st.side = after


@kernel
def play(st: Record, m: Int) -> None:
    """Apply a legal action."""
    seat = i64(st.side)
    st.ply += 1
    if m < CHOICES:
        _assign_colours(st, seat if m == TAKE_BLACK else 1 - seat, i64(0))
        _pass_turn(st, seat, seat_to_move(st))
        return
    put_stone(st, m)
    if st.unsettled == 0:
        _pass_turn(st, seat, 1 - seat)
    else:
        _pass_turn(st, seat, seat_to_move(st))
    end = _end_reason(st, m)
    if end != 0:
        st.end = end
        st.side = -1
        if end == END_FIVE:
            st.winner = seat


@kernel
def undo(st: Record, m: Int) -> None:
    """Take back `m`, the last action played."""
    after = seat_to_move(st)
    st.ply -= 1
    st.end = 0
    st.winner = -1
    if m < CHOICES:
        _assign_colours(st, i64(st.opener), i64(1))
    else:
        stones = i64(st.stones) - 1
        st.key = st.key ^ STONE_KEY[st.board[m], m]
        st.board[m] = EMPTY
        st.history[stones] = 0
        st.stones = stones
    _pass_turn(st, after, seat_to_move(st))


@kernel
def forfeit(st: Record, seat: Int) -> None:
    """Remove a seat from an unfinished match; the other seat wins."""
    st.end = END_DROPPED
    st.winner = 1 - seat
    st.side = -1


@kernel
def _adjacent_run(st: Record, cell: Int, step: Int, colour: Int) -> Int:
    """Return the length of the run of `colour` that is adjacent to `cell` in direction `step`."""
    length = i64(0)
    there = i64(cell + step)
    while st.board[there] == colour:
        there += step
        length += 1
    return length


@kernel
def move_score(st: Record, m: Int) -> Int:
    """Prefer cells that extend the mover's rows, then those that block the opponent's."""
    if m < CHOICES:
        return i64(0)
    mine = BLACK + (i64(st.stones) & 1)
    total = i64(0)
    for step in STEPS:
        own = _adjacent_run(st, m, i64(step), mine) + _adjacent_run(st, m, i64(-step), mine)
        other = _adjacent_run(st, m, i64(step), 3 - mine) + _adjacent_run(
            st, m, i64(-step), 3 - mine
        )
        total += (2 << (3 * own)) + (1 << (3 * other)) - 3
    return total


@kernel
def _completions(st: Record, stone: Int, moves: Moves) -> Int:
    """Write the cells that complete a five through a stone; return their number."""
    colour = i64(st.board[stone])
    n: Int = i64(0)
    for step in STEPS:
        for away in range(-4, 5):
            cell = i64(stone + away * step)
            if st.board[cell] != EMPTY:
                continue
            length = (
                1
                + _adjacent_run(st, cell, i64(step), colour)
                + _adjacent_run(st, cell, i64(-step), colour)
            )
            if length < 5 or (length > 5 and st.exact != 0):
                continue
            first, last = min(0, away), max(0, away)
            between = i64(0)
            for k in range(first, last + 1):
                between += i64(st.board[stone + k * step] == colour)
            if between == last - first:
                moves[n] = cell
                n += 1
    return n


@kernel
def tactical_moves(st: Record, moves: Moves) -> Int:
    """Write a cell that completes the mover's five, or all that block one by the opponent."""
    stones = i64(st.stones)
    if st.side < 0 or st.unsettled != 0 or stones < LEAST - 1:
        return i64(0)
    n = _completions(st, i64(st.history[stones - 2]), moves)
    if n > 0:
        return i64(1)
    n = _completions(st, i64(st.history[stones - 1]), moves)
    distinct: Int = i64(0)
    for i in range(n):
        known = 0
        for k in range(distinct):
            known += moves[k] == moves[i]
        if known == 0:
            moves[distinct] = moves[i]
            distinct += 1
    return i64(distinct)


@kernel
def compute_key(st: Record) -> Any:
    """Return the key, computed from scratch."""
    key = TURN_KEY[seat_to_move(st)] ^ BLACK_KEY[st.black] ^ UNSETTLED_KEY[st.unsettled]
    for i in range(st.stones):
        cell = i64(st.history[i])
        key = key ^ STONE_KEY[st.board[cell], cell]
    return key


@kernel
def winning_row(st: Record, out: Moves) -> Int:
    """Write the winning row through the last stone; return its length."""
    cell = i64(st.history[i64(st.stones) - 1])
    step = winning_step(st, cell)
    length = run_length(st, cell, step)
    first = cell
    while st.board[first - step] == st.board[cell]:
        first -= step
    for i in range(length):
        out[i] = first + i * step
    return length


@kernel
def observe(st: Record, seat: Int, out: Planes) -> None:
    """Write three planes: the seat's stones, the opponent's, and 1 if colors are chosen."""
    board = st.board
    size = i64(st.width)
    area = size * size
    chosen = 1 - i64(st.unsettled)
    own = BLACK
    if chosen != 0 and st.black != seat:
        own = WHITE
    other = BLACK + WHITE - own
    for y in range(size):
        start, first = i64(ORIGIN + y * PITCH), y * size
        for x in range(size):
            out[first + x] = board[start + x] == own
        for x in range(size):
            out[area + first + x] = board[start + x] == other
    for place in range(2 * area, 3 * area):
        out[place] = chosen


@kernel
def num_dense(st: Record) -> Any:
    """Return the number of cells, plus two in a match with swap."""
    return i64(st.width) * i64(st.width) + (CHOICES if st.swap != 0 else 0)


@kernel
def dense_index(st: Record, m: Int) -> Any:
    """Return the index of a cell, row by row; the choices of color follow."""
    size = i64(st.width)
    if m < CHOICES:
        return size * size + m
    row = i64(m - ORIGIN) // PITCH
    return row * size + (m - ORIGIN - row * PITCH)


@kernel
def dense_action(st: Record, index: Int) -> Any:
    """Return the cell or choice for a dense number."""
    size = i64(st.width)
    if index >= size * size:
        return i64(index - size * size)
    row = i64(index) // size
    return i64(ORIGIN + row * PITCH + (index - row * size))


StateArray: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"
"""A one-element array from `as_array`. Kernels that Python calls take it instead of a record."""


@kernel
def count_in(states: StateArray) -> Int:
    """Call `count` for the state in the array."""
    return count(states[0])


@kernel
def allows_in(states: StateArray, action: Int) -> bool:
    """Call `allows` for the state in the array."""
    return allows(states[0], action)


@kernel
def winning_row_in(states: StateArray, out: Moves) -> Int:
    """Call `winning_row` for the state in the array."""
    return winning_row(states[0], out)


operations.implement(
    STATE,
    max_actions=MAX_ACTIONS,
    generate=generate,
    play=play,
    undo=undo,
    forfeit=forfeit,
    move_score=move_score,
    tactical_moves=tactical_moves,
    compute_key=compute_key,
    observe=observe,
    num_dense=num_dense,
    dense_index=dense_index,
    dense_action=dense_action,
)


def make_state(
    *, size: int, exact: bool, dead_draw: bool, swap: bool, first: int, opener: int
) -> np.record:
    """Return a state with an empty board; `first` is the option's index, `opener` a seat."""
    return _empty_board(size, exact, dead_draw, swap, first, opener).copy()


@lru_cache(maxsize=64)
def _empty_board(
    size: int, exact: bool, dead_draw: bool, swap: bool, first: int, opener: int
) -> np.record:
    """Return the first state for these options; cached, so callers must not modify it."""
    st: Record = kernels.new(STATE)
    st.seats, st.width, st.exact, st.dead_draw = 2, size, exact, dead_draw
    st.swap = st.unsettled = swap
    st.first, st.opener, st.black, st.side, st.winner = first, opener, opener, opener, -1
    st.board[:] = WALL
    st.board[list(geo.board(size))] = EMPTY
    st.key = calls.compute_key(st)
    state: np.record = st
    return state


def place_opening_stone(state: np.record, cell: int) -> None:
    """Place the next stone of an opening, without counting a ply or validating it."""
    st: Record = state
    put_stone(st, cell)
    st.placed += 1
    st.side = seat_to_move(st)
    st.key = calls.compute_key(st)
