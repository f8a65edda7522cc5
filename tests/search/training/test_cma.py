"""The covariance matrix adaptation evolution strategy."""

from __future__ import annotations

import numpy as np
import pytest

from kibitz_search.training.cma import Array, Cma

AIM = np.array([1.0, -2.0, 0.5, 3.0])


def worth(population: Array) -> Array:
    """A narrow hill, ten times as steep one way as the other, around `AIM`."""
    found: Array = -(((population - AIM) * [1, 10, 1, 3]) ** 2).sum(axis=1)
    return found


def climb(generations: int, noise: float = 0.0, seed: int = 1) -> Cma:
    strategy, source = Cma(np.zeros(4), 0.5, 10, seed), np.random.default_rng(5)
    for _ in range(generations):
        values = worth(strategy.ask())
        strategy.tell(values + noise * source.standard_normal(len(values)))
    return strategy


def test_it_finds_the_top() -> None:
    assert climb(150).mean == pytest.approx(AIM, abs=1e-3)


def test_it_comes_near_in_spite_of_noise() -> None:
    assert climb(150, noise=1.0).mean == pytest.approx(AIM, abs=0.7)


def test_a_separable_one_learns_a_variance_for_each_of_many_numbers() -> None:
    n = 40
    scale, aim = np.geomspace(1, 30, n), np.linspace(-2, 2, n)
    reached = {}
    for separable in (True, False):
        strategy = Cma(np.zeros(n), 0.5, 16, 1, separable=separable)
        for _ in range(250):
            strategy.tell(-(((strategy.ask() - aim) * scale) ** 2).sum(axis=1))
        reached[separable] = float((((strategy.mean - aim) * scale) ** 2).sum())
    assert reached[True] < 0.1 < reached[False]


def test_a_generation_is_the_same_until_it_is_judged() -> None:
    strategy = Cma(np.zeros(4), 0.5, 10, 1)
    first = strategy.ask()
    assert (first == strategy.ask()).all()
    strategy.tell(worth(first))
    assert not (first == strategy.ask()).any()


def test_everything_follows_from_the_seed_and_the_values() -> None:
    assert (climb(20).mean == climb(20).mean).all()
    assert (climb(20).mean != climb(20, seed=2).mean).any()
