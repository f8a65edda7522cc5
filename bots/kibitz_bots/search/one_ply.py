"""The greedy search: the move after which the position is worth the most to the mover."""

from __future__ import annotations

from typing import Any

import numpy as np

from kibitz_bots.search.found import WON, Found, roots
from kibitz_bots.search.limits import Limits
from kibitz_games import operations as op
from kibitz_games.api import GameInfo
from kibitz_games.kernels import Int, kernel


@kernel
def _judge(st: op.Record, ws: op.Record, ev: op.Record, seat: Int, n: Int) -> Any:
    """Write what each of the first `n` of ``ws.moves[0]`` is worth into ``ws.worth``."""
    for i in range(n):
        m = np.int64(ws.moves[0, i])
        op.play(st, m)
        value = op.evaluate(ev, st, seat)
        if op.terminal(st) and abs(value) < WON:
            op.returns(st, ws.values[0])
            share = ws.values[0, seat]
            if share != 0.5:  # a tie is worth what the position is worth
                value = WON * (2.0 * share - 1.0)
        ws.worth[i] = value
        op.undo(st, m)
    return np.int64(n)


class OnePly:
    """A search that looks at the own next move and no further; keeps its workspace."""

    def __init__(self, state: np.record) -> None:
        extra = [("worth", np.float64, (op.widest(state.dtype),))]
        self._ws = op.workspace(state, depth=1, extra=extra, source=__file__)

    @staticmethod
    def supports(info: GameInfo, state: np.record) -> str | None:
        """Return why the search cannot play a game: never, it plays them all."""
        return None

    def search(self, state: np.record, ev: np.record, limits: Limits) -> Found:
        """Return the best move; of the limits only the seed matters.

        `state` must not be over and is unchanged. It takes the time that it takes, well under
        a millisecond.
        """
        st, ws = state.copy(), self._ws
        actions = roots(st, limits.seed)
        n = len(actions)
        ws.moves[0, :n] = actions
        _judge(st, ws, ev, np.int64(op.to_act(st)), np.int64(n))
        best = int(np.argmax(ws.worth[:n]))
        return Found(actions[best], float(ws.worth[best]), 1, n, (actions[best],))
