"""The table of experiments: what `kibitz train` can run, joined from those of the games.

A game's experiments are the tuple ``EXPERIMENTS`` of ``kibitz_search.<game>.experiments``, a module
that imports what is heavy only when an experiment runs.
"""

from __future__ import annotations

import difflib

from kibitz_search.chinese_checkers import experiments as chinese_checkers
from kibitz_search.five_in_a_row import experiments as five_in_a_row
from kibitz_search.tanks import experiments as tanks
from kibitz_search.training import parameters
from kibitz_search.training.experiment import Experiment, LoadTask, ParameterError, Parameters

EXPERIMENTS: dict[str, Experiment] = {
    each.name: each
    for each in (
        *chinese_checkers.EXPERIMENTS,
        *tanks.EXPERIMENTS,
        *five_in_a_row.EXPERIMENTS,
    )
}
"""Every experiment by its name, ``GAME/NAME``."""

TASKS: dict[str, LoadTask] = {**chinese_checkers.TASKS, **tanks.TASKS}
"""What workers compute for experiments, by name."""


def find(spec: str) -> tuple[Experiment, Parameters]:
    """Return the experiment of ``GAME/NAME:key=value,...`` and its parameters.

    Raises `ParameterError` for an experiment or a parameter that there is not.
    """
    name, _, text = spec.partition(":")
    if name not in EXPERIMENTS:
        raise ParameterError(_unknown(name))
    experiment = EXPERIMENTS[name]
    try:
        return experiment, parameters.read(experiment.parameters, text)
    except ParameterError as error:
        raise ParameterError(f"{name}: {error}") from None


def _unknown(name: str) -> str:
    game = name.partition("/")[0]
    own = [known for known in EXPERIMENTS if known.startswith(f"{game}/")]
    near = difflib.get_close_matches(name, EXPERIMENTS, n=3, cutoff=0.5) or own
    meant = f"; did you mean {' or '.join(near)}?" if near else ""
    return f"no experiment {name!r}; expected one that `kibitz train --list` shows{meant}"
