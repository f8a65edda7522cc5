"""The experiments of Tanks, for `kibitz train`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kibitz_search.tanks.parameters import NeuroevolutionParameters, ReportParameters
from kibitz_search.training.experiment import Experiment, LoadTask


def _report() -> Any:
    from kibitz_search.tanks import training_runs

    return training_runs.run_report


def _neuroevolution() -> Any:
    from kibitz_search.tanks import training_runs

    return training_runs.run_neuroevolution


EXPERIMENTS = (
    Experiment(
        "tanks/report",
        "a network of 225-10-7 by the evolution of the report",
        ReportParameters,
        _report,
    ),
    Experiment(
        "tanks/neuroevolution",
        "a small network that looks from its tank, by an evolution strategy",
        NeuroevolutionParameters,
        _neuroevolution,
    ),
)


def _play_task() -> Callable[[dict[str, Any]], dict[str, Any]]:
    from kibitz_search.tanks.network_games import play_task

    return play_task


TASKS: dict[str, LoadTask] = {"network-games": _play_task}
"""What workers compute for these experiments, by name."""
