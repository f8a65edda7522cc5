"""Measure how well an array of distances can play if a better method than the report's optimizes
it.

A separable evolution strategy changes all 121 numbers, starting from the shipped array for two
players. It uses the report's fitness, over more games per individual. The result is a lower bound
of the best possible fitness against the hand-tuned array.
"""

from __future__ import annotations

from contextlib import closing

import numpy as np

from benchmarks.experiments import shipped
from benchmarks.experiments.experiment import Measured, Scale
from kibitz_search.chinese_checkers import weights_file
from kibitz_search.chinese_checkers.evaluation import EVOLVED
from kibitz_search.chinese_checkers.hole_arrays import Array
from kibitz_training.chinese_checkers import genetic_fitness
from kibitz_training.chinese_checkers.hole_games import against
from kibitz_training.cma import Cma

POPULATION, GAMES = 32, 40
"""Individuals per generation, and games per individual; all individuals use the same seeds."""
RANGE = 20.0
"""The array is scaled to this range of numbers at first; the first step size is 1."""


def ceiling(scale: Scale) -> Measured:
    """Optimize an array for two players and one for three, and test them in new games."""
    count, rows, sentences = scale.choose(1000, 4000), [], []
    for seats, (share, highest) in shipped.REPORTED.items():
        array = optimised(seats, scale.choose(1200 // seats, 1500), scale.threads)
        for begins in shipped.BEGINS:
            row = shipped.tested(array, seats, "hand", begins, count, scale.threads)
            rows.append((str(seats), "hand", begins, *row))
        won, fitness = rows[-len(shipped.BEGINS)][4], rows[-len(shipped.BEGINS)][7]
        sentences.append(
            f"With {seats} players, the optimized array wins {won} of the games that it begins, "
            f"with a mean fitness of {fitness}; the report gives {share} and {highest}."
        )
    return Measured(found=" ".join(sentences), heads=shipped.HEADS, rows=tuple(rows))


def optimised(seats: int, generations: int, threads: int) -> Array:
    """Return the array that the strategy converges to."""
    file = weights_file.read(shipped.WEIGHTS / f"{EVOLVED[2]}.json")
    first = np.array(file.weights, np.float64)
    first *= RANGE / np.ptp(first)
    strategy = Cma(first, 1.0, POPULATION, shipped.SEED, separable=True)
    with closing(against("hand", seats, threads=threads, begins="individual")) as games:
        for generation in range(generations):
            seed = int(np.random.default_rng([shipped.SEED, generation]).integers(2**62))
            came = games.play(strategy.ask(), [seed] * POPULATION, 0, GAMES)
            strategy.tell(genetic_fitness.scores(came).mean(axis=1))
    return strategy.mean
