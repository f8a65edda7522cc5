"""The rules, as kernels that operate on a state record.

The position
------------
The initial row never changes; the current numbers are the sums between neighboring *edges*.
``edge[0]`` is 0, ``edge[count]`` is `length`, and the others are, in ascending order, the places 1
.. length - 1 that still separate two numbers. With the prefix sums of the initial row, number `i`
is ``prefix[edge[i + 1]] - prefix[edge[i]]``. A row is therefore a set of places, independent of the
order of merges, and there are ``2 ** (length - 1)`` of them.

An action is the index of the left one of two neighbors in the current row, 0 .. count - 2. It
removes ``edge[action + 1]``; ``history[ply]`` stores the removed edge for `undo`.

The threshold is the fraction ``above / below`` in lowest terms. Sums are compared with it exactly,
in integers: ``sum * below`` with ``above``.

The key
-------
The key hashes everything that determines the outcome: the edges, the difference of the scores, the
side to move, and `salt`, which represents the row and the threshold.

`turn` is the seat to move; `side` is the same, or -1 when the match is over.
"""

from __future__ import annotations

import hashlib
import itertools
from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

import numpy as np

from kibitz_games.compiled import calls, kernels, operations
from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.compiled.operations import Moves, Planes, Record, Values

i64 = kernels.int64_cast()

SEATS = 2
SHORTEST = 2
LONGEST = 64
"""The maximum number of numbers in a row."""
LARGEST = 999
"""The largest total of a row, so that all sums have at most three digits."""
MAX_PLIES = LONGEST - 1

END_MERGED, END_DROPPED = 1, 2
REASONS = ("", "merged", "dropped")
NOBODY = -1

STATE = kernels.record_type(
    "number_merge",
    [
        ("key", np.uint64),
        ("salt", np.uint64),
        ("above", np.int64),  # the threshold's numerator
        ("below", np.int64),  # the threshold's denominator
        ("seats", np.int32),
        ("ply", np.int32),
        ("turn", np.int32),
        ("side", np.int32),
        ("end", np.int32),  # the reason for the end, or 0
        ("out", np.int32),  # the seat that dropped out, or NOBODY
        ("first", np.int32),  # the seat that moved first
        ("length", np.int32),
        ("count", np.int32),  # numbers in the current row
        ("preset", np.int32),  # the options as chosen: see `make_state`
        ("choice", np.int32),
        ("part", np.int32),
        ("parts", np.int32),
        ("score", np.int32, (SEATS,)),
        ("prefix", np.int32, (LONGEST + 1,)),
        ("edge", np.uint8, (LONGEST + 1,)),
        ("history", np.uint8, (MAX_PLIES,)),
    ],
    source=__file__,
)


def _keys() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return Zobrist keys for the edges, for the score differences, and for the seat to move."""
    source = np.random.Generator(np.random.PCG64(24))
    numbers = source.integers(0, 2**64, size=LONGEST + 2 * MAX_PLIES + 3, dtype=np.uint64)
    edges, rest = np.split(numbers, [LONGEST])
    differences, sides = np.split(rest, [2 * MAX_PLIES + 1])
    return edges.copy(), differences.copy(), sides.copy()


EDGE_KEY, DIFFERENCE_KEY, TURN_KEY = map(kernels.kernel_array, _keys())


@kernel
def gain(st: Record, m: Int) -> Int:
    """Return the points for the merge `m`: 1 above the threshold, -1 below it, 0 at it."""
    total = i64(st.prefix[st.edge[m + 2]]) - i64(st.prefix[st.edge[m]])
    beyond = total * i64(st.below) - i64(st.above)
    return i64(beyond > 0) - i64(beyond < 0)


@kernel
def generate(st: Record, moves: Moves) -> Int:
    """Write the legal actions: every index except the last, or none when the match is over."""
    if st.side < 0:
        return i64(0)
    n = i64(st.count) - 1
    for place in range(n):
        moves[place] = place
    return i64(n)


@kernel
def _difference(st: Record) -> Int:
    """Return the index of the score difference in `DIFFERENCE_KEY`."""
    return i64(st.score[0]) - i64(st.score[1]) + MAX_PLIES


@kernel
def _add_score(st: Record, seat: Int, worth: Int) -> None:
    """Add to the score of a seat; update the key."""
    key = st.key ^ DIFFERENCE_KEY[_difference(st)]
    st.score[seat] += worth
    st.key = key ^ DIFFERENCE_KEY[_difference(st)]


@kernel
def _pass_turn(st: Record, seat: Int) -> None:
    """Pass the turn to `seat`; update the key."""
    st.key = st.key ^ TURN_KEY[st.turn] ^ TURN_KEY[seat]
    st.turn = seat
    st.side = seat


@kernel
def play(st: Record, m: Int) -> None:
    """Apply a legal action."""
    seat = i64(st.turn)
    _add_score(st, seat, gain(st, m))
    edge = st.edge
    count = i64(st.count)
    gone = i64(edge[m + 1])
    for i in range(m + 1, count):
        edge[i] = edge[i + 1]
    edge[count] = 0
    st.key = st.key ^ EDGE_KEY[gone]
    st.history[st.ply] = gone
    st.count = count - 1
    st.ply += 1
    _pass_turn(st, 1 - seat)
    if count == 2:
        st.end = END_MERGED
        st.side = -1


@kernel
def undo(st: Record, m: Int) -> None:
    """Take back `m`, the last action played."""
    seat = 1 - i64(st.turn)
    edge = st.edge
    count = i64(st.count)
    ply = i64(st.ply) - 1
    gone = i64(st.history[ply])
    for i in range(count, m, -1):
        edge[i + 1] = edge[i]
    edge[m + 1] = gone
    st.key = st.key ^ EDGE_KEY[gone]
    st.history[ply] = 0
    st.count = count + 1
    st.ply = ply
    st.end = 0
    _pass_turn(st, seat)
    _add_score(st, seat, -gain(st, m))


@kernel
def lead(st: Record, seat: Int) -> Int:
    """Return the score of `seat` minus the other seat's."""
    return i64(st.score[seat]) - i64(st.score[1 - seat])


@kernel
def returns(st: Record, out: Values) -> None:
    """Write 1 for the winner and 0 for the loser, or 0.5 each for a draw."""
    for seat in range(SEATS):
        if st.out == NOBODY:
            ahead = lead(st, seat)
            out[seat] = 0.5 * (1 + i64(ahead > 0) - i64(ahead < 0))
        else:
            out[seat] = 0.0 if st.out == seat else 1.0


@kernel
def move_score(st: Record, m: Int) -> Int:
    """Prefer merges that score a point immediately."""
    return gain(st, m)


@kernel
def set_side_to_move(st: Record, seat: Int) -> Int:
    """Make `seat` the seat to act; return the previous one."""
    before = i64(st.turn)
    _pass_turn(st, i64(seat))
    return before


@kernel
def compute_key(st: Record) -> Any:
    """Return the key, computed from scratch."""
    key = st.salt ^ TURN_KEY[st.turn] ^ DIFFERENCE_KEY[_difference(st)]
    for i in range(1, st.count):
        key = key ^ EDGE_KEY[st.edge[i]]
    return key


@kernel
def forfeit(st: Record, seat: Int) -> None:
    """Remove a seat from an unfinished match; the other seat wins."""
    st.out = seat
    st.end = END_DROPPED
    st.side = -1


@kernel
def points(st: Record, out: Values) -> None:
    """Write the score of each seat."""
    for seat in range(SEATS):
        out[seat] = i64(st.score[seat])


@kernel
def observe(st: Record, seat: Int, out: Planes) -> None:
    """Write the row and the threshold divided by the total, and the lead divided by the length."""
    length, count = i64(st.length), i64(st.count)
    total = 1.0 * i64(st.prefix[length])
    for place in range(count):
        number = i64(st.prefix[st.edge[place + 1]]) - i64(st.prefix[st.edge[place]])
        out[place] = number / total
    for place in range(count, length):
        out[place] = 0.0
    out[length] = lead(st, seat) / (1.0 * length)
    out[length + 1] = min(1.0, i64(st.above) / (1.0 * i64(st.below)) / total)


@kernel
def num_dense(st: Record) -> Any:
    """Return the number of legal merges of the initial row."""
    return i64(st.length) - 1


operations.implement(
    STATE,
    max_actions=MAX_PLIES,
    generate=generate,
    play=play,
    undo=undo,
    returns=returns,
    forfeit=forfeit,
    move_score=move_score,
    set_side_to_move=set_side_to_move,
    compute_key=compute_key,
    points=points,
    observe=observe,
    num_dense=num_dense,
)


def make_state(
    row: Sequence[int],
    above: int,
    below: int,
    *,
    first: int = 0,
    numbers: Sequence[int] | None = None,
    scores: tuple[int, int] = (0, 0),
    options: tuple[int, int, int, int] = (0, 0, 0, 0),
) -> np.record:
    """Return an unfinished state in which the row has been merged to `numbers`.

    The threshold is ``above / below``, in lowest terms; `options` are preset, choice, part and
    parts. The arguments are not validated.
    """
    st: Record = kernels.new(STATE)
    left = row if numbers is None else numbers
    st.seats, st.length, st.count = SEATS, len(row), len(left)
    st.above, st.below, st.first, st.out = above, below, first, NOBODY
    st.preset, st.choice, st.part, st.parts = options
    sums = [0, *itertools.accumulate(row)]
    st.prefix[: len(sums)] = sums
    st.edge[1 : len(left) + 1] = [bisect_left(sums, total) for total in itertools.accumulate(left)]
    st.score[:] = scores
    st.ply = len(row) - len(left)
    st.turn = st.side = (first + st.ply) % SEATS
    st.salt = _salt(row, above, below)
    st.key = calls.compute_key(st)
    state: np.record = st
    return state


def _salt(row: Sequence[int], above: int, below: int) -> int:
    digest = hashlib.sha256(repr((list(row), above, below)).encode()).digest()
    return int.from_bytes(digest[:8], "big")
