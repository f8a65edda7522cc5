"""How work on many plays scales over threads: batches of plays, and the games of trainers.

Each workload is measured with one thread and with several, in turn. Its results do not depend on
the threads. Times are processor times of the busiest thread: the time that the work takes if each
thread has a core for itself. So other load on the machine counts little, and the time to wake a
thread is not included.
"""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field

import numpy as np

from benchmarks.experiments.shipped import WEIGHTS
from docs.generate.markdown import table
from kibitz_games.core import registry
from kibitz_games.core.game import Json
from kibitz_games.vector import VectorGame
from kibitz_search.chinese_checkers import weights_file
from kibitz_search.chinese_checkers.evaluation import EVOLVED, distances
from kibitz_training.chinese_checkers import genetic_fitness
from kibitz_training.chinese_checkers.hole_games import against
from kibitz_training.chinese_checkers.plan_games import PlanGames

PLAYS = 1024
"""Plays of a batch: with fewer it takes as long to wake a thread as to step its slice."""
SMALL, LARGE = 20, 1000
"""Individuals of the genetic algorithm: the least that is tried, and what made the arrays."""
GENERATIONS = 8000
"""How long the report's run was."""
STEPS = 20
"""Steps of a batch before the first that count: plays are in their middle then."""

Rate = Callable[[int, float], float]
"""Returns how much is done a second with so many threads, measured for so many seconds."""


@dataclass(frozen=True)
class Work:
    """A workload that threads share."""

    name: str
    unit: str
    rate: Rate


@dataclass
class Scaled:
    """The rates per second of a workload by the number of threads, one for each round."""

    work: Work
    rates: dict[int, list[float]] = field(default_factory=dict)

    def median(self, threads: int) -> float:
        """Return the median of the rounds."""
        return statistics.median(self.rates[threads])


def processor_times() -> dict[int, float]:
    """Return the processor time of each thread there is, by its number."""
    clocks = {
        thread.ident: time.pthread_getcpuclockid(thread.ident)
        for thread in threading.enumerate()
        if thread.ident is not None
    }
    return {ident: time.clock_gettime(clock) for ident, clock in clocks.items()}


def _repeated(once: Callable[[], int], seconds: float) -> float:
    """Return how much a second is done by calls that say how much they did; one is made always."""
    done, passed, began = 0, 0.0, processor_times()
    while not done or passed < seconds:
        done += once()
        passed = max(now - began.get(ident, 0.0) for ident, now in processor_times().items())
    return done / passed


def plays(name: str, options: Mapping[str, Json] | None) -> Rate:
    """Return what measures the plies of a batch of plays."""

    def rate(threads: int, seconds: float) -> float:
        with VectorGame(name, options, count=PLAYS, seed=1, threads=threads) as games:

            def step() -> int:
                games.step(games.sample())
                return PLAYS

            for _ in range(STEPS):
                step()
            return _repeated(step, seconds)

    return rate


def genetic(population: int) -> Rate:
    """Return what measures the games of generations that are as good as what ships."""
    array = np.array(weights_file.read(WEIGHTS / f"{EVOLVED[2]}.json").weights)

    def rate(threads: int, seconds: float) -> float:
        individuals = np.tile(array, (population, 1))
        with closing(against("hand", 2, threads=threads, begins="individual")) as games:
            return _repeated(
                lambda: genetic_fitness.judge(games, 1, individuals, 0).counts["games"],
                seconds,
            )

    return rate


def plans(individuals: int, openings: int) -> Rate:
    """Return what measures the games of the evolution strategy of ``chinese-checkers/learned``."""
    array = distances("stragglers")[np.newaxis]

    def rate(threads: int, seconds: float) -> float:
        arrays, seeds = np.repeat(array, individuals, axis=0), np.arange(1, openings + 1)
        with closing(PlanGames(2, threads=threads)) as games:
            return _repeated(lambda: games.play(arrays, array, seeds).size, seconds)

    return rate


def works(options: Mapping[str, Mapping[str, Json]]) -> list[Work]:
    """Return all that is measured; `options` are those of games that are not played as usual."""
    batches = [
        Work(f"{name}, {PLAYS:,} plays", "plies", plays(name, options.get(name)))
        for name in registry.names()
    ]
    trainings = [
        Work(f"`chinese-checkers/genetic`, {count:,} individuals", "games", genetic(count))
        for count in (SMALL, LARGE)
    ]
    return [*batches, *trainings, Work("`chinese-checkers/learned`", "games", plans(14, 2))]


def measure(work: Work, threads: int, rounds: int, seconds: float) -> Scaled:
    """Measure a work with one thread and with several, in turn."""
    scaled = Scaled(work, {1: [], threads: []})
    work.rate(1, 0.0)  # what has to be compiled or loaded is by then
    for _ in range(rounds):
        for count, rates in scaled.rates.items():
            rates.append(work.rate(count, seconds))
    return scaled


def shown(figures: Sequence[float]) -> str:
    """Return a median with the lowest and the highest."""
    low, high = min(figures), max(figures)
    return f"{statistics.median(figures):,.0f} ({low:,.0f} to {high:,.0f})"


def section(measured: Sequence[Scaled], threads: int) -> str:
    """Return the part of the page on threads in Markdown."""
    rows = [
        (
            scaled.work.name,
            scaled.work.unit,
            *(shown(scaled.rates[count]) for count in (1, threads)),
            f"{scaled.median(threads) / scaled.median(1):.2f}",
        )
        for scaled in measured
    ]
    heads = ("work", "a second", "1 thread", f"{threads} threads", "times")
    parts = [
        "## Over threads",
        "",
        "The same work with one thread and with several: batches of plays as above, and the games"
        " of trainers, whose arrays play as well as what ships. A second is one of the processor,"
        " of the thread that had most of it, as where each has a core for itself; to wake a thread"
        " is not in it.",
        "",
        table(heads, rows),
    ]
    return "\n".join([*parts, *_whole_run(measured, threads)])


def _whole_run(measured: Sequence[Scaled], threads: int) -> list[str]:
    """Say how long the report's run takes at these rates, where they were measured."""
    name = f"{SMALL:,} individuals"
    games = GENERATIONS * SMALL * genetic_fitness.MANY
    return [
        f"{GENERATIONS:,} generations of {SMALL} individuals are {games:,} games where everybody"
        f" plays {genetic_fitness.MANY}: at these rates {games / scaled.median(1) / 60:.1f} minutes"
        f" with one thread, and {games / scaled.median(threads) / 60:.1f} with {threads}.\n"
        for scaled in measured
        if scaled.work.name.endswith(f" {name}")
    ]
