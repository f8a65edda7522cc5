"""Two evaluations for number merge: the points so far, and these with the expected end.

`points` values a position for a seat by ``ev.point`` times its lead, the difference of the scores.
With a search depth of one ply, this is a simple heuristic: score a point if possible, and lose one
only if all merges do.

`forecast` adds what a typical end of a game is worth. Once the sum of two neighbors exceeds the
threshold, the mover scores a point, and so does each later mover, because merging with a large
number gives a large number. If the number of remaining merges is odd, the first player to find such
a pair therefore gains one point more than the opponent. With `r` remaining merges and such a pair,
the mover expects ``r % 2``. Without a pair, it expects ``r % 2 - 1``, because it has to create the
first pair.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kibitz_games.compiled import kernels, operations
from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.number_merge import rules

POINTS = kernels.record_type("points", [("point", np.float64)], source=__file__)


FORECAST = kernels.record_type("forecast", [("half", np.float64)], source=__file__)


@kernel
def _evaluate(ev: operations.Record, st: operations.Record, seat: Int) -> Any:
    """Return the value of the lead of `seat`."""
    return ev.point * rules.lead(st, seat)


@kernel
def _forecast(ev: operations.Record, st: operations.Record, seat: Int) -> Any:
    """Return half of the expected lead of `seat` at the end; the other seat has the other half."""
    left, hot = np.int64(st.count) - 1, np.int64(0)
    for m in range(left):
        hot |= np.int64(rules.gain(st, np.int64(m)) > 0)
    own = (left & 1) - (1 - hot)
    return ev.half * (rules.lead(st, seat) + (own if st.side == seat else -own))


operations.implement(POINTS, evaluate=_evaluate)
operations.implement(FORECAST, evaluate=_forecast)


def points(state: np.record) -> np.record:
    """Return the evaluation record with value 1 for each point of the lead."""
    ev: np.record = kernels.new(POINTS)
    ev["point"] = 1.0
    return ev


def forecast(state: np.record) -> np.record:
    """Return the evaluation record for the expected lead at the end."""
    ev: np.record = kernels.new(FORECAST)
    ev["half"] = 0.5
    return ev
