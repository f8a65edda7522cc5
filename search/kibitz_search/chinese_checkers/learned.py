"""The learned evaluation: hole distances fitted on games, for two and four players.

The arrays are in ``weights/learned-2.json`` and ``learned-4.json``, each with the command that
created it (`kibitz_training`). The command used another implementation of CMA-ES then, which draws
different numbers from a seed, so running it again gives other arrays. The arrays use the record
type and the machine code of the other weights.

An array is only included if it beat ``stragglers`` in games of
`kibitz_training.chinese_checkers.plan_games`, on openings that were not used in training: its seats
had to be ahead in more than half of the games, with 95% confidence. With two seats, they were ahead
in 619 of 1,000 games, with four (two against two) in 119 of 200. With six (three against three),
the array of 24 generations was ahead in only 99 of 200, so it is not included.

The priors are in ``weights/guided-2.json`` to ``guided-6.json``. Those for three and more seats
were learned at tables with planners. With six seats, at 20 ms per move among planners, a search
with them finished first in 31 of 90 games; with priors from games of searches of one kind, in 24.
"""

from __future__ import annotations

import functools
from importlib.resources import as_file, files

import numpy as np

from kibitz_games.chinese_checkers import geometry as geo
from kibitz_search.algorithms.interface import Evaluation
from kibitz_search.chinese_checkers import weights_file
from kibitz_search.chinese_checkers.evaluation import distances, stragglers
from kibitz_search.weights import WeightsFile

SEATS = (2, 4)
"""The numbers of seats with a learned array."""
GUIDED = (2, 3, 4, 5, 6)
"""The numbers of seats with learned move priors; these files also contain the array."""


def learned(state: np.record) -> np.record:
    """Return the learned weights for the number of seats.

    For other numbers of seats, and on boards other than the usual star, these are the weights of
    `stragglers`, from which training started.
    """
    seats = int(state["seats"])
    shipped = _is_usual(state) and seats in SEATS
    return _evaluation(f"learned-{seats}")(state) if shipped else stragglers(state)


def guided(state: np.record) -> np.record:
    """Return the learned weights with learned move priors, which guide Monte Carlo searches.

    Without priors for the number of seats, and on other boards, falls back to `learned`.
    """
    seats = int(state["seats"])
    shipped = _is_usual(state) and seats in GUIDED
    return _evaluation(f"guided-{seats}")(state) if shipped else learned(state)


def _is_usual(state: np.record) -> bool:
    return geo.ALL[int(state["geometry"])] == ("star", geo.COMMON["star"])


def distances_for(seats: int) -> tuple[float, ...]:
    """Return the array for a number of seats: the learned one, or that of `stragglers`."""
    if seats in SEATS:
        return tuple(_file(f"learned-{seats}").weights)
    return tuple(distances("stragglers").tolist())


@functools.cache
def _evaluation(name: str) -> Evaluation:
    return weights_file.evaluation(_file(name))


def _file(name: str) -> WeightsFile:
    """Return a weights file of the package."""
    with as_file(files(__package__) / "weights" / f"{name}.json") as path:
        return weights_file.read(path)
