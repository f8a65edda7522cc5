"""The weights of `threat` as one array, and their files.

`kibitz train five-in-a-row/patterns` writes such files. Weights are fitted on one board size,
because the value of cells depends on the available space.
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
from kibitz_search.five_in_a_row.pattern_board import SHAPES

GAME, KIND = "five-in-a-row", "cell-shapes"
SIZE = 4 * SHAPES + kinds.THREATS
"""The number of weights: four per shape (worth for the color to move and for the other one, attack
and defense in the move order), and one per combination of threats."""
WEIGHTS: Final = Path(__file__).with_name("weights")
"""The directory of the fitted weights that come with this package."""
LARGEST = 20_000
"""The maximum absolute weight, so that sums are below the value of a win."""


def joined(ev: Any) -> np.ndarray:
    """Return the weights in an evaluation record as one array [SIZE]."""
    parts = [ev.worth[:, 0], ev.worth[:, 1], ev.attack, ev.defend, ev.threats]
    return np.concatenate(parts).astype(np.float64)


def split(numbers: np.ndarray) -> list[np.ndarray]:
    """Return the parts of weights [SIZE], in the order of `SIZE`."""
    return np.split(numbers, SHAPES * np.arange(1, 5))


def with_numbers(numbers: np.ndarray) -> np.record:
    """Return an evaluation record with weights [SIZE], rounded to integers."""
    ev: Any = kernels.new(kinds.WEIGHTS)
    own, other, attack, defend, threats = split(np.rint(numbers).astype(np.int64))
    ev.worth[:] = np.stack([own, other], axis=1)
    ev.attack[:], ev.defend[:], ev.threats[:] = attack, defend, threats
    record: np.record = ev
    return record


def file_of(numbers: list[float], size: int) -> weights.WeightsFile:
    """Return a weights file with these weights [SIZE] for a board size."""
    return weights.WeightsFile(game=GAME, kind=KIND, shape=_shape(size), weights=numbers)


def _shape(size: object) -> dict[str, int | str]:
    board = size if isinstance(size, int) else "a number"
    return {"board": board, "shapes": SHAPES, "threats": kinds.THREATS}


def read(path: Path) -> weights.WeightsFile:
    """Read a file of weights, or raise `WeightsError`."""
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
    """Return the weights of this package that were fitted on boards of the nearest size."""
    shipped, width = _shipped(), int(state["width"])
    return with_numbers(shipped[min(shipped, key=lambda size: abs(size - width))])


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
