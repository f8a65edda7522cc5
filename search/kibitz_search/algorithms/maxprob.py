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

import numpy as np

from kibitz_search.algorithms.maxn import Maxn
from kibitz_search.algorithms.multiplayer import MAX_DEPTH
from kibitz_search.algorithms.terminal import PLY_DISCOUNT


class MaxProb(Maxn):
    """The Max-Prob search for two or more seats; see the module docstring.

    Values are probabilities from 0 to 1. For `width`, see `MultiplayerSearch`; `scale` is the lead,
    in the evaluation's units, with which a seat is ahead in 3 of 4 matches; probabilities that
    differ by at most `near` are ties.
    """

    mixed = True
    decided = 1.0 - PLY_DISCOUNT * MAX_DEPTH
    lost_score = PLY_DISCOUNT * MAX_DEPTH

    def __init__(
        self, state: np.record, *, width: int | None = 0, scale: float = 10.0, near: float = 0.0
    ) -> None:
        super().__init__(state, width=width)
        self._ws.scale, self._ws.near = scale, near
