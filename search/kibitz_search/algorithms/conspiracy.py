"""A one-ply search for a group of cooperating seats, an idea proposed in the report.

The value of a move is the seat's own evaluation of the resulting position, plus `FRIEND` times each
friend's evaluation, minus `FOE` times the evaluation of the leading foe. In Chinese Checkers, for
example, pegs stay where friends can jump over them and block the leading foe. A move that ends the
game has the value of its result for the seat itself. Without friends, this is the greedy search.

Source: a note in the report "Fun With Chinese Checkers", "a bot that recognizes others of its ilk".
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from kibitz_games.compiled import operations as op
from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.core.game import GameInfo
from kibitz_search.algorithms.greedy import best_move
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.algorithms.result import WIN_SCORE, SearchResult, root_moves
from kibitz_search.algorithms.terminal import final_share

FRIEND, FOE = 0.5, 0.25
NEITHER, FRIENDLY, HOSTILE = 0, 1, 2
"""The relation of a seat to the mover."""


@kernel
def _judge_moves(st: op.Record, ws: op.Record, ev: op.Record, sides: Any, seat: Int, n: Int) -> Any:
    """Write the value of each of the first `n` moves in ``ws.moves[0]`` for the group.

    ``ws.share`` is as in the greedy search.
    """
    for i in range(n):
        m = np.int64(ws.moves[0, i])
        op.play(st, m)
        value = np.float64(op.evaluate(ev, st, seat))
        ws.share[i] = np.nan
        if op.terminal(st) and abs(value) < WIN_SCORE:
            ws.share[i] = final_share(st, seat, ws.values[0])
        ahead = -np.float64(WIN_SCORE)
        for other in range(len(sides)):
            if sides[other] == FRIENDLY:
                value += FRIEND * min(np.float64(op.evaluate(ev, st, np.int64(other))), 1e3)
            elif sides[other] == HOSTILE:
                ahead = max(ahead, np.float64(op.evaluate(ev, st, np.int64(other))))
        if ahead > -WIN_SCORE:
            value -= FOE * min(ahead, 1e3)
        ws.worth[i] = value
        op.undo(st, m)
    return np.int64(n)


class Conspiracy:
    """The search for a member of a group; `friends` are the other members, and may be changed."""

    def __init__(self, state: np.record, friends: Collection[int] = ()) -> None:
        actions = op.max_actions(state.dtype)
        extra = [("worth", np.float64, (actions,)), ("share", np.float64, (actions,))]
        self._ws = op.workspace(state, depth=1, extra=extra, source=__file__)
        self._seats = int(state["seats"])
        self.friends = frozenset(friends)

    @staticmethod
    def supports(info: GameInfo, state: np.record) -> str | None:
        """Return why the search does not support a game, or None if it does."""
        return f"{info.name} has hidden information" if info.hidden else None

    def search(self, state: np.record, ev: np.record, limits: SearchLimits) -> SearchResult:
        """Return the best move for the group; all limits except the seed are ignored."""
        st, ws = state.copy(), self._ws
        actions = root_moves(st, limits.seed)
        n, seat = len(actions), int(op.to_act(st))
        ws.moves[0, :n] = actions
        _judge_moves(st, ws, ev, self._sides(seat), np.int64(seat), np.int64(n))
        best, value = best_move(st, ev, seat, actions, ws.worth[:n], ws.share[:n])
        return SearchResult(actions[best], value, 1, n, (actions[best],))

    def _sides(self, seat: int) -> np.ndarray:
        """Return the relation of each seat to `seat`, which has no foes if it has no friends."""
        sides = np.full(self._seats, HOSTILE if self.friends else NEITHER, np.int64)
        sides[list(self.friends)] = FRIENDLY
        sides[seat] = NEITHER
        return sides
