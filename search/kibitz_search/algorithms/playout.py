"""Playouts: fast randomized play to the end or for a number of plies.

Each seat plays the action with the highest `move_prior`, breaking ties at random, or with
probability `epsilon` a uniformly random action. Positions are not evaluated.

Random numbers come from Marsaglia's 64-bit xorshift (shifts 13, 7, 17), whose state is one number
other than 0 (G. Marsaglia, "Xorshift RNGs", 2003). Equal seeds give equal playouts.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from kibitz_games.compiled import operations as op
from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.compiled.operations import Record

MAX_PLIES = 1024
"""The maximum number of plies after the root; no match of any game is longer."""
PLAYOUT_FIELDS: list[tuple[Any, ...]] = [
    ("chance", np.uint64, (1,)),  # the state of the random number generator
    ("trail", np.int32, (2 * MAX_PLIES,)),  # the seat and action of each ply
    ("last", np.int64, (op.MAX_SEATS,)),  # the ply after each seat's last action
]
"""The additional fields of a workspace for playouts."""
STOP_CHECK_PLIES = 16
"""The number of plies between checks of ``ws.stop``."""


def workspace(state: np.record) -> Record:
    """Return a workspace for playouts only."""
    return op.workspace(state, depth=0, extra=PLAYOUT_FIELDS, source=__file__)


def rng_state(seed: int | str) -> int:
    """Return an initial state of the random number generator for a seed."""
    digest = hashlib.blake2b(str(seed).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") | 1


@kernel
def random_below(chance: Any, n: Int) -> Int:
    """Return a random number below `n`, which must be below 2**32, and advance the generator."""
    x = chance[0]
    x = x ^ (x << np.uint64(13))
    x = x ^ (x >> np.uint64(7))
    x = x ^ (x << np.uint64(17))
    chance[0] = x
    return np.int64(((x >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))


@kernel
def bernoulli(chance: Any, epsilon: float) -> bool:
    """Return True with probability `epsilon`."""
    return bool(random_below(chance, np.int64(1 << 30)) < epsilon * (1 << 30))


@kernel
def best_prior(st: Record, ws: Record, ev: Record, n: Int) -> Int:
    """Return the action with the highest prior of the first `n` in ``ws.moves[0]``.

    Ties are broken at random; `n` must not be 0.
    """
    best, most, equals = np.int64(-1), -np.inf, np.int64(0)
    for i in range(n):
        m = np.int64(ws.moves[0, i])
        score = op.move_prior(ev, st, m)
        if i == 0 or score > most:
            best, most, equals = m, score, np.int64(1)
        elif score == most:
            equals += 1
            if random_below(ws.chance, equals) == 0:
                best = m
    return best


@kernel
def playout_action(st: Record, ws: Record, ev: Record, epsilon: float) -> Int:
    """Choose an action for a playout; the state must not be terminal."""
    n = np.int64(op.generate(st, ws.moves[0]))
    if n == 1 or bernoulli(ws.chance, epsilon):
        return np.int64(ws.moves[0, random_below(ws.chance, n)])
    return best_prior(st, ws, ev, n)


@kernel
def play_recorded(st: Record, ws: Record, ply: Int, m: Int) -> None:
    """Play an action, and record it with its seat."""
    seat = np.int64(op.to_act(st))
    op.play(st, m)
    ws.trail[2 * ply], ws.trail[2 * ply + 1] = seat, m
    ws.last[seat] = ply + 1


@kernel
def playout(st: Record, ws: Record, ev: Record, ply: Int, end: Int, epsilon: float) -> Int:
    """Play from `ply` to `end` or to the end of the game; return the ply that was reached.

    Stops early if ``ws.stop`` is set. ``ws.trail`` contains the actions played. They are not
    undone, so `st` should be a copy.
    """
    end = np.int64(min(end, MAX_PLIES))
    while ply < end and not op.terminal(st) and (ply % STOP_CHECK_PLIES != 0 or ws.stop == 0):
        play_recorded(st, ws, ply, playout_action(st, ws, ev, epsilon))
        ply = np.int64(ply + 1)
    return np.int64(ply)
