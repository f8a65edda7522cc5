"""Swindles: the probability of an error by a greedy opponent, in positions that are not won.

If a position is not won, a perfect player preserves its value and waits for errors. The model
assumes that the opponent chooses uniformly among the moves with the greatest gain, and that one
error is enough. Like values, the probability for a set of boundaries is computed from those of
smaller sets. On the opponent's turn, it is the mean over these moves, with 1 for an error; on the
player's own turn, it is the maximum over all optimal moves.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.compiled.operations import Record
from kibitz_search.number_merge.boundaries import Gains
from kibitz_search.number_merge.retrograde import Worths

MAX_BOUNDARIES = 20
"""The maximum number of boundaries: 4 MiB of probabilities."""

Hopes = np.ndarray[Any, np.dtype[np.float32]]


@kernel
def swindle_chance(hopes: Hopes, worths: Worths, gains: Gains, mask: Int, own: Int) -> Any:
    """Return the probability for a set, given all smaller sets.

    `own` is true on the turn of the player who waits for errors.
    """
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
    """Write the probability for every set; return the number of sets completed.

    It is the player's own turn if the number of boundaries modulo 2 is `parity`.
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
