"""The greedy search: the move after which the position is worth the most to the mover.

A move that ends the play is worth what the result is (`terminal.Standing`): a draw as much as the
others are worth after the best move that does not end it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kibitz_games.compiled import operations as op
from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.core.game import GameInfo
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.algorithms.result import WIN_SCORE, SearchResult, root_moves
from kibitz_search.algorithms.terminal import Standing, final_share, standing


@kernel
def _evaluate_moves(st: op.Record, ws: op.Record, ev: op.Record, seat: Int, n: Int) -> Any:
    """Write the worth of each of the first `n` of ``ws.moves[0]`` into ``ws.worth``.

    ``ws.share`` has the seat's share of a play that a move ends, nan where the play goes on or the
    evaluation says that the seat has reached its aim.
    """
    for i in range(n):
        m = np.int64(ws.moves[0, i])
        op.play(st, m)
        ws.worth[i] = op.evaluate(ev, st, seat)
        ws.share[i] = np.nan
        if op.terminal(st) and abs(ws.worth[i]) < WIN_SCORE:
            ws.share[i] = final_share(st, seat, ws.values[0])
        op.undo(st, m)
    return np.int64(n)


class Greedy:
    """A search that looks at the own next move and no further; keeps its workspace.

    `state` is the start of the match, which tells the size of the workspace. The value of a move is
    what the evaluation says to the mover after it, `WIN_SCORE` for a win and 0 for a draw.
    """

    def __init__(self, state: np.record) -> None:
        actions = op.max_actions(state.dtype)
        extra = [("worth", np.float64, (actions,)), ("share", np.float64, (actions,))]
        self._ws = op.workspace(state, depth=1, extra=extra, source=__file__)

    @staticmethod
    def supports(info: GameInfo, state: np.record) -> str | None:
        """Return why the search cannot play a game: never, it plays them all."""
        return None

    def warm_up(self, state: np.record, ev: np.record) -> None:
        """Compile or load the code that only moves that end the play use."""
        standing(state, ev, int(op.to_act(state)))

    def search(self, state: np.record, ev: np.record, limits: SearchLimits) -> SearchResult:
        """Return the best move; of the limits only the seed matters.

        `state` must not be over and is unchanged. It looks at each move once, which every search
        does whatever its limits are, and takes well under a millisecond.
        """
        st, ws = state.copy(), self._ws
        actions, seat = root_moves(st, limits.seed), int(op.to_act(st))
        n = len(actions)
        ws.moves[0, :n] = actions
        _evaluate_moves(st, ws, ev, np.int64(seat), np.int64(n))
        best, value = best_move(st, ev, seat, actions, ws.worth[:n], ws.share[:n])
        return SearchResult(actions[best], value, 1, n, (actions[best],))


def best_move(
    st: np.record,
    ev: np.record,
    seat: int,
    actions: list[int],
    worth: np.ndarray,
    share: np.ndarray,
) -> tuple[int, float]:
    """Return the place of the best of `actions`, and what it is worth.

    `worth` is what the evaluation says after each; `share` is the result of those that end the
    play, nan for the others.
    """
    over = ~np.isnan(share)
    if not over.any():
        best = int(np.argmax(worth))
        return best, float(worth[best])
    stand = _standing_after(st, ev, seat, actions, np.where(over, -np.inf, worth))
    compared = np.where(over, [stand.worth(value) for value in share.tolist()], worth)
    best = int(np.argmax(compared))
    return best, stand.score(float(share[best])) if over[best] else float(worth[best])


def _standing_after(
    st: np.record, ev: np.record, seat: int, actions: list[int], worth: np.ndarray
) -> Standing:
    """Return how the others stand after the best move that does not end the play, if there is one.

    Otherwise that is how they stand before the move.
    """
    best = int(np.argmax(worth))
    if worth[best] == -np.inf:
        return standing(st, ev, seat)
    op.play(st, np.int64(actions[best]))
    stand = standing(st, ev, seat)
    op.undo(st, np.int64(actions[best]))
    return stand
