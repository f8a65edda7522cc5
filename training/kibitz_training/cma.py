"""CMA-ES as a strategy of `evolution`, by the package `cmaes`.

N. Hansen, "The CMA Evolution Strategy: A Tutorial" (2016); `separable` is that of R. Ros and
N. Hansen, "A Simple Modification in CMA-ES Achieving Linear Time and Space Complexity" (2008), for
a hundred numbers and more. The state after a generation follows from the seed and from the fitness
of all generations so far.
"""

from __future__ import annotations

import numpy as np
from cmaes import CMA, SepCMA

from kibitz_training.evolution import Array


class Cma:
    """Covariance matrix adaptation; a larger fitness is better.

    With `separable` the covariance is a variance for every number, which takes far fewer
    generations to learn.
    """

    def __init__(
        self, start: Array, step: float, population: int, seed: int, *, separable: bool = False
    ) -> None:
        # Its generator takes 32 bits.
        small = int(np.random.SeedSequence(seed).generate_state(1)[0])
        kind = SepCMA if separable else CMA
        # It changes the array of its mean in place.
        self._optimizer = kind(start.copy(), step, seed=small, population_size=population)
        self._population = self._drawn()

    @property
    def mean(self) -> Array:
        """The middle of the next generation: the best guess so far."""
        mean: Array = self._optimizer.mean.copy()
        return mean

    def ask(self) -> Array:
        """Return the individuals of the generation, one a row; the same until `tell`."""
        return self._population

    def tell(self, fitness: Array) -> None:
        """Adapt to the fitness of the individuals of `ask`."""
        losses = (-fitness).tolist()
        self._optimizer.tell(list(zip(self._population, losses, strict=True)))
        self._population = self._drawn()

    def _drawn(self) -> Array:
        return np.stack([self._optimizer.ask() for _ in range(self._optimizer.population_size)])
