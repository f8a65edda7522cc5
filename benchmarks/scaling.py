"""Measure how batches of plays and training games scale over threads.

Each workload is measured in turn with one thread and with several; what it computes does not depend
on the number of threads. Times are the CPU time of the busiest thread, which equals the elapsed
time if each thread has its own core. Other load on the machine therefore matters little. The time
to wake a thread is not included.
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
"""Plays per batch. With fewer, waking a thread takes as long as stepping its slice."""
SMALL, LARGE = 20, 1000
"""Population sizes of the genetic algorithm: the smallest, and that of the shipped arrays."""
GENERATIONS = 8000
"""The number of generations of the report's run."""
STEPS = 20
"""Unmeasured steps at the start, so that measured plays are in the middle of the game."""

Rate = Callable[[int, float], float]
"""Returns the work per second with a number of threads, measured for a number of seconds."""


@dataclass(frozen=True)
class Work:
    """A workload that can be shared by threads."""

    name: str
    unit: str
    rate: Rate


@dataclass
class Scaled:
    """The rates per second of a workload by number of threads, one per round."""

    work: Work
    rates: dict[int, list[float]] = field(default_factory=dict)

    def median(self, threads: int) -> float:
        """Return the median of the rounds."""
        return statistics.median(self.rates[threads])


def processor_times() -> dict[int, float]:
    """Return the CPU time of each thread of this process, by thread ID."""
    clocks = {
        thread.ident: time.pthread_getcpuclockid(thread.ident)
        for thread in threading.enumerate()
        if thread.ident is not None
    }
    return {ident: time.clock_gettime(clock) for ident, clock in clocks.items()}


def _repeated(once: Callable[[], int], seconds: float) -> float:
    """Call `once`, at least one time, for `seconds`; return the sum of its results per second."""
    done, passed, began = 0, 0.0, processor_times()
    while not done or passed < seconds:
        done += once()
        passed = max(now - began.get(ident, 0.0) for ident, now in processor_times().items())
    return done / passed


def plays(name: str, options: Mapping[str, Json] | None) -> Rate:
    """Return a function that measures the plies of a batch of plays."""

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
    """Return a function that measures games of a population of shipped arrays."""
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
    """Return a function that measures games of ``chinese-checkers/learned``."""
    array = distances("stragglers")[np.newaxis]

    def rate(threads: int, seconds: float) -> float:
        arrays, seeds = np.repeat(array, individuals, axis=0), np.arange(1, openings + 1)
        with closing(PlanGames(2, threads=threads)) as games:
            return _repeated(lambda: games.play(arrays, array, seeds).size, seconds)

    return rate


def works(options: Mapping[str, Mapping[str, Json]]) -> list[Work]:
    """Return all workloads; `options` has the options of games with non-default options."""
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
    """Measure a workload with one thread and with several, in turn."""
    scaled = Scaled(work, {1: [], threads: []})
    work.rate(1, 0.0)  # compile or load all code first
    for _ in range(rounds):
        for count, rates in scaled.rates.items():
            rates.append(work.rate(count, seconds))
    return scaled


def shown(figures: Sequence[float]) -> str:
    """Return the median with the minimum and the maximum, as text."""
    low, high = min(figures), max(figures)
    return f"{statistics.median(figures):,.0f} ({low:,.0f} to {high:,.0f})"


def section(measured: Sequence[Scaled], threads: int) -> str:
    """Return the Markdown section about threads."""
    rows = [
        (
            scaled.work.name,
            scaled.work.unit,
            *(shown(scaled.rates[count]) for count in (1, threads)),
            f"{scaled.median(threads) / scaled.median(1):.2f}",
        )
        for scaled in measured
    ]
    heads = ("work", "unit per second", "1 thread", f"{threads} threads", "ratio")
    parts = [
        "## Scaling over threads",
        "",
        "The same work with one thread and with several: batches of plays as above, and training"
        " games, with arrays that play as well as the shipped ones. Seconds are CPU seconds of the"
        " busiest thread, which is the elapsed time if each thread has its own core. The time to"
        " wake a thread is not included.",
        "",
        table(heads, rows),
    ]
    return "\n".join([*parts, *_whole_run(measured, threads)])


def _whole_run(measured: Sequence[Scaled], threads: int) -> list[str]:
    """Describe how long the report's run takes at these rates, if they were measured."""
    name = f"{SMALL:,} individuals"
    games = GENERATIONS * SMALL * genetic_fitness.MANY
    return [
        f"{GENERATIONS:,} generations of {SMALL} individuals are {games:,} games if each"
        f" individual plays {genetic_fitness.MANY}. At these rates, they take"
        f" {games / scaled.median(1) / 60:.1f} minutes with one thread, and"
        f" {games / scaled.median(threads) / 60:.1f} minutes with {threads}.\n"
        for scaled in measured
        if scaled.work.name.endswith(f" {name}")
    ]
