"""Alpha-beta search over sets of boundaries, for rows that are too long for a table.

It uses iterative deepening with a transposition table (Knuth & Moore 1975 analyze the pruning).
Values count the points from a position on, as in `retrograde`, so a set of boundaries is the
complete position and its own exact key: table hits are never false.

Values at leaves are estimated from the typical end of a game. Once the sum of two neighbors exceeds
the threshold, the mover scores a point, and so does each later mover, because merging with a large
number gives a large number. If the number of remaining merges is odd, the first player to find such
a pair therefore gains one point more than the opponent. With `r` remaining merges and such a pair,
the estimate is ``r % 2``. Without a pair, it is ``r % 2 - 1``, the value if the mover has to create
the first pair.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kibitz_games.compiled import kernels
from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.compiled.operations import Record
from kibitz_search.algorithms.timer import count_nodes
from kibitz_search.number_merge.boundaries import MAX_BOUNDARIES

EXACT, LEAST, AT_MOST = 0, 1, 2
UNBOUNDED = 127
SPAN = 1000
"""An upper bound on the total of a row."""

Keys = np.ndarray[Any, np.dtype[np.uint64]]
Entries = np.ndarray[Any, np.dtype[np.int32]]
"""The depth, kind of bound, value and best move of the position at the same index in the keys."""

WORKSPACE = kernels.record_type(
    "number_merge_ahead",
    [
        ("stop", np.int64),
        ("nodes", np.int64),
        ("most", np.int64),  # limit on nodes, 0 for no limit
        ("finished", np.int64),  # number of completed root moves
        ("best", np.int64),  # the best value of a completed root move
        ("taken", np.int64),  # the move with this value
        ("edges", np.int64),  # number of the row's boundaries, including both ends
        ("gains", np.int8, (MAX_BOUNDARIES + 1, MAX_BOUNDARIES + 1)),
        (
            "place",
            np.int8,
            (MAX_BOUNDARIES, MAX_BOUNDARIES),
        ),  # the moves at each ply, most promising first
        ("gain", np.int8, (MAX_BOUNDARIES, MAX_BOUNDARIES)),  # the gain of each
        ("rank", np.int64, (MAX_BOUNDARIES, MAX_BOUNDARIES)),  # the ordering score of each
        (
            "ends",
            np.int64,
            (MAX_BOUNDARIES + 1,),
        ),  # sum of the numbers to the left of each boundary
    ],
    source=__file__,
)


@kernel
def tt_index(keys: Keys, mask: Any) -> Int:
    """Return the table index for a set of boundaries."""
    mixed = mask ^ (mask >> np.uint64(29)) ^ (mask >> np.uint64(47))
    return np.int64(mixed & np.uint64(keys.shape[0] - 1))


@kernel
def _moves(ws: Record, mask: Any, ply: Int, first: Int) -> Int:
    """Write the moves at a ply, most promising first; return their number.

    The order is `first`, then decreasing gain, then increasing sum, which delays large numbers that
    both players can add to.
    """
    one, last = np.uint64(1), np.int64(ws.edges) - 1
    count, left, here = np.int64(0), np.int64(0), np.int64(-1)
    for place in range(last):
        if place < last - 1 and not (mask >> np.uint64(place)) & one:
            continue
        if here >= 0:
            ws.place[ply, count] = here
            gain = np.int64(ws.gains[left, place + 1])
            ws.gain[ply, count] = gain
            ws.rank[ply, count] = gain * SPAN - (ws.ends[place + 1] - ws.ends[left])
            if here == first:
                ws.rank[ply, count] = 2 * SPAN
            left = here + 1
            count += 1
        here = np.int64(place)
    for i in range(1, count):
        moved, gain = np.int64(ws.place[ply, i]), np.int64(ws.gain[ply, i])
        rank = np.int64(ws.rank[ply, i])
        j = np.int64(i)
        while j > 0 and ws.rank[ply, j - 1] < rank:
            ws.rank[ply, j] = ws.rank[ply, j - 1]
            ws.place[ply, j] = ws.place[ply, j - 1]
            ws.gain[ply, j] = ws.gain[ply, j - 1]
            j -= 1
        ws.place[ply, j] = moved
        ws.gain[ply, j] = gain
        ws.rank[ply, j] = rank
    return np.int64(count)


@kernel
def _guess(ws: Record, mask: Any) -> Int:
    """Estimate the value of an unfinished position for the mover."""
    one, last = np.uint64(1), np.int64(ws.edges) - 1
    count, hot = np.int64(0), np.int64(0)
    left, here = np.int64(0), np.int64(-1)
    for place in range(last):
        if place < last - 1 and not (mask >> np.uint64(place)) & one:
            continue
        if here >= 0:
            count += 1
            hot |= np.int64(ws.gains[left, place + 1] > 0)
            left = here + 1
        here = np.int64(place)
    return np.int64((count & 1) - (1 - hot))


@kernel
def search(
    ws: Record, keys: Keys, entries: Entries, mask: Any, depth: Int, ply: Int, low: Int, high: Int
) -> Int:
    """Return the value of a set of boundaries for the mover, within the window `low` to `high`."""
    if mask == np.uint64(0):
        return np.int64(0)
    if depth == 0:
        return _guess(ws, mask)
    at, first, floor = tt_index(keys, mask), np.int64(-1), np.int64(low)
    if keys[at] == mask:
        first = np.int64(entries[at, 3])
        worth, bound = np.int64(entries[at, 2]), np.int64(entries[at, 1])
        if entries[at, 0] == depth and ply > 0:
            if bound == EXACT:
                return worth
            if (bound == LEAST and worth >= high) or (bound == AT_MOST and worth <= low):
                return worth
    count = _moves(ws, mask, ply, first)
    best, taken = np.int64(-UNBOUNDED), np.int64(ws.place[ply, 0])
    for i in range(count):
        place, gain = np.int64(ws.place[ply, i]), np.int64(ws.gain[ply, i])
        after = mask ^ (np.uint64(1) << np.uint64(place))
        count_nodes(ws, np.int64(1))
        worth = gain - search(
            ws,
            keys,
            entries,
            after,
            np.int64(depth - 1),
            np.int64(ply + 1),
            np.int64(gain - high),
            np.int64(gain - floor),
        )
        if ws.stop != 0:
            return np.int64(best)
        if worth > best:
            best, taken = worth, place
        if ply == 0:
            ws.finished, ws.best, ws.taken = i + 1, best, taken
        floor = max(floor, best)
        if floor >= high:
            break
    keys[at] = mask
    entries[at, 0] = depth
    entries[at, 1] = LEAST if best >= high else AT_MOST if best <= low else EXACT
    entries[at, 2] = best
    entries[at, 3] = taken
    return np.int64(best)
