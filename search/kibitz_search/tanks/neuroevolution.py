"""Evolution of networks for Tanks: as the report describes it, and by a strategy that learns.

`ReportEvolution` is the report's: everybody plays one game; the population is put in order; rank
neighbours swap their tails from a random place on; each number is drawn anew, a whole number from
-15 to 15, with probability 0.02. Nobody is kept. The first numbers are whole, from -10 to 10.

`SeparableCma` is the evolution strategy of Ros and Hansen, "A Simple Modification in CMA-ES
Achieving Linear Time and Space Complexity" (2008): covariance matrix adaptation with the diagonal
only. All networks of a generation play the same games.

Everything random in a generation is drawn from the seed and the generation's number.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = "np.ndarray[Any, np.dtype[np.float64]]"
Stage: TypeAlias = "dict[str, Array]"
"""What a generation begins with, by name."""

FIRST, DRAWN, MUTATION = 10, 15, 0.02


def source(seed: int, generation: int, purpose: int) -> np.random.Generator:
    """Return where the random numbers of a generation come from."""
    return np.random.default_rng([seed, generation, purpose])


@dataclass(frozen=True)
class ReportEvolution:
    """The evolution of the report."""

    seed: int
    population: int
    numbers: int

    def begin(self) -> Stage:
        """Return the first population."""
        shape = (self.population, self.numbers)
        drawn = source(self.seed, 0, 0).integers(-FIRST, FIRST + 1, size=shape)
        return {"population": drawn.astype(np.float64)}

    def following(self, stage: Stage, fitness: Array, generation: int) -> Stage:
        """Return the population after that of `generation`."""
        chance = source(self.seed, generation, 1)
        ranked = stage["population"][np.argsort(-fitness, kind="stable")]
        for first in range(0, self.population - 1, 2):
            cut = int(chance.integers(self.numbers))
            tail = ranked[first, cut:].copy()
            ranked[first, cut:] = ranked[first + 1, cut:]
            ranked[first + 1, cut:] = tail
        mutated = chance.random(ranked.shape) <= MUTATION
        drawn = chance.integers(-DRAWN, DRAWN + 1, size=ranked.shape)
        return {"population": np.where(mutated, drawn, ranked)}


@dataclass(frozen=True)
class SeparableCma:
    """Covariance matrix adaptation with the diagonal only; a larger fitness is better."""

    seed: int
    population: int
    numbers: int
    sigma: float = 0.3

    def begin(self) -> Stage:
        """Return the state before the first generation."""
        n = self.numbers
        return {
            "mean": np.zeros(n),
            "variance": np.ones(n),
            "path": np.zeros(n),
            "step_path": np.zeros(n),
            "sigma": np.array([self.sigma]),
        }

    def offspring(self, stage: Stage, generation: int) -> Array:
        """Return the networks of a generation."""
        steps = self._steps(generation) * np.sqrt(stage["variance"])
        found: Array = stage["mean"] + stage["sigma"] * steps
        return found

    def following(self, stage: Stage, fitness: Array, generation: int) -> Stage:
        """Return the state after a generation whose offspring had such fitness."""
        n, parents = self.numbers, self.population // 2
        weights = np.log(parents + 0.5) - np.log(np.arange(1, parents + 1))
        weights /= weights.sum()
        effective = 1 / (weights**2).sum()
        c_path = (4 + effective / n) / (n + 4 + 2 * effective / n)
        c_step = (effective + 2) / (n + effective + 5)
        c_one = 2 / ((n + 1.3) ** 2 + effective)
        c_many = 2 * (effective - 2 + 1 / effective) / ((n + 2) ** 2 + effective)
        # With the diagonal only there is less to learn, so it may be learnt faster.
        c_one, c_many = c_one * (n + 2) / 3, min(1 - c_one, c_many * (n + 2) / 3)
        damping = 1 + 2 * max(0.0, np.sqrt((effective - 1) / (n + 1)) - 1) + c_step
        expected = np.sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n * n))

        best = np.argsort(-fitness, kind="stable")[:parents]
        deviation, steps = np.sqrt(stage["variance"]), self._steps(generation)[best]
        step = weights @ steps
        step_path = (1 - c_step) * stage["step_path"] + np.sqrt(
            c_step * (2 - c_step) * effective
        ) * step
        length = float(np.linalg.norm(step_path))
        path = (1 - c_path) * stage["path"] + np.sqrt(
            c_path * (2 - c_path) * effective
        ) * deviation * step
        variance = (
            (1 - c_one - c_many) * stage["variance"]
            + c_one * path**2
            + c_many * (weights @ (steps * deviation) ** 2)
        )
        return {
            "mean": stage["mean"] + stage["sigma"] * deviation * step,
            "variance": variance,
            "path": path,
            "step_path": step_path,
            "sigma": stage["sigma"] * np.exp((c_step / damping) * (length / expected - 1)),
        }

    def _steps(self, generation: int) -> Array:
        """Return the offspring's steps before they are stretched, each with its mirror image."""
        half = source(self.seed, generation, 0).normal(size=(self.population // 2, self.numbers))
        return np.concatenate([half, -half])


Step = Callable[[Stage, int], tuple[Stage, dict[str, Any]]]
"""Judges a generation; returns the next stage, and what the journal says of this one."""
