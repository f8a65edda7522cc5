"""Fitting move priors to choices."""

from __future__ import annotations

import numpy as np
import pytest

from kibitz_games.chinese_checkers import geometry as geo
from kibitz_search.chinese_checkers.hole_arrays import GOAL, turned_holes
from kibitz_training.chinese_checkers import prior_fit
from kibitz_training.chinese_checkers.prior_games import Choice

SHAPE = geo.geometry("star", geo.COMMON["star"])


def drawn(leave: np.ndarray, enter: np.ndarray, count: int, goal: int = GOAL) -> list[Choice]:
    """Return choices among ten random moves with the priors' probabilities."""
    source, found = np.random.default_rng(5), []
    turned = turned_holes(SHAPE, goal)
    for _ in range(count):
        origins, targets = source.choice(SHAPE.holes, (2, 10), replace=False)
        promise = np.array(
            [leave[turned[o]] + enter[turned[t]] for o, t in zip(origins, targets, strict=True)]
        )
        chances = np.exp(promise) / np.exp(promise).sum()
        legal = tuple((origins * SHAPE.holes + targets).tolist())
        found.append(Choice(goal, legal, int(source.choice(legal, p=chances))))
    return found


def symmetric(seed: int) -> np.ndarray:
    classes, count = prior_fit.symmetric_classes()
    return np.random.default_rng(seed).normal(0, 1.5, count)[classes]


@pytest.mark.slow
@pytest.mark.parametrize("goal", [GOAL, 0, 5])
def test_it_finds_what_the_choices_were_drawn_from(goal: int) -> None:
    leave, enter = symmetric(1), symmetric(2)
    choices = drawn(leave, enter, 12_000, goal)
    found = prior_fit.fit(prior_fit.gathered(choices))
    for wanted, came in zip((leave, enter), found, strict=True):
        assert np.corrcoef(wanted, came)[0, 1] > 0.97


def test_the_likelihood_of_equal_moves_is_that_of_their_number() -> None:
    nothing = np.zeros((2, SHAPE.holes))
    given = prior_fit.gathered(drawn(nothing[0], nothing[1], 50))
    assert prior_fit.likelihood(given, nothing) == pytest.approx(-np.log(10))


def test_what_was_fitted_foretells_better_than_nothing() -> None:
    leave, enter = symmetric(1), symmetric(2)
    choices = drawn(leave, enter, 3000)
    fitted = prior_fit.fit(prior_fit.gathered(choices[:2000]))
    held = prior_fit.gathered(choices[2000:])
    best = prior_fit.likelihood(held, np.array([leave, enter]))
    assert -np.log(10) + 0.3 < prior_fit.likelihood(held, fitted) <= best


def test_mirrored_holes_share_their_numbers() -> None:
    classes, count = prior_fit.symmetric_classes()
    middle = SHAPE.points[SHAPE.tips[GOAL]][0]
    assert count == classes.max() + 1 < SHAPE.holes
    for hole, (x, y) in enumerate(SHAPE.points):
        assert classes[hole] == classes[SHAPE.ids[(2 * middle - x, y)]]
