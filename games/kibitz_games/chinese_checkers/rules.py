"""The rules as kernels over one state record.

The position
------------
``board[hole]`` is 0 for an empty hole, else ``1 + 16*seat + slot``, where `slot` is the peg's place
in ``pegs[seat]``; so ``(value + 15) >> 4`` is the seat plus one. ``board[WALL]`` is always occupied
and stands for everything off the board, which spares every test of borders. ``zone[hole]`` is the
corner that the hole belongs to, or `NO_ZONE`. Bits in ``beside`` and ``behind`` keep which of the
six directions are open to a step or a jump from a hole, occupied or not, so generating moves never
checks closed directions.

An action is ``from*holes + to``; ``holes*holes`` is the pass, legal only where there is no move.

`turn` is the seat whose turn it is or would be, `side` the same or -1 when the play is over.
A seat is *active* while ``rank[seat]`` is 0: players who finish take the ranks from the top,
those who drop out take them from the bottom.

Jumps and parity
----------------
Every jump moves a peg by an even number of steps along a line, so all holes where it may land
have the parity class of the hole it left, while an adjacent hole never does. Two things follow:
step and jump destinations are disjoint; and a hole that the chain has visited is never hopped
over, so a visited hole can be marked on the board itself as if it were occupied. Long jumps may
cross visited holes, so there a mark counts as empty.

Nor can a peg's own hole be hopped over by those of its class. So jumps from an empty hole reach the
same holes for every peg. These holes are a *run*: it is found once for all pegs of a position that
jump into it, and marked with its number on the board. This saves most of the work if pegs jump
along the same ladder. With rules under which pegs differ in what they may cross, each peg's chains
are followed alone.

Goals
-----
A goal is reached when pegs that count stand in all of its holes, at least one of them the player's
own. The option `win` decides which pegs count. By default these are the player's own and those of
the seat whose home the triangle is, which may stay parked there forever; with ``full`` only the
player's own; with ``any`` all pegs. ``fills[seat]`` has the zones in which the pegs of a seat
count, one bit each, and ``filled[zone]`` how many that count stand in a zone, so the option costs
nothing in a search. Only the position decides: the owner has finished, no matter which player made
the last move.

Ends
----
Besides goals: a position (pegs and seat to move) that occurs for the third time, `ROUNDS` rounds
without progress, or `MAX_PLIES` plies. Progress is a seat's total distance below its best so far, a
finish, or a drop. The distance of a seat is the sum of steps of its pegs to the tip of its goal,
less the same sum for a full goal. Seats that have not finished are ranked by it. A repetition is a
draw between them, unless the option says to adjudicate it as well: otherwise the leader could win
by moving a peg to and fro.

`undo` restores every byte, so whatever it needs is in the record: ``history[ply]`` is the action
played at that ply, ``marks[ply + 1]`` what it did to progress (bits 0-4: improvement of the
mover's best; `FINISH`; `DROP`). Repetition is exact: ``seen`` counts positions by some bits of
their keys, and only when a count reaches three are the actions walked back and the positions
compared. So a state takes 4 KiB, where a list of keys would need 8 more. A finish or a drop
changes who moves, hence earlier positions cannot recur; nor does the walk go below ``floor``.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from kibitz_games.chinese_checkers import geometry as geo
from kibitz_games.compiled import calls, kernels, operations
from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.compiled.operations import Moves, Planes, Record, Values

i64 = kernels.int64_cast()

MAX_PLIES = 1000
ROUNDS = 50
MAX_ACTIONS = geo.MAX_PEGS * geo.MAX_HOLES + 1
"""No position has more actions: every peg to every hole, and the pass."""

WALL = geo.MAX_HOLES
CELLS = geo.MAX_HOLES + 1
NO_ZONE = 6
SEATS = 6
OFF = 127
"""The value of ``board[WALL]``."""
RUN = 128
"""The mark of a hole of run r, ``RUN + r``, while moves are generated; smaller values are pegs."""
RUNS = 6 * geo.MAX_PEGS
VISITED = 254
FINISH = 128
DROP = 64
IMPROVED = 31
FILTER = 512

EVERYWHERE = (1 << (NO_ZONE + 1)) - 1
"""All zones, one bit each."""
STOP_ANY, STOP_NO_FOREIGN, STOP_NO_ACTIVE = 0, 1, 2
STOPS = ("any", "no-foreign", "no-active")
WIN_OWN_OR_PARKED, WIN_FULL, WIN_ANY = 0, 1, 2
WINS = ("own-or-parked", "full", "any")
REPETITION_DRAW, REPETITION_ADJUDICATE = 0, 1
REPETITIONS = ("draw", "adjudicate")
END_GOAL, END_REPETITION, END_STALL, END_LENGTH, END_DROPPED = 1, 2, 3, 4, 5
REASONS = ("", "goal", "repetition", "stall", "length", "dropped")

STATE = kernels.record_type(
    "chinese_checkers",
    [
        ("key", np.uint64),
        ("geometry", np.int32),  # index in geometry.ALL
        ("holes", np.int32),
        ("seats", np.int32),
        ("each", np.int32),  # pegs of a seat
        ("ply", np.int32),
        ("turn", np.int32),
        ("side", np.int32),
        ("end", np.int32),  # why it is over, 0 while it goes on
        ("since", np.int32),  # plies without progress
        ("placed", np.int32),  # seats that finished
        ("dropped", np.int32),  # seats that dropped out
        ("floor", np.int32),  # the first ply whose position may recur
        ("prior", np.int32),  # how often the position at `floor` had occurred before
        ("stop", np.int32),
        ("through", np.int32),
        ("sticky", np.int32),
        ("long_jumps", np.int32),
        ("win", np.int32),  # index in WINS
        ("repetition", np.int32),  # index in REPETITIONS
        ("distance", np.int32, (SEATS,)),
        ("best", np.int32, (SEATS,)),  # the smallest distance so far
        ("corner", np.int32, (SEATS,)),
        ("goal", np.int32, (SEATS,)),
        ("rank", np.int32, (SEATS,)),
        ("inside", np.int32, (SEATS,)),  # own pegs in the own goal
        ("fills", np.int32, (SEATS,)),  # the zones in which the seat's pegs count, one bit each
        ("filled", np.int32, (NO_ZONE + 1,)),  # pegs in each zone that count there
        ("owner", np.int32, (NO_ZONE + 1,)),  # whose goal a zone is, or -1
        ("pegs", np.uint8, (SEATS, 16)),
        ("board", np.uint8, (CELLS,)),
        ("zone", np.uint8, (CELLS,)),
        ("beside", np.uint8, (CELLS,)),  # bit d: in direction d is a peg, or no hole
        ("behind", np.uint8, (CELLS,)),  # bit d: two holes away is a peg, or no hole
        ("marks", np.uint8, (MAX_PLIES + 1,)),
        ("seen", np.uint8, (FILTER,)),
        ("history", np.uint16, (MAX_PLIES,)),
    ],
    source=__file__,
)


def _tables() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the neighbors, the landings and the steps to each corner's tip, per board."""
    near = np.full((len(geo.ALL), CELLS * 6), WALL, np.uint8)
    land = near.copy()
    steps = np.zeros((len(geo.ALL), geo.CORNERS, CELLS), np.uint8)
    for index, (board, size) in enumerate(geo.ALL):
        shape = geo.geometry(board, size)
        for hole in range(shape.holes):
            for d in range(6):
                one, two = shape.away(hole, d, 1), shape.away(hole, d, 2)
                near[index, hole * 6 + d] = WALL if one is None else one
                land[index, hole * 6 + d] = WALL if one is None or two is None else two
            steps[index, :, hole] = [shape.steps(hole, tip) for tip in shape.tips]
    return near, land, steps


NEAR, LAND, STEPS = map(kernels.kernel_array, _tables())


def _keys() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return random numbers for a peg in a hole, for the seat to move, for a seat that is out."""
    source = np.random.Generator(np.random.PCG64(20))
    numbers = source.integers(0, 2**64, size=(SEATS, CELLS + 2), dtype=np.uint64)
    return numbers[:, :CELLS].copy(), numbers[:, CELLS].copy(), numbers[:, CELLS + 1].copy()


PEG_KEY, TURN_KEY, OUT_KEY = map(kernels.kernel_array, _keys())

EVERY_WAY = 63
"""All six directions, one bit each."""


def _direction_sets() -> tuple[np.ndarray, np.ndarray]:
    """Return how many directions a set of them has, and which."""
    sets = [[d for d in range(6) if number >> d & 1] for number in range(EVERY_WAY + 1)]
    listed = np.zeros((len(sets), 6), np.uint8)
    for number, ways in enumerate(sets):
        listed[number, : len(ways)] = ways
    return np.array([len(ways) for ways in sets], np.uint8), listed


COUNT, WAYS = map(kernels.kernel_array, _direction_sets())

SHIFT = 22
SHARE = kernels.kernel_array(
    np.array([0, *(2**SHIFT // n + 1 for n in range(1, CELLS + 1))], np.int64)
)
"""``action * SHARE[holes] >> SHIFT`` is ``action // holes``: a division would cost as much as the
rest of `order`. It is exact for all actions, since ``2**SHIFT > holes**3``."""


@kernel
def source_hole(st: Record, m: Int) -> Int:
    """Return the hole that action `m`, not a pass, begins in."""
    return m * i64(SHARE[st.holes]) >> SHIFT


@kernel
def allowed_zones(st: Record, seat: Int) -> Int:
    """Return the zones where a peg of `seat` may end its move, one bit each."""
    every = i64(EVERYWHERE)
    if st.stop == STOP_ANY:
        return every
    mine = (1 << i64(st.corner[seat])) | (1 << i64(st.goal[seat]))
    if st.stop == STOP_NO_FOREIGN:
        return i64(mine | (1 << NO_ZONE))
    for other in range(st.seats):
        if st.rank[other] == 0:
            theirs = (1 << i64(st.corner[other])) | (1 << i64(st.goal[other]))
            every &= ~i64(theirs)
    return i64(every | mine)


@kernel
def _landing(st: Record, here: Int, direction: Int) -> Int:
    """Return where a long jump from `here` lands, or `WALL`: peg and landing equally far."""
    table = st.geometry
    board = st.board
    hole = i64(NEAR[table, here * 6 + direction])
    far = 1
    while board[hole] == 0 or board[hole] == VISITED:
        hole = i64(NEAR[table, hole * 6 + direction])
        far += 1
    if hole == WALL:
        return i64(WALL)
    for _ in range(far):
        hole = i64(NEAR[table, hole * 6 + direction])
        if board[hole] != 0 and board[hole] != VISITED:
            return i64(WALL)
    return hole


@kernel
def _chains(st: Record, origin: Int, queue: Moves, n: Int, allowed: Int) -> Int:
    """Append the landings of all jump chains to `queue` and mark them on the board."""
    table = st.geometry
    board = st.board
    zone = st.zone
    through = st.through != 0
    far = st.long_jumps != 0
    head = n
    here = origin
    while True:
        for d in range(6):
            if far:
                target = _landing(st, here, d)
            elif board[NEAR[table, here * 6 + d]] != 0:
                target = i64(LAND[table, here * 6 + d])
            else:
                continue
            if board[target] == 0 and (through or (allowed >> i64(zone[target])) & 1):
                board[target] = VISITED
                queue[n] = target
                n += 1
        if head == n:
            return i64(n)
        here = i64(queue[head])
        head += 1


@kernel
def generate_from(st: Record, origin: Int, moves: Moves, n: Int, allowed: Int) -> Int:
    """Append the moves of the peg in `origin` to `moves`, which holds `n`; return the new `n`."""
    table = st.geometry
    board = st.board
    zone = st.zone
    holes = i64(st.holes)
    if st.sticky != 0:
        goal = i64(st.goal[st.turn])
        if zone[origin] == goal:
            allowed = i64(1) << goal
    for d in range(6):
        near = i64(NEAR[table, origin * 6 + d])
        if board[near] == 0 and (allowed >> i64(zone[near])) & 1:
            moves[n] = origin * holes + near
            n += 1
    peg = board[origin]
    board[origin] = VISITED
    last = _chains(st, origin, moves, i64(n), allowed)
    board[origin] = peg
    for i in range(n, last):
        target = i64(moves[i])
        board[target] = 0
        if (allowed >> i64(zone[target])) & 1:
            moves[n] = origin * holes + target
            n += 1
    return i64(n)


@kernel
def _jump_component(st: Record, hole: Int, mark: Int, moves: Moves, tail: Int) -> Int:
    """Append the run of an empty hole to `moves`, which ends at `tail`; mark it on the board."""
    table = st.geometry
    board = st.board
    head = tail
    board[hole] = mark
    moves[tail] = hole
    tail += 1
    while head < tail:
        here = i64(moves[head])
        head += 1
        ways = i64(st.beside[here]) & ~i64(st.behind[here]) & EVERY_WAY
        for i in range(COUNT[ways]):
            target = i64(LAND[table, here * 6 + WAYS[ways, i]])
            if board[target] == 0:
                board[target] = mark
                moves[tail] = target
                tail += 1
    return i64(tail)


HOLES_AT = MAX_ACTIONS - CELLS
BEGINS_AT = HOLES_AT - RUNS - 1
TAKEN_AT = BEGINS_AT - RUNS
"""The start of the workspace of `_generate_by_components`, behind the longest possible move list:
the holes of the runs, the start of each run, and the last peg whose moves include the run."""
assert TAKEN_AT > geo.MAX_PEGS * (6 + CELLS // 2)


@kernel
def _generate_by_components(st: Record, first: Int, last: Int, moves: Moves) -> Int:
    """Write the moves of the pegs from `first` up to before `last`, as if all holes were allowed.

    Return how many there are.
    """
    table = st.geometry
    board = st.board
    holes = i64(st.holes)
    n, runs = i64(0), i64(0)
    tail: Int = i64(HOLES_AT)
    for slot in range(first + 1, last + 1):
        origin = i64(st.pegs[st.side, slot - 1])
        pegs = i64(st.beside[origin])
        ways = ~pegs & EVERY_WAY
        for i in range(COUNT[ways]):
            moves[n] = origin * holes + i64(NEAR[table, origin * 6 + WAYS[ways, i]])
            n += 1
        ways = pegs & ~i64(st.behind[origin]) & EVERY_WAY
        for i in range(COUNT[ways]):
            land = i64(LAND[table, origin * 6 + WAYS[ways, i]])
            mark: Int = i64(board[land])
            if mark == 0:
                mark = RUN + runs
                moves[BEGINS_AT + runs] = tail
                moves[TAKEN_AT + runs] = 0
                tail = _jump_component(st, land, mark, moves, tail)
                runs += 1
                moves[BEGINS_AT + runs] = tail
            run = mark - RUN
            if moves[TAKEN_AT + run] != slot:
                moves[TAKEN_AT + run] = slot
                for k in range(moves[BEGINS_AT + run], moves[BEGINS_AT + run + 1]):
                    moves[n] = origin * holes + moves[k]
                    n += 1
    for i in range(HOLES_AT, tail):
        board[moves[i]] = 0
    return n


@kernel
def _filter_by_zone(st: Record, moves: Moves, n: Int, allowed: Int) -> Int:
    """Keep the first `n` moves that end in an allowed zone, in their order; return how many."""
    holes = i64(st.holes)
    kept = i64(0)
    for i in range(n):
        m = i64(moves[i])
        if (allowed >> i64(st.zone[m - source_hole(st, m) * holes])) & 1:
            moves[kept] = m
            kept += 1
    return kept


@kernel
def _generate_of(st: Record, first: Int, last: Int, moves: Moves) -> Int:
    """Write the moves of the pegs from `first` up to before `last`; return how many."""
    allowed = allowed_zones(st, i64(st.side))
    if st.through != 0 and st.sticky == 0 and st.long_jumps == 0:
        every = _generate_by_components(st, first, last, moves)
        return every if allowed == EVERYWHERE else _filter_by_zone(st, moves, every, allowed)
    n: Int = i64(0)
    for slot in range(first, last):
        n = generate_from(st, i64(st.pegs[st.side, slot]), moves, n, allowed)
    return n


@kernel
def _write_pass(st: Record, moves: Moves) -> Int:
    """Write the pass; return 1."""
    moves[0] = i64(st.holes) * i64(st.holes)
    return i64(1)


@kernel
def generate(st: Record, moves: Moves) -> Int:
    """Write the actions of the seat to act; the pass where there is no other; none when over."""
    if st.side < 0:
        return i64(0)
    n = _generate_of(st, i64(0), i64(st.each), moves)
    return n if n > 0 else _write_pass(st, moves)


@kernel
def generate_stage(st: Record, k: Int, moves: Moves) -> Int:
    """Write the moves of the first peg where `k` is 0, those of the others where it is 1."""
    if st.side < 0 or k > 1:
        return i64(-1)
    if k == 0:
        return _generate_of(st, i64(0), i64(1), moves)
    n = _generate_of(st, i64(1), i64(st.each), moves)
    alone = n == 0 and _generate_of(st, i64(0), i64(1), moves) == 0
    return _write_pass(st, moves) if alone else n


@kernel
def allows(st: Record, action: Int) -> bool:
    """Return whether `action` is legal, without generating more than one peg's moves."""
    holes = i64(st.holes)
    if st.side < 0 or action < 0 or action > holes * holes:
        return False
    if action == holes * holes:
        moves = np.empty(MAX_ACTIONS, np.int32)
        return generate(st, moves) == 1 and moves[0] == action
    origin = action // holes
    if (i64(st.board[origin]) + 15) >> 4 != st.side + 1:
        return False
    near = np.empty(CELLS + 6, np.int32)
    allowed = allowed_zones(st, i64(st.side))
    n = generate_from(st, i64(origin), near, i64(0), allowed)
    legal = False
    for i in range(n):
        legal |= near[i] == action
    return bool(legal)


@kernel
def _next(st: Record, seat: Int) -> Int:
    """Return the active seat after `seat`, clockwise."""
    seat = seat + 1 if seat + 1 < st.seats else 0
    while st.rank[seat] != 0:
        seat = seat + 1 if seat + 1 < st.seats else 0
    return i64(seat)


@kernel
def _previous(st: Record, seat: Int) -> Int:
    """Return the active seat before `seat`."""
    seat = seat - 1 if seat > 0 else i64(st.seats) - 1
    while st.rank[seat] != 0:
        seat = seat - 1 if seat > 0 else i64(st.seats) - 1
    return i64(seat)


@kernel
def _pass_turn(st: Record, seat: Int) -> None:
    """Give the turn to `seat`, in the key too."""
    st.key = st.key ^ TURN_KEY[st.turn] ^ TURN_KEY[seat]
    st.turn = seat
    st.side = seat


@kernel
def _toggle_around(st: Record, hole: Int) -> None:
    """Tell the holes around that a peg has come into a hole, or has left it."""
    table = st.geometry
    for d in range(6):
        back = 1 << (d + 3 if d < 3 else d - 3)
        st.beside[NEAR[table, hole * 6 + d]] ^= back
        st.behind[LAND[table, hole * 6 + d]] ^= back


@kernel
def put_peg(st: Record, seat: Int, slot: Int, hole: Int) -> None:
    """Put a peg into an empty hole of the board, without updating the counts and the key."""
    st.pegs[seat, slot] = hole
    st.board[hole] = 1 + 16 * seat + slot
    _toggle_around(st, hole)


@kernel
def clear_board(st: Record) -> None:
    """Take all pegs off the board, without updating the counts and the key."""
    for hole in range(st.holes):
        if st.board[hole] != 0:
            st.board[hole] = 0
            _toggle_around(st, hole)


@kernel
def _move_peg(st: Record, seat: Int, origin: Int, target: Int) -> None:
    """Move a peg of `seat`, with everything that follows from the position alone."""
    peg = st.board[origin]
    st.board[target] = peg
    st.board[origin] = 0
    st.pegs[seat, (i64(peg) + 15) & 15] = target
    _toggle_around(st, origin)
    _toggle_around(st, target)
    st.key = st.key ^ PEG_KEY[seat, origin] ^ PEG_KEY[seat, target]
    goal = i64(st.goal[seat])
    left, entered = i64(st.zone[origin]), i64(st.zone[target])
    if left != entered:
        fills = i64(st.fills[seat])
        st.filled[left] -= (fills >> left) & 1
        st.filled[entered] += (fills >> entered) & 1
        st.inside[seat] += i64(entered == goal) - i64(left == goal)
    table = st.geometry
    st.distance[seat] += i64(STEPS[table, goal, target]) - i64(STEPS[table, goal, origin])


@kernel
def _finishing_seat(st: Record, origin: Int, target: Int) -> Int:
    """Return the seat whose goal this move has filled, or -1.

    The goal must be full of pegs that count in it, with at least one peg of its owner. The owner
    has finished even if another player filled the goal.
    """
    entered = i64(st.zone[target])
    if entered == NO_ZONE or entered == st.zone[origin] or st.filled[entered] < st.each:
        return i64(-1)
    owner = i64(st.owner[entered])
    if owner < 0 or st.rank[owner] != 0 or st.inside[owner] == 0:
        return i64(-1)
    return owner


@kernel
def repeats(st: Record) -> Int:
    """Return how often the present position has occurred, this time included."""
    ply = i64(st.ply)
    cycle = i64(st.seats - st.placed - st.dropped)
    holes = i64(st.holes)
    times = i64(1)
    if ply == st.floor:
        times += i64(st.prior)
    now = np.empty(CELLS, np.uint8)
    for hole in range(holes):
        now[hole] = (i64(st.board[hole]) + 15) >> 4
    then = now.copy()
    different = i64(0)
    back = ply
    while back > st.floor and st.marks[back] & FINISH == 0:
        back = back - 1
        action = i64(st.history[back])
        if action < holes * holes:
            origin = action // holes
            target = action - origin * holes
            different -= i64(then[origin] != now[origin])
            different -= i64(then[target] != now[target])
            then[origin] = then[target]
            then[target] = 0
            different += i64(then[origin] != now[origin])
            different += i64(then[target] != now[target])
        if different == 0 and (ply - back) % cycle == 0:
            times += 1
            if back == st.floor:
                times += i64(st.prior)
    return times


@kernel
def _end_reason(st: Record) -> Int:
    """Return why the play is over after a move that left at least two seats active, or 0."""
    slot = i64(st.key & np.uint64(FILTER - 1))
    if st.seen[slot] >= 3 and repeats(st) >= 3:
        return i64(END_REPETITION)
    if st.since >= ROUNDS * (st.seats - st.placed - st.dropped):
        return i64(END_STALL)
    if st.ply >= MAX_PLIES:
        return i64(END_LENGTH)
    return i64(0)


@kernel
def play(st: Record, m: Int) -> None:
    """Apply a legal action."""
    holes = i64(st.holes)
    ply = i64(st.ply)
    seat = i64(st.turn)
    mark: Int = i64(0)
    if m < holes * holes:
        origin = source_hole(st, m)
        target = m - origin * holes
        _move_peg(st, seat, origin, target)
        if st.distance[seat] < st.best[seat]:
            mark = i64(st.best[seat] - st.distance[seat])
            st.best[seat] = st.distance[seat]
        finisher = _finishing_seat(st, origin, target)
        if finisher >= 0:
            mark = mark | FINISH
            st.placed += 1
            st.rank[finisher] = st.placed
            st.key = st.key ^ OUT_KEY[finisher]
    st.history[ply] = m
    st.marks[ply + 1] = mark
    st.ply = ply + 1
    st.since = 0 if mark != 0 else st.since + 1
    _pass_turn(st, _next(st, seat))
    st.seen[i64(st.key & np.uint64(FILTER - 1))] += 1
    if st.seats - st.placed - st.dropped == 1:
        st.end = END_GOAL
    else:
        st.end = _end_reason(st)
    if st.end != 0:
        st.side = -1


@kernel
def may_end(st: Record, m: Int) -> bool:
    """Return whether action `m` may end the play; false means that it certainly does not."""
    holes = i64(st.holes)
    seat = i64(st.turn)
    limit = i64(ROUNDS * (st.seats - st.placed - st.dropped))
    if m >= holes * holes or st.since + 1 >= limit or st.ply + 1 >= MAX_PLIES:
        return True
    origin = source_hole(st, m)
    target = m - origin * holes
    entered = i64(st.zone[target])
    if entered != NO_ZONE and st.filled[entered] + 1 >= st.each:
        return True
    key = st.key ^ PEG_KEY[seat, origin] ^ PEG_KEY[seat, target]
    key = key ^ TURN_KEY[seat] ^ TURN_KEY[_next(st, seat)]
    return bool(st.seen[i64(key & np.uint64(FILTER - 1))] >= 2)


@kernel
def _plies_without_progress(st: Record) -> Int:
    """Return how many plies ago the last progress was."""
    ply = i64(st.ply)
    back = ply
    while st.marks[back] == 0:
        back -= 1
    return ply - back


@kernel
def undo(st: Record, m: Int) -> None:
    """Take back `m`, the last action played."""
    holes = i64(st.holes)
    ply = i64(st.ply) - 1
    mark = i64(st.marks[ply + 1])
    st.seen[i64(st.key & np.uint64(FILTER - 1))] -= 1
    origin = source_hole(st, m)
    target = m - origin * holes
    if mark & FINISH:
        finisher = i64(st.owner[st.zone[target]])
        st.placed -= 1
        st.rank[finisher] = 0
        st.key = st.key ^ OUT_KEY[finisher]
    if m < holes * holes:
        seat: Int = ((i64(st.board[target]) + 15) >> 4) - 1
        _move_peg(st, seat, target, origin)
        st.best[seat] += mark & IMPROVED
    else:
        seat = _previous(st, i64(st.turn))
    _pass_turn(st, seat)
    st.end = 0
    st.history[ply] = 0
    st.marks[ply + 1] = 0
    st.ply = ply
    st.since = _plies_without_progress(st) if mark != 0 else st.since - 1


@kernel
def ranks(st: Record, out: Moves) -> None:
    """Write the rank of each seat: those placed keep theirs, the others follow by distance.

    They share a rank where the play was drawn by repetition.
    """
    drawn = st.end == END_REPETITION and st.repetition == REPETITION_DRAW
    for seat in range(st.seats):
        out[seat] = st.placed + 1 if drawn and st.rank[seat] == 0 else st.rank[seat]
        if st.rank[seat] == 0 and not drawn:
            closer = 0
            for other in range(st.seats):
                if st.rank[other] == 0 and st.distance[other] < st.distance[seat]:
                    closer += 1
            out[seat] = st.placed + 1 + closer


@kernel
def returns(st: Record, out: Values) -> None:
    """Write the share of the opponents that each seat has left behind; a tie counts half."""
    rank = np.zeros(SEATS, np.int32)
    ranks(st, rank)
    for seat in range(st.seats):
        halves = 0
        for other in range(st.seats):
            if other != seat and rank[other] >= rank[seat]:
                halves += 2 if rank[other] > rank[seat] else 1
        out[seat] = halves / (2.0 * (i64(st.seats) - 1))


@kernel
def in_contention(st: Record, seat: Int) -> bool:
    """Return whether a seat has neither finished nor dropped out."""
    return bool(st.rank[seat] == 0)


BY_STEP = 32
"""The weight in `move_score` of a step towards the goal; a step behind has weight 1."""


@kernel
def move_score(st: Record, m: Int) -> Int:
    """Prefer long ways towards the goal, and among equals the peg that is furthest behind."""
    holes = i64(st.holes)
    if m >= holes * holes:
        return i64(0)
    origin = source_hole(st, m)
    target = m - origin * holes
    goal = i64(st.goal[st.turn])
    before = i64(STEPS[st.geometry, goal, origin])
    return (before - i64(STEPS[st.geometry, goal, target])) * BY_STEP + before


@kernel
def set_side_to_move(st: Record, seat: Int) -> Int:
    """Make `seat` the one to act; return the seat that was."""
    before = i64(st.turn)
    _pass_turn(st, i64(seat))
    return before


@kernel
def compute_key(st: Record) -> Any:
    """Return the key from scratch."""
    key = TURN_KEY[st.turn]
    for seat in range(st.seats):
        if st.rank[seat] != 0:
            key = key ^ OUT_KEY[seat]
        for slot in range(st.each):
            key = key ^ PEG_KEY[seat, st.pegs[seat, slot]]
    return key


@kernel
def forfeit(st: Record, seat: Int) -> None:
    """Take an active seat out of a play that goes on; its pegs stay as obstacles."""
    st.rank[seat] = st.seats - st.dropped
    st.dropped += 1
    st.key = st.key ^ OUT_KEY[seat]
    st.marks[st.ply] |= np.uint8(DROP)
    st.since = 0
    st.floor = st.ply
    st.prior = 0
    if st.turn == seat:
        _pass_turn(st, _next(st, i64(seat)))
    st.seen[i64(st.key & np.uint64(FILTER - 1))] += 1
    if st.seats - st.placed - st.dropped == 1:
        st.end = END_DROPPED
        st.side = -1


@kernel
def shortest_path(st: Record, action: Int, path: Moves) -> Int:
    """Write the holes of a shortest way of `action`, the last one played; return how many."""
    holes = i64(st.holes)
    origin = action // holes
    target = action - origin * holes
    seat = ((i64(st.board[target]) + 15) >> 4) - 1
    path[0] = origin
    path[1] = target
    for d in range(6):
        if NEAR[st.geometry, origin * 6 + d] == target:
            return i64(2)
    peg = st.board[target]
    st.board[target] = 0
    came = _bfs_jumps(st, origin, target, allowed_zones(st, seat))
    st.board[target] = peg
    if came[target] < 0:
        return i64(2)
    n = i64(0)
    here = target
    while here != origin:
        path[n] = here
        here = i64(came[here])
        n += 1
    path[n] = origin
    n += 1
    for i in range(n // 2):
        path[i], path[n - 1 - i] = path[n - 1 - i], path[i]
    return n


@kernel
def _bfs_jumps(st: Record, origin: Int, target: Int, allowed: Int) -> Moves:
    """Return for each hole reached by jumps the hole before it, by breadth-first search."""
    came = np.full(CELLS, -1, np.int32)
    queue = np.empty(CELLS, np.int32)
    came[origin] = origin
    queue[0] = origin
    head, tail = 0, 1
    while came[target] < 0 and head < tail:
        here = i64(queue[head])
        head += 1
        for d in range(6):
            hole = _jump(st, here, d)
            free = st.board[hole] == 0 and came[hole] < 0
            if free and (st.through != 0 or (allowed >> i64(st.zone[hole])) & 1):
                came[hole] = here
                queue[tail] = hole
                tail += 1
    return came


@kernel
def _jump(st: Record, here: Int, direction: Int) -> Int:
    """Return where a jump from `here` lands, or `WALL`."""
    if st.long_jumps != 0:
        return _landing(st, here, direction)
    if st.board[NEAR[st.geometry, here * 6 + direction]] == 0:
        return i64(WALL)
    return i64(LAND[st.geometry, here * 6 + direction])


@kernel
def occurrences(st: Record) -> Int:
    """Return the number of occurrences of the present position; walk back only if it may recur."""
    seen = st.seen[i64(st.key & np.uint64(FILTER - 1))]
    return repeats(st) if seen >= 2 else i64(1)


@kernel
def first_recurrable(st: Record) -> Int:
    """Return the first ply whose position may recur: `repeats` looks no further back."""
    back = i64(st.ply)
    while back > st.floor and st.marks[back] & FINISH == 0:
        back = back - 1
    return back


@kernel
def restore_past(st: Record, actions: Moves) -> None:
    """Make `actions` the last ones played, so that the positions before them count as well.

    The position is the one after them and stays as it is. None of them finished a seat, and no seat
    has dropped out since the first of them: only such positions can recur.
    """
    holes = i64(st.holes)
    back: Int = i64(st.ply)
    turn: Int = i64(st.turn)
    key = st.key
    for i in range(len(actions)):
        action = i64(actions[len(actions) - 1 - i])
        before = _previous(st, turn)
        if action < holes * holes:
            origin = action // holes
            key = key ^ PEG_KEY[before, origin] ^ PEG_KEY[before, action - origin * holes]
        key = key ^ TURN_KEY[turn] ^ TURN_KEY[before]
        st.seen[i64(key & np.uint64(FILTER - 1))] += 1
        turn = before
        back -= 1
        st.history[back] = action
    st.floor = back


StateArray: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"
"""A state as `kernels.box` returns it: Python calls the kernels below for single states."""


@kernel
def first_recurrable_in(states: StateArray) -> Int:
    """Do `first_recurrable`."""
    return first_recurrable(states[0])


@kernel
def restore_past_in(states: StateArray, actions: Moves) -> None:
    """Do `restore_past`."""
    restore_past(states[0], actions)


@kernel
def allows_in(states: StateArray, action: Int) -> bool:
    """Do `allows`."""
    return allows(states[0], action)


@kernel
def occurrences_in(states: StateArray) -> Int:
    """Do `occurrences`."""
    return occurrences(states[0])


@kernel
def shortest_path_in(states: StateArray, action: Int, path: Moves) -> Int:
    """Do `shortest_path`."""
    return shortest_path(states[0], action, path)


def _landings(land: np.ndarray, hole: int) -> list[int]:
    """Return, ascending, all holes that jumps can lead to, whatever stands on the board."""
    reachable, fresh = {hole}, [hole]
    while fresh:
        targets = {int(target) for target in land[fresh.pop()]} - reachable - {WALL}
        reachable |= targets
        fresh += targets
    return sorted(reachable)


def _dense_tables() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the first dense number and the rank of each hole, and the landings of each.

    A peg can only get to a neighbor, or to where jumps lead: a third of all holes. The dense
    numbers of a hole begin with its neighbors, by direction, and go on with its landings,
    itself left out; its *rank* is its place among those. The pass is the last number of all.
    """
    near, land = (np.asarray(table).reshape(len(geo.ALL), CELLS, 6) for table in (NEAR, LAND))
    first = np.zeros((len(geo.ALL), CELLS + 1), np.int32)
    rank = np.zeros((len(geo.ALL), CELLS), np.uint8)
    most = -(-CELLS // 2)
    landing = np.full((len(geo.ALL), CELLS, most), WALL, np.uint8)
    for board, (kind, size) in enumerate(geo.ALL):
        landings: dict[int, list[int]] = {}
        for hole in range(geo.geometry(kind, size).holes):
            if hole not in landings:  # jumps are reversible: all holes of a run reach the same
                run = _landings(land[board], hole)
                landings.update(dict.fromkeys(run, run))
            reached = landings[hole]
            rank[board, hole] = reached.index(hole)
            landing[board, hole, : len(reached)] = reached
            ways = int((near[board, hole] != WALL).sum())
            first[board, hole + 1 :] = first[board, hole] + ways + len(reached) - 1
    return first, rank, landing


FIRST_DENSE, RANK, LANDING = map(kernels.kernel_array, _dense_tables())


@kernel
def num_dense(st: Record) -> Any:
    """Return how many pairs of holes a peg can move between in a turn, and one for the pass."""
    return i64(FIRST_DENSE[st.geometry, st.holes]) + 1


@kernel
def dense_index(st: Record, m: Int) -> Any:
    """Return the dense number of an action."""
    table, holes = i64(st.geometry), i64(st.holes)
    if m == holes * holes:
        return i64(FIRST_DENSE[table, holes])
    origin = source_hole(st, m)
    target = m - origin * holes
    number = i64(FIRST_DENSE[table, origin])
    for d in range(6):
        near = i64(NEAR[table, origin * 6 + d])
        if near == target:
            return number
        number += i64(near != WALL)
    place = i64(RANK[table, target])
    return number + place - i64(place > i64(RANK[table, origin]))


@kernel
def dense_action(st: Record, index: Int) -> Any:
    """Return the action that has a dense number."""
    table, holes = i64(st.geometry), i64(st.holes)
    if index == i64(FIRST_DENSE[table, holes]):
        return holes * holes
    low, high = i64(0), holes
    while high - low > 1:
        middle = (low + high) // 2
        if i64(FIRST_DENSE[table, middle]) <= index:
            low = middle
        else:
            high = middle
    left = i64(index) - i64(FIRST_DENSE[table, low])
    for d in range(6):
        near = i64(NEAR[table, low * 6 + d])
        if near != WALL:
            if left == 0:
                return low * holes + near
            left -= 1
    left += i64(left >= i64(RANK[table, low]))
    return low * holes + i64(LANDING[table, low, left])


@kernel
def observe(st: Record, seat: Int, out: Planes) -> None:
    """Write two planes a seat over the holes, the own seat first: its pegs, and its goal."""
    holes, seats = i64(st.holes), i64(st.seats)
    zone = st.zone
    for i in range(seats):
        other = (seat + i) % seats
        goal, first = i64(st.goal[other]), 2 * i * holes
        for hole in range(holes):
            out[first + hole] = 0.0
        for slot in range(st.each):
            out[first + i64(st.pegs[other, slot])] = 1.0
        first += holes
        for hole in range(holes):
            out[first + hole] = zone[hole] == goal


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
    set_side_to_move=set_side_to_move,
    generate_stage=generate_stage,
    compute_key=compute_key,
    observe=observe,
    num_dense=num_dense,
    dense_index=dense_index,
    dense_action=dense_action,
)


def make_state(
    *,
    table: int,
    stop: int,
    through: bool,
    sticky: bool,
    long_jumps: bool,
    win: int = WIN_OWN_OR_PARKED,
    repetition: int = REPETITION_DRAW,
    corners: tuple[int, ...],
    pegs: tuple[tuple[int, ...], ...],
    turn: int = 0,
    out: tuple[int, ...] = (),
) -> np.record:
    """Return the state at ply 0 with these pegs, whose history starts here.

    `table` is the board's index in `geometry.ALL`; `out` gives the ranks of the seats that are no
    longer active, 0 for the others. The arguments are not checked.
    """
    st: Record = kernels.new(STATE)
    shape = geo.geometry(*geo.ALL[table])
    each = len(pegs[0])
    st.geometry, st.holes, st.seats, st.each = table, shape.holes, len(corners), each
    st.stop, st.through, st.sticky, st.long_jumps = stop, through, sticky, long_jumps
    st.win, st.repetition = win, repetition
    _zones(st, shape, each)
    st.corner[: len(corners)] = corners
    st.goal[: len(corners)] = [(corner + 3) % 6 for corner in corners]
    st.fills[: len(corners)] = [_counting_zones(win, corner) for corner in corners]
    st.owner[:] = -1
    for seat, holes in enumerate(pegs):
        _place_pegs(st, shape, seat, holes)
    _compute_adjacency(st)
    st.turn = st.side = turn
    st.rank[: len(out)] = out
    unplaced = [rank for rank in out if rank == 0] if out else list(corners)
    st.placed = _finishers(out)
    st.dropped = len(corners) - len(unplaced) - st.placed
    st.key = calls.compute_key(st)
    st.seen[int(st.key) % FILTER] = 1
    st.marks[0] = DROP
    state: np.record = st
    return state


def _counting_zones(win: int, corner: int) -> int:
    """Return the zones in which the pegs of the seat of a corner count, one bit each."""
    goal, home = 1 << (corner + 3) % 6, 1 << corner
    return {WIN_OWN_OR_PARKED: goal | home, WIN_FULL: goal, WIN_ANY: EVERYWHERE}[win]


def _finishers(out: tuple[int, ...]) -> int:
    """Count the ranks taken from the top: 1, 2, ... without a gap."""
    count = 0
    while count + 1 in out:
        count += 1
    return count


def _zones(st: Record, shape: geo.Geometry, each: int) -> None:
    st.zone[:] = NO_ZONE
    for corner in geo.corners_of(shape.board):
        st.zone[list(shape.home(corner, each))] = corner
    st.board[WALL] = OFF


def _compute_adjacency(st: Record) -> None:
    """Note for every hole in which directions something stands."""
    holes, taken, bits = int(st.holes), np.asarray(st.board) != 0, 1 << np.arange(6)
    for noted, table in ((st.beside, NEAR), (st.behind, LAND)):
        around = np.asarray(table)[st.geometry].reshape(CELLS, 6)[:holes]
        noted[:holes] = taken[around] @ bits


def _place_pegs(st: Record, shape: geo.Geometry, seat: int, holes: tuple[int, ...]) -> None:
    """Put the pegs of one seat on the board, with the counts that follow from them."""
    goal, each = int(st.goal[seat]), len(holes)
    st.owner[goal] = seat
    st.pegs[seat, :each] = holes
    for slot, hole in enumerate(holes):
        st.board[hole] = 1 + 16 * seat + slot
        st.filled[st.zone[hole]] += int(st.fills[seat]) >> int(st.zone[hole]) & 1
        st.inside[seat] += int(st.zone[hole]) == goal
    full = shape.remaining(goal, shape.home(goal, each))
    total = shape.remaining(goal, holes)
    st.distance[seat] = st.best[seat] = total - full
