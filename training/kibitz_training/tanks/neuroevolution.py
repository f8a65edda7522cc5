"""The evolution of networks for Tanks as described in the report.

Each individual plays one game, and the population is ranked. Neighbors in rank swap their tails at
a random position. Each number is replaced with probability 0.02 by a random integer from -15 to 15.
No individual survives unchanged. The initial numbers are integers from -10 to 10.

All randomness in a generation depends on the seed and the generation's number.
"""

from __future__ import annotations

import numpy as np

from kibitz_training.evolution import Array

FIRST, DRAWN, MUTATION = 10, 15, 0.02


class ReportEvolution:
    """The report's evolution as a strategy for `evolution`."""

    def __init__(self, seed: int, population: int, numbers: int) -> None:
        self._seed, self._generation = seed, 0
        source = np.random.default_rng([seed, 0, 0])
        drawn = source.integers(-FIRST, FIRST + 1, size=(population, numbers))
        self._population: Array = drawn.astype(np.float64)

    def ask(self) -> Array:
        """Return the generation's networks, one per row."""
        return self._population

    def tell(self, fitness: Array) -> None:
        """Replace the population by the next generation."""
        chance = np.random.default_rng([self._seed, self._generation, 1])
        ranked = self._population[np.argsort(-fitness, kind="stable")]
        for first in range(0, len(ranked) - 1, 2):
            cut = int(chance.integers(ranked.shape[1]))
            tail = ranked[first, cut:].copy()
            ranked[first, cut:] = ranked[first + 1, cut:]
            ranked[first + 1, cut:] = tail
        mutated = chance.random(ranked.shape) <= MUTATION
        drawn = chance.integers(-DRAWN, DRAWN + 1, size=ranked.shape)
        self._population = np.where(mutated, drawn, ranked)
        self._generation += 1
