"""Evaluations from files of trained weights: distances of holes, as `kibitz train` writes them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from kibitz_games.chinese_checkers import geometry as geo
from kibitz_search.algorithms.interface import Evaluation
from kibitz_search.chinese_checkers.evaluation import of_distances
from kibitz_search.chinese_checkers.hole_arrays import GOAL, KIND
from kibitz_search.training import weights

GAME = "chinese-checkers"
LARGEST = 1e6
"""A distance is no larger: sums have to be exact."""


def read(path: Path) -> weights.WeightsFile:
    """Return a file of distances for the usual star, or raise `WeightsError`."""
    file = weights.load(path, game=GAME, kind=KIND)
    holes = geo.geometry("star", geo.COMMON["star"]).holes
    for name, expected in (("board", "star"), ("size", geo.COMMON["star"]), ("goal", GOAL)):
        if file.shape.get(name) != expected:
            found = file.shape.get(name)
            raise weights.WeightsError(f"{path}: expected the {name} {expected}, not {found}")
    if len(file.weights) != holes:
        raise weights.WeightsError(
            f"{path}: expected {holes} weights, one a hole of the star, not {len(file.weights)}"
        )
    if max(map(abs, file.weights)) > LARGEST:
        raise weights.WeightsError(f"{path}: expected weights from -{LARGEST:g} to {LARGEST:g}")
    return file


def evaluation(file: weights.WeightsFile) -> Evaluation:
    """Return the evaluation of a file that `read` has read.

    It raises `ValueError` for a match on another board.
    """

    def made(state: np.record) -> np.record:
        there: Any = state
        board = geo.ALL[int(there.geometry)]
        if board != ("star", geo.COMMON["star"]):
            raise ValueError(f"its weights are for the usual star, not for {board[0]} {board[1]}")
        return of_distances(there, file.weights)

    return made
