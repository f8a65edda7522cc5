"""The paranoid search: all other seats play against the seat to act.

Source: N. R. Sturtevant and R. E. Korf, "On Pruning Techniques for Multi-Player Games" (AAAI
2000). The root's seat maximizes its lead (see `utility`), all others minimize it. This makes it a
two-sided game in which alpha-beta pruning works; with two seats, it is alpha-beta.
"""

from __future__ import annotations

import numpy as np

from kibitz_games.compiled import operations as op
from kibitz_search.algorithms.multiplayer import MultiplayerSearch


class Paranoid(MultiplayerSearch):
    """The paranoid search for two or more seats; see also `MultiplayerSearch`."""

    def _target(self, st: np.record, ev: np.record) -> int:
        return int(op.to_act(st))
