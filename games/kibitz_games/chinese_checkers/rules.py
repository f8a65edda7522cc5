"""The rules, as kernels that operate on a state record.

The position
------------
``board[hole]`` is 0 for an empty hole, otherwise ``1 + 16*seat + slot``, where `slot` is the peg's
index in ``pegs[seat]``; thus ``(value + 15) >> 4`` is the seat plus one. ``board[WALL]`` is always
occupied and represents everything off the board, which avoids bounds checks. ``zone[hole]`` is the
corner that contains the hole, or `NO_ZONE`. Bits in ``beside`` and ``behind`` record which of the
six directions allow a step or a jump from each hole, so that move generation skips closed
directions.

An action is ``from*holes + to``; ``holes*holes`` is the pass, legal only if there is no other move.

`turn` is the seat to move; `side` is the same, or -1 when the match is over. A seat is *active*
while ``rank[seat]`` is 0: players who finish receive the best remaining rank, players who drop out
the worst.

Jumps and parity
----------------
Every jump moves a peg by an even number of steps along a line, so it lands on holes of the same
parity class, which never includes a neighbor. It follows that the destinations of steps and jumps
are disjoint, and that a chain never jumps over a hole that it has visited. Visited holes can
therefore be marked on the board as occupied. Long jumps may cross visited holes, so these count as
empty for them.

Pegs of a class never jump over another hole of that class, including the origin of the move. Jumps
from an empty hole therefore reach the same holes for every peg. These holes form a *run*: it is
computed once for all pegs of a position that jump into it, and marked with its number on the board.
This saves most of the work when many pegs use the same ladder. If the rules restrict pegs
differently, the chains of each peg are computed separately.

Goals
-----
A goal is reached when all of its holes contain pegs that count, at least one of them the player's
own. The option `win` determines which pegs count. By default, these are the player's own and those
of the seat whose home the triangle is, which may remain parked there forever; with ``full``, only
the player's own; with ``any``, all pegs. ``fills[seat]`` contains the zones in which the pegs of a
seat count, one bit each, and ``filled[zone]`` the number of counting pegs in a zone, so the option
does not slow down searches. Only the position matters: the owner of the goal has finished, no
matter which player made the last move.

Ends
----
Apart from goals, the match ends when a position (pegs and seat to move) occurs for the third time,
after `ROUNDS` rounds without progress, or after `MAX_PLIES` plies. Progress means that a seat's
total distance falls below its previous minimum, that a seat finishes, or that one drops out. The
distance of a seat is the total number of steps from its pegs to the tip of its goal, minus the same
total for a full goal. Seats that have not finished are ranked by distance. A repetition is a draw
between them unless the option `repetition` says ``adjudicate``: otherwise the leader could win by
moving a peg back and forth.

`undo` restores every byte, so the record contains all it needs: ``history[ply]`` is the action
played at that ply, ``marks[ply + 1]`` its effect on progress (bits 0-4: improvement of the mover's
best; `FINISH`; `DROP`). Detection of repetitions is exact: ``seen`` counts positions by some bits
of their keys, and when a count reaches three, the actions are retraced and the positions compared.
A state takes 4 KiB; a list of keys would need another 8 KiB. After a seat finishes or drops out,
earlier positions cannot recur, so the search stops there, and also at ``floor``.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from kibitz_games.chinese_checkers import geometry as geo
from kibitz_games.compiled import calls, kernels, operations
from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.compiled.operations import Moves, Planes, Record, Values

i64, index = kernels.int64_cast(), kernels.index_cast()

MAX_PLIES = 1000
ROUNDS = 50
MAX_ACTIONS = geo.MAX_PEGS * geo.MAX_HOLES + 1
"""An upper bound on the actions in a position: each peg to each hole, and the pass."""

WALL = geo.MAX_HOLES
CELLS = geo.MAX_HOLES + 1
NO_ZONE = 6
SEATS = 6
OFF = 127
"""The value of ``board[WALL]``."""
RUN = 128
"""A hole of run r is marked with ``RUN + r`` during move generation; smaller values are pegs."""
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
        ("each", np.int32),  # pegs per seat
        ("ply", np.int32),
        ("turn", np.int32),
        ("side", np.int32),
        ("end", np.int32),  # the reason for the end, or 0
        ("since", np.int32),  # plies since the last progress
        ("placed", np.int32),  # number of seats that finished
        ("dropped", np.int32),  # number of seats that dropped out
        ("floor", np.int32),  # the first ply whose position can recur
        ("prior", np.int32),  # earlier occurrences of the position at `floor`
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
        ("inside", np.int32, (SEATS,)),  # number of the seat's pegs in its goal
        ("fills", np.int32, (SEATS,)),  # zones in which the seat's pegs count, one bit each
        ("filled", np.int32, (NO_ZONE + 1,)),  # number of pegs that count in each zone
        ("owner", np.int32, (NO_ZONE + 1,)),  # the seat whose goal a zone is, or -1
        ("pegs", np.uint8, (SEATS, 16)),
        ("board", np.uint8, (CELLS,)),
        ("zone", np.uint8, (CELLS,)),
        ("beside", np.uint8, (CELLS,)),  # bit d: the neighbor at d is a peg or off the board
        ("behind", np.uint8, (CELLS,)),  # bit d: the hole after it is a peg or off the board
        ("marks", np.uint8, (MAX_PLIES + 1,)),
        ("seen", np.uint8, (FILTER,)),
        ("history", np.uint16, (MAX_PLIES,)),
    ],
    source=__file__,
)


def _tables() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the neighbors, the jump targets and the steps to each corner's tip, for each board."""
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
    """Return Zobrist keys for pegs in holes, for the seat to move, and for inactive seats."""
    source = np.random.Generator(np.random.PCG64(20))
    numbers = source.integers(0, 2**64, size=(SEATS, CELLS + 2), dtype=np.uint64)
    return numbers[:, :CELLS].copy(), numbers[:, CELLS].copy(), numbers[:, CELLS + 1].copy()


PEG_KEY, TURN_KEY, OUT_KEY = map(kernels.kernel_array, _keys())

EVERY_WAY = 63
"""All six directions, one bit each."""


def _direction_sets() -> tuple[np.ndarray, np.ndarray]:
    """Return the size and the members of each set of directions."""
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
rest of `move_score`. The result is exact for all actions, since ``2**SHIFT > holes**3``."""


@kernel
def source_hole(st: Record, m: Int) -> Int:
    """Return the origin of action `m`, which must not be a pass."""
    return m * i64(SHARE[index(st.holes)]) >> SHIFT


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
    """Return the target of a long jump from `here`, or `WALL`.

    The target is as far behind the jumped peg as `here` is in front of it.
    """
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
    """Append the targets of all jump chains to `queue`, and mark them on the board."""
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
    """Append the moves of the peg in `origin` to the `n` moves in `moves`; return the new `n`."""
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
    """Append the holes of an empty hole's run to `moves` at `tail`, and mark them on the board."""
    table = index(st.geometry)
    board = st.board
    head = tail
    board[index(hole)] = mark
    moves[index(tail)] = hole
    tail += 1
    while head < tail:
        here = i64(moves[index(head)])
        head += 1
        ways = i64(st.beside[index(here)]) & ~i64(st.behind[index(here)]) & EVERY_WAY
        for i in range(COUNT[ways]):
            target = i64(LAND[table, index(here * 6 + WAYS[ways, i])])
            if board[index(target)] == 0:
                board[index(target)] = mark
                moves[index(tail)] = target
                tail += 1
    return i64(tail)


HOLES_AT = MAX_ACTIONS - CELLS
BEGINS_AT = HOLES_AT - RUNS - 1
TAKEN_AT = BEGINS_AT - RUNS
"""`_generate_by_components` uses the end of the move list as its workspace. From `HOLES_AT` on, it
stores the holes of all runs, from `BEGINS_AT` the start of each run in that list, and from
`TAKEN_AT` the last peg for which it has listed the run's moves. The longest move list ends before.
"""
assert TAKEN_AT > geo.MAX_PEGS * (6 + CELLS // 2)


@kernel
def _generate_by_components(st: Record, first: Int, last: Int, moves: Moves) -> Int:
    """Write the moves of the pegs from `first` to `last`, exclusive, as if all zones were allowed.

    Return their number.
    """
    table = index(st.geometry)
    board = st.board
    holes = i64(st.holes)
    n, runs = i64(0), i64(0)
    tail: Int = i64(HOLES_AT)
    for slot in range(first + 1, last + 1):
        origin = i64(st.pegs[index(st.side), index(slot - 1)])
        pegs = i64(st.beside[origin])
        ways = ~pegs & EVERY_WAY
        for i in range(COUNT[ways]):
            moves[index(n)] = origin * holes + i64(NEAR[table, index(origin * 6 + WAYS[ways, i])])
            n += 1
        ways = pegs & ~i64(st.behind[origin]) & EVERY_WAY
        for i in range(COUNT[ways]):
            land = i64(LAND[table, index(origin * 6 + WAYS[ways, i])])
            mark: Int = i64(board[land])
            if mark == 0:
                mark = RUN + runs
                moves[index(BEGINS_AT + runs)] = tail
                moves[index(TAKEN_AT + runs)] = 0
                tail = _jump_component(st, land, mark, moves, tail)
                runs += 1
                moves[index(BEGINS_AT + runs)] = tail
            run = mark - RUN
            if moves[index(TAKEN_AT + run)] != slot:
                moves[index(TAKEN_AT + run)] = slot
                begin = i64(moves[index(BEGINS_AT + run)])
                for k in range(begin, i64(moves[index(BEGINS_AT + run + 1)])):
                    moves[index(n)] = origin * holes + moves[index(k)]
                    n += 1
    for i in range(HOLES_AT, tail):
        board[index(moves[index(i)])] = 0
    return n


@kernel
def _filter_by_zone(st: Record, moves: Moves, n: Int, allowed: Int) -> Int:
    """Keep those of the first `n` moves that end in an allowed zone; return their number."""
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
    """Write the moves of the pegs from `first` to `last`, exclusive; return their number."""
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
    """Write the legal actions: the pass if there is no other, none when the match is over."""
    if st.side < 0:
        return i64(0)
    n = _generate_of(st, i64(0), i64(st.each), moves)
    return n if n > 0 else _write_pass(st, moves)


@kernel
def generate_stage(st: Record, k: Int, moves: Moves) -> Int:
    """Write the moves of the first peg if `k` is 0, those of the other pegs if `k` is 1."""
    if st.side < 0 or k > 1:
        return i64(-1)
    if k == 0:
        return _generate_of(st, i64(0), i64(1), moves)
    n = _generate_of(st, i64(1), i64(st.each), moves)
    alone = n == 0 and _generate_of(st, i64(0), i64(1), moves) == 0
    return _write_pass(st, moves) if alone else n


@kernel
def allows(st: Record, action: Int) -> bool:
    """Return whether `action` is legal, generating only the moves of its peg."""
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
    while st.rank[index(seat)] != 0:
        seat = seat + 1 if seat + 1 < st.seats else 0
    return i64(seat)


@kernel
def _previous(st: Record, seat: Int) -> Int:
    """Return the active seat before `seat`."""
    seat = seat - 1 if seat > 0 else i64(st.seats) - 1
    while st.rank[index(seat)] != 0:
        seat = seat - 1 if seat > 0 else i64(st.seats) - 1
    return i64(seat)


@kernel
def _pass_turn(st: Record, seat: Int) -> None:
    """Pass the turn to `seat`; update the key."""
    st.key = st.key ^ TURN_KEY[index(st.turn)] ^ TURN_KEY[index(seat)]
    st.turn = seat
    st.side = seat


@kernel
def _toggle_around(st: Record, hole: Int) -> None:
    """Toggle the bits of the holes around a hole that a peg has entered or left."""
    table, first = index(st.geometry), hole * 6
    for d in range(6):
        back = 1 << (d + 3 if d < 3 else d - 3)
        st.beside[NEAR[table, index(first + d)]] ^= back
        st.behind[LAND[table, index(first + d)]] ^= back


@kernel
def put_peg(st: Record, seat: Int, slot: Int, hole: Int) -> None:
    """Put a peg into an empty hole without updating the counts and the key."""
    st.pegs[seat, slot] = hole
    st.board[hole] = 1 + 16 * seat + slot
    _toggle_around(st, hole)


@kernel
def clear_board(st: Record) -> None:
    """Remove all pegs from the board without updating the counts and the key."""
    for hole in range(st.holes):
        if st.board[hole] != 0:
            st.board[hole] = 0
            _toggle_around(st, hole)


@kernel
def _move_peg(st: Record, seat: Int, origin: Int, target: Int) -> None:
    """Move a peg of `seat`, and update everything that depends only on the position."""
    own, there, here = index(seat), index(target), index(origin)
    peg = st.board[here]
    st.board[there] = peg
    st.board[here] = 0
    st.pegs[own, (i64(peg) + 15) & 15] = target
    _toggle_around(st, origin)
    _toggle_around(st, target)
    st.key = st.key ^ PEG_KEY[own, here] ^ PEG_KEY[own, there]
    goal = i64(st.goal[own])
    left, entered = i64(st.zone[here]), i64(st.zone[there])
    if left != entered:
        fills = i64(st.fills[own])
        st.filled[left] -= (fills >> left) & 1
        st.filled[entered] += (fills >> entered) & 1
        st.inside[own] += i64(entered == goal) - i64(left == goal)
    table, aim = index(st.geometry), index(goal)
    st.distance[own] += i64(STEPS[table, aim, there]) - i64(STEPS[table, aim, here])


@kernel
def _finishing_seat(st: Record, origin: Int, target: Int) -> Int:
    """Return the seat whose goal this move filled, or -1.

    The goal must be full of pegs that count in it, with at least one peg of its owner. The owner
    finishes even if another player filled the goal.
    """
    entered = i64(st.zone[index(target)])
    if entered == NO_ZONE or entered == st.zone[index(origin)] or st.filled[entered] < st.each:
        return i64(-1)
    owner = i64(st.owner[entered])
    if owner < 0 or st.rank[owner] != 0 or st.inside[owner] == 0:
        return i64(-1)
    return owner


@kernel
def repeats(st: Record) -> Int:
    """Return the number of occurrences of the current position, including this one."""
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
    """Return why a match with at least two active seats ends now, or 0 if it continues."""
    slot = index(st.key & np.uint64(FILTER - 1))
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
        if st.distance[index(seat)] < st.best[index(seat)]:
            mark = i64(st.best[index(seat)] - st.distance[index(seat)])
            st.best[index(seat)] = st.distance[index(seat)]
        finisher = _finishing_seat(st, origin, target)
        if finisher >= 0:
            mark = mark | FINISH
            st.placed += 1
            st.rank[finisher] = st.placed
            st.key = st.key ^ OUT_KEY[finisher]
    st.history[index(ply)] = m
    st.marks[index(ply + 1)] = mark
    st.ply = ply + 1
    st.since = 0 if mark != 0 else st.since + 1
    _pass_turn(st, _next(st, seat))
    st.seen[index(st.key & np.uint64(FILTER - 1))] += 1
    if st.seats - st.placed - st.dropped == 1:
        st.end = END_GOAL
    else:
        st.end = _end_reason(st)
    if st.end != 0:
        st.side = -1


@kernel
def may_end(st: Record, m: Int) -> bool:
    """Return whether action `m` might end the match; if False, it certainly does not."""
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
    """Return the number of plies since the last progress."""
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
    mark = i64(st.marks[index(ply + 1)])
    st.seen[index(st.key & np.uint64(FILTER - 1))] -= 1
    origin = source_hole(st, m)
    target = m - origin * holes
    if mark & FINISH:
        finisher = i64(st.owner[st.zone[target]])
        st.placed -= 1
        st.rank[finisher] = 0
        st.key = st.key ^ OUT_KEY[finisher]
    if m < holes * holes:
        seat: Int = ((i64(st.board[index(target)]) + 15) >> 4) - 1
        _move_peg(st, seat, target, origin)
        st.best[index(seat)] += mark & IMPROVED
    else:
        seat = _previous(st, i64(st.turn))
    _pass_turn(st, seat)
    st.end = 0
    st.history[index(ply)] = 0
    st.marks[index(ply + 1)] = 0
    st.ply = ply
    st.since = _plies_without_progress(st) if mark != 0 else st.since - 1


@kernel
def ranks(st: Record, out: Moves) -> None:
    """Write the rank of each seat: inactive seats keep theirs, active seats follow by distance.

    Active seats share a rank if the match was drawn by repetition.
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
    """Write the fraction of opponents ranked below each seat; a tie counts half."""
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
"""The weight in `move_score` of each step of progress; the initial distance has weight 1."""


@kernel
def move_score(st: Record, m: Int) -> Int:
    """Prefer moves with the most progress to the goal, then those of the peg furthest behind."""
    holes = i64(st.holes)
    if m >= holes * holes:
        return i64(0)
    origin = source_hole(st, m)
    target = m - origin * holes
    table, goal = index(st.geometry), index(st.goal[index(st.turn)])
    before = i64(STEPS[table, goal, index(origin)])
    return (before - i64(STEPS[table, goal, index(target)])) * BY_STEP + before


@kernel
def set_side_to_move(st: Record, seat: Int) -> Int:
    """Make `seat` the seat to act; return the previous one."""
    before = i64(st.turn)
    _pass_turn(st, i64(seat))
    return before


@kernel
def compute_key(st: Record) -> Any:
    """Return the key, computed from scratch."""
    key = TURN_KEY[st.turn]
    for seat in range(st.seats):
        if st.rank[seat] != 0:
            key = key ^ OUT_KEY[seat]
        for slot in range(st.each):
            key = key ^ PEG_KEY[seat, st.pegs[seat, slot]]
    return key


@kernel
def forfeit(st: Record, seat: Int) -> None:
    """Remove an active seat from an unfinished match; its pegs remain as obstacles."""
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
    """Write the holes on a shortest path of the last action; return their number."""
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
    """Return the predecessor of each hole reachable by jumps, by breadth-first search."""
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
    """Return the target of a jump from `here`, or `WALL`."""
    if st.long_jumps != 0:
        return _landing(st, here, direction)
    if st.board[NEAR[st.geometry, here * 6 + direction]] == 0:
        return i64(WALL)
    return i64(LAND[st.geometry, here * 6 + direction])


@kernel
def occurrences(st: Record) -> Int:
    """Return the number of occurrences of the current position."""
    seen = st.seen[i64(st.key & np.uint64(FILTER - 1))]
    return repeats(st) if seen >= 2 else i64(1)


@kernel
def first_recurrable(st: Record) -> Int:
    """Return the first ply whose position can recur, the limit of `repeats`."""
    back = i64(st.ply)
    while back > st.floor and st.marks[back] & FINISH == 0:
        back = back - 1
    return back


@kernel
def restore_past(st: Record, actions: Moves) -> None:
    """Set the last actions of the history, so that their positions count for repetitions.

    The current position is the one after `actions` and does not change. No seat may have finished
    or dropped out since the first of them.
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
"""A one-element array from `as_array`. Kernels that Python calls take it instead of a record."""


@kernel
def first_recurrable_in(states: StateArray) -> Int:
    """Call `first_recurrable` for the state in the array."""
    return first_recurrable(states[0])


@kernel
def restore_past_in(states: StateArray, actions: Moves) -> None:
    """Call `restore_past` for the state in the array."""
    restore_past(states[0], actions)


@kernel
def allows_in(states: StateArray, action: Int) -> bool:
    """Call `allows` for the state in the array."""
    return allows(states[0], action)


@kernel
def occurrences_in(states: StateArray) -> Int:
    """Call `occurrences` for the state in the array."""
    return occurrences(states[0])


@kernel
def shortest_path_in(states: StateArray, action: Int, path: Moves) -> Int:
    """Call `shortest_path` for the state in the array."""
    return shortest_path(states[0], action, path)


def _landings(land: np.ndarray, hole: int) -> list[int]:
    """Return, in ascending order, all holes that a peg in `hole` can ever reach by jumps."""
    reachable, fresh = {hole}, [hole]
    while fresh:
        targets = {int(target) for target in land[fresh.pop()]} - reachable - {WALL}
        reachable |= targets
        fresh += targets
    return sorted(reachable)


def _dense_tables() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the first dense number, the rank and the jump targets of each hole.

    A peg can only reach the neighbors and the jump targets of its hole, about a third of all holes.
    Each hole has consecutive dense numbers: first for its neighbors, by direction, then for its
    jump targets. The list of targets includes the hole itself, which gets no number; its index in
    this list is called its *rank*. The pass has the last number.
    """
    near, land = (np.asarray(table).reshape(len(geo.ALL), CELLS, 6) for table in (NEAR, LAND))
    first = np.zeros((len(geo.ALL), CELLS + 1), np.int32)
    rank = np.zeros((len(geo.ALL), CELLS), np.uint8)
    most = -(-CELLS // 2)
    landing = np.full((len(geo.ALL), CELLS, most), WALL, np.uint8)
    for board, (kind, size) in enumerate(geo.ALL):
        landings: dict[int, list[int]] = {}
        for hole in range(geo.geometry(kind, size).holes):
            if hole not in landings:  # jumps are reversible, so a run shares its targets
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
    """Return the number of possible pairs of origin and target, plus one for the pass."""
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
    """Return the action for a dense number."""
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
    """Write two planes per seat over the holes, `seat` first: its pegs and its goal."""
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
    """Return a state at ply 0 with these pegs and an empty history.

    `table` is the board's index in `geometry.ALL`; `out` gives the ranks of inactive seats, 0 for
    the others. The arguments are not validated.
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
    """Return the zones in which the pegs of a corner's seat count, one bit each."""
    goal, home = 1 << (corner + 3) % 6, 1 << corner
    return {WIN_OWN_OR_PARKED: goal | home, WIN_FULL: goal, WIN_ANY: EVERYWHERE}[win]


def _finishers(out: tuple[int, ...]) -> int:
    """Return how many seats have finished; they hold the ranks 1, 2, ... without a gap."""
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
    """Compute `beside` and `behind` for every hole."""
    holes, taken, bits = int(st.holes), np.asarray(st.board) != 0, 1 << np.arange(6)
    for noted, table in ((st.beside, NEAR), (st.behind, LAND)):
        around = np.asarray(table)[st.geometry].reshape(CELLS, 6)[:holes]
        noted[:holes] = taken[around] @ bits


def _place_pegs(st: Record, shape: geo.Geometry, seat: int, holes: tuple[int, ...]) -> None:
    """Put the pegs of one seat on the board, and set the counts that depend on them."""
    goal, each = int(st.goal[seat]), len(holes)
    st.owner[goal] = seat
    st.pegs[seat, :each] = holes
    places = list(holes)
    zones = st.zone[places].astype(np.int64)
    st.board[places] = 1 + 16 * seat + np.arange(each)
    np.add.at(st.filled, zones, int(st.fills[seat]) >> zones & 1)
    st.inside[seat] = np.count_nonzero(zones == goal)
    full = shape.remaining(goal, shape.home(goal, each))
    total = shape.remaining(goal, holes)
    st.distance[seat] = st.best[seat] = total - full
