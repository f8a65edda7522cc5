"""The rules, as kernels that operate on a state record.

The position
------------
``board[cell]`` uses the codes of the Tanks report: `FREE`, `ROCK`, `WRECK`, and 11, 22, 33 or 44
for the tank of a seat; the border around the board is `EDGE`. ``place[seat]`` is the cell of a tank
or its wreck, ``hull[seat]`` its direction. ``visited[cell]`` has a bit for each seat that has been
there.

A *slot* is a turn in the fixed order: it belongs to seat ``slot % 4``. Slots of seats that were
destroyed or dropped out are skipped, so `slot` can be larger than `ply`, which counts actions.

Actions are numbered as in the report: `UP`, `DOWN`, `RIGHT`, `LEFT`, the turns of the hull and
`FIRE`. All seven are always legal; a blocked move has no effect. `SKIP` is the turn of a player who
ran out of time.

Local boards
------------
``memory[seat]`` is the local board of a seat: what it last knew about each cell. It is updated

1. at the start of the seat's slot, with everything in its cone of vision;
2. when any tank fires, at the cells of the shooter and of a new wreck; both are public, so all
   local boards are updated;
3. when the seat's own tank moves, at the tank's new cell.

The option `memory` determines how long marks of tanks remain. By default, each tank is on a local
board at most once: at its last known cell (``known[seat, tank]``, or 0). When the tank is seen on
another cell or is destroyed, its former cell is marked free. With ``report``, a local board follows
the Tanks report: visible cells are copied to it, and a mark remains until its cell is seen again.
Another seat's tank may then be marked several times, and ``known`` contains only the seat's own
tank. With ``also-destroyed``, the mark of a tank that is destroyed on another cell remains, as in
version 1 of these rules.

Undoing
-------
`undo` restores every byte, so the record stores for each ply its slot, its effects (`did`), and the
height of the stack of local board changes before it. A stack entry packs a changed cell of a local
board and its previous code into 16 bits.

The stack never exceeds `ENTRIES` entries. Each cell of a local board changes from unknown to known
at most once: 4 * 225 entries. All other changes add the mark of a tank, remove one, or turn a cell
into a wreck. Marks are added at the true cell of a tank, so a tank is marked again only after it
has moved. This gives at most 4 new marks for each ply that moves a tank, and one for each of the 16
pairs of seat and tank before the first move (a sampled state may start with wrong marks). A mark
can only be removed if it was added, or if it was there at the start. There are at most 16 initial
marks, or with ``report`` up to one per cell, but a cell that starts with a mark does not start
unknown. A kill turns one cell of each local board into a wreck: at most 12 entries in total.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from kibitz_games.compiled import calls, kernels, operations
from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.compiled.operations import Moves, Planes, Record, Values
from kibitz_games.tanks import geometry as geo

i64 = kernels.int64_cast()

MAX_TURNS = 1000
SEATS, SIDE, STRIDE, CELLS = geo.SEATS, geo.SIDE, geo.STRIDE, geo.CELLS

UNKNOWN, FREE, ROCK, WRECK, EDGE = -1, 0, -2, -3, -4
TANK = 11
"""The code of the tank of a seat is ``TANK * (seat + 1)``."""

SKIP, UP, DOWN, RIGHT, LEFT, TURN_RIGHT, TURN_LEFT, FIRE = range(8)
MAX_ACTIONS = 7
DIRECTION = kernels.kernel_array(np.array([0, 0, 2, 1, 3], np.int64))
"""The hull direction for each of the four moves."""
AHEAD = kernels.kernel_array(np.array(geo.AHEAD, np.int64))

NEW_CELL, KILL = 10, 50
"""Points for a cell that is new to the tank, and for destroying a tank."""

MOVED, FIRST, FIRED, HIT = 1, 2, 4, 8
"""The effects of a ply as bits: the tank moved, the cell is new to it, it fired, it hit a tank."""

END_TURNS, END_DROPPED = 1, 2
REASONS = ("", "turns", "dropped")
MEMORY_LAST, MEMORY_REPORT, MEMORY_ALSO_DESTROYED = 0, 1, 2
MEMORIES = ("last", "report", "also-destroyed")

ENTRIES = 4 * 225 + 2 * (4 * MAX_TURNS + 16) + 16 + 12
"""The maximum number of local board changes in a match; see the proof above."""

STATE = kernels.record_type(
    "tanks",
    [
        ("key", np.uint64),
        ("seats", np.int32),
        ("ply", np.int32),
        ("side", np.int32),
        ("slot", np.int32),
        ("turns", np.int32),  # slots in the whole match
        ("start", np.int32),  # index in geometry.STARTS
        ("rocks", np.int32),  # index in geometry.ROCKS
        ("marks", np.int32),  # index in MEMORIES
        ("end", np.int32),  # the reason for the end, or 0
        ("gone", np.int32),  # number of seats that dropped out
        ("height", np.int32),  # entries on the stack
        ("left", np.int32, (SEATS,)),  # 1 for the first to drop out, ..., 0 for the others
        ("fell", np.int32, (SEATS,)),  # the slot of the fatal shot plus one, 0 while alive
        ("fired", np.int32, (SEATS,)),  # the slot of the last shot plus one, or 0
        ("place", np.int32, (SEATS,)),
        ("hull", np.int32, (SEATS,)),
        ("cells", np.int32, (SEATS,)),  # number of cells the tank has visited
        ("kills", np.int32, (SEATS,)),
        ("known", np.int16, (SEATS, SEATS)),
        ("board", np.int8, (CELLS,)),
        ("visited", np.uint8, (CELLS,)),
        ("memory", np.int8, (SEATS, CELLS)),
        ("did", np.uint8, (MAX_TURNS,)),  # by ply
        ("slots", np.uint16, (MAX_TURNS,)),  # by ply
        ("heights", np.uint16, (MAX_TURNS,)),  # by ply: height of the stack before it
        ("shots", np.uint16, (MAX_TURNS,)),  # by slot: the cell of the shooter, 0 for no shot
        ("stack", np.uint16, (ENTRIES,)),
    ],
    source=__file__,
)


def _keys() -> list[np.ndarray]:
    """Return Zobrist keys for tanks, trails, destroyed and dropped-out seats, kills and slots."""
    source = np.random.Generator(np.random.PCG64(11))
    shapes = ((SEATS, 4 * CELLS), (SEATS, CELLS), (SEATS,), (SEATS,), (SEATS, SEATS))
    return [
        source.integers(0, 2**64, size=shape, dtype=np.uint64)
        for shape in (*shapes, (MAX_TURNS + 1,))
    ]


TANK_KEY, TRAIL_KEY, FALLEN_KEY, GONE_KEY, KILLS_KEY, SLOT_KEY = map(kernels.kernel_array, _keys())

# --------------------------------------------------------------------------------------- vision


@kernel
def _ray(board: Any, start: Int, step: Int, limit: Int, cells: Any, count: Int) -> tuple[Int, Int]:
    """Append the visible cells along a diagonal from `start` to the `count` cells in `cells`.

    Return the lateral distance that the ray reached, at most `limit`, and the new count.
    """
    cell = start
    for offset in range(1, limit + 1):
        cell = i64(cell + step)
        if board[cell] == EDGE:
            break
        cells[count] = cell
        count += 1
        if board[cell] != FREE:
            return i64(offset), count
    return limit, count


@kernel
def visible_cells(board: Any, cell: Int, hull: Int, cells: Any) -> Int:
    """Write the cells that a tank on `cell` sees, a cone with shadows; return their number.

    Two diagonal rays start from the tank's own cell, and two from each cell straight ahead. A ray
    stops at the first cell that is not empty, or at the lateral distance of an earlier ray on that
    side, whichever is nearer. A ray that leaves the board does not change the limit, since later
    rays leave it at most as far to the side. No cell is on two rays; `cells` must have room for
    `CELLS`.
    """
    ahead = i64(AHEAD[hull])
    right = i64(AHEAD[(hull + 1) & 3])
    left_limit: Int = i64(SIDE)
    right_limit: Int = i64(SIDE)
    here: Int = i64(cell)
    count: Int = i64(0)
    while board[here] != EDGE:
        cells[count] = here
        count += 1
        if here != cell and board[here] != FREE:
            break
        left_limit, count = _ray(board, here, ahead - right, left_limit, cells, count)
        right_limit, count = _ray(board, here, ahead + right, right_limit, cells, count)
        here = i64(here + ahead)
    return count


@kernel
def mark_visible(board: Any, cell: Int, hull: Int, seen: Any) -> None:
    """Set `seen` to 1 for each cell that a tank on `cell` sees."""
    cells = np.empty(CELLS, np.int16)
    for k in range(visible_cells(board, cell, hull, cells)):
        seen[cells[k]] = 1


@kernel
def first_obstacle(board: Any, cell: Int, hull: Int) -> Int:
    """Return the first cell ahead of a hull that is not empty; this may be the border."""
    ahead = i64(AHEAD[hull])
    here = i64(cell + ahead)
    while board[here] == FREE:
        here = i64(here + ahead)
    return here


# --------------------------------------------------------------------------------- local boards


@kernel
def _change_memory(st: Record, seat: Int, cell: Int, code: Int) -> None:
    """Change a cell of a local board, and push its old code onto the stack."""
    before = i64(st.memory[seat, cell])
    packed = before // TANK + 1 if before >= 0 else 0
    st.stack[st.height] = (seat << 12) | (packed << 9) | cell
    st.height += 1
    _set_memory(st, seat, cell, code)


@kernel
def _set_memory(st: Record, seat: Int, cell: Int, code: Int) -> None:
    """Change a cell of a local board, and update the known cells of tanks."""
    before = i64(st.memory[seat, cell])
    if before > 0:
        st.known[seat, before // TANK - 1] = 0
    tank = code // TANK - 1
    if code > 0 and (st.marks != MEMORY_REPORT or tank == seat):
        st.known[seat, tank] = cell
    st.memory[seat, cell] = code


@kernel
def update_memory(st: Record, seat: Int, cell: Int, code: Int) -> None:
    """Update a cell of one seat's local board."""
    if st.memory[seat, cell] == code:
        return
    if code > 0:
        _remove_mark(st, seat, code // TANK - 1)
    _change_memory(st, seat, cell, code)


@kernel
def _remove_mark(st: Record, seat: Int, tank: Int) -> None:
    """Remove the mark of a tank from a local board that has at most one of each."""
    former = i64(st.known[seat, tank])
    if former != 0:
        _change_memory(st, seat, former, i64(FREE))


@kernel
def update_vision(st: Record, seat: Int) -> None:
    """Copy the cells visible to `seat` to its local board."""
    board, cells = st.board, np.empty(CELLS, np.int16)
    for k in range(visible_cells(board, i64(st.place[seat]), i64(st.hull[seat]), cells)):
        cell = i64(cells[k])
        update_memory(st, seat, cell, i64(board[cell]))


@kernel
def _update_all_memories(st: Record, cell: Int, code: Int) -> None:
    """Update a cell of all local boards."""
    for seat in range(SEATS):
        update_memory(st, i64(seat), cell, code)


# ------------------------------------------------------------------------------------ playing


@kernel
def generate(st: Record, moves: Moves) -> Int:
    """Write the seven actions; none when the match is over."""
    if st.side < 0:
        return i64(0)
    for m in range(UP, FIRE + 1):
        moves[m - UP] = m
    return i64(MAX_ACTIONS)


@kernel
def _move_tank(st: Record, seat: Int, direction: Int) -> Int:
    """Move the tank of `seat` one cell if that cell is free; return the effects as bits."""
    here = i64(st.place[seat])
    there = here + i64(AHEAD[direction])
    if st.board[there] != FREE:
        return i64(0)
    _place_tank(st, seat, here, there)
    update_memory(st, seat, there, i64(st.board[there]))
    bit = i64(1) << seat
    if i64(st.visited[there]) & bit:
        return i64(MOVED)
    st.visited[there] = i64(st.visited[there]) | bit
    st.cells[seat] += 1
    st.key = st.key ^ TRAIL_KEY[seat, there]
    return i64(MOVED | FIRST)


@kernel
def _place_tank(st: Record, seat: Int, here: Int, there: Int) -> None:
    hull = i64(st.hull[seat])
    st.board[there] = st.board[here]
    st.board[here] = FREE
    st.place[seat] = there
    st.key = st.key ^ TANK_KEY[seat, 4 * here + hull] ^ TANK_KEY[seat, 4 * there + hull]


@kernel
def turn_hull(st: Record, seat: Int, quarters: Int) -> None:
    """Turn the hull of `seat` clockwise by a number of quarter turns."""
    at = 4 * i64(st.place[seat])
    before = i64(st.hull[seat])
    after = (before + quarters) & 3
    st.hull[seat] = after
    st.key = st.key ^ TANK_KEY[seat, at + before] ^ TANK_KEY[seat, at + after]


@kernel
def _fire(st: Record, seat: Int) -> Int:
    """Fire: all seats learn the shooter's cell, and a tank that is hit becomes a wreck."""
    slot = i64(st.slot)
    here = i64(st.place[seat])
    st.shots[slot] = here
    st.fired[seat] = slot + 1
    _update_all_memories(st, here, i64(st.board[here]))
    cell = first_obstacle(st.board, here, i64(st.hull[seat]))
    code = i64(st.board[cell])
    if code <= 0:
        return i64(FIRED)
    victim = code // TANK - 1
    st.board[cell] = WRECK
    st.fell[victim] = slot + 1
    _count_kill(st, seat, victim, i64(1))
    if st.marks == MEMORY_LAST:
        for other in range(SEATS):
            _remove_mark(st, i64(other), victim)
    _update_all_memories(st, cell, i64(WRECK))
    return i64(FIRED | HIT)


@kernel
def _count_kill(st: Record, seat: Int, victim: Int, more: Int) -> None:
    """Add a kill, or take it back if `more` is -1."""
    before = i64(st.kills[seat])
    after = before + more
    st.kills[seat] = after
    st.key = st.key ^ FALLEN_KEY[victim] ^ KILLS_KEY[seat, before] ^ KILLS_KEY[seat, after]


@kernel
def _is_active(st: Record, seat: Int) -> bool:
    """Return whether `seat` can still act: its tank is alive and it has not dropped out."""
    return bool(st.fell[seat] == 0 and st.left[seat] == 0)


@kernel
def _give_turn(st: Record, slot: Int) -> None:
    """Pass the turn to the first active seat from `slot` on, or end the match."""
    while slot < st.turns and not _is_active(st, slot & 3):
        slot += 1
    st.key = st.key ^ SLOT_KEY[st.slot] ^ SLOT_KEY[slot]
    st.slot = slot
    if slot >= st.turns:
        st.end = END_TURNS
        st.side = -1
        return
    st.side = slot & 3
    update_vision(st, slot & 3)


@kernel
def play(st: Record, m: Int) -> None:
    """Apply an action, or `SKIP`."""
    ply = i64(st.ply)
    seat = i64(st.side)
    st.slots[ply] = st.slot
    st.heights[ply] = st.height
    if m == FIRE:
        st.did[ply] = _fire(st, seat)
    elif UP <= m <= LEFT:
        st.did[ply] = _move_tank(st, seat, i64(DIRECTION[m]))
    elif m != SKIP:
        turn_hull(st, seat, i64(1 if m == TURN_RIGHT else 3))
    st.ply = ply + 1
    _give_turn(st, i64(st.slot) + 1)


@kernel
def undo(st: Record, m: Int) -> None:
    """Take back `m`, the last action played."""
    ply = i64(st.ply) - 1
    slot = i64(st.slots[ply])
    seat = slot & 3
    done = i64(st.did[ply])
    st.key = st.key ^ SLOT_KEY[st.slot] ^ SLOT_KEY[slot]
    st.slot = slot
    st.side = seat
    st.end = 0
    st.ply = ply
    _restore_memories(st, i64(st.heights[ply]))
    st.slots[ply] = 0
    st.heights[ply] = 0
    st.did[ply] = 0
    if done & FIRED:
        _undo_shot(st, seat, slot, done & HIT)
    elif done & MOVED:
        _undo_move(st, seat, i64(DIRECTION[m]), done & FIRST)
    elif m in (TURN_RIGHT, TURN_LEFT):
        turn_hull(st, seat, i64(3 if m == TURN_RIGHT else 1))


@kernel
def _restore_memories(st: Record, height: Int) -> None:
    """Undo changes of local boards down to a height of the stack."""
    for entry in range(i64(st.height) - 1, height - 1, -1):
        packed = i64(st.stack[entry])
        code = (packed >> 9) & 7
        before = TANK * (code - 1) if code > 0 else UNKNOWN
        _set_memory(st, packed >> 12, packed & 511, i64(before))
        st.stack[entry] = 0
    st.height = height


@kernel
def _undo_move(st: Record, seat: Int, direction: Int, first: Int) -> None:
    """Undo a move."""
    there = i64(st.place[seat])
    _place_tank(st, seat, there, there - i64(AHEAD[direction]))
    if first != 0:
        st.visited[there] = i64(st.visited[there]) ^ (i64(1) << seat)
        st.cells[seat] -= 1
        st.key = st.key ^ TRAIL_KEY[seat, there]


@kernel
def _undo_shot(st: Record, seat: Int, slot: Int, hit: Int) -> None:
    """Undo a shot."""
    st.shots[slot] = 0
    before = slot - SEATS
    while before >= 0 and st.shots[before] == 0:
        before -= SEATS
    st.fired[seat] = before + 1 if before >= 0 else 0
    if hit != 0:
        victim = i64(0)
        while st.fell[victim] != slot + 1:
            victim += 1
        st.fell[victim] = 0
        st.board[st.place[victim]] = TANK * (victim + 1)
        _count_kill(st, seat, victim, i64(-1))


@kernel
def forfeit(st: Record, seat: Int) -> None:
    """Remove an active seat from an unfinished match; its tank remains on the board."""
    st.gone += 1
    st.left[seat] = st.gone
    st.key = st.key ^ GONE_KEY[seat]
    acting = 0
    for other in range(SEATS):
        acting += 1 if _is_active(st, i64(other)) else 0
    if acting == 0 or st.gone == SEATS - 1:
        st.end = END_DROPPED
        st.side = -1
    elif st.side == seat:
        _give_turn(st, i64(st.slot) + 1)


# -------------------------------------------------------------------------------------- the rest


@kernel
def score(st: Record, seat: Int) -> Int:
    """Return the points of a seat."""
    return NEW_CELL * i64(st.cells[seat]) + KILL * i64(st.kills[seat])


@kernel
def ranks(st: Record, out: Moves) -> None:
    """Write the rank of each seat: by points; dropped-out seats rank below all others."""
    for seat in range(SEATS):
        ahead = 0
        for other in range(SEATS):
            if st.left[seat] != 0:
                ahead += 1 if st.left[other] == 0 or st.left[other] > st.left[seat] else 0
            elif st.left[other] == 0 and score(st, i64(other)) > score(st, i64(seat)):
                ahead += 1
        out[seat] = ahead + 1


@kernel
def returns(st: Record, out: Values) -> None:
    """Write the fraction of opponents ranked below each seat; a tie counts half."""
    rank = np.zeros(SEATS, np.int32)
    ranks(st, rank)
    for seat in range(SEATS):
        halves = 0
        for other in range(SEATS):
            if other != seat and rank[other] >= rank[seat]:
                halves += 2 if rank[other] > rank[seat] else 1
        out[seat] = halves / (2.0 * (SEATS - 1))


@kernel
def in_contention(st: Record, seat: Int) -> bool:
    """Return whether a seat has not dropped out; the owner of a wreck can still win."""
    return bool(st.left[seat] == 0)


@kernel
def move_score(st: Record, m: Int) -> Int:
    """Prefer shots that hit, then moves to new cells, then other moves, then turns."""
    seat = i64(st.side)
    here = i64(st.place[seat])
    if m == FIRE:
        return i64(9 if st.board[first_obstacle(st.board, here, i64(st.hull[seat]))] > 0 else 0)
    if m < UP or m > LEFT:
        return i64(1 if m != SKIP else 0)
    there = here + i64(AHEAD[DIRECTION[m]])
    if st.board[there] != FREE:
        return i64(0)
    return i64(2 if (i64(st.visited[there]) >> seat) & 1 else 3)


@kernel
def compute_key(st: Record) -> Any:
    """Return the key, computed from scratch."""
    key: Any = SLOT_KEY[st.slot]
    for seat in range(SEATS):
        key = key ^ TANK_KEY[seat, 4 * i64(st.place[seat]) + i64(st.hull[seat])]
        key = key ^ KILLS_KEY[seat, st.kills[seat]]
        if st.fell[seat] != 0:
            key = key ^ FALLEN_KEY[seat]
        if st.left[seat] != 0:
            key = key ^ GONE_KEY[seat]
        for cell in range(CELLS):
            if (i64(st.visited[cell]) >> seat) & 1:
                key = key ^ TRAIL_KEY[seat, cell]
    return key


# ------------------------------------------------------------------- helpers for views and samples

PUBLIC, REFEREE = -1, -2
"""Viewers other than the seats."""


@kernel
def bfs_distances(st: Record, origin: Int, out: Moves) -> None:
    """Write the number of moves from `origin` to each cell, with only rocks as obstacles.

    Unreachable cells get `CELLS`.
    """
    for cell in range(CELLS):
        out[cell] = CELLS
    queue = np.empty(CELLS, np.int32)
    out[origin] = 0
    queue[0] = origin
    head: Int = 0
    tail: Int = 1
    while head < tail:
        here = i64(queue[head])
        head += 1
        for hull in range(4):
            there = here + i64(AHEAD[hull])
            if out[there] == CELLS and st.board[there] != ROCK and st.board[there] != EDGE:
                out[there] = out[here] + 1
                queue[tail] = there
                tail += 1


StateArray: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"
"""A one-element array from `as_array`. Kernels that Python calls take it instead of a record."""


@kernel
def update_vision_in(states: StateArray, seat: Int) -> None:
    """Call `update_vision` for the state in the array."""
    update_vision(states[0], seat)


@kernel
def bfs_distances_in(states: StateArray, origin: Int, out: Moves) -> None:
    """Call `bfs_distances` for the state in the array."""
    bfs_distances(states[0], origin, out)


@kernel
def points(st: Record, out: Values) -> None:
    """Write the score of each seat."""
    for seat in range(SEATS):
        out[seat] = score(st, i64(seat))


PLACES = SIDE * SIDE
"""The number of cells inside the border: the size of a plane."""
_u64: Any = np.uint64 if kernels.compiled() else int
"""Unsigned indices need no check for negative values, which would prevent vectorization."""


@kernel
def _copy_inside(st: Record, seat: Int, seen: Any) -> None:
    """Write the local board of a seat and the trails as two rows of bytes, without the border.

    Eight cells are read before any is written, so that the compiler copies them as one word;
    otherwise the arrays might overlap. Each row is copied with one extra cell, which the next row
    overwrites.
    """
    memory, visited = st.memory, st.visited
    for row in range(SIDE):
        for column in range(0, SIDE + 1, 8):
            cell, place = (row + 1) * STRIDE + 1 + column, row * SIDE + column
            codes, trail = _u64(0), _u64(0)
            for k in range(8):
                codes |= _u64(i64(memory[seat, _u64(cell + k)]) & 255) << _u64(8 * k)
                trail |= _u64(visited[_u64(cell + k)]) << _u64(8 * k)
            for k in range(8):
                seen[0, _u64(place + k)] = (codes >> _u64(8 * k)) & _u64(255)
            for k in range(8):
                seen[1, _u64(place + k)] = (trail >> _u64(8 * k)) & _u64(255)


@kernel
def observe(st: Record, seat: Int, out: Planes) -> None:
    """Write the eleven planes of `models.features` for `seat`.

    Each plane has its own loop over contiguous memory so that the compiler vectorizes it.
    """
    seen = np.empty((2, PLACES + 1), np.uint8)
    _copy_inside(st, seat, seen)
    codes, trail = seen[0].view(np.int8), seen[1]
    own, bit = np.int8(TANK * (seat + 1)), np.uint8(1 << seat)
    plane = out[:PLACES]
    for k in range(PLACES):
        plane[k] = np.float32(codes[k] == UNKNOWN)
    plane = out[PLACES : 2 * PLACES]
    for k in range(PLACES):
        plane[k] = np.float32(codes[k] == FREE)
    plane = out[2 * PLACES : 3 * PLACES]
    for k in range(PLACES):
        plane[k] = np.float32(codes[k] <= ROCK)
    plane = out[3 * PLACES : 4 * PLACES]
    for k in range(PLACES):
        plane[k] = np.float32((codes[k] > FREE) & (codes[k] != own))
    plane = out[4 * PLACES : 5 * PLACES]
    for k in range(PLACES):
        plane[k] = np.float32(codes[k] == own)
    plane = out[5 * PLACES : 6 * PLACES]
    for k in range(PLACES):
        plane[k] = np.float32((trail[k] & bit) != 0)
    for hull in range(4):
        own_hull = np.float32(hull == st.hull[seat])
        for k in range((6 + hull) * PLACES, (7 + hull) * PLACES):
            out[k] = own_hull
    left = np.float32((i64(st.turns) - i64(st.slot)) / (1.0 * i64(st.turns)))
    for k in range(10 * PLACES, 11 * PLACES):
        out[k] = left


@kernel
def num_dense(st: Record) -> Any:
    """Return the number of actions."""
    return i64(MAX_ACTIONS)


@kernel
def dense_index(st: Record, m: Int) -> Any:
    """Return the dense number of an action other than `SKIP`."""
    return i64(m) - UP


@kernel
def dense_action(st: Record, index: Int) -> Any:
    """Return the action for a dense number."""
    return i64(index) + UP


operations.implement(
    STATE,
    max_actions=MAX_ACTIONS,
    generate=generate,
    play=play,
    undo=undo,
    returns=returns,
    forfeit=forfeit,
    in_contention=in_contention,
    move_score=move_score,
    compute_key=compute_key,
    points=points,
    observe=observe,
    num_dense=num_dense,
    dense_index=dense_index,
    dense_action=dense_action,
)


def make_state(
    start: geo.Start, rocks: geo.Rocks, turns: int, marks: int = MEMORY_LAST
) -> np.record:
    """Return the first state; the local board of seat 0, which is to act, is up to date."""
    st: Record = kernels.new(STATE)
    st.marks = marks
    st.seats, st.turns = SEATS, turns
    st.start, st.rocks = list(geo.STARTS).index(start), list(geo.ROCKS).index(rocks)
    st.board[:] = EDGE
    st.board[list(geo.NUMBERS)] = FREE
    st.board[[geo.number(place) for place in geo.ROCKS[rocks]]] = ROCK
    st.memory[:] = UNKNOWN
    for seat, place in enumerate(geo.STARTS[start]):
        put_tank(st, seat, geo.number(place), geo.HULLS.index(geo.FACING[seat]))
        st.visited[geo.number(place)] = 1 << seat
        st.cells[seat] = 1
        _set_memory(st, seat, geo.number(place), TANK * (seat + 1))
    update_vision_in(kernels.as_array(st), 0)
    finalize(st)
    state: np.record = st
    return state


def put_tank(st: Any, seat: int, cell: int, hull: int) -> None:
    """Put a tank on the board, or its wreck if it was destroyed."""
    st.board[cell] = WRECK if st.fell[seat] else TANK * (seat + 1)
    st.place[seat] = cell
    st.hull[seat] = hull


def finalize(st: Any) -> None:
    """Complete a manually built state: compute its key and clear the undo stack."""
    st.stack[:] = 0
    st.height = 0
    st.key = calls.compute_key(st)
