"""The greedy search: the move after which the position is worth the most to the mover."""

from __future__ import annotations

from typing import Any

import numpy as np

from kibitz_games.compiled import operations as op
from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.core.game import GameInfo
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.algorithms.result import WIN_SCORE, SearchResult, root_moves


@kernel
def _evaluate_moves(st: op.Record, ws: op.Record, ev: op.Record, seat: Int, n: Int) -> Any:
    """Write what each of the first `n` of ``ws.moves[0]`` is worth into ``ws.worth``."""
    for i in range(n):
        m = np.int64(ws.moves[0, i])
        op.play(st, m)
        value = op.evaluate(ev, st, seat)
        if op.terminal(st) and abs(value) < WIN_SCORE:
            op.returns(st, ws.values[0])
            share = ws.values[0, seat]
            if share != 0.5:  # a tie is worth what the position is worth
                value = WIN_SCORE * (2.0 * share - 1.0)
        ws.worth[i] = value
        op.undo(st, m)
    return np.int64(n)


class Greedy:
    """A search that looks at the own next move and no further; keeps its workspace.

    `state` is the start of the match, which tells the size of the workspace. The value of a move is
    what the evaluation says to the mover after it, `WIN_SCORE` for a win.
    """

    def __init__(self, state: np.record) -> None:
        extra = [("worth", np.float64, (op.max_actions(state.dtype),))]
        self._ws = op.workspace(state, depth=1, extra=extra, source=__file__)

    @staticmethod
    def supports(info: GameInfo, state: np.record) -> str | None:
        """Return why the search cannot play a game: never, it plays them all."""
        return None

    def search(self, state: np.record, ev: np.record, limits: SearchLimits) -> SearchResult:
        """Return the best move; of the limits only the seed matters.

        `state` must not be over and is unchanged. It takes the time that it takes, well under
        a millisecond.
        """
        st, ws = state.copy(), self._ws
        actions = root_moves(st, limits.seed)
        n = len(actions)
        ws.moves[0, :n] = actions
        _evaluate_moves(st, ws, ev, np.int64(op.to_act(st)), np.int64(n))
        best = int(np.argmax(ws.worth[:n]))
        return SearchResult(actions[best], float(ws.worth[best]), 1, n, (actions[best],))
