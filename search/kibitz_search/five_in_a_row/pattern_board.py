"""A board for searches of this game that maintains a class for each empty cell and color.

Each cell has a key for each of its four lines that encodes the stones on it. The keys index a table
of line codes (`patterns.spread`), and the four codes together index a table of classes. The search
provides both tables. The board counts the empty cells of each class for each color, so a search can
answer "can I make a five?" in one step. A stone changes the keys of 32 cells, or 40 if exactly five
win. Removing the stone reverses these changes.

The classes of occupied cells are not updated. This is correct because stones are removed in reverse
order: when a cell becomes empty again, its lines are the same as before.

Cell numbers depend on the size of the board: the border between the right end of a row and the left
end of the next, and above and below the board, is as wide as the reach of a line.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from kibitz_games.compiled import kernels
from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.compiled.operations import Record
from kibitz_games.five_in_a_row import geometry as geo
from kibitz_games.five_in_a_row import rules
from kibitz_search.five_in_a_row import patterns

i64 = kernels.int64_cast()

MAX_REACH = 5
"""The maximum reach of a line."""
PLACES = (geo.LARGEST + 2 * MAX_REACH) * (geo.LARGEST + MAX_REACH) + MAX_REACH
MAX_CELLS = geo.LARGEST * geo.LARGEST
CLASSES = 16
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
    ],
    source=__file__,
)

PATTERN_TABLES = kernels.record_type(
    "five_in_a_row_tables",
    [
        ("line", np.uint8, (4 ** (2 * MAX_REACH),)),
        ("cell", np.uint8, (65536,)),
        ("stone", np.uint64, (2, PLACES)),
        ("turn", np.uint64),
    ],
    source=__file__,
)


def tables(codes: np.ndarray, classes: np.ndarray, exact: bool) -> np.record:
    """Return the lookup tables for line codes and cell classes.

    `codes` has a number below 16 for each line in `patterns.lines`, `classes` one for each
    combination in `patterns.four_directions`.
    """
    tb: Any = kernels.new(PATTERN_TABLES)
    line = patterns.spread(codes, exact)
    tb.line[: len(line)] = line
    tb.cell[:] = classes
    source = np.random.Generator(np.random.PCG64(55))
    tb.stone[:] = source.integers(0, 2**64, size=(2, PLACES), dtype=np.uint64)
    tb.turn = source.integers(0, 2**64, dtype=np.uint64)
    record: np.record = tb
    return record


@kernel
def _mark(fd: Record, tb: Record, cell: Int, colour: Int, change: Int) -> None:
    """Update all cells on the lines through `cell` for a stone added (1) or removed (-1)."""
    board, near, classes, packs, lines = fd.board, fd.near, fd.classes, fd.packs, fd.lines
    counts, line, together = fd.counts, tb.line, tb.cell
    r = i64(fd.reach)
    for d in range(4):
        step, low = i64(fd.steps[d]), 4 * d
        keep = 65535 ^ (15 << low)
        for i in range(2 * r):
            # Seen from that cell, the stone is equally far away in the opposite direction.
            away = i - r if i < r else i - r + 1
            there = i64(cell) + away * step
            stone = board[there]
            if stone == 3:
                continue
            key = i64(lines[d, there]) ^ (colour << (2 * (2 * r - 1 - i)))
            lines[d, there] = key
            if -3 < away < 3:
                near[there] = i64(near[there]) + change
            if stone != 0:
                continue
            both = i64(line[key])
            for who in range(2):
                pack = i64(packs[who, there])
                new = (pack & keep) | (((both >> (4 * who)) & 15) << low)
                if new != pack:
                    packs[who, there] = new
                    before, after = i64(classes[who, there]), i64(together[new])
                    if before != after:
                        classes[who, there] = after
                        counts[who, before] -= 1
                        counts[who, after] += 1


@kernel
def place_stone(fd: Record, tb: Record, cell: Int) -> None:
    """Place a stone of the side to move in an empty cell, and pass the turn."""
    side = i64(fd.side)
    fd.counts[0, fd.classes[0, cell]] -= 1
    fd.counts[1, fd.classes[1, cell]] -= 1
    fd.board[cell] = side + 1
    fd.stones += 1
    fd.key = fd.key ^ tb.stone[side, cell] ^ tb.turn
    fd.side = 1 - side
    _mark(fd, tb, cell, side + 1, i64(1))


@kernel
def remove_stone(fd: Record, tb: Record, cell: Int) -> None:
    """Remove the last stone, which is in `cell`."""
    side = 1 - i64(fd.side)
    _mark(fd, tb, cell, side + 1, i64(-1))
    fd.side = side
    fd.key = fd.key ^ tb.stone[side, cell] ^ tb.turn
    fd.stones -= 1
    fd.board[cell] = EMPTY
    fd.counts[0, fd.classes[0, cell]] += 1
    fd.counts[1, fd.classes[1, cell]] += 1


@kernel
def _look_up_all(fd: Record, tb: Record) -> None:
    """Compute the keys, codes, classes and counts of an empty board."""
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
            kind = i64(tb.cell[fd.packs[who, cell]])
            fd.classes[who, cell] = kind
            fd.counts[who, kind] += 1


@kernel
def cell_of_class(fd: Record, who: Int, kind: Int) -> Int:
    """Return the first empty cell that has a class for a color, or -1."""
    for i in range(fd.area):
        cell = i64(fd.cells[i])
        if fd.classes[who, cell] == kind and fd.board[cell] == EMPTY:
            return cell
    return i64(-1)


def empty_board(width: int, exact: bool, tb: np.record) -> np.record:
    """Return an empty board."""
    fd: Any = kernels.new(PATTERN_BOARD)
    fd.reach, fd.width, fd.area = patterns.reach(exact), width, width * width
    pitch = width + MAX_REACH
    fd.steps[:] = 1, pitch, pitch + 1, pitch - 1
    cells = [
        MAX_REACH * pitch + MAX_REACH + y * pitch + x for y in range(width) for x in range(width)
    ]
    fd.cells[: len(cells)] = cells
    fd.board[:] = WALL
    fd.board[cells] = EMPTY
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


def from_state(state: np.record, tb: np.record) -> np.record:
    """Return the board for a position; the side to move is the color of the next stone."""
    st: Any = state
    fd = empty_board(int(st.width), bool(st.exact), tb)
    for action in st.history[: int(st.stones)]:
        place_stone(fd, tb, np.int64(cell_of(fd, int(action))))
    return fd


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
