"""Fit class weights to results: a logistic regression regularized toward the default weights.

The color to move wins a position with the numbers x (`pattern_games.numbers`) with probability ``1
/ (1 + exp(-w.x / scale))``. First, `scale` is fitted with the default weights. The fitted weights
then have the same unit, which matters because the search uses margins in this unit. Then Newton's
method fits the weights. A penalty for each weight's distance from its default keeps weights with
little evidence close to it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kibitz_games.compiled import kernels
from kibitz_search.five_in_a_row import pattern_classes as kinds
from kibitz_search.five_in_a_row import weights_file
from kibitz_search.five_in_a_row.weights_file import SIZE
from kibitz_training.five_in_a_row.pattern_games import PlayedGame

PENALTY = 20.0
"""The penalty for a weight at the distance `SPREAD` from its default, in units of one game."""
SPREAD = 0.02
"""The distance from the default at which `PENALTY` applies, as log odds per cell."""
ROUNDS = 50


def usual_numbers() -> np.ndarray:
    """Return the default weights as one array [SIZE]."""
    return weights_file.joined(kinds.usual(kernels.new(kinds.WEIGHTS)))


def search_scale(games: Sequence[PlayedGame]) -> float:
    """Return the scale with which the search's values best predict the results of games."""
    values = np.concatenate([np.array(game.values) for game in games])
    results = np.concatenate([_own_results(game) for game in games])
    return _best_scale(values, results)


def _own_results(game: PlayedGame) -> np.ndarray:
    """Return the result of the game for the color to move, at each searched move."""
    movers = (game.opening + np.arange(len(game.values))) % 2
    return np.where(movers == 0, game.result, 1.0 - game.result)


def fit_scale(rows: np.ndarray, chances: np.ndarray) -> float:
    """Return the scale with which the default weights best predict `chances` [n] of `rows`."""
    return _best_scale(rows @ usual_numbers(), chances)


def _best_scale(values: np.ndarray, chances: np.ndarray) -> float:
    scales = np.geomspace(10.0, 5000.0, 400)
    return float(min(scales, key=lambda scale: _loss(values / scale, chances)))


def fit(rows: np.ndarray, chances: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Return weights [SIZE] that predict the chances of positions.

    `share` [n] has the weight of each position; the positions of a game have a total weight of 1.
    """
    start = usual_numbers()
    scale = fit_scale(rows, chances)
    weights = start / scale
    home = weights.copy()
    pull = np.full(SIZE, PENALTY / SPREAD**2 / 100)
    for _ in range(ROUNDS):
        chance = _chance(rows @ weights)
        slope = rows.T @ (share * (chance - chances)) + pull * (weights - home)
        bend = (rows * (share * chance * (1 - chance))[:, None]).T @ rows + np.diag(pull)
        step = np.linalg.solve(bend, slope)
        weights = weights - step
        if np.abs(step).max() < 1e-9:
            break
    found: np.ndarray = weights * scale
    return found


def loss(rows: np.ndarray, results: np.ndarray, weights: np.ndarray) -> float:
    """Return the mean log loss of weights, with the best scale for the default weights."""
    return _loss(rows @ weights / fit_scale(rows, results), results)


def _chance(logits: np.ndarray) -> np.ndarray:
    found: np.ndarray = 1 / (1 + np.exp(-np.clip(logits, -40, 40)))
    return found


def _loss(logits: np.ndarray, results: np.ndarray) -> float:
    chance = np.clip(_chance(logits), 1e-12, 1 - 1e-12)
    return float(-(results * np.log(chance) + (1 - results) * np.log(1 - chance)).mean())
