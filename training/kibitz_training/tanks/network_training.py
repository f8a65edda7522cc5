"""The experiments ``tanks/report`` and ``tanks/neuroevolution``: their runs and files.

journal.jsonl   all generations (`journal`); an interrupted run resumes from it
best.json       the network: the report's fittest of the last generation, or the strategy's mean
*.svg           the highest and the mean points of each generation

With ``save=true``, ``generation-N.npz`` has the scores and the population of each generation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from typing import Any, Literal

import numpy as np
from pydantic import Field

from kibitz_protocol.wire.shares import Z_95
from kibitz_search.tanks import networks, weights_file
from kibitz_training import output
from kibitz_training.cma import Cma
from kibitz_training.evolution import (
    Array,
    Generation,
    Judgement,
    Strategy,
    evolve,
    save_generation,
)
from kibitz_training.experiment import Experiment, Parameters, TrainingRun
from kibitz_training.figures import line_chart
from kibitz_training.journal import Journal
from kibitz_training.tanks.network_games import NetworkGames
from kibitz_training.tanks.neuroevolution import ReportEvolution

REPORT_NAME, EYES_NAME, BEST = "tanks/report", "tanks/neuroevolution", "best.json"
GAMES, TEST, TABLE = 2, 3, 4
"""Random number streams other than those of the evolution."""
TABLE_GAMES = 5
STEP = 0.3
"""The standard deviation of the strategy's first generation."""
DIGITS = 4


class ReportParameters(Parameters):
    """Settings of the evolution that the report on Tanks does not specify, and the run's size."""

    input: Literal["codes", "scaled"] = Field(
        "codes", description="the network's input: the codes, or a tenth of them"
    )
    quirks: bool = Field(
        False,
        description="whether the games have the quirks of the report's program: points for "
        "hitting a wreck, and blocked moves that turn the hull",
    )
    population: int = Field(250, ge=2, le=10_000, description="networks per generation")
    generations: int = Field(30, ge=1, le=100_000, description="number of generations")
    save: bool = Field(
        False, description="whether the scores and the population of each generation are saved"
    )
    test: int = Field(
        1000,
        ge=4,
        le=1_000_000,
        description="test games of the best network, in every seat in turn",
    )


class NeuroevolutionParameters(Parameters):
    """The size of an evolution strategy for networks."""

    population: int = Field(32, ge=4, le=1000, multiple_of=2, description="networks per generation")
    generations: int = Field(300, ge=1, le=1_000_000, description="number of generations")
    games: int = Field(8, ge=4, le=1000, multiple_of=4, description="games per network")
    test: int = Field(
        1000,
        ge=4,
        le=1_000_000,
        description="test games of the best network, in every seat in turn",
    )


def run_report(parameters: ReportParameters, given: TrainingRun) -> None:
    """Evolve the report's network, write it with charts, and test it."""
    scale = weights_file.SCALES[parameters.input]
    strategy = ReportEvolution(given.seed, parameters.population, networks.REPORT_WEIGHTS)
    with closing(
        NetworkGames(
            "report",
            scale=scale,
            quirks=parameters.quirks,
            threads=given.threads,
            compute=given.compute,
        )
    ) as games:

        def judge(population: Array, number: int) -> Judgement:
            chances = _seeds(given.seed, number, GAMES, (len(population), 1))
            return Judgement(games.own_points(population, [0], chances)[:, 0], {})

        last = _evolve(REPORT_NAME, parameters, given, strategy, judge)
        file = weights_file.report_file(last.fittest.tolist(), parameters.input)
        notes = {"fitness": float(last.fitness.max()), "generations": parameters.generations}
        output.save_weights(given, BEST, file, notes)
        _tell_table(given, games, last.fittest)
        _tell_test(given, games, last.fittest, parameters.test)


def run_neuroevolution(parameters: NeuroevolutionParameters, given: TrainingRun) -> None:
    """Evolve a network with inputs relative to its tank, write it with charts, and test it."""
    start, seats = np.zeros(networks.EYES_WEIGHTS), np.arange(parameters.games) % 4
    strategy = Cma(start, STEP, parameters.population, given.seed, separable=True)
    with closing(NetworkGames("eyes", threads=given.threads, compute=given.compute)) as games:

        def judge(population: Array, number: int) -> Judgement:
            # All networks of a generation play the same games.
            chances = _seeds(given.seed, number, GAMES, (1, parameters.games))
            points = games.own_points(population, seats, np.tile(chances, (len(population), 1)))
            return Judgement(points.mean(axis=1), {})

        _evolve(EYES_NAME, parameters, given, strategy, judge)
        best = np.round(strategy.mean, DIGITS)
        file = weights_file.eyes_file(best.tolist())
        output.save_weights(given, BEST, file, {"generations": parameters.generations})
        _tell_table(given, games, best)
        _tell_test(given, games, best, parameters.test)


def _evolve(
    name: str,
    parameters: ReportParameters | NeuroevolutionParameters,
    given: TrainingRun,
    strategy: Strategy,
    judge: Callable[[Array, int], Judgement],
) -> Generation:
    """Run all generations, draw charts of their points, and return the last generation."""
    highest, mean = list[float](), list[float]()
    saved = isinstance(parameters, ReportParameters) and parameters.save
    with Journal.of_run(given, name, parameters, {"generations", "save", "test"}) as journal:
        for generation in evolve(strategy, journal, parameters.generations, judge):
            highest.append(float(generation.fitness.max()))
            mean.append(float(generation.fitness.mean()))
            if saved:
                save_generation(given, generation)
            given.reporter.progress(
                generation.number + 1,
                parameters.generations,
                f"highest {highest[-1]:.0f}, mean {mean[-1]:.0f}",
            )
    _draw(given, {"highest": highest, "mean": mean})
    return generation


def _seeds(seed: int, generation: int, purpose: int, shape: tuple[int, int]) -> Any:
    source = np.random.default_rng([seed, generation, purpose])
    return source.integers(0, 2**63, size=shape)


def _draw(given: TrainingRun, points: Mapping[str, Sequence[float]]) -> None:
    """Write the same charts as in the report."""
    charts = {
        f"{name}.svg": line_chart(
            f"{name.capitalize()} points by generation",
            values,
            across="generation",
            up="points",
        )
        for name, values in points.items()
    }
    output.save_charts(given, charts)


def _tell_table(given: TrainingRun, games: NetworkGames, network: Array) -> None:
    """Report the points of all players in five games, like the report."""
    chances = _seeds(given.seed, 0, TABLE, (1, TABLE_GAMES))
    points = games.play(network[np.newaxis], [0] * TABLE_GAMES, chances, whole=True)[0]
    for number, (own, *others) in enumerate(points, 1):
        rest = ", ".join(f"{score:.0f}" for score in others)
        given.reporter.say(f"game {number}: {own:.0f} against {rest}")


def _tell_test(given: TrainingRun, games: NetworkGames, network: Array, count: int) -> None:
    """Report the mean points with their 95% interval, and the wins, over all seats in turn."""
    chances = _seeds(given.seed, 0, TEST, (1, count))
    seats = np.arange(count) % 4
    points = games.play(network[np.newaxis], seats, chances, whole=True)[0]
    own = points[np.arange(count), seats]
    half = Z_95 * float(own.std(ddof=1)) / count**0.5
    others = (points.sum() - own.sum()) / (3 * count)
    highest = points.max(axis=1)
    share = ((own == highest) / (points == highest[:, np.newaxis]).sum(axis=1)).mean()
    given.reporter.say(
        f"{count} games, every seat in turn: {own.mean():.1f} points on average "
        f"({own.mean() - half:.1f} to {own.mean() + half:.1f}), the others {others:.1f}; "
        f"won {100 * share:.1f}%, ties shared"
    )


REPORT = Experiment(
    REPORT_NAME,
    "a 225-10-7 network by the report's evolution",
    ReportParameters,
    run_report,
)
NEUROEVOLUTION = Experiment(
    EYES_NAME,
    "a small network with inputs relative to its tank, by an evolution strategy",
    NeuroevolutionParameters,
    run_neuroevolution,
)
