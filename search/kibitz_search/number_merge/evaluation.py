"""The evaluation of number merge: the points so far.

The value of a position to a seat is ``ev.point`` times its lead, the difference of the scores. One
ply ahead that is a rule of thumb: earn a point if you can, else nothing, and lose one only if every
merge does.
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
    """Return the worth of the lead of `seat`."""
    return ev.point * rules.lead(st, seat)


operations.implement(POINTS, evaluate=_evaluate)


def points(state: np.record) -> np.record:
    """Return the evaluation record in which a point of the lead is worth 1."""
    ev: np.record = kernels.new(POINTS)
    ev["point"] = 1.0
    return ev
