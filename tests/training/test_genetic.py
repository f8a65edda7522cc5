"""The report's genetic algorithm: drawing, selection and crossover."""

from __future__ import annotations

import numpy as np

from kibitz_training import genetic
from kibitz_training.genetic import Genetic, Settings, Template

TEMPLATE = Template(np.array([np.nan] * 40 + [7.0] * 10), np.array([False] * 40 + [True] * 10))


def test_the_first_population_is_random_but_for_what_the_template_says() -> None:
    population = genetic.first_population(Settings(population=30), TEMPLATE)
    assert population.shape == (30, 50)
    assert (population[:, 40:] == 7).all()
    assert set(np.unique(population[:, :40])) == set(range(1, 25))


def test_a_fifth_survives_best_first() -> None:
    population = np.arange(10.0).reshape(10, 1)
    kept = genetic.survivors(population, np.array([0, 9, 3, 9, 1, 1, 1, 1, 1, 1.0]))
    assert kept.ravel().tolist() == [1, 3]


def test_children_take_each_number_from_either_parent() -> None:
    settings = Settings(population=10)
    parents = np.stack([np.full(50, 1.0), np.full(50, 2.0), *[np.full(50, 3.0)] * 8])
    fitness = np.array([5, 4, *[0] * 8], float)
    seen = np.concatenate(
        [genetic.next_population(settings, TEMPLATE, parents, fitness, n) for n in range(40)]
    )
    plain = [child for child in seen if set(child) <= {1.0, 2.0}]
    assert 0.88 < len(plain) / len(seen) < 0.98  # one in 15 is mutated
    mixed = [child for child in plain if set(child) == {1.0, 2.0}]
    assert 0.3 < len(mixed) / len(plain) < 0.7  # both parents may be the same individual
    assert 0.45 < np.mean(mixed) - 1 < 0.55


def test_mutations_are_positive_but_in_free_places_which_are_capped() -> None:
    settings = Settings(population=200)
    parents = np.full((200, 50), 9.0)
    children = genetic.next_population(settings, TEMPLATE, parents, np.zeros(200), 3)
    mutants = children[(children != 9).any(axis=1)]
    assert 3 < len(mutants) < 30
    assert (mutants[:, :40] > 0).all()
    assert (mutants[:, 40:] <= genetic.CAP).all()
    assert mutants[:, 40:].min() < 0
    changed = (mutants[:, :40] != 9).mean()
    assert 0.02 < changed < 0.08  # one in ten is drawn, of which half are positive


def test_the_same_seed_gives_the_same_and_survivors_may_stay() -> None:
    population = genetic.first_population(Settings(seed=3), TEMPLATE)
    fitness = np.arange(20.0)
    one, two = (
        genetic.next_population(Settings(seed=3), TEMPLATE, population, fitness, 5)
        for _ in range(2)
    )
    np.testing.assert_array_equal(one, two)
    other = genetic.next_population(Settings(seed=4), TEMPLATE, population, fitness, 5)
    assert not np.array_equal(one, other)
    kept = Settings(seed=3, keep_survivors=True)
    following = genetic.next_population(kept, TEMPLATE, population, fitness, 5)
    assert following.shape == population.shape
    np.testing.assert_array_equal(following[:4], population[:-5:-1])


def test_a_population_that_is_given_up_is_followed_by_a_random_one() -> None:
    settings = Settings(seed=3)
    strategy = Genetic(settings, TEMPLATE)
    np.testing.assert_array_equal(strategy.ask(), genetic.first_population(settings, TEMPLATE))
    strategy.tell(np.arange(20.0))
    strategy.restart()
    expected = genetic.first_population(settings, TEMPLATE, generation=1)
    np.testing.assert_array_equal(strategy.ask(), expected)
