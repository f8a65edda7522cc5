"""MP-mix: max^n, paranoid or offensive, depending on the leads.

Source: I. Zuckerman, A. Felner and S. Kraus, "Mixing Search Strategies for Multi-Player Games"
(IJCAI 2009). Before each action, the active seats are compared by their evaluations. The *edge* is
the difference between the first and the second.

==========================================  ====================================================
the root's seat leads by `defend` or more   paranoid: the others will unite against the leader
another seat leads by `attack` or more      offensive: the root's seat minimizes this lead, all
                                            others play max^n
otherwise                                   max^n
==========================================  ====================================================

Both thresholds are in the evaluation's units; very large values give plain max^n.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from kibitz_games.compiled import operations as op
from kibitz_search.algorithms.multiplayer import NOBODY, MultiplayerSearch
from kibitz_search.algorithms.result import WIN_SCORE
from kibitz_search.algorithms.utility import active_seats

Strategy = Literal["maxn", "paranoid", "offensive"]


class MpMix(MultiplayerSearch):
    """MP-mix for two or more seats.

    `defend` and `attack` are the thresholds described in the module docstring, in the evaluation's
    units; for `width`, see `MultiplayerSearch`.
    """

    def __init__(
        self, state: np.record, *, width: int | None = 0, defend: float = 10.0, attack: float = 10.0
    ) -> None:
        super().__init__(state, width=width)
        self._defend, self._attack = defend, attack

    def strategy(self, state: np.record, ev: np.record) -> tuple[Strategy, int]:
        """Return the strategy for a position, and the seat that is attacked or `NOBODY`.

        `state` is the root, `ev` its evaluation record.
        """
        me = int(op.to_act(state))
        worth = {
            seat: float(op.evaluate(ev, state, np.int64(seat))) for seat in active_seats(state)
        }
        ranking = sorted(
            (each for each in worth if worth[each] < WIN_SCORE), key=lambda s: -worth[s]
        )
        if len(ranking) < 2:
            return "maxn", NOBODY
        leader, edge = ranking[0], worth[ranking[0]] - worth[ranking[1]]
        if leader == me and edge >= self._defend:
            return "paranoid", me
        if leader != me and edge >= self._attack:
            return "offensive", leader
        return "maxn", NOBODY

    def _target(self, st: np.record, ev: np.record) -> int:
        return self.strategy(st, ev)[1]
