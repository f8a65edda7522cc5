"""The covariance matrix adaptation evolution strategy."""

from __future__ import annotations

import numpy as np
import pytest

from kibitz_training.cma import Cma
from kibitz_training.evolution import Array

AIM = np.array([1.0, -2.0, 0.5, 3.0])


def worth(population: Array) -> Array:
    """A narrow peak at `AIM`, ten times steeper in one direction than in the other."""
    found: Array = -(((population - AIM) * [1, 10, 1, 3]) ** 2).sum(axis=1)
    return found


def climb(generations: int, *, seed: int = 1, separable: bool = False) -> Cma:
    strategy = Cma(np.zeros(4), 0.5, 10, seed, separable=separable)
    for _ in range(generations):
        strategy.tell(worth(strategy.ask()))
    return strategy


@pytest.mark.parametrize("separable", [True, False])
def test_it_finds_the_top(separable: bool) -> None:
    assert climb(150, separable=separable).mean == pytest.approx(AIM, abs=1e-3)


def test_a_generation_is_the_same_until_it_is_judged() -> None:
    strategy = Cma(np.zeros(4), 0.5, 10, 1)
    first, start = strategy.ask(), strategy.mean
    assert (first == strategy.ask()).all()
    strategy.tell(worth(first))
    assert not (first == strategy.ask()).any()
    assert (start == 0).all()  # it is not a view of the optimizer's array


def test_everything_follows_from_the_seed_and_the_values() -> None:
    assert (climb(20).mean == climb(20).mean).all()
    assert (climb(20).mean != climb(20, seed=2**63 - 1).mean).any()
