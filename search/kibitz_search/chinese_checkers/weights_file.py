"""Evaluations from files of trained weights: hole distances, as written by `kibitz train`.

A file of the kind `GUIDED` also contains priors for leaving and entering each hole, which only
Monte Carlo searches use.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kibitz_games.chinese_checkers import geometry as geo
from kibitz_search import weights
from kibitz_search.algorithms.interface import Evaluation
from kibitz_search.chinese_checkers.evaluation import of_distances
from kibitz_search.chinese_checkers.hole_arrays import GOAL, KIND

GAME = "chinese-checkers"
GUIDED = "hole-distances-and-priors"


def read(path: Path) -> weights.WeightsFile:
    """Read a file of distances for the usual star, or raise `WeightsError`."""
    file = weights.load(path, game=GAME, kind=(KIND, GUIDED))
    holes = geo.geometry("star", geo.COMMON["star"]).holes
    for name, expected in (("board", "star"), ("size", geo.COMMON["star"]), ("goal", GOAL)):
        if file.shape.get(name) != expected:
            found = file.shape.get(name)
            raise weights.WeightsError(f"{path}: expected the {name} {expected}, not {found}")
    parts, each = (3, "three") if file.kind == GUIDED else (1, "one")
    if len(file.weights) != parts * holes:
        raise weights.WeightsError(
            f"{path}: expected {parts * holes} weights, {each} per hole of the star, "
            f"not {len(file.weights)}"
        )
    return file


def evaluation(file: weights.WeightsFile, path: Path | None = None) -> Evaluation:
    """Return the evaluation for a file returned by `read`; `path` is its location.

    The evaluation raises `ValueError` for matches on other boards.
    """
    its = "its" if path is None else f"{path}: the"

    def made(state: np.record) -> np.record:
        there: Any = state
        board = geo.ALL[int(there.geometry)]
        if board != ("star", geo.COMMON["star"]):
            raise ValueError(f"{its} weights are for the usual star, not for {board[0]} {board[1]}")
        rows = np.array(file.weights).reshape(-1, geo.geometry(*board).holes)
        return of_distances(there, rows[0], priors=rows[1:] if len(rows) > 1 else None)

    return made


def file_of(numbers: Sequence[float], seats: int, kind: str = KIND) -> weights.WeightsFile:
    """Return a weights file of distances, or of distances and priors for the kind `GUIDED`."""
    shape: dict[str, int | str] = {"board": "star", "size": geo.COMMON["star"]}
    shape |= {"goal": GOAL, "seats": seats}
    return weights.WeightsFile(game=GAME, kind=kind, shape=shape, weights=list(numbers))
