"""The genetic algorithm of "Fun With Chinese Checkers", for arrays of numbers and any fitness.

In every generation, the fittest individuals (one in `SURVIVORS`) are the parents. A child takes
each of its numbers from one of two random parents, and one child in `MUTANTS` is mutated. A
mutation replaces one number in ten by a random number from -25 to 24. Outside of the *free* places
(the goal holes), only positive replacements are kept. Then the free places are capped at `CAP`.

The report leaves some points open, which this module decides as follows:

- According to the report's text, the new population is as large as the old one. According to its
  pseudo-code, it only has as many individuals as there are survivors, so it would shrink. This
  module follows the text.
- The pseudo-code replaces the whole population, survivors included. So does this module, unless
  `keep_survivors` is set; then the survivors stay, and children fill the rest.
- A population in which nobody has won for a number of generations is replaced by a new random one
  (`Genetic.restart`). The report calls it "hopeless", without a number.
- The random numbers of the first population are `lowest` to `highest`, 1 to 24 if nothing else is
  given, the same range as in mutations.

All randomness in a generation depends only on the seed and the generation's number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kibitz_training.evolution import Array

SURVIVORS = 5
"""Individuals per survivor; at least two survive."""
MUTANTS = 15
"""Children per mutated child."""
MUTATED = 10
"""A mutation replaces one number in this many."""
SPREAD = 50
"""The size of the range of mutated numbers, which is centered on zero."""
CAP = 5.0
"""The maximum number of a free place after a mutation."""
SMALLEST = 2
"""The minimum population, because children need two parents."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Settings of the algorithm, apart from the fitness."""

    population: int = 20
    seed: int = 0
    keep_survivors: bool = False
    lowest: int = 1
    highest: int = 24
    """The range of random numbers in an initial population, inclusive."""


@dataclass(frozen=True)
class Template:
    """A template of individuals: the fixed initial numbers, and the free places."""

    start: Array
    """The initial numbers; nan for random ones."""
    free: np.ndarray[Any, np.dtype[np.bool_]]


class Genetic:
    """The algorithm as a strategy for `evolution`."""

    def __init__(self, settings: Settings, template: Template) -> None:
        self._settings, self._template = settings, template
        self._generation = 0
        self._population = first_population(settings, template)

    def ask(self) -> Array:
        """Return the generation's individuals, one per row."""
        return self._population

    def tell(self, fitness: Array) -> None:
        """Replace the population by children of the fittest."""
        self._population = next_population(
            self._settings, self._template, self._population, fitness, self._generation
        )
        self._generation += 1

    def restart(self) -> None:
        """Replace the population by a random one."""
        self._population = first_population(self._settings, self._template, self._generation)


def first_population(settings: Settings, template: Template, generation: int = 0) -> Array:
    """Return a random population, [population, numbers], for a start or a restart."""
    source = _source(settings, generation, 0)
    shape = (settings.population, len(template.start))
    drawn = source.integers(settings.lowest, settings.highest + 1, size=shape).astype(np.float64)
    return np.where(np.isnan(template.start), drawn, template.start)


def survivors(population: Array, fitness: Array) -> Array:
    """Return the fittest fifth, best first; among equals, the earlier one first."""
    order = np.argsort(-fitness, kind="stable")
    return population[order[: max(SMALLEST, len(population) // SURVIVORS)]]


def next_population(
    settings: Settings, template: Template, population: Array, fitness: Array, generation: int
) -> Array:
    """Return the population of the generation after `generation`."""
    source = _source(settings, generation, 1)
    parents = survivors(population, fitness)
    kept = parents if settings.keep_survivors else parents[:0]
    children = [_child(source, parents, template) for _ in range(len(kept), settings.population)]
    return np.concatenate([kept, children]) if children else kept


def _child(source: np.random.Generator, parents: Array, template: Template) -> Array:
    x, y = parents[source.integers(len(parents), size=2)]
    child: Array = np.where(source.integers(2, size=len(x)) == 0, x, y)
    return _mutate(source, child, template) if source.integers(MUTANTS) == 0 else child


def _mutate(source: np.random.Generator, child: Array, template: Template) -> Array:
    chosen = source.integers(MUTATED, size=len(child)) == 0
    drawn = source.integers(SPREAD, size=len(child)) - SPREAD // 2
    changed = np.where(chosen & ((drawn > 0) | template.free), drawn, child)
    return np.where(template.free, np.minimum(changed, CAP), changed)


def _source(settings: Settings, generation: int, purpose: int) -> np.random.Generator:
    return np.random.default_rng([settings.seed, generation, purpose])
