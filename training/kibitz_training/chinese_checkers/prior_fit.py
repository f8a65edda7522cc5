"""Fit priors of moves to the choices of a search, with a softmax model of one number per hole.

The logit of a move is the sum of a number for the hole that it leaves and a number for the hole
that it enters. The numbers maximize the mean log probability of the chosen moves among the legal
ones. They are symmetric about the line between home and goal. Adam (D. P. Kingma and J. Ba, 2015)
finds them from zero, so that a run is reproducible.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kibitz_games.chinese_checkers import geometry as geo
from kibitz_search.chinese_checkers.hole_arrays import GOAL, Array, turned_holes
from kibitz_training.chinese_checkers.prior_games import Choice

STEPS = 200
RATE, MOMENTUM, SQUARES = 0.2, 0.9, 0.99
"""Adam's step size, which decays to a tenth, and its decay rates for gradients and their
squares."""

Indices = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True)
class Choices:
    """The legal moves of all choices, as classes of holes."""

    holes: Indices
    """The classes of the holes that each move leaves and enters: int64 [2, moves]."""
    begins: Indices
    """The index of the first move of each choice."""
    chosen: Indices
    """The index of the chosen move of each choice."""


def symmetric_classes() -> tuple[Indices, int]:
    """Return a class for each hole of the star, equal for mirrored holes, and their number."""
    shape = geo.geometry("star", geo.COMMON["star"])
    middle = shape.points[shape.tips[GOAL]][0]
    mirrored = [shape.ids[(2 * middle - x, y)] for x, y in shape.points]
    least = np.minimum(np.arange(shape.holes), mirrored)
    kept, classes = np.unique(least, return_inverse=True)
    return classes.astype(np.int64), len(kept)


def gathered(choices: Sequence[Choice]) -> Choices:
    """Return choices as arrays, rotated to the goal `GOAL`; they never include a pass."""
    shape = geo.geometry("star", geo.COMMON["star"])
    classes, _ = symmetric_classes()
    turned = np.array([classes[turned_holes(shape, goal)] for goal in range(geo.CORNERS)])
    sizes = np.array([len(choice.legal) for choice in choices], np.int64)
    begins = np.cumsum(sizes) - sizes
    goals = np.repeat([choice.goal for choice in choices], sizes)
    moves = np.concatenate([choice.legal for choice in choices])
    origins, targets = np.divmod(moves, shape.holes)
    places = np.array([choice.legal.index(choice.chosen) for choice in choices], np.int64)
    holes = np.array([turned[goals, origins], turned[goals, targets]])
    return Choices(holes, begins, begins + places)


def fit(given: Choices) -> Array:
    """Return the fitted weights of each hole as float64 [2, holes]: leaving and entering."""
    classes, count = symmetric_classes()
    numbers = np.zeros((2, count))
    mean, square = np.zeros_like(numbers), np.zeros_like(numbers)
    for step in range(1, STEPS + 1):
        gradient = _gradient(given, numbers)
        mean = MOMENTUM * mean + (1 - MOMENTUM) * gradient
        square = SQUARES * square + (1 - SQUARES) * gradient**2
        rate = RATE * 0.1 ** (step / STEPS) / (1 - MOMENTUM**step)
        numbers += rate * mean / (np.sqrt(square / (1 - SQUARES**step)) + 1e-9)
    found: Array = numbers[:, classes]
    return found


def likelihood(given: Choices, priors: Array) -> float:
    """Return the mean log probability of the choices under the priors of holes."""
    classes, count = symmetric_classes()
    numbers = np.zeros((2, count))
    numbers[:, classes] = priors
    return float(_log_chances(given, numbers)[given.chosen].mean())


def _gradient(given: Choices, numbers: Array) -> Array:
    """Return the gradient of the mean log probability of the choices."""
    surprise = -np.exp(_log_chances(given, numbers))
    surprise[given.chosen] += 1
    parts = [np.bincount(holes, surprise, numbers.shape[1]) for holes in given.holes]
    found: Array = np.array(parts) / len(given.begins)
    return found


def _log_chances(given: Choices, numbers: Array) -> Array:
    """Return the log probability of each move among the legal moves of the same choice."""
    promise = numbers[0, given.holes[0]] + numbers[1, given.holes[1]]
    sizes = np.diff(given.begins, append=promise.size)
    promise -= np.repeat(np.maximum.reduceat(promise, given.begins), sizes)
    total = np.log(np.add.reduceat(np.exp(promise), given.begins))
    found: Array = promise - np.repeat(total, sizes)
    return found
