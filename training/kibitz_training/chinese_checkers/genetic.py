"""The experiment ``chinese-checkers/genetic``: a run, its files, and the test of the best array.

Files:

    journal.jsonl   all generations (`journal`); an interrupted run resumes from it
    fittest.json    the array with the highest fitness of all individuals, over few games
    best.json       the best array of the last populations, over more games
    *.svg           fitness and win rate by generation, and arrays drawn on the star
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from typing import Literal, Self

import numpy as np
from pydantic import Field, model_validator

from kibitz_protocol.wire.shares import share_interval
from kibitz_search.chinese_checkers import weights_file
from kibitz_search.chinese_checkers.hole_arrays import Array
from kibitz_training import output
from kibitz_training.chinese_checkers import genetic_figures, genetic_fitness, genetic_selection
from kibitz_training.chinese_checkers.hole_games import PLIES, WON, HoleGames, against
from kibitz_training.evolution import EVERY, Generation, evolve
from kibitz_training.experiment import Experiment, Parameters, TrainingRun
from kibitz_training.genetic import Genetic, Settings
from kibitz_training.journal import Journal

NAME = "chinese-checkers/genetic"
FITTEST, BEST = "fittest.json", "best.json"


class GeneticParameters(Parameters):
    """Settings that the report on Chinese Checkers does not specify, and the length of a run.

    The defaults come as close to the report's results as we know how. Its sums of plies imply that
    the array always makes the first move. Its win rate is only reached with a large population and
    widely spread initial numbers.
    """

    seats: int = Field(2, ge=2, le=6, description="number of players; the judge plays all but one")
    population: int = Field(1000, ge=2, le=10_000, description="individuals per generation")
    generations: int = Field(150, ge=1, le=1_000_000, description="number of generations")
    judge: Literal["hand", "euclid", "stragglers", "mobility"] = Field(
        "hand", description="the evaluation of the opponents"
    )
    begins: Literal["turns", "individual", "judge"] = Field(
        "individual",
        description="who makes the first move: each player in turn, or always the same side",
    )
    keep_survivors: bool = Field(
        False, description="whether the fittest survive along with their children"
    )
    lowest: int = Field(1, ge=-25, le=100, description="the smallest number of a random individual")
    highest: int = Field(
        100, ge=-25, le=100, description="the largest number of a random individual"
    )
    fixed: Literal["apart", "judge"] = Field(
        "apart",
        description="the fixed numbers of start and goal holes: the judge's unchanged, or moved "
        "apart so that all random numbers lie between them",
    )
    patience: int = Field(
        500,
        ge=1,
        le=1_000_000,
        description="generations without a win before a restart with a new population",
    )
    own_distance: bool = Field(
        False,
        description="whether a loser's remaining distance is measured by its own array, not the "
        "judge's",
    )
    restarts: int = Field(
        3, ge=0, le=1000, description="number of restarts of a game that nobody can win"
    )
    stuck: Literal["start", "left"] = Field(
        "start",
        description="the distance that scores a game after its last restart: that of its start, "
        "or what is left at its end",
    )
    test: int = Field(
        1000, ge=0, le=1_000_000, description="test games against each judge at the end"
    )

    @model_validator(mode="after")
    def _check_range(self) -> Self:
        if self.highest < self.lowest:
            raise ValueError(f"highest: expected at least the lowest, {self.lowest}")
        return self


class _Findings:
    """The findings of a run."""

    def __init__(self, generations: int) -> None:
        self._generations = generations
        self.shown: dict[str, Generation] = {}
        """The generations whose fittest arrays are drawn, as in the report, by name.

        They are the first generation, the first with a win, the one after three tenths of the run
        (which corresponds to the report's 2,427), and the one with the highest fitness.
        """
        self.candidates: deque[Array] = deque(maxlen=genetic_selection.POPULATIONS)
        """The last populations, each with the fittest array so far: the candidates for the best."""
        self.best: list[float] = []
        self.mean: list[float] = []
        self.won: list[float] = []
        """The win rate of each generation, in percent."""

    @property
    def fittest(self) -> Array:
        """The individual with the highest fitness so far."""
        return self.shown["fittest"].fittest

    def add(self, generation: Generation) -> None:
        """Add the next generation."""
        number, fitness = generation.number, float(generation.fitness.max())
        if number % EVERY == 0:
            fittest = [self.fittest] if number else []
            self.candidates.append(np.vstack([generation.population, *fittest]))
        if number == 0:
            self.shown["first"] = generation
        if generation.counts["wins"]:
            self.shown.setdefault("first-win", generation)
        if number == self._generations * 3 // 10:
            self.shown["middle"] = generation
        if fitness > max(self.best, default=-np.inf):
            self.shown["fittest"] = generation
        self.best.append(fitness)
        self.mean.append(float(generation.fitness.mean()))
        self.won.append(100 * generation.counts["wins"] / generation.counts["games"])


def run(parameters: GeneticParameters, given: TrainingRun) -> None:
    """Evolve arrays; write the best ones and the charts, and test them against each judge."""
    with (
        Journal.of_run(given, NAME, parameters, {"generations", "test"}) as journal,
        closing(_games(parameters, given)) as games,
    ):
        findings, last = _evolve(parameters, given, journal, games)
    everybody = np.vstack([*findings.candidates, last, findings.fittest])
    with closing(_fresh(parameters, parameters.judge, given)) as games:
        best = genetic_selection.best_of(games, everybody, given.seed)
    _draw(parameters, given, findings, best)
    fittest = findings.shown["fittest"]
    notes = {"fitness": float(fittest.fitness.max()), "generation": fittest.number}
    arrays = {FITTEST: findings.fittest, BEST: best}
    for name, array in arrays.items():
        file = weights_file.file_of(array.tolist(), parameters.seats)
        origin = notes if name == FITTEST else {"generations": parameters.generations}
        output.save_weights(given, name, file, origin)
    for name, array in arrays.items():
        for line in _tested(parameters, given, array) if parameters.test else ():
            given.reporter.say(f"{name} {line}")


def _evolve(
    parameters: GeneticParameters, given: TrainingRun, journal: Journal, games: HoleGames
) -> tuple[_Findings, Array]:
    """Run all generations; return the findings and the final population."""
    names = {"population", "keep_survivors", "lowest", "highest"}
    settings = Settings(seed=given.seed, **parameters.model_dump(include=names))
    template = genetic_fitness.template(settings, apart=parameters.fixed == "apart")
    strategy, findings = Genetic(settings, template), _Findings(parameters.generations)
    judge = partial(genetic_fitness.judge, games, given.seed)
    won = 0
    for generation in evolve(strategy, journal, parameters.generations, judge):
        findings.add(generation)
        if generation.counts["wins"]:
            won = generation.number
        if generation.number - won >= parameters.patience:
            strategy.restart()
            won = generation.number + 1
        given.reporter.progress(
            generation.number + 1,
            parameters.generations,
            f"best {findings.best[-1]:.1f}, mean {findings.mean[-1]:.1f}, "
            f"{generation.counts['wins']} of {generation.counts['games']} games won",
        )
    return findings, strategy.ask()


def _games(parameters: GeneticParameters, given: TrainingRun) -> HoleGames:
    return against(
        parameters.judge,
        parameters.seats,
        threads=given.threads,
        compute=given.compute,
        most_restarts=parameters.restarts,
        stuck_is_start=parameters.stuck == "start",
        by_own=parameters.own_distance,
        begins=parameters.begins,
    )


def _fresh(parameters: GeneticParameters, judge: str, given: TrainingRun) -> HoleGames:
    """Return games against a judge for selection and tests; the run's `begins` applies."""
    return against(
        judge,
        parameters.seats,
        threads=given.threads,
        compute=given.compute,
        begins=parameters.begins,
    )


def _draw(
    parameters: GeneticParameters, given: TrainingRun, findings: _Findings, best: Array
) -> None:
    """Write the same charts as in the report."""
    charts = genetic_figures.over_generations(
        parameters.seats, findings.best, findings.mean, findings.won
    )
    for name, generation in findings.shown.items():
        highest = generation.fitness.max()
        title = f"The fittest of generation {generation.number:,}: {highest:.1f}"
        charts[f"array-{name}.svg"] = genetic_figures.star(title, generation.fittest)
    charts["array-best.svg"] = genetic_figures.star("The best of the last populations", best)
    output.save_charts(given, charts)


def _tested(parameters: GeneticParameters, given: TrainingRun, array: Array) -> Iterator[str]:
    """Play an array against each judge, and yield the results with intervals."""
    count = parameters.test
    for judge in genetic_fitness.JUDGES:
        with closing(_fresh(parameters, judge, given)) as games:
            came = games.play(array[np.newaxis], [given.seed + 1], 0, count)[0]
        won = came[:, WON] > 0
        low, high = share_interval(float(won.mean()), count)
        plies = f", {came[won, PLIES].mean():.1f} plies per win" if won.any() else ""
        yield (
            f"against {judge}: won {100 * won.mean():.1f}% of {count} games "
            f"({100 * low:.1f} to {100 * high:.1f}){plies}, "
            f"fitness {genetic_fitness.scores(came).mean():.1f}"
        )


EXPERIMENT = Experiment(
    NAME,
    "distances of holes by the report's genetic algorithm",
    GeneticParameters,
    run,
)
