"""The covariance matrix adaptation evolution strategy, for functions that are measured with noise.

Source: N. Hansen, "The CMA Evolution Strategy: A Tutorial" (2016), with its default settings;
`separable` is that of R. Ros and N. Hansen, "A Simple Modification in CMA-ES Achieving Linear Time
and Space Complexity" (2008), for a hundred numbers and more. A generation is drawn from a normal
distribution; the better half of it moves the mean, and adapts the covariance and the step.
Everything is drawn from the seed and the number of the generation, so the state after a generation
follows from the values that were measured, and a journal needs no more.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = "np.ndarray[Any, np.dtype[np.float64]]"


class Cma:
    """The strategy, which maximises; call `ask` and `tell` in turn.

    Where it is `separable` the covariance is a variance for every number, which is learned from far
    fewer generations.
    """

    def __init__(
        self, start: Array, step: float, population: int, seed: int, *, separable: bool = False
    ) -> None:
        n, parents = len(start), population // 2
        raw = np.log((population + 1) / 2) - np.log(np.arange(1, parents + 1))
        self._weights: Array = raw / raw.sum()
        mass = 1 / float((self._weights**2).sum())
        self._mass = mass
        self._step_rate = (mass + 2) / (n + mass + 5)
        self._damping = 1 + 2 * max(0, np.sqrt((mass - 1) / (n + 1)) - 1) + self._step_rate
        self._path_rate = (4 + mass / n) / (n + 4 + 2 * mass / n)
        faster = (n + 2) / 3 if separable else 1.0
        self._rank_one = faster * 2 / ((n + 1.3) ** 2 + mass)
        several = faster * 2 * (mass - 2 + 1 / mass) / ((n + 2) ** 2 + mass)
        self._rank_many = min(1 - self._rank_one, several)
        self._usual = np.sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n * n))
        self.mean: Array = start.astype(np.float64)
        self.step, self.generation = step, 0
        self._population, self._seed = population, seed
        self._separable = separable
        self._covariance = np.eye(n)
        self._path, self._step_path = np.zeros(n), np.zeros(n)

    def ask(self) -> Array:
        """Return the individuals of the generation, one a row; the same until `tell`."""
        source = np.random.default_rng([self._seed, self.generation, 3])
        drawn = source.standard_normal((self._population, len(self.mean)))
        axes, basis = self._axes()
        found: Array = self.mean + self.step * (drawn * axes) @ basis.T
        return found

    def tell(self, values: Array) -> None:
        """Adapt to what the individuals of `ask` are worth."""
        best = np.argsort(-values, kind="stable")[: len(self._weights)]
        moves = (self.ask()[best] - self.mean) / self.step
        move = self._weights @ moves
        axes, basis = self._axes()
        white = basis @ ((basis.T @ move) / axes)
        self.mean = self.mean + self.step * move
        rate = self._step_rate
        self._step_path = (1 - rate) * self._step_path + (
            np.sqrt(rate * (2 - rate) * self._mass) * white
        )
        length = float(np.linalg.norm(self._step_path))
        self.generation += 1
        faded = np.sqrt(1 - (1 - rate) ** (2 * self.generation))
        steady = length / faded / self._usual < 1.4 + 2 / (len(self.mean) + 1)
        self._adapt_covariance(moves, move, steady)
        self.step *= float(np.exp(rate / self._damping * (length / self._usual - 1)))

    def _adapt_covariance(self, moves: Array, move: Array, steady: bool) -> None:
        """`steady` is false while the step grows fast: then the path would grow too much."""
        rate, one, many = self._path_rate, self._rank_one, self._rank_many
        grown = np.sqrt(rate * (2 - rate) * self._mass) if steady else 0.0
        self._path = (1 - rate) * self._path + grown * move
        lost = 0.0 if steady else one * rate * (2 - rate)
        self._covariance = (
            (1 - one - many + lost) * self._covariance
            + one * np.outer(self._path, self._path)
            + many * (moves.T * self._weights) @ moves
        )
        if self._separable:
            self._covariance = np.diag(np.diag(self._covariance))

    def _axes(self) -> tuple[Array, Array]:
        """Return the lengths of the distribution's axes, and the axes as columns."""
        if self._separable:
            return np.sqrt(np.diag(self._covariance)), np.eye(len(self.mean))
        values, basis = np.linalg.eigh((self._covariance + self._covariance.T) / 2)
        return np.sqrt(np.maximum(values, 1e-20)), basis
