"""The paranoid search: all other seats play against the seat to act.

Source: N. R. Sturtevant and R. E. Korf, "On Pruning Techniques for Multi-Player Games" (AAAI
2000). The root's seat maximizes its lead (see `utility`), all others minimize it. This makes it a
two-sided game in which alpha-beta pruning works; with two seats, it is alpha-beta.
"""

from __future__ import annotations

import numpy as np

from kibitz_games.compiled import operations as op
from kibitz_search.algorithms.maxn import Maxn


class Paranoid(Maxn):
    """The paranoid search for two or more seats; see also `MultiplayerSearch`."""

    def _run_kernel(self, st: np.record, ev: np.record, depth: int) -> None:
        self._explore(st, ev, depth, int(op.to_act(st)))

    def _values(self, st: np.record) -> tuple[float, ...]:
        """Return nothing, because only the value of the seat to act is exact."""
        return ()
