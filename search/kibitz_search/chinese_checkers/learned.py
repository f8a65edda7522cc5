"""The learned evaluation: hole distances fitted on games between planners, for two to six players.

The arrays are in ``weights/learned-2.json`` to ``learned-6.json``, each with the command that
created it (`kibitz_training`). The commands for two and four seats used another implementation of
CMA-ES then, which draws different numbers from a seed, so running them again gives other arrays.
The arrays use the record type and the machine code of the other weights.

An array is only included if it beat ``stragglers`` in games of
`kibitz_training.chinese_checkers.plan_games`, on openings that were not used in training: its seats
had to be ahead in more than half of the games, with 95% confidence. They were ahead in 619 of 1,000
games with two seats, in 67.3% of 1,200 with three, and in 119 of 200 with four (two against two).
With five they were ahead in 59.2% of 2,000, with six (three against three) in 59.8% of 400.

The priors are in ``weights/guided-2.json`` to ``guided-6.json``. Those for three and more seats
were learned at tables with planners. With six seats, at 20 ms per move among planners, a search
with them finished first in 31 of 90 games; with priors from games of searches of one kind, in 24.
Their files have the array with which they were learned: with three, five and six seats that is
``stragglers``. With three seats at 0.05 s, a champion with the new array was first in 9 of 36 games
among champions as they are, so it is not better for them.
"""

from __future__ import annotations

import functools
from importlib.resources import as_file, files

import numpy as np

from kibitz_games.chinese_checkers import geometry as geo
from kibitz_search.algorithms.interface import Evaluation
from kibitz_search.chinese_checkers import weights_file
from kibitz_search.chinese_checkers.evaluation import stragglers
from kibitz_search.weights import WeightsFile


def learned(state: np.record) -> np.record:
    """Return the learned weights for the number of seats.

    On boards other than the usual star, these are the weights of `stragglers`, from which training
    started.
    """
    return (
        _evaluation(f"learned-{int(state['seats'])}")(state)
        if _is_usual(state)
        else stragglers(state)
    )


def guided(state: np.record) -> np.record:
    """Return the learned weights with learned move priors, which guide Monte Carlo searches.

    On boards other than the usual star, falls back to `learned`.
    """
    return (
        _evaluation(f"guided-{int(state['seats'])}")(state) if _is_usual(state) else learned(state)
    )


def _is_usual(state: np.record) -> bool:
    return geo.ALL[int(state["geometry"])] == ("star", geo.COMMON["star"])


def distances_for(seats: int) -> tuple[float, ...]:
    """Return the learned array for a number of seats."""
    return tuple(_file(f"learned-{seats}").weights)


@functools.cache
def _evaluation(name: str) -> Evaluation:
    return weights_file.evaluation(_file(name))


def _file(name: str) -> WeightsFile:
    """Return a weights file of the package."""
    with as_file(files(__package__) / "weights" / f"{name}.json") as path:
        return weights_file.read(path)
