"""Playouts: quick randomized play to the end, or for some plies.

Every seat takes the action that `move_prior` likes best, any of the best if there are several, and
with the probability `epsilon` any action at all. Nothing is evaluated on the way.

The random numbers are Marsaglia's 64-bit xorshift (shifts 13, 7, 17): the state is one number,
which must not be 0 (G. Marsaglia, "Xorshift RNGs", 2003), so a seed repeats every play.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from kibitz_games.compiled import operations as op
from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.compiled.operations import Record

MAX_PLIES = 1024
"""Plies after the root; no play of any game is longer."""
PLAYOUT_FIELDS: list[tuple[Any, ...]] = [
    ("chance", np.uint64, (1,)),  # the state of the random numbers
    ("trail", np.int32, (2 * MAX_PLIES,)),  # what was played: seat and action of each ply
    ("last", np.int64, (op.MAX_SEATS,)),  # the ply after each seat's last action
]
"""The additional fields of a workspace for playouts."""
STOP_CHECK_PLIES = 16
"""Plies that are played between two looks at the stop word."""


def workspace(state: np.record) -> Record:
    """Return a workspace for playouts of a game and nothing else."""
    return op.workspace(state, depth=0, extra=PLAYOUT_FIELDS, source=__file__)


def rng_state(seed: int | str) -> int:
    """Return a number to start the random numbers from."""
    digest = hashlib.blake2b(str(seed).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") | 1


@kernel
def random_below(chance: Any, n: Int) -> Int:
    """Return a random number below `n`, which is below 2**32, and go on to the next state."""
    x = chance[0]
    x = x ^ (x << np.uint64(13))
    x = x ^ (x >> np.uint64(7))
    x = x ^ (x << np.uint64(17))
    chance[0] = x
    return np.int64(((x >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))


@kernel
def bernoulli(chance: Any, epsilon: float) -> bool:
    """Return whether something happens that has the probability `epsilon`."""
    return bool(random_below(chance, np.int64(1 << 30)) < epsilon * (1 << 30))


@kernel
def playout_action(st: Record, ws: Record, ev: Record, epsilon: float) -> Int:
    """Return the action that a playout takes; the play goes on."""
    moves = ws.moves[0]
    n = np.int64(op.generate(st, moves))
    if n == 1 or bernoulli(ws.chance, epsilon):
        return np.int64(moves[random_below(ws.chance, n)])
    best = np.int64(moves[0])
    most = op.move_prior(ev, st, best)
    equals = np.int64(1)
    for i in range(1, n):
        m = np.int64(moves[i])
        score = op.move_prior(ev, st, m)
        if score > most:
            best, most, equals = m, score, np.int64(1)
        elif score == most:
            equals += 1
            if random_below(ws.chance, equals) == 0:
                best = m
    return best


@kernel
def play_recorded(st: Record, ws: Record, ply: Int, m: Int) -> None:
    """Play an action and note who took it."""
    seat = np.int64(op.to_act(st))
    op.play(st, m)
    ws.trail[2 * ply], ws.trail[2 * ply + 1] = seat, m
    ws.last[seat] = ply + 1


@kernel
def playout(st: Record, ws: Record, ev: Record, ply: Int, end: Int, epsilon: float) -> Int:
    """Play on from `ply` to `end`, or to the end of the play; return the ply that was reached.

    It ends early when ``ws.stop`` is set. ``ws.trail`` holds the actions played. They are not
    undone, so `st` should be a copy.
    """
    end = np.int64(min(end, MAX_PLIES))
    while ply < end and not op.terminal(st) and (ply % STOP_CHECK_PLIES != 0 or ws.stop == 0):
        play_recorded(st, ws, ply, playout_action(st, ws, ev, epsilon))
        ply = np.int64(ply + 1)
    return np.int64(ply)
