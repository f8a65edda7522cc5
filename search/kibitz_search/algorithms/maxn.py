"""Max^n: every seat maximizes its own value.

Source: C. A. Luckhardt and K. B. Irani, "An Algorithmic Solution of N-Person Games" (AAAI 1986).
The value of a position is a vector with one value per seat; the seat to act chooses the action
whose vector is best for it. The values are leads (see `utility`).

Ties. The result of max^n depends on how it breaks ties between actions that are equally good for
the mover. Here, the mover prefers the action that is worse for its strongest rival, the other seat
with the greatest lead. Among remaining ties it prefers the first action, which depends on the seed
at the root.

Other aims. A *target* makes one seat the aim of others: the root's seat chooses the action that is
worst for the target (`mpmix`), or, if it is the target itself, all other seats do (`paranoid`).

Pruning. With two seats, the leads add up to zero, and in paranoid play there are only two sides.
The search of an action can then stop at a reply that makes it no better than the best action so far
(alpha-beta). Otherwise, pruning requires a lower bound on leads that is close to their usual values
(R. E. Korf, "Multi-Player Alpha-Beta Pruning", 1991). No such bound is known, so nothing is pruned.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kibitz_games.compiled import operations as op
from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.compiled.operations import Record, Values
from kibitz_search.algorithms.multiplayer import (
    MultiplayerSearch,
    next_move,
    score_moves,
    store_killer,
    update_pv,
)
from kibitz_search.algorithms.timer import count_nodes
from kibitz_search.algorithms.utility import relative_scores

NOBODY = -1


@kernel
def best_rival_score(values: Values, seats: Int, seat: Int) -> float:
    """Return the greatest lead among the seats other than `seat`."""
    most = -np.inf
    for other in range(seats):
        if other != seat:
            most = max(most, values[other])
    return most


@kernel
def prefers(new: Values, old: Values, seats: Int, seat: Int, hurt: Int, two_sides: bool) -> bool:
    """Return whether `seat` prefers `new` to `old`.

    If it attacks `hurt`, it prefers the vector in which that seat has the lower value. Otherwise,
    its own value counts. Between two sides, where values may be bounds, ties are not broken.
    """
    a, b = new[seat], old[seat]
    if hurt >= 0 and (two_sides or new[hurt] != old[hurt]):
        return bool(new[hurt] < old[hurt])
    if a != b or hurt >= 0 or two_sides:
        return bool(a > b)
    return bool(best_rival_score(new, seats, seat) < best_rival_score(old, seats, seat))


@kernel
def explore(
    st: Record,
    ws: Record,
    ev: Record,
    limit: Int,
    ply: Int,
    alpha: float,
    beta: float,
    target: Int,
) -> Any:
    """Write the value of a position for each seat into ``ws.values[ply]``.

    `target` is the seat that is attacked, or `NOBODY`: see the module docstring. If the search
    prunes, the value for the root's seat is exact between `alpha` and `beta`, otherwise a bound,
    and the other values are meaningless.
    """
    ws.lengths[ply] = ply
    over = op.terminal(st)
    if over or ply == limit:
        count_nodes(ws, np.int64(1))
        ws.open += 0 if over else 1
        relative_scores(st, ev, ws.last, ply, ws.values[ply])
        return np.int64(0)
    seat, seats, me = np.int64(op.to_act(st)), np.int64(st.seats), np.int64(ws.rivals[0])
    two_sides = seats == 2 or target == me
    ranked = two_sides or ws.width > 0  # the order does not matter if all moves are searched
    n = np.int64(ws.roots)
    if ply > 0:
        n = (
            np.int64(score_moves(st, ws, ev, ply))
            if ranked
            else np.int64(op.generate(st, ws.moves[ply]))
        )
    hurt = target if (seat == me) != (target == me) else np.int64(NOBODY)
    before = np.int64(ws.last[seat])
    for i in range(n):
        m = np.int64(next_move(ws, ply, i)) if ranked else np.int64(ws.moves[ply, i])
        op.play(st, m)
        ws.last[seat] = ply + 1
        explore(st, ws, ev, limit, np.int64(ply + 1), alpha, beta, target)
        ws.last[seat] = before
        op.undo(st, m)
        if ws.stop != 0:
            break
        if i == 0 or prefers(ws.values[ply + 1], ws.values[ply], seats, seat, hurt, two_sides):
            for other in range(seats):
                ws.values[ply, other] = ws.values[ply + 1, other]
            update_pv(ws, ply, m)
        if ply == 0:
            ws.bounds[i] = ws.values[1, seat]
            ws.finished += 1
            ws.best = ws.values[0, seat]
        if two_sides and seat == me:
            alpha = max(alpha, ws.values[ply, me])
        elif two_sides:
            beta = min(beta, ws.values[ply, me])
        if ply > 0 and alpha >= beta:
            store_killer(ws, ply, m)
            break
    return np.int64(0)


class Maxn(MultiplayerSearch):
    """The max^n search for two or more seats; see the module docstring and `MultiplayerSearch`."""

    def _reset(self, st: np.record, ev: np.record) -> None:
        super()._reset(st, ev)
        self._ws.rivals[0] = op.to_act(st)

    def _run_kernel(self, st: np.record, ev: np.record, depth: int) -> None:
        self._explore(st, ev, depth, NOBODY)

    def _explore(self, st: np.record, ev: np.record, depth: int, target: int) -> None:
        least, most = np.float64(-np.inf), np.float64(np.inf)
        limit, ply = np.int64(depth), np.int64(0)
        explore(st, self._ws, ev, limit, ply, least, most, np.int64(target))

    def _values(self, st: np.record) -> tuple[float, ...]:
        return tuple(self._ws.values[0, : int(st["seats"])].tolist())
