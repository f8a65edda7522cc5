"""Runs of evolution with an ask-and-tell strategy: it returns arrays and receives their fitness.

The journal has the fitness of every generation. A strategy draws from its seed alone. So an
interrupted run resumes by replaying the journal's fitness to the strategy, without evaluating
individuals again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeAlias

import numpy as np

from kibitz_training.journal import Journal, JournalError

Array: TypeAlias = "np.ndarray[Any, np.dtype[np.float64]]"
EVERY: Final = 25
"""Generations after which the journal is on the disk: a loss of power costs no more of them."""


class Strategy(Protocol):
    """Looks for arrays of a high fitness."""

    def ask(self) -> Array:
        """Return the individuals of the generation, one a row; the same until `tell`."""

    def tell(self, fitness: Array) -> None:
        """Go on to the next generation by the fitness of the individuals of `ask`."""


@dataclass(frozen=True)
class Judgement:
    """The result of a generation."""

    fitness: Array
    counts: Mapping[str, int]
    """Further figures for the journal, such as the games won."""


@dataclass(frozen=True)
class Generation:
    """An evaluated generation, whose fitness the strategy has received."""

    number: int
    population: Array
    fitness: Array
    counts: Mapping[str, int]

    @property
    def fittest(self) -> Array:
        """The individual of the highest fitness; of equals the first."""
        found: Array = self.population[int(np.argmax(self.fitness))]
        return found


def evolve(
    strategy: Strategy,
    journal: Journal,
    generations: int,
    judge: Callable[[Array, int], Judgement],
) -> Iterator[Generation]:
    """Yield the generations of a run: those of the journal as they were, the others judged now.

    Raises `JournalError` for a journal whose generations are of other individuals.
    """
    for number in range(generations):
        population = strategy.ask()
        digest = hashlib.sha256(population.tobytes()).hexdigest()[:16]
        if number < len(journal.entries):
            judgement = _known(journal, number, population, digest)
        else:
            judgement = judge(population, number)
            entry = {"fitness": judgement.fitness.tolist(), "hash": digest, **judgement.counts}
            journal.append(entry)
            if number % EVERY == 0:
                journal.sync()
        strategy.tell(judgement.fitness)
        yield Generation(number, population, judgement.fitness, judgement.counts)
    journal.sync()


def _known(journal: Journal, number: int, population: Array, digest: str) -> Judgement:
    """Return the journal's entry of a generation."""
    match journal.entries[number]:
        case {"number": int(), "hash": str(found), "fitness": list(values), **rest}:
            fitness, counts = _numbers(values), rest
        case _:
            found, fitness, counts = digest, np.zeros(0), {}
    where = f"{journal.path}: generation {number}"
    if found != digest:
        raise JournalError(
            f"{where} came out otherwise than the journal says; expected the same package version "
            "and machine that it was begun with"
        )
    if fitness.shape != population.shape[:1] or not np.isfinite(fitness).all():
        raise JournalError(f"{where}: expected the fitness of {len(population)} individuals")
    return Judgement(fitness, counts)


def _numbers(values: list[Any]) -> Array:
    """Return what a journal lists, nothing where it lists anything but numbers."""
    try:
        return np.array(values, np.float64)
    except (TypeError, ValueError):
        return np.zeros(0)
