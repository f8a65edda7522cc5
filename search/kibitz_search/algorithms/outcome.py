"""An evaluation for any game, which gives every position of an unfinished play the value 0."""

from __future__ import annotations

import numpy as np

from kibitz_games.compiled import kernels, operations
from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.compiled.operations import Record

OUTCOME = kernels.record_type("outcome", [("undecided", np.float64)], source=__file__)


@kernel
def _evaluate(ev: Record, st: Record, seat: Int) -> float:
    """Return what a play that goes on is worth to any seat."""
    return float(ev.undecided)


operations.implement(OUTCOME, evaluate=_evaluate)


def outcome(state: np.record) -> np.record:
    """Return the record by which a play that goes on is worth 0 to every seat."""
    return kernels.new(OUTCOME)
