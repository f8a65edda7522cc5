"""Class weights of `threat` from files, as `kibitz train five-in-a-row/patterns` writes them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kibitz_search.algorithms.interface import Evaluation
from kibitz_search.five_in_a_row import pattern_fit
from kibitz_search.five_in_a_row.pattern_games import COLOURS_WORTH, GAME, SIZE
from kibitz_search.training import weights

KIND = "cell-classes"
SHAPE: dict[str, int | str] = {"own": COLOURS_WORTH, "other": COLOURS_WORTH, "threats": 32}
LARGEST = 20_000
"""Of a weight: sums of them stay below what a win is worth."""


def file_of(numbers: list[float], **about: object) -> weights.WeightsFile:
    """Return a file of these weights [SIZE]; `about` says how they were made."""
    content = {"game": GAME, "kind": KIND, "shape": SHAPE, "weights": numbers}
    return weights.WeightsFile.model_validate(content | about)


def read(path: Path) -> weights.WeightsFile:
    """Return a file of class weights, or raise `WeightsError`."""
    file = weights.load(path, game=GAME, kind=KIND)
    if file.shape != SHAPE:
        raise weights.WeightsError(f"{path}: expected the shape {SHAPE}, not {file.shape}")
    if len(file.weights) != SIZE:
        raise weights.WeightsError(f"{path}: expected {SIZE} weights, not {len(file.weights)}")
    if max(map(abs, file.weights)) > LARGEST:
        raise weights.WeightsError(f"{path}: expected weights from -{LARGEST} to {LARGEST}")
    return file


def evaluation(file: weights.WeightsFile) -> Evaluation:
    """Return the evaluation of a file that `read` has read."""
    return lambda state: pattern_fit.with_numbers(np.array(file.weights))
