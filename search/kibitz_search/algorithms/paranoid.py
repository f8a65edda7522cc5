"""The paranoid search: all other seats play against the seat to act.

Source: N. R. Sturtevant and R. E. Korf, "On Pruning Techniques for Multi-Player Games" (AAAI
2000). The root's seat maximizes its lead (see `utility`), all others minimize it. This makes it a
two-sided game in which alpha-beta pruning works; with two seats, it is alpha-beta.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kibitz_games.compiled import operations as op
from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.compiled.operations import Record
from kibitz_search.algorithms.multiplayer import (
    MultiplayerSearch,
    next_move,
    score_moves,
    store_killer,
    update_pv,
)
from kibitz_search.algorithms.timer import count_nodes
from kibitz_search.algorithms.utility import relative_scores


@kernel
def explore(
    st: Record, ws: Record, ev: Record, me: Int, limit: Int, ply: Int, alpha: float, beta: float
) -> Any:
    """Return the lead of `me` if it is between `alpha` and `beta`, otherwise a bound."""
    ws.lengths[ply] = ply
    over = op.terminal(st)
    if over or ply == limit:
        count_nodes(ws, np.int64(1))
        ws.open += 0 if over else 1
        relative_scores(st, ev, ws.last, ply, ws.values[ply])
        return ws.values[ply, me]
    n = np.int64(score_moves(st, ws, ev, ply)) if ply > 0 else np.int64(ws.roots)
    seat = np.int64(op.to_act(st))
    before = np.int64(ws.last[seat])
    best = -np.inf if seat == me else np.inf
    for i in range(n):
        m = np.int64(next_move(ws, ply, i))
        op.play(st, m)
        ws.last[seat] = ply + 1
        value = explore(st, ws, ev, me, limit, np.int64(ply + 1), alpha, beta)
        ws.last[seat] = before
        op.undo(st, m)
        if ws.stop != 0:
            break
        if (value > best) if seat == me else (value < best):
            best = value
            update_pv(ws, ply, m)
        if seat == me:
            alpha = max(alpha, best)
        else:
            beta = min(beta, best)
        if ply == 0:
            ws.bounds[i] = value
            ws.finished += 1
            ws.best = best
        elif alpha >= beta:
            store_killer(ws, ply, m)
            break
    return best


class Paranoid(MultiplayerSearch):
    """The paranoid search for two or more seats; see also `MultiplayerSearch`."""

    def _run_kernel(self, st: np.record, ev: np.record, depth: int) -> None:
        me, least, most = np.int64(op.to_act(st)), np.float64(-np.inf), np.float64(np.inf)
        explore(st, self._ws, ev, me, np.int64(depth), np.int64(0), least, most)
