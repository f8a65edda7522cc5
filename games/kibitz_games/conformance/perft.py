"""Perft: counts the leaves of the game tree, to test every game's rules."""

from __future__ import annotations

import numpy as np

from kibitz_games.compiled import operations as op
from kibitz_games.compiled.kernels import Int, kernel


@kernel
def _perft(st: op.Record, ws: op.Record, depth: Int) -> Int:
    moves = ws.moves[depth]
    n = op.generate(st, moves)
    if depth <= 1:
        return np.int64(n)
    total = np.int64(0)
    for i in range(n):
        m = np.int64(moves[i])
        op.play(st, m)
        total += _perft(st, ws, np.int64(depth - 1))
        op.undo(st, m)
    return total


def perft(state: np.record, depth: int) -> int:
    """Return the number of sequences of `depth` actions from `state`; 1 at depth 0.

    Shorter sequences, which end the match early, do not count. `state` is unchanged.
    """
    if depth == 0:
        return 1
    workspace = op.workspace(state, depth=max(depth, 8))
    return int(_perft(state.copy(), workspace, np.int64(depth)))


def divide(state: np.record, depth: int) -> dict[int, int]:
    """Return the perft count below each legal action, in the order of generation."""
    st = state.copy()
    moves = np.zeros(op.max_actions(st.dtype), np.int32)
    counts = {}
    for action in moves[: op.generate(st, moves)].tolist():
        op.play(st, action)
        counts[action] = perft(st, depth - 1)
        op.undo(st, action)
    return counts
