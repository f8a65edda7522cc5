"""The table of experiments: what `kibitz train` can run.

Only the requested experiment is imported, because the numerical packages load slowly.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from typing import Final

from kibitz_training import parameters
from kibitz_training.experiment import Experiment, ParameterError, Parameters, Task


def _genetic() -> Experiment:
    from kibitz_training.chinese_checkers import genetic

    return genetic.EXPERIMENT


def _learned() -> Experiment:
    from kibitz_training.chinese_checkers import learned

    return learned.EXPERIMENT


def _priors() -> Experiment:
    from kibitz_training.chinese_checkers import priors

    return priors.EXPERIMENT


def _report() -> Experiment:
    from kibitz_training.tanks import network_training

    return network_training.REPORT


def _neuroevolution() -> Experiment:
    from kibitz_training.tanks import network_training

    return network_training.NEUROEVOLUTION


def _patterns() -> Experiment:
    from kibitz_training.five_in_a_row import patterns

    return patterns.EXPERIMENT


EXPERIMENTS: Final[Mapping[str, Callable[[], Experiment]]] = {
    "chinese-checkers/genetic": _genetic,
    "chinese-checkers/learned": _learned,
    "chinese-checkers/priors": _priors,
    "tanks/report": _report,
    "tanks/neuroevolution": _neuroevolution,
    "five-in-a-row/patterns": _patterns,
}
"""The loader of each experiment by its name, ``GAME/NAME``."""


def _hole_games() -> Task:
    from kibitz_training.chinese_checkers.hole_games import play_task

    return play_task


def _network_games() -> Task:
    from kibitz_training.tanks.network_games import play_task

    return play_task


TASKS: Final[Mapping[str, Callable[[], Task]]] = {
    "hole-games": _hole_games,
    "network-games": _network_games,
}
"""The loader of each task that workers run for experiments, by name."""


def find(spec: str) -> tuple[Experiment, Parameters]:
    """Return the experiment of ``GAME/NAME:key=value,...`` and its parameters.

    Raises `ParameterError` for an unknown experiment or parameter.
    """
    name, _, text = spec.partition(":")
    if name not in EXPERIMENTS:
        raise ParameterError(_unknown(name))
    experiment = EXPERIMENTS[name]()
    try:
        return experiment, parameters.read(experiment.parameters, text)
    except ParameterError as error:
        raise ParameterError(f"{name}: {error}") from None


def _unknown(name: str) -> str:
    game = name.partition("/")[0]
    own = [known for known in EXPERIMENTS if known.startswith(f"{game}/")]
    near = difflib.get_close_matches(name, EXPERIMENTS, n=3, cutoff=0.5) or own
    meant = f"; did you mean {' or '.join(near)}?" if near else ""
    return f"unknown experiment {name!r} (see `kibitz train --list`){meant}"
