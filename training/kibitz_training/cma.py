"""CMA-ES as a strategy for `evolution`, using the package `cmaes`.

N. Hansen, "The CMA Evolution Strategy: A Tutorial" (2016); `separable` is that of R. Ros and
N. Hansen, "A Simple Modification in CMA-ES Achieving Linear Time and Space Complexity" (2008), for
a hundred or more numbers. The state after a generation follows from the seed and from the fitness
of all generations so far.
"""

from __future__ import annotations

import numpy as np
from cmaes import CMA, SepCMA

from kibitz_training.evolution import Array


class Cma:
    """Covariance matrix adaptation; a larger fitness is better.

    With `separable`, the covariance matrix is diagonal, which takes far fewer generations to learn.
    """

    def __init__(
        self, start: Array, step: float, population: int, seed: int, *, separable: bool = False
    ) -> None:
        # The generator of cmaes accepts 32-bit seeds.
        small = int(np.random.SeedSequence(seed).generate_state(1)[0])
        kind = SepCMA if separable else CMA
        # cmaes changes the array of its mean in place.
        self._optimizer = kind(start.copy(), step, seed=small, population_size=population)
        self._population = self._drawn()

    @property
    def mean(self) -> Array:
        """The mean of the next generation, which is the current best guess."""
        mean: Array = self._optimizer.mean.copy()
        return mean

    def ask(self) -> Array:
        """Return the generation's individuals, one per row; the same until `tell`."""
        return self._population

    def tell(self, fitness: Array) -> None:
        """Adapt to the fitness of the individuals that `ask` returned."""
        losses = (-fitness).tolist()
        self._optimizer.tell(list(zip(self._population, losses, strict=True)))
        self._population = self._drawn()

    def _drawn(self) -> Array:
        return np.stack([self._optimizer.ask() for _ in range(self._optimizer.population_size)])
