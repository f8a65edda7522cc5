"""The values of all ``2 ** n`` sets of boundaries.

The value of a position for the mover, in points from here on, is the maximum over all merges of the
gain minus the value of the resulting position for the opponent. It does not depend on the scores so
far or on the previous moves. This is dynamic programming in Bellman's sense. Sets are computed in
ascending order, so the successors of a set are always known.

The lowest `LOW` boundaries form a block of 256 adjacent table entries. For boundaries above these,
the neighboring boundaries are constant over the block or over runs of it, so their merges are
computed for whole runs at once, which the compiler vectorizes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kibitz_games.compiled import kernels
from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.compiled.operations import Record
from kibitz_search.number_merge.boundaries import Gains

LOW = 8
WORST = -100
"""A lower bound on all values."""

WORKSPACE = kernels.record_type(
    "number_merge_fill", [("stop", np.int64), ("nodes", np.int64)], source=__file__
)

Worths = np.ndarray[Any, np.dtype[np.int8]]
Bytes = np.ndarray[Any, np.dtype[np.uint8]]


@kernel
def _offer(worths: Worths, at: Int, source: Int, count: Int, gain: Any) -> None:
    """For each i below `count`, offer set ``at + i`` the merge that leads to set ``source + i``."""
    for i in range(count):
        worths[at + i] = max(worths[at + i], np.int8(gain - worths[source + i]))


@kernel
def _high(worths: Worths, gains: Gains, high: Int, low: Int, size: Int) -> Int:
    """Update a block with the merges at its high boundaries; return the lowest of them (from 1)."""
    base = high << low
    last = np.int64(gains.shape[0]) - 1
    lowest, left, here = last, np.int64(-1), np.int64(-1)
    for place in range(low, last):
        present = place < last - 1 and (high >> (place - low)) & 1
        if not present and place < last - 1:
            continue
        right = np.int64(place + 1) if present else last
        if here < 0:
            lowest = right
        else:
            source = base ^ (np.int64(1) << (here - 1))
            if left >= 0:
                _offer(worths, base, source, size, np.int64(gains[left, right]))
            else:
                _offer(worths, base, source, np.int64(1), np.int64(gains[0, right]))
                for top in range(low):
                    run = np.int64(1) << top
                    gain = np.int64(gains[top + 1, right])
                    _offer(worths, base + run, source + run, run, gain)
        left, here = here, right
    return np.int64(lowest)


@kernel
def _merges(gains: Gains, low: Int, source: Bytes, earned: Worths, left: Bytes) -> None:
    """List the merges within a block, at most eight for each set of low boundaries.

    For each merge in ascending order, `source` receives the resulting set and `earned` the gain.
    The gain of the last merge also depends on the block, so `left` receives the boundary on its
    left instead.
    """
    for mask in range(1, np.int64(1) << low):
        count, before, here = np.int64(0), np.int64(0), np.int64(-1)
        for place in range(low):
            if (mask >> place) & 1:
                if here >= 0:
                    earned[mask, count] = gains[before, place + 1]
                    before = here + 1
                    count += 1
                source[mask, count] = mask ^ (1 << place)
                here = np.int64(place)
        left[mask] = before
        source[mask, LOW] = count


@kernel
def _low(
    worths: Worths, base: Int, size: Int, source: Bytes, earned: Worths, closing: Worths
) -> None:
    """Complete a block with the merges at its low boundaries."""
    for mask in range(1, size):
        count = np.int64(source[mask, LOW])
        after = np.int64(worths[base + source[mask, count]])
        best = max(np.int64(worths[base + mask]), np.int64(closing[mask]) - after)
        for i in range(count):
            after = np.int64(worths[base + source[mask, i]])
            best = max(best, np.int64(earned[mask, i]) - after)
        worths[base + mask] = best


@kernel
def fill(worths: Worths, gains: Gains, ws: Record) -> Int:
    """Write the value of every set of boundaries; return the number of sets completed."""
    places = np.int64(gains.shape[0]) - 2
    low = min(places, np.int64(LOW))
    size = np.int64(1) << low
    source = np.zeros((1 << LOW, LOW + 1), np.uint8)
    earned = np.zeros((1 << LOW, LOW), np.int8)
    left, closing = np.zeros(1 << LOW, np.uint8), np.zeros(1 << LOW, np.int8)
    _merges(gains, low, source, earned, left)
    for high in range(np.int64(1) << (places - low)):
        if ws.stop != 0:
            return np.int64(high << low)
        base = np.int64(high << low)
        for i in range(size):
            worths[base + i] = WORST
        if high == 0:
            worths[0] = 0
        lowest = _high(worths, gains, np.int64(high), low, size)
        for mask in range(1, size):
            closing[mask] = gains[left[mask], lowest]
        _low(worths, base, size, source, earned, closing)
    return np.int64(1) << places
