"""The experiments of five in a row, for `kibitz train`."""

from __future__ import annotations

from typing import Any

from kibitz_search.five_in_a_row.pattern_parameters import PatternParameters
from kibitz_search.training.experiment import Experiment


def _patterns() -> Any:
    from kibitz_search.five_in_a_row import pattern_learning

    return pattern_learning.run


EXPERIMENTS = (
    Experiment(
        "five-in-a-row/patterns",
        "weights of the classes of cells, fitted to games of threat and what it proves",
        PatternParameters,
        _patterns,
    ),
)
