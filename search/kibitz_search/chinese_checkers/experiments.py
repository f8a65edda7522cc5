"""The experiments of Chinese Checkers, for `kibitz train`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kibitz_search.chinese_checkers.genetic_parameters import GeneticParameters
from kibitz_search.chinese_checkers.learning_parameters import LearnedParameters
from kibitz_search.chinese_checkers.prior_parameters import PriorParameters
from kibitz_search.training.experiment import Experiment, LoadTask


def _genetic() -> Any:
    from kibitz_search.chinese_checkers import genetic_run

    return genetic_run.run


def _learned() -> Any:
    from kibitz_search.chinese_checkers import learning

    return learning.run


def _priors() -> Any:
    from kibitz_search.chinese_checkers import prior_learning

    return prior_learning.run


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
        distributed=False,  # its strategy plays against itself, step by step, in one process
    ),
    Experiment(
        "chinese-checkers/priors",
        "which moves a Monte Carlo search looks at first, fitted to those that it chose",
        PriorParameters,
        _priors,
        distributed=False,  # games are searched in threads of one process
    ),
)


def _play_task() -> Callable[[dict[str, Any]], dict[str, Any]]:
    from kibitz_search.chinese_checkers.hole_games import play_task

    return play_task


TASKS: dict[str, LoadTask] = {"hole-games": _play_task}
"""What workers compute for these experiments, by name."""
