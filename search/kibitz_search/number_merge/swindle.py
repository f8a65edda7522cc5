"""Swindles: how likely a player who sees one move ahead errs, in positions that are not won.

If the outcome is not won, a perfect player keeps the worth of the position and hopes for errors. It
assumes that the other takes one of the moves with the greatest gain, each with equal probability,
and that one error is enough. The hope of a set of boundaries follows from those of smaller sets, as
worths do. On the other's turn it is the mean over these moves, counting 1 for an error; on the own
turn it is the maximum over the moves that keep the worth.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.compiled.operations import Record
from kibitz_search.number_merge.boundaries import Gains
from kibitz_search.number_merge.retrograde import Worths

MAX_BOUNDARIES = 20
"""Boundaries, at most: 4 MiB of hopes."""

Hopes = np.ndarray[Any, np.dtype[np.float32]]


@kernel
def swindle_chance(hopes: Hopes, worths: Worths, gains: Gains, mask: Int, own: Int) -> Any:
    """Return the hope of a set, given those of all smaller sets; `own` tells whose turn it is."""
    last = np.int64(gains.shape[0]) - 1
    best, total, among, most = 0.0, 0.0, 0, np.int64(-2)
    left, here = np.int64(0), np.int64(-1)
    for place in range(last):
        if place < last - 1 and not (mask >> place) & 1:
            continue
        if here >= 0:
            after, gain = mask ^ (np.int64(1) << here), np.int64(gains[left, place + 1])
            kept = gain - np.int64(worths[after]) == np.int64(worths[mask])
            hope = np.float64(hopes[after]) if kept else 1.0
            if kept:
                best = max(best, hope)
            if gain > most:
                most, total, among = gain, 0.0, 0
            if gain == most:
                total += hope
                among += 1
            left = here + 1
        here = np.int64(place)
    return best if own else total / max(1, among)


@kernel
def fill(hopes: Hopes, worths: Worths, gains: Gains, parity: Int, ws: Record) -> Int:
    """Write the hope of every set; return how many until the stop word came.

    It is the hopeful player's turn where the number of boundaries is even or odd as `parity` is.
    """
    hopes[0] = 0.0
    for mask in range(1, hopes.shape[0]):
        if ws.stop != 0:
            return np.int64(mask)
        odd, left = np.int64(0), np.int64(mask)
        while left:
            left &= left - 1
            odd ^= 1
        hopes[mask] = swindle_chance(hopes, worths, gains, np.int64(mask), np.int64(odd == parity))
    return np.int64(hopes.shape[0])
