"""The class weights of `threat` as one array, and their files.

`kibitz train five-in-a-row/patterns` writes such files. Weights are for one board size, because the
value of cells depends on the available space.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any, Final

import numpy as np

from kibitz_games.compiled import kernels
from kibitz_search import weights
from kibitz_search.algorithms.interface import Evaluation
from kibitz_search.five_in_a_row import pattern_classes as kinds

GAME, KIND = "five-in-a-row", "cell-classes"
CLASSES = kinds.FIVE
"""The number of classes that the evaluation counts: all below a five. The first has weight 0."""
THREATS = 32
SIZE = 2 * CLASSES + THREATS
"""The number of weights: one per class for each color, and one per combination of threats."""
WEIGHTS: Final = Path(__file__).with_name("weights")
"""The directory of the fitted weights that come with this package."""
LARGEST = 20_000
"""The maximum absolute weight, so that sums are below the value of a win."""


def joined(ev: Any) -> np.ndarray:
    """Return the weights in an evaluation record as one array [SIZE]."""
    return np.concatenate([ev.own[:CLASSES], ev.other[:CLASSES], ev.threats]).astype(np.float64)


def with_numbers(numbers: np.ndarray) -> np.record:
    """Return the default evaluation record with fitted weights [SIZE], rounded to integers."""
    ev: Any = kinds.usual(kernels.new(kinds.WEIGHTS))
    rounded = np.rint(numbers).astype(np.int64)
    ev.own[:CLASSES], ev.other[:CLASSES], ev.threats[:] = np.split(rounded, [CLASSES, 2 * CLASSES])
    record: np.record = ev
    return record


def file_of(numbers: list[float], size: int) -> weights.WeightsFile:
    """Return a weights file with these weights [SIZE] for a board size."""
    return weights.WeightsFile(game=GAME, kind=KIND, shape=_shape(size), weights=numbers)


def _shape(size: object) -> dict[str, int | str]:
    board = size if isinstance(size, int) else "a number"
    return {"board": board, "own": CLASSES, "other": CLASSES, "threats": THREATS}


def read(path: Path) -> weights.WeightsFile:
    """Read a file of class weights, or raise `WeightsError`."""
    file = weights.load(path, game=GAME, kind=KIND)
    expected = _shape(file.shape.get("board"))
    if file.shape != expected:
        raise weights.WeightsError(f"{path}: expected the shape {expected}, not {file.shape}")
    if len(file.weights) != SIZE:
        raise weights.WeightsError(f"{path}: expected {SIZE} weights, not {len(file.weights)}")
    if max(map(abs, file.weights)) > LARGEST:
        raise weights.WeightsError(f"{path}: expected weights from -{LARGEST} to {LARGEST}")
    return file


@functools.cache
def _shipped() -> dict[int, np.ndarray]:
    """Return this package's fitted weights, arrays of shape [SIZE], keyed by board size."""
    files = map(read, sorted(WEIGHTS.glob("*.json")))
    return {int(file.shape["board"]): np.array(file.weights) for file in files}


def fitted(state: np.record) -> np.record:
    """Return the weights of this package that were fitted on boards of this size.

    Without such weights, these are the usual ones.
    """
    numbers = _shipped().get(int(state["width"]))
    return kinds.usual(state) if numbers is None else with_numbers(numbers)


def evaluation(file: weights.WeightsFile, path: Path) -> Evaluation:
    """Return the evaluation for a file that `read` returned for `path`.

    The evaluation raises `ValueError` for matches on boards of other sizes.
    """

    def made(state: np.record) -> np.record:
        size = int(state["width"])
        if size != file.shape["board"]:
            raise ValueError(
                f"{path}: the weights are for boards of size {file.shape['board']}, not {size}"
            )
        return with_numbers(np.array(file.weights))

    return made
