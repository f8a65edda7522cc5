"""The evaluation for number merge: the points so far.

The value of a position for a seat is ``ev.point`` times its lead, the difference of the scores.
With a search depth of one ply, this is a simple heuristic: score a point if possible, and lose one
only if all merges do.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kibitz_games.compiled import kernels, operations
from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.number_merge import rules

POINTS = kernels.record_type("points", [("point", np.float64)], source=__file__)


@kernel
def _evaluate(ev: operations.Record, st: operations.Record, seat: Int) -> Any:
    """Return the value of the lead of `seat`."""
    return ev.point * rules.lead(st, seat)


operations.implement(POINTS, evaluate=_evaluate)


def points(state: np.record) -> np.record:
    """Return the evaluation record with value 1 for each point of the lead."""
    ev: np.record = kernels.new(POINTS)
    ev["point"] = 1.0
    return ev
