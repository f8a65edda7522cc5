"""Max-Prob: each seat maximizes its probability of winning, and breaks ties at random.

Source: A. Hashavit and S. Markovitch, "Max-Prob: An Unbiased Rational Decision Making Procedure for
Multiple-Adversary Environments" (IJCAI 2011). An agent that only wants to win is indifferent
between actions with the same probability of winning, and plays each of them equally often. The
other seats are therefore modeled as a uniform distribution over their best actions.

The value of a position is a vector of probabilities: the mean over the best actions of the seat to
act. At leaves, the probabilities are estimated by the expected scores of `utility`, a logistic
curve of width `scale` over the evaluation. Two estimates are rarely exactly equal, so actions
within `near` of the best count as equally good. With `near` 0, only exact ties count, as in the
paper. Nothing is pruned.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kibitz_games.compiled import operations as op
from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.compiled.operations import Record, Values
from kibitz_search.algorithms.multiplayer import (
    MAX_DEPTH,
    MultiplayerSearch,
    next_move,
    score_moves,
    update_pv,
)
from kibitz_search.algorithms.terminal import PLY_DISCOUNT
from kibitz_search.algorithms.timer import count_nodes
from kibitz_search.algorithms.utility import expected_scores

Chances = Any
"""The probabilities of all seats after each action at each ply: float64 (plies, actions, seats)."""


@kernel
def mean_of_best(chances: Values, n: Int, seats: Int, seat: Int, near: float, out: Values) -> Int:
    """Write the mean of the vectors that are best for `seat`; return the index of the first."""
    best = 0
    for i in range(1, n):
        if chances[i, seat] > chances[best, seat]:
            best = i
    count = 0
    for other in range(seats):
        out[other] = 0.0
    for i in range(n):
        if chances[i, seat] >= chances[best, seat] - near:
            count += 1
            for other in range(seats):
                out[other] += chances[i, other]
    for other in range(seats):
        out[other] /= count
    return np.int64(best)


@kernel
def explore(
    st: Record, ws: Record, ev: Record, chances: Chances, near: float, limit: Int, ply: Int
) -> Any:
    """Write the probabilities of all seats into ``ws.values[ply]``."""
    ws.lengths[ply] = ply
    over = op.terminal(st)
    if over or ply == limit:
        count_nodes(ws, np.int64(1))
        ws.open += 0 if over else 1
        expected_scores(st, ev, ws.last, ply, ws.scale, ws.values[ply])
        return np.int64(0)
    seat, seats = np.int64(op.to_act(st)), np.int64(st.seats)
    n = np.int64(ws.roots)
    ranked = ws.width > 0
    if ply > 0:
        n = (
            np.int64(score_moves(st, ws, ev, ply))
            if ranked
            else np.int64(op.generate(st, ws.moves[ply]))
        )
    before = np.int64(ws.last[seat])
    most = -np.inf
    for i in range(n):
        m = np.int64(next_move(ws, ply, i)) if ranked else np.int64(ws.moves[ply, i])
        op.play(st, m)
        ws.last[seat] = ply + 1
        explore(st, ws, ev, chances, near, limit, np.int64(ply + 1))
        ws.last[seat] = before
        op.undo(st, m)
        if ws.stop != 0:
            break
        for other in range(seats):
            chances[ply, i, other] = ws.values[ply + 1, other]
        if ws.values[ply + 1, seat] > most:
            most = ws.values[ply + 1, seat]
            update_pv(ws, ply, m)
        if ply == 0:
            ws.bounds[i] = ws.values[1, seat]
            ws.finished += 1
            ws.best = most
    done = n if ply > 0 else np.int64(ws.finished)
    if ws.stop == 0 or ply == 0:
        # The root's seat plays its best action, so only exact ties are averaged there.
        tolerance = near if ply > 0 else 0.0
        if done > 0:
            mean_of_best(chances[ply], done, seats, seat, tolerance, ws.values[ply])
    return np.int64(0)


class MaxProb(MultiplayerSearch):
    """The Max-Prob search for two or more seats; see the module docstring.

    Values are probabilities from 0 to 1. For `width`, see `MultiplayerSearch`; `scale` is the lead,
    in the evaluation's units, with which a seat is ahead in 3 of 4 matches; probabilities that
    differ by at most `near` are ties.
    """

    decided = 1.0 - PLY_DISCOUNT * MAX_DEPTH
    lost_score = PLY_DISCOUNT * MAX_DEPTH

    def __init__(
        self, state: np.record, *, width: int | None = 0, scale: float = 10.0, near: float = 0.0
    ) -> None:
        super().__init__(state, width=width)
        self._ws.scale = scale
        self._near = np.float64(near)
        self._chances = np.zeros((MAX_DEPTH + 1, op.max_actions(state.dtype), op.MAX_SEATS))

    def _run_kernel(self, st: np.record, ev: np.record, depth: int) -> None:
        limit, start = np.int64(depth), np.int64(0)
        explore(st, self._ws, ev, self._chances, self._near, limit, start)

    def _values(self, st: np.record) -> tuple[float, ...]:
        return tuple(self._ws.values[0, : int(st["seats"])].tolist())
