"""The experiments of Chinese Checkers, for `kibitz train`."""

from __future__ import annotations

from typing import Any

from kibitz_search.chinese_checkers.genetic_parameters import GeneticParameters
from kibitz_search.chinese_checkers.learning_parameters import LearnedParameters
from kibitz_search.training.experiment import Experiment


def _genetic() -> Any:
    from kibitz_search.chinese_checkers import genetic_run

    return genetic_run.run


def _learned() -> Any:
    from kibitz_search.chinese_checkers import learning

    return learning.run


EXPERIMENTS = (
    Experiment(
        "chinese-checkers/genetic",
        "distances of holes by the genetic algorithm of the report",
        GeneticParameters,
        _genetic,
    ),
    Experiment(
        "chinese-checkers/learned",
        "distances of holes by an evolution strategy, for each number of seats",
        LearnedParameters,
        _learned,
    ),
)
