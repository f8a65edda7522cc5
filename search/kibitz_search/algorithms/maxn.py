"""Max^n: every seat maximizes its own value.

Source: C. A. Luckhardt and K. B. Irani, "An Algorithmic Solution of N-Person Games" (AAAI 1986).
The value of a position is a vector with one value per seat; the seat to act chooses the action
whose vector is best for it. The values are leads (see `utility`); `multiplayer` describes how ties
are broken, and what is pruned with two seats.
"""

from __future__ import annotations

import numpy as np

from kibitz_search.algorithms.multiplayer import NOBODY, MultiplayerSearch


class Maxn(MultiplayerSearch):
    """The max^n search for two or more seats; see the module docstring and `MultiplayerSearch`."""

    def _target(self, st: np.record, ev: np.record) -> int:
        return NOBODY
