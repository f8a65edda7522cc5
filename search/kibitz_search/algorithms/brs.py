"""Best-reply search: after each action of the player, only one opponent replies, the strongest.

Source: M. P. D. Schadd and M. H. M. Winands, "Best-Reply Search for Multi-Player Games" (IEEE
Transactions on Computational Intelligence and AI in Games 3, 2011). Plies of the root's seat
alternate with plies in which only one opponent acts: the one whose action minimizes the lead of the
root's seat (see `utility`). The other opponents do not move. The search therefore looks further
ahead in the player's actions than the paranoid search, at the price of positions that cannot occur
in turn order. The game must allow skipping turns (`operations.set_side_to_move`). With two seats,
this is alpha-beta.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kibitz_games.compiled import operations as op
from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.compiled.operations import Record
from kibitz_games.core.game import GameInfo
from kibitz_search.algorithms.multiplayer import (
    MultiplayerSearch,
    next_move,
    score_moves,
    store_killer,
    update_pv,
)
from kibitz_search.algorithms.result import WIN_SCORE
from kibitz_search.algorithms.timer import count_nodes
from kibitz_search.algorithms.utility import active_seats, relative_scores

SEAT = 8
"""The factor for entries of a line: action * SEAT + seat."""


@kernel
def explore(
    st: Record, ws: Record, ev: Record, me: Int, limit: Int, ply: Int, alpha: float, beta: float
) -> Any:
    """Return the lead of `me` if it is between `alpha` and `beta`, otherwise a bound.

    `me` acts at even plies, one of ``ws.rivals`` at odd plies. Rivals who have finished do not act.
    """
    ws.lengths[ply] = ply
    over = op.terminal(st)
    if over or ply == limit or (ply > 0 and op.evaluate(ev, st, me) >= WIN_SCORE):
        count_nodes(ws, np.int64(1))
        ws.open += 0 if over or ply < limit else 1
        relative_scores(st, ev, ws.last, ply, ws.values[ply])
        return ws.values[ply, me]
    own = ply % 2 == 0
    best = -np.inf if own else np.inf
    turn = np.int64(op.to_act(st))
    for k in range(np.int64(1) if own else np.int64(st.seats)):
        seat = me if own else np.int64(ws.rivals[k])
        if seat < 0 or (not own and op.evaluate(ev, st, seat) >= WIN_SCORE):
            continue
        op.set_side_to_move(st, seat)
        n = np.int64(score_moves(st, ws, ev, ply)) if ply > 0 else np.int64(ws.roots)
        before = np.int64(ws.last[seat])
        for i in range(n):
            m = np.int64(next_move(ws, ply, i))
            op.play(st, m)
            ws.last[seat] = ply + 1
            value = explore(st, ws, ev, me, limit, np.int64(ply + 1), alpha, beta)
            ws.last[seat] = before
            op.undo(st, m)
            if ws.stop != 0:
                break
            if (value > best) if own else (value < best):
                best = value
                update_pv(ws, ply, m * SEAT + seat)
            if own:
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
        op.set_side_to_move(st, turn)
        if ws.stop != 0 or (ply > 0 and alpha >= beta):
            break
    if ws.stop == 0 and best == np.inf:  # no opponent can reply
        count_nodes(ws, np.int64(1))
        relative_scores(st, ev, ws.last, ply, ws.values[ply])
        return ws.values[ply, me]
    return best


class Brs(MultiplayerSearch):
    """Best-reply search for two or more seats; see the module docstring and `MultiplayerSearch`."""

    @staticmethod
    def supports(info: GameInfo, state: np.record) -> str | None:
        """Return why the search does not support a game, or None if it does."""
        if not op.offers(state.dtype, "set_side_to_move"):
            return f"{info.name} does not allow skipping turns"
        return MultiplayerSearch.supports(info, state)

    def _reset(self, st: np.record, ev: np.record) -> None:
        super()._reset(st, ev)
        rivals = active_seats(st)[1:]
        self._ws.rivals[:] = -1
        self._ws.rivals[: len(rivals)] = rivals

    def _run_kernel(self, st: np.record, ev: np.record, depth: int) -> None:
        me, least, most = np.int64(op.to_act(st)), np.float64(-np.inf), np.float64(np.inf)
        explore(st, self._ws, ev, me, np.int64(depth), np.int64(0), least, most)

    def _entry_action(self, entry: int) -> int:
        return entry // SEAT

    def _played_line(self, st: np.record, line: tuple[int, ...]) -> tuple[int, ...]:
        st, actions = st.copy(), []
        for entry in line:
            if op.to_act(st) != entry % SEAT:
                break
            actions.append(entry // SEAT)
            op.play(st, entry // SEAT)
        return tuple(actions)
