"""The table of experiments: what `kibitz train` can run.

Only the requested experiment is imported, because the numerical packages load slowly.
"""

from __future__ import annotations

import difflib
import functools
import pkgutil
from collections.abc import Callable, Mapping
from typing import Any, Final

from kibitz_training import parameters
from kibitz_training.experiment import Experiment, ParameterError, Parameters, Task


def _loader(reference: str) -> Callable[[], Any]:
    """Return the loader of a ``module:name`` of this package."""
    return functools.partial(pkgutil.resolve_name, f"kibitz_training.{reference}")


EXPERIMENTS: Final[Mapping[str, Callable[[], Experiment]]] = {
    "chinese-checkers/genetic": _loader("chinese_checkers.genetic:EXPERIMENT"),
    "chinese-checkers/learned": _loader("chinese_checkers.learned:EXPERIMENT"),
    "chinese-checkers/priors": _loader("chinese_checkers.priors:EXPERIMENT"),
    "tanks/report": _loader("tanks.network_training:REPORT"),
    "tanks/neuroevolution": _loader("tanks.network_training:NEUROEVOLUTION"),
    "five-in-a-row/patterns": _loader("five_in_a_row.patterns:EXPERIMENT"),
}
"""The loader of each experiment by its name, ``GAME/NAME``."""
TASKS: Final[Mapping[str, Callable[[], Task]]] = {
    "hole-games": _loader("chinese_checkers.hole_games:play_task"),
    "network-games": _loader("tanks.network_games:play_task"),
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
