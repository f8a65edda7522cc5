"""The experiment ``chinese-checkers/learned``: distances of holes by an evolution strategy.

An array is computed from `SIZE` numbers and is symmetric about the line between home and goal. Some
of the numbers set by how much each pair of rows is further away than the previous pair. One sets an
extra distance for the three deepest holes at home. The others set the cost of holes to the side of
the center line, near the goal, in the middle and at home. With all numbers 0, the array is
``stragglers``. A few thousand games, which take minutes, are enough to fit so few numbers, but not
to fit one number per hole.

The games are those of `plan_games`: all players plan two of their own moves ahead. All individuals
of a generation play the same openings. Their opponents are, in turn, ``stragglers``, ``hand``, and
the mean of the evolution strategy some generations ago. The result of a run is the final mean.

    journal.jsonl   all generations; an interrupted run resumes from it
    best.json       the array, for ``*-weights:file=best.json``
    *.svg           the lead by generation, and the array drawn on the star
"""

from __future__ import annotations

from contextlib import closing
from typing import Any

import numpy as np
from pydantic import Field

from kibitz_games.chinese_checkers import geometry as geo
from kibitz_protocol.wire.shares import share_interval
from kibitz_search.chinese_checkers import evaluation, weights_file
from kibitz_search.chinese_checkers.evaluation import distances
from kibitz_search.chinese_checkers.hole_arrays import GOAL, Array
from kibitz_training import figures, output
from kibitz_training.chinese_checkers.plan_games import PlanGames
from kibitz_training.cma import Cma
from kibitz_training.evolution import Judgement, evolve
from kibitz_training.experiment import Experiment, Parameters, TrainingRun
from kibitz_training.journal import Journal

NAME, BEST = "chinese-checkers/learned", "best.json"
ROWS = np.arange(0, 17, 2.0)
"""The boundaries of the row pairs, in steps from the goal's tip."""
ASIDE = np.array([2.0, 6.0, 10.0, 14.0])
"""The steps from the goal's tip at which the cost of holes to the side has numbers of its own."""
SIZE = (len(ROWS) - 1) + 2 * len(ASIDE) + 1
STEP = 0.3
"""The standard deviation of the first generation."""
DIGITS = 3
"""The decimals of the result; evaluations have about this resolution."""
REFRESH = 8
"""The interval in generations at which the mean used as an opponent is updated."""


class LearnedParameters(Parameters):
    """The length of the run, and the number of games per generation."""

    seats: int = Field(2, ge=2, le=6, description="players")
    population: int = Field(14, ge=4, le=1000, description="individuals per generation")
    generations: int = Field(60, ge=1, le=100_000, description="number of generations")
    openings: int = Field(
        24, ge=1, le=100_000, description="openings per individual, each played from all seats"
    )
    test: int = Field(
        200, ge=0, le=100_000, description="new openings for the test against stragglers"
    )


def array_of(numbers: Array) -> Array:
    """Return the array of distances that the numbers of an individual describe."""
    shape = geo.geometry("star", geo.COMMON["star"])
    tip, rear = shape.tips[GOAL], shape.tips[(GOAL + 3) % geo.CORNERS]
    holes = range(shape.holes)
    steps = np.array([float(shape.steps(hole, tip)) for hole in holes])
    aside = np.array([evaluation.aside(shape, rear, tip, hole) for hole in holes])
    deepest = np.array([shape.steps(hole, rear) <= 1 for hole in holes])
    rows, linear, square, last = np.split(numbers, np.cumsum([len(ROWS) - 1, 4, 4]))
    widths = np.diff(ROWS**evaluation.POWER) * np.exp(rows)
    ways = np.interp(steps, ROWS, np.concatenate([[0.0], np.cumsum(widths)]))
    ways += aside * np.interp(steps, ASIDE, 2 * linear)
    ways += aside**2 * np.interp(steps, ASIDE, square / 4) + 10 * last * deepest
    # Scale to the unit of stragglers, so that a Monte Carlo search can interpret leads the same
    # way.
    usual: Array = ways * (ROWS[-1] ** evaluation.POWER / np.sum(widths))
    return usual


def run(parameters: LearnedParameters, given: TrainingRun) -> None:
    """Evolve the numbers; write the array and the charts."""
    strategy = Cma(np.zeros(SIZE), STEP, parameters.population, given.seed)
    with (
        Journal.of_run(given, NAME, parameters, {"generations", "test"}) as journal,
        closing(PlanGames(parameters.seats, threads=given.threads)) as games,
    ):
        leads = _evolve(parameters, given, games, strategy, journal)
        array = np.round(array_of(strategy.mean), DIGITS)
        file = weights_file.file_of(array.tolist(), parameters.seats)
        notes = {"generations": parameters.generations, "lead": round(leads[-1], 3)}
        output.save_weights(given, BEST, file, notes)
        output.save_charts(given, _charts(parameters, games, array, leads))
        if parameters.test:
            given.reporter.say(_tested(parameters, given, games, array))


def _evolve(
    parameters: LearnedParameters,
    given: TrainingRun,
    games: PlanGames,
    strategy: Cma,
    journal: Journal,
) -> list[float]:
    """Run all generations; return their mean leads."""
    leads, own = list[float](), strategy.mean

    def judge(population: Array, number: int) -> Judgement:
        source = np.random.default_rng([given.seed, number, 4])
        seeds = source.integers(0, 2**63, size=parameters.openings)
        others = np.stack([distances("stragglers"), distances("hand"), array_of(own)])
        arrays = np.stack([array_of(individual) for individual in population])
        return Judgement(games.play(arrays, others, seeds).mean(axis=1), {})

    for generation in evolve(strategy, journal, parameters.generations, judge):
        done = generation.number + 1
        if done % REFRESH == 0:
            own = strategy.mean
        leads.append(float(generation.fitness.mean()))
        given.reporter.progress(done, parameters.generations, f"mean lead {leads[-1]:+.3f}")
    return leads


def _charts(
    parameters: LearnedParameters, games: PlanGames, array: Array, leads: list[float]
) -> dict[str, str]:
    """Return charts of the lead by generation and of the array, by file name."""
    places: list[Any] = [(x / 2, float(y)) for x, y in games.shape.points]
    return {
        "lead.svg": figures.line_chart(
            "Mean lead by generation, in percent",
            [100 * lead for lead in leads],
            across="generation",
            up="%",
        ),
        "array.svg": figures.dot_chart(
            f"Learned distances, {parameters.seats} players", places, array.tolist()
        ),
    }


def _tested(
    parameters: LearnedParameters, given: TrainingRun, games: PlanGames, array: Array
) -> str:
    """Report how often the array's seats are ahead of those of stragglers, in new openings."""
    source = np.random.default_rng([given.seed, 5])
    seeds = source.integers(0, 2**63, size=parameters.test)
    leads = games.play(array[np.newaxis], distances("stragglers")[np.newaxis], seeds)[0]
    share, count = float((np.sign(leads) + 1).mean() / 2), len(leads)
    low, high = share_interval(share, count)
    return (
        f"{BEST} against stragglers: ahead in {100 * share:.1f}% of {count} games "
        f"({100 * low:.1f} to {100 * high:.1f})"
    )


EXPERIMENT = Experiment(
    NAME,
    "distances of holes by an evolution strategy, for each number of seats",
    LearnedParameters,
    run,
    distributed=False,  # its games need the strategy's mean, so they run in one process
)
