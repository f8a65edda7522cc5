"""A run of the genetic algorithm with its journal: what it goes through, step by step."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from kibitz_search.training.genetic import (
    Array,
    Settings,
    Template,
    first_population,
    next_population,
)
from kibitz_search.training.journal import Journal, JournalError

EVERY = 25
"""Generations between two populations in the journal, after which it is on the disk: what is
computed again at most, should the machine lose its power."""


class Judged(Protocol):
    """What a fitness function returns, per individual."""

    @property
    def fitness(self) -> Array: ...
    @property
    def wins(self) -> Array: ...
    @property
    def games(self) -> Array: ...
    @property
    def restarts(self) -> Array: ...


Evaluate = Callable[[Array, int], Judged]


@dataclass(frozen=True)
class Stage:
    """Where a run is, before a generation is judged."""

    generation: int
    population: Array
    best: Array
    best_fitness: float
    best_generation: int
    won: int
    """The last generation in which somebody won a game, or a random population began."""


def begin(settings: Settings, template: Template) -> Stage:
    """Return the beginning of a run."""
    population = first_population(settings, template)
    return Stage(0, population, population[0], -np.inf, 0, 0)


def resume(
    settings: Settings, template: Template, journal: Journal, before: int | None = None
) -> Stage:
    """Return the last stage that a journal has whole, or the beginning.

    It is not after the generation `before`, or the end of the run.
    """
    last = settings.generations if before is None else before
    there = [number for number in journal.progress.populations if number <= last]
    if not there:
        return begin(settings, template)
    number = max(there)
    entry, numbers = journal.population(number), len(template.start)
    population = _array(entry, "population", (settings.population, numbers), journal)
    best = _array(entry, "best", (numbers,), journal)
    try:
        rest = (float(entry["best_fitness"]), int(entry["best_generation"]), int(entry["won"]))
    except (KeyError, TypeError, ValueError):
        raise JournalError(f"{journal.path}: expected what a population line has") from None
    return Stage(number, population, best, *rest)


def fittest_of(
    settings: Settings, template: Template, journal: Journal, evaluate: Evaluate, generation: int
) -> Array:
    """Return the fittest individual of a generation, computed from the population before it."""
    stage = resume(settings, template, journal, generation)
    while stage.generation < generation:
        stage, _ = advance(settings, template, stage, evaluate)
    judged = evaluate(stage.population, generation)
    found: Array = stage.population[int(np.argmax(judged.fitness))]
    return found


def _array(entry: dict[str, Any], name: str, shape: tuple[int, ...], journal: Journal) -> Array:
    try:
        found = np.array(entry[name], np.float64)
    except (KeyError, TypeError, ValueError):
        found = np.zeros(0)
    if found.shape != shape:
        raise JournalError(
            f"{journal.path}: the {name} before generation {entry['generation']}: expected "
            f"{' x '.join(map(str, shape))} numbers"
        )
    return found


def advance(
    settings: Settings, template: Template, stage: Stage, evaluate: Evaluate
) -> tuple[Stage, dict[str, Any]]:
    """Judge a generation; return the stage before the next one, and what the journal says."""
    judged = evaluate(stage.population, stage.generation)
    at = int(np.argmax(judged.fitness))
    entry = {
        "kind": "generation",
        "generation": stage.generation,
        "best": float(judged.fitness[at]),
        "mean": float(judged.fitness.mean()),
        "wins": int(judged.wins.sum()),
        "games": int(judged.games.sum()),
        "restarts": int(judged.restarts.sum()),
        "hash": hashlib.sha256(stage.population.tobytes()).hexdigest()[:16],
    }
    won = stage.generation if judged.wins.any() else stage.won
    following = replace(stage, generation=stage.generation + 1, won=won)
    if judged.fitness[at] > stage.best_fitness:
        following = replace(
            following,
            best=stage.population[at].copy(),
            best_fitness=float(judged.fitness[at]),
            best_generation=stage.generation,
        )
    if stage.generation - won >= settings.patience:
        entry["hopeless"] = True
        population = first_population(settings, template, following.generation)
        return replace(following, population=population, won=following.generation), entry
    population = next_population(
        settings, template, stage.population, judged.fitness, stage.generation
    )
    return replace(following, population=population), entry


def run(
    settings: Settings, template: Template, evaluate: Evaluate, journal: Journal
) -> Iterator[tuple[Stage, dict[str, Any]]]:
    """Go on with a run to its end; yield each generation when the journal has it.

    Raises `JournalError` where a generation that the journal has comes out otherwise.
    """
    stage, known = resume(settings, template, journal), journal.progress.generations
    while stage.generation < settings.generations:
        number = stage.generation
        if (
            number % EVERY == 0
            and number not in journal.progress.populations
            and (number >= len(known))
        ):
            journal.append(_population(stage))
            journal.sync()
        stage, entry = advance(settings, template, stage, evaluate)
        if number >= len(known):
            journal.append(entry)
        elif known[number] != entry:
            raise JournalError(
                f"{journal.path}: generation {number} came out otherwise than the journal says; "
                "expected the same package version and machine that it was begun with"
            )
        yield stage, entry
    journal.sync()


def _population(stage: Stage) -> dict[str, Any]:
    return {
        "kind": "population",
        "generation": stage.generation,
        "population": stage.population.tolist(),
        "best": stage.best.tolist(),
        "best_fitness": stage.best_fitness if np.isfinite(stage.best_fitness) else -1e300,
        "best_generation": stage.best_generation,
        "won": stage.won,
    }
