"""The learned evaluation: distances of holes that were fitted on games, for two players and four.

The arrays lie in ``weights/learned-2.json`` and ``learned-4.json``, each with the command that made
it (`learning`). Their record is that of the other weights, and so is the machine code. An array is
here for the numbers of seats where its seats were ahead in more than half of the games of
`plan_games` against ``stragglers`` beyond the 95% interval, with openings that it was not trained
on: with two seats in 619 of 1,000, with four, two against two, in 119 of 200. With six, three
against three, that of 24 generations was ahead in 99 of 200, and is not here.
"""

from __future__ import annotations

import functools
from importlib.resources import as_file, files
from typing import Any

import numpy as np

from kibitz_games.chinese_checkers import geometry as geo
from kibitz_search.algorithms.interface import Evaluation
from kibitz_search.chinese_checkers import weights_file
from kibitz_search.chinese_checkers.evaluation import EVALUATIONS, stragglers

SEATS = (2, 4)
"""The numbers of seats with an array of their own."""


def learned(state: np.record) -> np.record:
    """Return the learned weights for the number of seats.

    With other numbers, and on another board than the usual star, they are those of `stragglers`,
    from which they were learned.
    """
    there: Any = state
    usual = geo.ALL[int(there.geometry)] == ("star", geo.COMMON["star"])
    seats = int(there.seats)
    return _evaluation(seats)(state) if usual and seats in SEATS else stragglers(state)


@functools.cache
def _evaluation(seats: int) -> Evaluation:
    with as_file(files(__package__) / "weights" / f"learned-{seats}.json") as path:
        return weights_file.evaluation(weights_file.read(path))


ALL: dict[str, Evaluation] = {**EVALUATIONS, "learned": learned}
"""The evaluations of the game, by name, with the learned one."""
