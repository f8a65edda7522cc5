"""Evolution runs with an ask-and-tell strategy, which returns arrays and receives their fitness.

The journal has the fitness of every generation. A strategy's randomness depends only on its seed.
An interrupted run therefore resumes by replaying the journal's fitness to the strategy, without
evaluating individuals again.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeAlias

import numpy as np

from kibitz_training import output
from kibitz_training.experiment import TrainingRun
from kibitz_training.journal import Journal, JournalError

Array: TypeAlias = "np.ndarray[Any, np.dtype[np.float64]]"
EVERY: Final = 25
"""The journal is synced after this many generations; a power failure loses at most these."""


class Strategy(Protocol):
    """A search strategy for arrays with a high fitness."""

    def ask(self) -> Array:
        """Return the generation's individuals, one per row; the same until `tell`."""

    def tell(self, fitness: Array) -> None:
        """Advance to the next generation, given the fitness of the individuals that `ask`
        returned."""


@dataclass(frozen=True)
class Judgement:
    """The result of a generation."""

    fitness: Array
    counts: Mapping[str, int]
    """Additional values for the journal, such as the number of wins."""


@dataclass(frozen=True)
class Generation:
    """An evaluated generation, whose fitness the strategy has received."""

    number: int
    population: Array
    fitness: Array
    counts: Mapping[str, int]

    @property
    def fittest(self) -> Array:
        """The individual with the highest fitness; the first one among equals."""
        found: Array = self.population[int(np.argmax(self.fitness))]
        return found


def evolve(
    strategy: Strategy,
    journal: Journal,
    generations: int,
    judge: Callable[[Array, int], Judgement],
) -> Iterator[Generation]:
    """Yield the generations of a run: first those in the journal, then newly evaluated ones.

    Raises `JournalError` if the strategy does not produce the same individuals as in the journal.
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


def save_generation(given: TrainingRun, generation: Generation) -> None:
    """Write the scores and the individuals of a generation, the fittest first, for `numpy.load`."""
    order = np.argsort(-generation.fitness, kind="stable")
    data = io.BytesIO()
    np.savez_compressed(
        data, scores=generation.fitness[order], population=generation.population[order]
    )
    output.write(given.out / f"generation-{generation.number + 1}.npz", data.getvalue())


def _known(journal: Journal, number: int, population: Array, digest: str) -> Judgement:
    """Return the journal's entry for a generation."""
    match journal.entries[number]:
        case {"number": int(), "hash": str(found), "fitness": list(values), **rest}:
            fitness, counts = _numbers(values), rest
        case _:
            found, fitness, counts = digest, np.zeros(0), {}
    where = f"{journal.path}: generation {number}"
    if found != digest:
        raise JournalError(
            f"{where} differs from the journal; resume on the machine and with the package version "
            "that started the run"
        )
    if fitness.shape != population.shape[:1] or not np.isfinite(fitness).all():
        raise JournalError(f"{where}: expected the fitness of {len(population)} individuals")
    return Judgement(fitness, counts)


def _numbers(values: list[Any]) -> Array:
    """Return a journal's list of numbers; empty if it contains anything else."""
    try:
        return np.array(values, np.float64)
    except (TypeError, ValueError):
        return np.zeros(0)
