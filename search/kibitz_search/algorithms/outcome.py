"""An evaluation for any game with the value 0 for all positions of an unfinished game."""

from __future__ import annotations

import numpy as np

from kibitz_games.compiled import kernels, operations
from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.compiled.operations import Record

OUTCOME = kernels.record_type("outcome", [("undecided", np.float64)], source=__file__)


@kernel
def _evaluate(ev: Record, st: Record, seat: Int) -> float:
    """Return the value of an unfinished game, the same for all seats."""
    return float(ev.undecided)


operations.implement(OUTCOME, evaluate=_evaluate)


def outcome(state: np.record) -> np.record:
    """Return the evaluation record, with the value 0."""
    return kernels.new(OUTCOME)
