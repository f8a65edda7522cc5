"""Minimax: a full-width search to a fixed depth.

The value of a position is the best that the seat to act can reach if the opponent also plays its
best (Shannon, "Programming a Computer for Playing Chess", 1950, type A). It is included because the
reports use it. It also serves as a reference for `alphabeta`, which finds the same values faster.
With ``prune=True``, it skips lines that one side would avoid, but has no table and no move order.

The search deepens iteratively until time is up. The result of an unfinished depth is used only if
the best move so far was searched to that depth.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kibitz_games.compiled import operations as op
from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.core.game import GameInfo
from kibitz_search.algorithms.deepening import IterativeDeepening, update_pv
from kibitz_search.algorithms.result import SearchResult
from kibitz_search.algorithms.score import (
    DECIDED,
    is_exact,
    static_eval_diff,
    two_player_only,
)
from kibitz_search.algorithms.terminal import two_player_value
from kibitz_search.algorithms.timer import count_nodes

MAX_DEPTH = 32
"""The maximum length of a line in plies; a full-width search never gets that deep."""


@kernel
def _value(
    st: op.Record, ws: op.Record, ev: op.Record, ply: Int, depth: Int, alpha: float, beta: float
) -> Any:
    """Return the value of the position for the seat to act, searched `depth` plies deep.

    If the search prunes, the value is exact between `alpha` and `beta`, otherwise a bound; if not,
    these are infinite. The best line is written to ``ws.line[ply]``. At ply 0, ``ws.moves[0]``
    already contains the ``ws.roots`` moves; ``ws.finished`` counts the completed ones, and
    ``ws.bounds`` receives their values.
    """
    best = -np.inf
    seat = np.int64(op.to_act(st))
    moves = ws.moves[ply]
    n = np.int64(ws.roots)
    if ply > 0:
        n = np.int64(op.generate(st, moves))
    for i in range(n):
        if ws.stop != 0:
            break
        m = np.int64(moves[i])
        low = max(alpha, best) if ws.prune != 0 else alpha
        op.play(st, m)
        count_nodes(ws, np.int64(1))
        ws.lengths[ply + 1] = 0
        after = np.int64(op.to_act(st))
        if after < 0:
            value = two_player_value(st, ws, seat, np.int64(ply + 1))
        elif depth <= 1:
            value = static_eval_diff(ev, st, seat)
            ws.leaves += 1
        elif after == seat:
            value = _value(st, ws, ev, np.int64(ply + 1), np.int64(depth - 1), low, beta)
        else:
            value = -_value(st, ws, ev, np.int64(ply + 1), np.int64(depth - 1), -beta, -low)
        op.undo(st, m)
        if ws.stop != 0:
            break
        if value > best:
            best = value
            update_pv(ws, ply, m)
        if ply == 0:
            ws.bounds[i] = value
            ws.finished += 1
        if value >= beta:
            break
    return best


class Minimax(IterativeDeepening):
    """A full-width search for two seats with iterative deepening.

    `state` is the first state of the match and determines the size of the workspace. Values are the
    same as in `AlphaBeta`.
    """

    max_depth = MAX_DEPTH
    lost_score = -DECIDED

    def __init__(self, state: np.record, *, prune: bool = False) -> None:
        extra = [
            ("prune", np.int64),
            ("roots", np.int64),
            ("finished", np.int64),
            ("leaves", np.int64),
            ("bounds", np.float64, (op.max_actions(state.dtype),)),
        ]
        super().__init__(op.workspace(state, depth=MAX_DEPTH + 1, extra=extra, source=__file__))
        self._ws.prune = prune

    @staticmethod
    def supports(info: GameInfo, state: np.record) -> str | None:
        """Return why the search does not support a game, or None if it does."""
        return two_player_only(info, state)

    def _search_depth(
        self, st: np.record, ev: np.record, depth: int, before: SearchResult | None
    ) -> SearchResult:
        ws = self._ws
        ws.finished = ws.leaves = 0
        least, most = np.float64(-np.inf), np.float64(np.inf)
        value = (
            float(_value(st, ws, ev, np.int64(0), np.int64(depth), least, most)) + 0.0
        )  # not -0.0
        if before is not None and not ws.finished:
            return before
        line = tuple(ws.line[0, : int(ws.lengths[0])].tolist())
        done = depth - int(ws.finished < ws.roots)
        return SearchResult(line[0], value, done, int(ws.nodes), line)

    def _is_final(self, best: SearchResult) -> bool:
        return is_exact(self._ws, best)
