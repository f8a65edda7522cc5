"""The rules as kernels over one state record.

The position
------------
``board[cell]`` has the codes of the Tanks report: `FREE`, `ROCK`, `WRECK`, and 11, 22, 33 or 44 for
the tank of a seat; the border around the board is `EDGE`. ``place[seat]`` is the place of a tank or
its wreck, ``hull[seat]`` its direction. ``visited[cell]`` has a bit for every seat that has been
there.

A *slot* is a turn of the fixed order: seat ``slot % 4`` owns it. Slots of destroyed and dropped-out
seats pass silently, so `slot` runs ahead of `ply`, which counts actions.

Actions are numbered as in the report: `UP`, `DOWN`, `RIGHT`, `LEFT`, the turns of the hull and
`FIRE`. All seven are always legal; an action that the board forbids has no effect. `SKIP` is the
turn of a player whose time ran out.

Local boards
------------
``memory[seat]`` is the local board of a seat: the last thing known of every place. It changes

1. when the seat's slot comes, to match its cone of vision then;
2. when any tank fires, at the place of the shooter and of a new wreck; both are public, so every
   local board gets them;
3. when the seat's own tank moves, at the tank's place, since a player knows it.

The option `memory` decides how long marks of tanks stay. By default a tank is on a local board at
most once: at its last known place (``known[seat, tank]``, 0 for nowhere). When it turns up
elsewhere, its former place counts as free. The same happens when the tank is destroyed, which is
public, at any place. With ``report`` a local board follows the Tanks report: places in sight are
copied into it, and a mark stays until its place is seen again. So another seat's tank may be on it
several times (``known`` then has the own tank only). With ``also-destroyed`` the one mark of a tank
stays when it is destroyed elsewhere, as it did in version 1 of these rules.

Undoing
-------
`undo` restores every byte, so the record keeps what it needs: for each ply its slot, what it
did (`did`), and how high the stack of changed memories was. An entry of the stack is a changed
place of a local board with what it was before, packed into 16 bits.

The stack needs no more than `ENTRIES` entries. A place of a local board changes at most once from
unknown to known: 4 * 225. Every other change puts the mark of a tank, takes one away, or makes a
place a wreck. Marks are put at the true place of a tank, hence a second time only after the tank
has moved. That makes at most 4 marks for each ply that moves a tank, and one for each of the 16
pairs of seat and tank before it moves at all (a sampled state may begin with wrong marks). A mark
is taken away only after it was put, or was there at the beginning: 16, or with ``report`` as many
as there are places, but a place that began with a mark did not begin unknown. A kill makes one
place of each board a wreck, at most 12 in all.
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
"""The hull that matches the direction of each of the four moves."""
AHEAD = kernels.kernel_array(np.array(geo.AHEAD, np.int64))

NEW_CELL, KILL = 10, 50
"""Points for a place where the tank has not been, and for destroying a tank."""

MOVED, FIRST, FIRED, HIT = 1, 2, 4, 8
"""The effects of a ply as bits: the tank moved; the place is new to it; it fired; it destroyed a
tank."""

END_TURNS, END_DROPPED = 1, 2
REASONS = ("", "turns", "dropped")
MEMORY_LAST, MEMORY_REPORT, MEMORY_ALSO_DESTROYED = 0, 1, 2
MEMORIES = ("last", "report", "also-destroyed")

ENTRIES = 4 * 225 + 2 * (4 * MAX_TURNS + 16) + 16 + 12
"""How many changes of local boards a play may have; the theory is above."""

STATE = kernels.record_type(
    "tanks",
    [
        ("key", np.uint64),
        ("seats", np.int32),
        ("ply", np.int32),
        ("side", np.int32),
        ("slot", np.int32),
        ("turns", np.int32),  # slots of the whole play
        ("start", np.int32),  # index in geometry.STARTS
        ("rocks", np.int32),  # index in geometry.ROCKS
        ("marks", np.int32),  # index in MEMORIES
        ("end", np.int32),  # why it is over, 0 while it goes on
        ("gone", np.int32),  # seats that dropped out
        ("height", np.int32),  # entries of the stack
        ("left", np.int32, (SEATS,)),  # 1 for the first that dropped out, ..., 0 for the others
        ("fell", np.int32, (SEATS,)),  # the slot of the fatal shot plus one, 0 for the living
        ("fired", np.int32, (SEATS,)),  # the slot of the last shot plus one, 0 for none
        ("place", np.int32, (SEATS,)),
        ("hull", np.int32, (SEATS,)),
        ("cells", np.int32, (SEATS,)),  # how many places the tank has been on
        ("kills", np.int32, (SEATS,)),
        ("known", np.int16, (SEATS, SEATS)),
        ("board", np.int8, (CELLS,)),
        ("visited", np.uint8, (CELLS,)),
        ("memory", np.int8, (SEATS, CELLS)),
        ("did", np.uint8, (MAX_TURNS,)),  # by ply
        ("slots", np.uint16, (MAX_TURNS,)),  # by ply
        ("heights", np.uint16, (MAX_TURNS,)),  # by ply: height of the stack before it
        ("shots", np.uint16, (MAX_TURNS,)),  # by slot: where the shooter stood, 0 for no shot
        ("stack", np.uint16, (ENTRIES,)),
    ],
    source=__file__,
)


def _keys() -> list[np.ndarray]:
    """Return random numbers for tanks, trails, the fallen, the gone, kills and slots."""
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
    """Write the places in sight along a diagonal from `start` into `cells` after the first `count`.

    Return how far to the side the ray came, at most `limit` places, and the new count.
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
    """Write the places that a tank on `cell` sees and return how many: a cone with shadows.

    From every place straight ahead, the own one first, a ray goes out on both diagonals. It stops
    at the first place that is not empty, or as far to the side as an earlier ray on that side
    came, whichever is nearer. A ray that leaves the board leaves the limit as it is: later ones
    leave it no further to the side. No place is on two rays; `cells` has room for `CELLS`.
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
    """Mark the places in sight of a tank on `cell` in `seen`."""
    cells = np.empty(CELLS, np.int16)
    for k in range(visible_cells(board, cell, hull, cells)):
        seen[cells[k]] = 1


@kernel
def first_obstacle(board: Any, cell: Int, hull: Int) -> Int:
    """Return the first place along a hull that is not empty; it may be of the border."""
    ahead = i64(AHEAD[hull])
    here = i64(cell + ahead)
    while board[here] == FREE:
        here = i64(here + ahead)
    return here


# --------------------------------------------------------------------------------- local boards


@kernel
def _change_memory(st: Record, seat: Int, cell: Int, code: Int) -> None:
    """Change a place of a local board, so that it can be undone."""
    before = i64(st.memory[seat, cell])
    packed = before // TANK + 1 if before >= 0 else 0
    st.stack[st.height] = (seat << 12) | (packed << 9) | cell
    st.height += 1
    _set_memory(st, seat, cell, code)


@kernel
def _set_memory(st: Record, seat: Int, cell: Int, code: Int) -> None:
    """Change a place of a local board, and update the known places of its tanks."""
    before = i64(st.memory[seat, cell])
    if before > 0:
        st.known[seat, before // TANK - 1] = 0
    tank = code // TANK - 1
    if code > 0 and (st.marks != MEMORY_REPORT or tank == seat):
        st.known[seat, tank] = cell
    st.memory[seat, cell] = code


@kernel
def update_memory(st: Record, seat: Int, cell: Int, code: Int) -> None:
    """Update a place of one seat's local board."""
    if st.memory[seat, cell] == code:
        return
    if code > 0:
        _remove_mark(st, seat, code // TANK - 1)
    _change_memory(st, seat, cell, code)


@kernel
def _remove_mark(st: Record, seat: Int, tank: Int) -> None:
    """Take the mark of a tank off a local board that keeps one of each."""
    former = i64(st.known[seat, tank])
    if former != 0:
        _change_memory(st, seat, former, i64(FREE))


@kernel
def update_vision(st: Record, seat: Int) -> None:
    """Copy the places in sight of `seat` into its local board."""
    board, cells = st.board, np.empty(CELLS, np.int16)
    for k in range(visible_cells(board, i64(st.place[seat]), i64(st.hull[seat]), cells)):
        cell = i64(cells[k])
        update_memory(st, seat, cell, i64(board[cell]))


@kernel
def _update_all_memories(st: Record, cell: Int, code: Int) -> None:
    """Update a place of all local boards."""
    for seat in range(SEATS):
        update_memory(st, i64(seat), cell, code)


# ------------------------------------------------------------------------------------ playing


@kernel
def generate(st: Record, moves: Moves) -> Int:
    """Write the seven actions; none when the play is over."""
    if st.side < 0:
        return i64(0)
    for m in range(UP, FIRE + 1):
        moves[m - UP] = m
    return i64(MAX_ACTIONS)


@kernel
def _move_tank(st: Record, seat: Int, direction: Int) -> Int:
    """Move the tank of `seat` a place if that is empty; return the effects as bits."""
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
def _turn_hull(st: Record, seat: Int, quarters: Int) -> None:
    """Turn the hull of `seat` clockwise."""
    at = 4 * i64(st.place[seat])
    before = i64(st.hull[seat])
    after = (before + quarters) & 3
    st.hull[seat] = after
    st.key = st.key ^ TANK_KEY[seat, at + before] ^ TANK_KEY[seat, at + after]


@kernel
def _fire(st: Record, seat: Int) -> Int:
    """Fire: all seats learn the shooter's place; a tank that is hit becomes a wreck."""
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
    """Return whether `seat` still acts: its tank lives and it has not dropped out."""
    return bool(st.fell[seat] == 0 and st.left[seat] == 0)


@kernel
def _give_turn(st: Record, slot: Int) -> None:
    """Give the turn to the first seat that acts from `slot` on, or end the play."""
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
        _turn_hull(st, seat, i64(1 if m == TURN_RIGHT else 3))
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
        _turn_hull(st, seat, i64(3 if m == TURN_RIGHT else 1))


@kernel
def _restore_memories(st: Record, height: Int) -> None:
    """Take back changes of local boards until the stack is as high as it was."""
    for entry in range(i64(st.height) - 1, height - 1, -1):
        packed = i64(st.stack[entry])
        code = (packed >> 9) & 7
        before = TANK * (code - 1) if code > 0 else UNKNOWN
        _set_memory(st, packed >> 12, packed & 511, i64(before))
        st.stack[entry] = 0
    st.height = height


@kernel
def _undo_move(st: Record, seat: Int, direction: Int, first: Int) -> None:
    """Take back a move."""
    there = i64(st.place[seat])
    _place_tank(st, seat, there, there - i64(AHEAD[direction]))
    if first != 0:
        st.visited[there] = i64(st.visited[there]) ^ (i64(1) << seat)
        st.cells[seat] -= 1
        st.key = st.key ^ TRAIL_KEY[seat, there]


@kernel
def _undo_shot(st: Record, seat: Int, slot: Int, hit: Int) -> None:
    """Take back a shot."""
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
    """Take a seat that still acts out of a play that goes on; its tank stays on the board."""
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
    """Write the rank of each seat: by points, and below them the dropped-out seats."""
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
    """Write the share of the opponents that each seat has left behind; a tie counts half."""
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
    """Return whether a seat may still get any place: a wreck may, one that dropped out may not."""
    return bool(st.left[seat] == 0)


@kernel
def move_score(st: Record, m: Int) -> Int:
    """Prefer a shot that hits, then new places, then moves, then turns of the hull."""
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
    """Return the key from scratch."""
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


# ------------------------------------------------------------------- what views and samples need

PUBLIC, REFEREE = -1, -2
"""Viewers that are no seat."""


@kernel
def bfs_distances(st: Record, origin: Int, out: Moves) -> None:
    """Write the number of moves from `origin` to every place, with only rocks in the way.

    A place out of reach gets `CELLS`.
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
"""A state as `kernels.box` returns it: Python calls the kernels below for single states."""


@kernel
def update_vision_in(states: StateArray, seat: Int) -> None:
    """Do `update_vision`."""
    update_vision(states[0], seat)


@kernel
def bfs_distances_in(states: StateArray, origin: Int, out: Moves) -> None:
    """Do `bfs_distances`."""
    bfs_distances(states[0], origin, out)


@kernel
def points(st: Record, out: Values) -> None:
    """Write the score of each seat."""
    for seat in range(SEATS):
        out[seat] = score(st, i64(seat))


PLACES = SIDE * SIDE
"""Places of the board without its border: the size of a plane."""
_u64: Any = np.uint64 if kernels.compiled() else int
"""Unsigned indices spare the test for negative ones, which would keep loops from being vectors."""


@kernel
def _copy_inside(st: Record, seat: Int, seen: Any) -> None:
    """Write the local board of a seat and the trails as two rows of bytes, without the border.

    Eight places are read before they are written, which the compiler turns into one move. It does
    not if each is written at once, since the arrays might overlap. A row of the board is copied
    with a place too many, which the next one writes over.
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
    """Write eleven planes from the view of `seat`: its local board, its trail, its hull, the time.

    A loop for each plane over contiguous memory lets the compiler vectorize it.
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
    """Return the number of actions that are ever legal."""
    return i64(MAX_ACTIONS)


@kernel
def dense_index(st: Record, m: Int) -> Any:
    """Return the dense number of an action; a skipped turn has none."""
    return i64(m) - UP


@kernel
def dense_action(st: Record, index: Int) -> Any:
    """Return the action that has a dense number."""
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
    """Return the first state: seat 0 is to act and has looked."""
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
    """Put a tank on the board, a wreck if it has fallen."""
    st.board[cell] = WRECK if st.fell[seat] else TANK * (seat + 1)
    st.place[seat] = cell
    st.hull[seat] = hull


def finalize(st: Any) -> None:
    """Complete a state that was put together by hand: its key, and nothing to undo."""
    st.stack[:] = 0
    st.height = 0
    st.key = calls.compute_key(st)
