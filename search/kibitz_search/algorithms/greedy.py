"""The greedy search: the move after which the evaluation for the mover is highest.

It can also play for a group of cooperating seats, an idea proposed in the report "Fun With Chinese
Checkers": "a bot that recognizes others of its ilk". The value of a move is then the seat's own
evaluation of the resulting position, plus `FRIEND` times each friend's evaluation, minus `FOE`
times the evaluation of the leading foe. In Chinese Checkers, for example, pegs stay where friends
can jump over them and block the leading foe.

A move that ends the game has the value of its result (`terminal.Standing`). To compare a draw with
unfinished games, it counts as the mean evaluation of the other seats after the best move that does
not end the game.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from kibitz_games.compiled import operations as op
from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.core.game import GameInfo
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.algorithms.result import WIN_SCORE, SearchResult, root_moves
from kibitz_search.algorithms.terminal import Standing, final_share, standing

FRIEND, FOE = 0.5, 0.25
NEITHER, FRIENDLY, HOSTILE = 0, 1, 2
"""The relation of a seat to the mover."""


@kernel
def _evaluate_moves(
    st: op.Record, ws: op.Record, ev: op.Record, sides: Any, seat: Int, n: Int
) -> Any:
    """Write the value of each of the first `n` moves in ``ws.moves[0]`` into ``ws.worth``.

    `sides` has the relation of each seat, or is empty without friends. ``ws.share`` receives the
    seat's share for moves that end the game, otherwise nan. It is also nan if the evaluation
    reports that the seat has reached its goal.
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


class Greedy:
    """A search that looks one move ahead; keeps its workspace between turns.

    `state` is the first state of the match and determines the size of the workspace. `friends` are
    the other members of the seat's group, and may be changed; friends are not supported in games
    with hidden information. The value of a move is the evaluation for the mover after it,
    `WIN_SCORE` for a win and 0 for a draw.
    """

    def __init__(self, state: np.record, friends: Collection[int] = ()) -> None:
        actions = op.max_actions(state.dtype)
        extra = [("worth", np.float64, (actions,)), ("share", np.float64, (actions,))]
        self._ws = op.workspace(state, depth=1, extra=extra, source=__file__)
        self._seats = int(state["seats"])
        self.friends = frozenset(friends)

    @staticmethod
    def supports(info: GameInfo, state: np.record) -> str | None:
        """Return None: the search supports all games."""
        return None

    def warm_up(self, state: np.record, ev: np.record) -> None:
        """Compile or load the code that is used only for moves that end the game."""
        standing(state, ev, int(op.to_act(state)))

    def search(self, state: np.record, ev: np.record, limits: SearchLimits) -> SearchResult:
        """Return the best move; all limits except the seed are ignored.

        `state` must not be terminal and is not modified. The search evaluates each move once, as
        all searches do regardless of limits, and takes well under a millisecond.
        """
        st, ws = state.copy(), self._ws
        actions, seat = root_moves(st, limits.seed), int(op.to_act(st))
        n = len(actions)
        ws.moves[0, :n] = actions
        _evaluate_moves(st, ws, ev, self._sides(seat), np.int64(seat), np.int64(n))
        best, value = _best_move(st, ev, seat, actions, ws.worth[:n], ws.share[:n])
        return SearchResult(actions[best], value, 1, n, (actions[best],))

    def _sides(self, seat: int) -> np.ndarray:
        """Return the relation of each seat to `seat`; empty without friends."""
        if not self.friends:
            return np.zeros(0, np.int64)
        sides = np.full(self._seats, HOSTILE, np.int64)
        sides[list(self.friends)] = FRIENDLY
        sides[seat] = NEITHER
        return sides


def _best_move(
    st: np.record,
    ev: np.record,
    seat: int,
    actions: list[int],
    worth: np.ndarray,
    share: np.ndarray,
) -> tuple[int, float]:
    """Return the index of the best of `actions`, and its value.

    `worth` is the evaluation after each action; `share` is the result of actions that end the game,
    and nan for the others.
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
    """Return the standing of the others after the best move that does not end the game.

    If every move ends the game, return their standing now.
    """
    best = int(np.argmax(worth))
    if worth[best] == -np.inf:
        return standing(st, ev, seat)
    op.play(st, np.int64(actions[best]))
    stand = standing(st, ev, seat)
    op.undo(st, np.int64(actions[best]))
    return stand
