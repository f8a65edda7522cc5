"""Fit the weights of `threat` to games: its evaluation to results, its move order to choices.

The color to move wins a position of value v with probability ``1 / (1 + exp(-v / scale))``. First,
`scale` is fitted with the default weights. The fitted weights then have the same unit, which
matters because the search uses margins in this unit. Then a logistic regression fits the worth of
shapes and the weights of threats.

A move is chosen with a probability proportional to ``exp(w / ORDER_UNIT)``. Here w is the weight of
the shape that it makes plus that of the shape that it denies. A second regression fits these.

In both, the weight of a shape is the sum of a weight for its class, one for each of its four line
codes, and one of its own, so that rare shapes have the weights of similar ones. A penalty keeps
weights with little evidence close to the default.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kibitz_games.compiled import kernels
from kibitz_search.five_in_a_row import pattern_board, weights_file
from kibitz_search.five_in_a_row import pattern_classes as kinds
from kibitz_search.five_in_a_row.pattern_board import SHAPES
from kibitz_training.five_in_a_row.descent import minimize
from kibitz_training.five_in_a_row.pattern_games import Choices, Leaves, PlayedGame

SPREAD_SHARED, SPREAD_OWN, SPREAD_THREATS = 0.2, 0.1, 1.0
"""The expected differences from the default, as log odds: of the weights that shapes share, of a
shape's own, and of threats."""
SPREAD_ORDER = 0.5
"""The same for all weights of the move order."""
ROUNDS = 300


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


def _best_scale(values: np.ndarray, chances: np.ndarray) -> float:
    scales = np.geomspace(10.0, 5000.0, 400)
    return float(min(scales, key=lambda scale: _mean_loss(values / scale, chances)))


def fit(leaves: Leaves, choices: Choices) -> np.ndarray:
    """Return weights [SIZE] that predict the chances of positions and the choices of moves."""
    own, other, attack, *_, threats = weights_file.split(usual_numbers())
    scale = fit_scale(leaves)
    worth = _fit_worth(leaves, np.concatenate([own, other]) / scale, threats / scale)
    order = _fit_order(choices) * kinds.ORDER_UNIT
    # No position with such a move for the color to move needs a choice.
    decided = np.isin(kinds.together(), (kinds.DOUBLE_FOUR, kinds.FIVE))
    order[:SHAPES] = np.where(decided, attack, order[:SHAPES])
    return np.concatenate([worth[: 2 * SHAPES] * scale, order, worth[2 * SHAPES :] * scale])


def _traits() -> np.ndarray:
    """Return the class and the number of each line code of each shape, as one matrix."""
    classes = np.eye(kinds.FIVE + 1)[kinds.together()]
    codes = np.eye(pattern_board.CODES)[pattern_board.shapes()].sum(axis=1)
    return np.concatenate([classes, codes], axis=1)


class _Pairs:
    """Two weights for each shape, as sums of those of its traits and its own."""

    def __init__(self) -> None:
        self._traits = _traits()
        self._shared = self._traits.shape[1]
        self.size = 2 * (self._shared + SHAPES)

    def weights(self, point: np.ndarray) -> np.ndarray:
        """Return the weights of all shapes [2 * SHAPES] for a point [size]."""
        shared, own = np.split(point, [2 * self._shared])
        found: np.ndarray = own + (shared.reshape(2, -1) @ self._traits.T).ravel()
        return found

    def slope(self, slope: np.ndarray) -> np.ndarray:
        """Return the gradient at the point [size] for that at the weights [2 * SHAPES]."""
        return np.concatenate([(slope.reshape(2, -1) @ self._traits).ravel(), slope])

    def curvature(self, curvature: np.ndarray) -> np.ndarray:
        """Return the second derivatives at the point [size] for those at the weights."""
        shared = curvature.reshape(2, -1) @ self._traits**2
        return np.concatenate([shared.ravel(), curvature])

    def pull(self, shared: float, own: float) -> np.ndarray:
        """Return the penalties of a point for expected differences."""
        return np.repeat([shared**-2, own**-2], [2 * self._shared, 2 * SHAPES])


def _fit_worth(leaves: Leaves, worth: np.ndarray, threats: np.ndarray) -> np.ndarray:
    """Return the worth of shapes for both colors and the weights of threats, as log odds."""
    pairs = _Pairs()
    pull = np.concatenate(
        [pairs.pull(SPREAD_SHARED, SPREAD_OWN), np.full(kinds.THREATS, SPREAD_THREATS**-2)]
    )

    def weights(point: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return worth + pairs.weights(point[: pairs.size]), threats + point[pairs.size :]

    def function(point: np.ndarray) -> tuple[float, np.ndarray]:
        logits = _logits(leaves, *weights(point))
        error = leaves.share * (_chance(logits) - leaves.chances)
        spread = error[leaves.position] * leaves.count
        slope = np.bincount(leaves.column, spread, minlength=2 * SHAPES)
        of_threats = np.bincount(leaves.threats, error, minlength=kinds.THREATS)
        value = leaves.share @ _losses(logits, leaves.chances) + 0.5 * float(pull @ point**2)
        return value, np.concatenate([pairs.slope(slope), of_threats]) + pull * point

    each = 0.25 * leaves.share
    curvature = np.concatenate(
        [
            pairs.curvature(
                np.bincount(leaves.column, each[leaves.position] * leaves.count**2, 2 * SHAPES)
            ),
            np.bincount(leaves.threats, each, kinds.THREATS),
        ]
    )
    return np.concatenate(weights(minimize(function, curvature + pull, ROUNDS)))


def _fit_order(choices: Choices) -> np.ndarray:
    """Return the weights of making and of denying a shape, as log odds."""
    pairs = _Pairs()
    pull = pairs.pull(SPREAD_ORDER, SPREAD_ORDER)
    lengths = np.diff(choices.starts, append=len(choices.attack))

    def function(point: np.ndarray) -> tuple[float, np.ndarray]:
        logits = _scores(choices, *np.split(pairs.weights(point), 2))
        logits -= np.repeat(np.maximum.reduceat(logits, choices.starts), lengths)
        chances = np.exp(logits)
        total = np.add.reduceat(chances, choices.starts)
        error = chances / np.repeat(total, lengths)
        error[choices.chosen] -= 1
        slope = [
            np.bincount(shape, error, minlength=SHAPES)
            for shape in (choices.attack, choices.defend)
        ]
        value = float((np.log(total) - logits[choices.chosen]).sum())
        whole = pairs.slope(np.concatenate(slope)) + pull * point
        return value + 0.5 * float(pull @ point**2), whole

    # A move is chosen with a chance of one in all moves of its position at first.
    each = np.repeat(1 / lengths, lengths)
    seen = [np.bincount(shape, each, SHAPES) for shape in (choices.attack, choices.defend)]
    curvature = pairs.curvature(np.concatenate(seen)) + pull
    return pairs.weights(minimize(function, curvature, ROUNDS))


def _scores(choices: Choices, attack: np.ndarray, defend: np.ndarray) -> np.ndarray:
    found: np.ndarray = attack[choices.attack] + defend[choices.defend]
    return found


def _logits(leaves: Leaves, worth: np.ndarray, threats: np.ndarray) -> np.ndarray:
    each = worth[leaves.column] * leaves.count
    sums = np.bincount(leaves.position, each, minlength=len(leaves.threats))
    found: np.ndarray = sums + threats[leaves.threats]
    return found


def values(leaves: Leaves, numbers: np.ndarray) -> np.ndarray:
    """Return the values of positions with weights [SIZE]."""
    own, other, *_, threats = weights_file.split(numbers)
    return _logits(leaves, np.concatenate([own, other]), threats)


def fit_scale(leaves: Leaves) -> float:
    """Return the scale with which the default weights best predict the chances of positions."""
    return _best_scale(values(leaves, usual_numbers()), leaves.chances)


def loss(leaves: Leaves, numbers: np.ndarray) -> float:
    """Return the mean log loss of weights [SIZE], with the best scale for the default weights."""
    return _mean_loss(values(leaves, numbers) / fit_scale(leaves), leaves.chances)


def among_first(choices: Choices, numbers: np.ndarray, count: int) -> float:
    """Return the share of positions in which the chosen move is among the first `count`."""
    scores = _scores(choices, *weights_file.split(numbers)[2:4])
    lengths = np.diff(choices.starts, append=len(scores))
    before = scores > np.repeat(scores[choices.chosen], lengths)
    return float((np.add.reduceat(before, choices.starts, dtype=np.int64) < count).mean())


def _chance(logits: np.ndarray) -> np.ndarray:
    found: np.ndarray = 1 / (1 + np.exp(-np.clip(logits, -40, 40)))
    return found


def _losses(logits: np.ndarray, results: np.ndarray) -> np.ndarray:
    chance = np.clip(_chance(logits), 1e-12, 1 - 1e-12)
    found: np.ndarray = -(results * np.log(chance) + (1 - results) * np.log(1 - chance))
    return found


def _mean_loss(logits: np.ndarray, results: np.ndarray) -> float:
    return float(_losses(logits, results).mean())
