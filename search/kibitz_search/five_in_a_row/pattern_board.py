"""A board for searches of this game that maintains a class for each empty cell and color.

Each cell has a key for each of its four lines that encodes the stones on it. The keys index a table
of line codes (`patterns.spread`). The four codes together, regardless of their order, are the
cell's *shape* for a color, and each shape has a class. The search provides the codes and the
classes. The board counts the empty cells of each class for each color, so a search can answer "can
I make a five?" in one step. It also adds up the worth of the shapes of all empty cells, for
evaluations. A stone changes the keys of 32 cells, or 40 if exactly five win. Removing the stone
reverses these changes.

The keys, codes and classes of occupied cells are not updated. This is correct because stones are
removed in reverse order: when a cell becomes empty again, its lines are the same as before.

Cell numbers depend on the size of the board: the border between the right end of a row and the left
end of the next, and above and below the board, is as wide as the reach of a line.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

import numpy as np

from kibitz_games.compiled import kernels
from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.compiled.operations import Record
from kibitz_games.five_in_a_row import geometry as geo
from kibitz_games.five_in_a_row import rules
from kibitz_search.five_in_a_row import patterns

i64, index = kernels.int64_cast(), kernels.index_cast()

MAX_REACH = 5
"""The maximum reach of a line."""
PLACES = (geo.LARGEST + 2 * MAX_REACH) * (geo.LARGEST + MAX_REACH) + MAX_REACH
MAX_CELLS = geo.LARGEST * geo.LARGEST
CLASSES = 16
CODES = 14
"""The number of line codes."""
SHAPES = 2380
"""The number of multisets of four line codes."""
EMPTY, BLACK, WHITE, WALL = 0, 1, 2, 3
NEAR = 2
"""Searches only consider moves without a threat within this distance of a stone."""

PATTERN_BOARD = kernels.record_type(
    "five_in_a_row_field",
    [
        ("key", np.uint64),  # of the stones and the side to move
        ("side", np.int32),  # 0 for black to move, 1 for white
        ("stones", np.int32),
        ("area", np.int32),  # number of cells
        ("reach", np.int32),
        ("width", np.int32),
        ("steps", np.int32, (4,)),
        ("cells", np.int32, (MAX_CELLS,)),  # all cells, row by row
        ("counts", np.int32, (2, CLASSES)),  # number of empty cells by color and class
        ("board", np.uint8, (PLACES,)),
        ("near", np.uint8, (PLACES,)),  # number of stones within `NEAR` on the lines through a cell
        ("classes", np.uint8, (2, PLACES)),
        ("packs", np.int32, (2, PLACES)),  # codes of the four lines, four bits each
        ("lines", np.int32, (4, PLACES)),  # keys of the lines
        # The worth of an empty cell by shape, for the side to move (upper half) and for the other
        # side; its sums over all empty cells by color, and those before each stone.
        ("worth", np.int64, (SHAPES,)),
        ("sums", np.int64, (2,)),
        ("sums_before", np.int64, (MAX_CELLS, 2)),
        # Whether stones update the sums. Those placed while it is 0 must be removed before the sums
        # are read.
        ("valued", np.int64),
    ],
    source=__file__,
)

PATTERN_TABLES = kernels.record_type(
    "five_in_a_row_tables",
    [
        ("line", np.uint8, (4 ** (2 * MAX_REACH),)),
        ("shape_of", np.int16, (65536,)),  # shape and ...
        ("cell", np.uint8, (65536,)),  # ... class by the codes of the four lines
        ("stone", np.uint64, (2, PLACES)),
        ("turn", np.uint64),
    ],
    source=__file__,
)


@functools.cache
def _combinations() -> tuple[np.ndarray, np.ndarray]:
    """Return the codes of each shape [SHAPES, 4], and the shape of each combination [65536].

    Combinations in `patterns.four_directions` with codes that do not exist have shape 0.
    """
    four = patterns.four_directions()
    usable = (four < CODES).all(axis=1)
    codes, numbers = np.unique(np.sort(four[usable], axis=1), axis=0, return_inverse=True)
    shape = np.zeros(len(four), np.int16)
    shape[usable] = numbers.ravel()
    return codes, shape


def shapes() -> np.ndarray:
    """Return the codes of each shape in ascending order, uint8 [SHAPES, 4]."""
    return _combinations()[0]


def tables(codes: np.ndarray, classes: np.ndarray, exact: bool) -> np.record:
    """Return the lookup tables for line codes and cell classes.

    `codes` has a number below `CODES` for each line in `patterns.lines`, `classes` one below
    `CLASSES` for each shape in `shapes`.
    """
    tb: Any = kernels.new(PATTERN_TABLES)
    line = patterns.spread(codes, exact)
    tb.line[: len(line)] = line
    tb.shape_of[:] = _combinations()[1]
    tb.cell[:] = classes[tb.shape_of]
    source = np.random.Generator(np.random.PCG64(55))
    tb.stone[:] = source.integers(0, 2**64, size=(2, PLACES), dtype=np.uint64)
    tb.turn = source.integers(0, 2**64, dtype=np.uint64)
    record: np.record = tb
    return record


@kernel
def _mark(fd: Record, tb: Record, cell: Int, colour: Int, change: Int, valued: Int) -> None:
    """Update all empty cells on the lines through `cell` for a stone added (1) or removed (-1).

    `valued` is 1 to update the sums.
    """
    board, near, classes, packs, lines = fd.board, fd.near, fd.classes, fd.packs, fd.lines
    counts, line, together, shape_of, worth = fd.counts, tb.line, tb.cell, tb.shape_of, fd.worth
    r = i64(fd.reach)
    for d in range(4):
        step, low = i64(fd.steps[d]), 4 * d
        keep = 65535 ^ (15 << low)
        for i in range(2 * r):
            # Seen from that cell, the stone is equally far away in the opposite direction.
            away = i - r if i < r else i - r + 1
            there = index(i64(cell) + away * step)
            if board[there] != EMPTY:
                continue
            key = i64(lines[d, there]) ^ (colour << (2 * (2 * r - 1 - i)))
            lines[d, there] = key
            if -3 < away < 3:
                near[there] = i64(near[there]) + change
            both = i64(line[index(key)])
            for who in range(2):
                pack = i64(packs[who, there])
                new = (pack & keep) | (((both >> (4 * who)) & 15) << low)
                if new != pack:
                    packs[who, there] = new
                    if valued != 0:
                        fd.sums[who] += i64(worth[index(shape_of[index(new)])])
                        fd.sums[who] -= i64(worth[index(shape_of[index(pack)])])
                    before, after = index(classes[who, there]), index(together[index(new)])
                    if before != after:
                        classes[who, there] = after
                        counts[who, before] -= 1
                        counts[who, after] += 1


@kernel
def place_stone(fd: Record, tb: Record, cell: Int) -> None:
    """Place a stone of the side to move in an empty cell, and pass the turn."""
    side = i64(fd.side)
    for who in range(2):
        fd.counts[who, fd.classes[who, cell]] -= 1
        fd.sums_before[fd.stones, who] = fd.sums[who]
        fd.sums[who] -= i64(fd.worth[tb.shape_of[fd.packs[who, cell]]])
    fd.board[cell] = side + 1
    fd.stones += 1
    fd.key = fd.key ^ tb.stone[side, cell] ^ tb.turn
    fd.side = 1 - side
    _mark(fd, tb, cell, side + 1, i64(1), i64(fd.valued))


@kernel
def remove_stone(fd: Record, tb: Record, cell: Int) -> None:
    """Remove the last stone, which is in `cell`."""
    side = 1 - i64(fd.side)
    _mark(fd, tb, cell, side + 1, i64(-1), i64(0))
    fd.side = side
    fd.key = fd.key ^ tb.stone[side, cell] ^ tb.turn
    fd.stones -= 1
    fd.board[cell] = EMPTY
    for who in range(2):
        fd.counts[who, fd.classes[who, cell]] += 1
        fd.sums[who] = fd.sums_before[fd.stones, who]
        fd.sums_before[fd.stones, who] = 0


@kernel
def _look_up_all(fd: Record, tb: Record) -> None:
    """Compute the keys, codes, classes, counts and sums of an empty board."""
    r, area = i64(fd.reach), i64(fd.area)
    for i in range(area):
        cell = i64(fd.cells[i])
        for who in range(2):
            fd.packs[who, cell] = 0
        for d in range(4):
            key = i64(0)
            for k in range(2 * r):
                away = k - r if k < r else k - r + 1
                key |= i64(fd.board[cell + away * i64(fd.steps[d])]) << (2 * k)
            fd.lines[d, cell] = key
            both = i64(tb.line[key])
            for who in range(2):
                fd.packs[who, cell] |= ((both >> (4 * who)) & 15) << (4 * d)
        for who in range(2):
            pack = i64(fd.packs[who, cell])
            fd.classes[who, cell] = tb.cell[pack]
            fd.counts[who, tb.cell[pack]] += 1
            fd.sums[who] += i64(fd.worth[tb.shape_of[pack]])


@kernel
def mover_sum(fd: Record, who: Int) -> Int:
    """Return the worth of all empty cells for a color, as the one to move."""
    return (i64(fd.sums[who]) + (1 << 31)) >> 32


@kernel
def waiting_sum(fd: Record, who: Int) -> Int:
    """Return the worth of all empty cells for a color, as the other one."""
    return ((i64(fd.sums[who]) + (1 << 31)) & 0xFFFFFFFF) - (1 << 31)


@kernel
def cell_of_class(fd: Record, who: Int, kind: Int) -> Int:
    """Return the first empty cell that has a class for a color, or -1."""
    for i in range(fd.area):
        cell = index(fd.cells[i])
        if fd.classes[who, cell] == kind and fd.board[cell] == EMPTY:
            return i64(cell)
    return i64(-1)


def empty_board(
    width: int, exact: bool, tb: np.record, worth: np.ndarray | None = None
) -> np.record:
    """Return an empty board; `worth` is that of the shapes [SHAPES, 2], 0 if it is None."""
    fd: Any = kernels.new(PATTERN_BOARD)
    fd.valued = 1
    fd.reach, fd.width, fd.area = patterns.reach(exact), width, width * width
    pitch = width + MAX_REACH
    fd.steps[:] = 1, pitch, pitch + 1, pitch - 1
    cells = [
        MAX_REACH * pitch + MAX_REACH + y * pitch + x for y in range(width) for x in range(width)
    ]
    fd.cells[: len(cells)] = cells
    fd.board[:] = WALL
    fd.board[cells] = EMPTY
    if worth is not None:
        fd.worth[:] = worth[:, 0].astype(np.int64) * 2**32 + worth[:, 1]
    _look_up_all(fd, tb)
    record: np.record = fd
    return record


def compiled_board(width: int, exact: bool, tb: np.record) -> np.record:
    """Return an empty board after placing and removing a stone, which compiles the kernels."""
    fd: Any = empty_board(width, exact, tb)
    first = np.int64(fd.cells[0])
    place_stone(fd, tb, first)
    remove_stone(fd, tb, first)
    record: np.record = fd
    return record


def from_state(state: np.record, tb: np.record, worth: np.ndarray | None = None) -> np.record:
    """Return the board for a position; the side to move is the color of the next stone.

    `worth` is that of the shapes [SHAPES, 2], 0 if it is None.
    """
    st: Any = state
    fd = empty_board(int(st.width), bool(st.exact), tb, worth)
    for action in st.history[: int(st.stones)]:
        place_stone(fd, tb, np.int64(cell_of(fd, int(action))))
    return fd


def shapes_of(fd: Any, tb: Any, cells: np.ndarray) -> np.ndarray:
    """Return the shapes of empty cells [2, n], first those for the side to move."""
    side = int(fd.side)
    shapes: np.ndarray = tb.shape_of[fd.packs[[side, 1 - side]][:, cells]]
    return shapes


def cell_of(fd: Any, action: int) -> int:
    """Return the cell of an action of the game."""
    x, y = geo.place(action)
    return MAX_REACH * (int(fd.width) + MAX_REACH) + MAX_REACH + y * (int(fd.width) + MAX_REACH) + x


def action_of(fd: Any, cell: int) -> int:
    """Return the action of the game that places a stone in a cell."""
    y, x = divmod(
        cell - MAX_REACH * (int(fd.width) + MAX_REACH) - MAX_REACH, int(fd.width) + MAX_REACH
    )
    return geo.cell(x, y)


def actions_of(fd: Any, cells: Iterable[int]) -> tuple[int, ...]:
    """Return the actions for cells."""
    return tuple(action_of(fd, int(cell)) for cell in cells)


assert (EMPTY, BLACK, WHITE, WALL) == (rules.EMPTY, rules.BLACK, rules.WHITE, rules.WALL)
