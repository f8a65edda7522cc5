"""The experiment ``chinese-checkers/learned``: distances of holes by evolution strategy.

An array is a smooth function of `SIZE` numbers, the same left and right of the line between home
and goal: how much further each pair of rows is than the one before, what a hole's width aside costs
near the goal, in the middle and at home, and what the three deepest holes of the home cost. All of
them at 0 is ``stragglers``. So few numbers can be told apart by the few thousand games that minutes
allow; one number a hole could not.

The games are those of `plan_games`: everybody plans two own moves ahead. All individuals of a
generation play the same openings, against ``stragglers``, ``hand``, and the mean of the strategy
some generations ago, in turn. The result is the last mean.

journal.jsonl   every generation; a run that was ended goes on from it
best.json       the array, for ``*-weights:file=best.json``
*.svg           the lead over the generations, and the array drawn on the star
"""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import numpy as np

from kibitz_games.chinese_checkers import geometry as geo
from kibitz_search.chinese_checkers import evaluation
from kibitz_search.chinese_checkers.hole_arrays import GOAL, KIND
from kibitz_search.chinese_checkers.hole_games import Array, distances
from kibitz_search.chinese_checkers.learning_parameters import LearnedParameters
from kibitz_search.chinese_checkers.plan_games import PlanGames
from kibitz_search.training import figures, output, weights
from kibitz_search.training.cma import Cma
from kibitz_search.training.experiment import TrainingRun
from kibitz_search.training.journal import Journal, JournalError
from kibitz_search.training.statistics import wilson

JOURNAL, BEST = "journal.jsonl", "best.json"
ROWS = np.arange(0, 17, 2.0)
"""Steps from the goal's tip between which a row's width is constant."""
ASIDE = np.array([2.0, 6.0, 10.0, 14.0])
"""Steps from the goal's tip at which the price of a hole's width aside is a number of its own."""
SIZE = (len(ROWS) - 1) + 2 * len(ASIDE) + 1
STEP = 0.3
"""How far the first generation is spread."""
DIGITS = 3
"""To so many decimals the result is rounded, which is a resolution of the evaluations."""
REFRESH = 8
"""Generations after which the strategy's own mean among the opponents is a new one."""


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
    # The unit is that of stragglers, so that a lead means the same to a Monte Carlo search.
    usual: Array = ways * (ROWS[-1] ** evaluation.POWER / np.sum(widths))
    return usual


def run(parameters: LearnedParameters, given: TrainingRun) -> None:
    """Evolve the numbers; write the array and the figures."""
    header = parameters.model_dump(exclude={"generations", "test"}) | {"seed": given.seed}
    strategy = Cma(np.zeros(SIZE), STEP, parameters.population, given.seed)
    with (
        Journal(given.out / JOURNAL, {"game": "chinese-checkers/learned", **header}) as file,
        closing(PlanGames(parameters.seats, threads=given.threads)) as games,
    ):
        leads = _evolve(parameters, given, games, strategy, file)
        array = np.round(array_of(strategy.mean), DIGITS)
        _save(parameters, given, games, array, leads)
        if parameters.test:
            given.reporter.say(_tested(parameters, given, games, array))


def _evolve(
    parameters: LearnedParameters,
    given: TrainingRun,
    games: PlanGames,
    strategy: Cma,
    file: Journal,
) -> list[float]:
    """Go through the generations, those of the journal without a game; return the mean leads."""
    leads, own = list[float](), strategy.mean
    for number in range(parameters.generations):
        if number % REFRESH == 0:
            own = strategy.mean
        if number < len(file.progress.generations):
            values = _known(file, number, parameters.population)
        else:
            values = _measure(parameters, given, games, strategy, own)
            file.append({"kind": "generation", "generation": number, "leads": values.tolist()})
        strategy.tell(values)
        leads.append(float(values.mean()))
        given.reporter.progress(number + 1, parameters.generations, f"mean lead {leads[-1]:+.3f}")
    file.sync()
    return leads


def _known(file: Journal, number: int, population: int) -> Array:
    """Return what a journal says of a generation."""
    try:
        values = np.array(file.progress.generations[number]["leads"], np.float64)
    except (KeyError, TypeError, ValueError):
        values = np.zeros(0)
    if values.shape != (population,) or not np.isfinite(values).all():
        raise JournalError(f"{file.path}: generation {number}: expected {population} leads")
    return values


def _measure(
    parameters: LearnedParameters, given: TrainingRun, games: PlanGames, strategy: Cma, own: Array
) -> Array:
    """Return the mean lead of each individual."""
    source = np.random.default_rng([given.seed, strategy.generation, 4])
    seeds = source.integers(0, 2**63, size=parameters.openings)
    others = np.stack([distances("stragglers"), distances("hand"), array_of(own)])
    arrays = np.stack([array_of(each) for each in strategy.ask()])
    found: Array = games.play(arrays, others, seeds).mean(axis=1)
    return found


def _save(
    parameters: LearnedParameters,
    given: TrainingRun,
    games: PlanGames,
    array: Array,
    leads: list[float],
) -> None:
    file = weights.WeightsFile(
        game="chinese-checkers",
        kind=KIND,
        shape={"board": "star", "size": 4, "goal": GOAL, "seats": parameters.seats},
        weights=array.tolist(),
        command=given.command,
        seed=given.seed,
        date=datetime.now(UTC).date().isoformat(),
        package=version("kibitz"),
        notes={"generations": parameters.generations, "lead": round(leads[-1], 3)},
    )
    weights.save(given.out / BEST, file)
    places: list[Any] = [(x / 2, float(y)) for x, y in games.shape.points]
    charts = {
        "lead.svg": figures.line_chart(
            "Mean lead of a generation, in percent",
            [100 * each for each in leads],
            across="generation",
            up="%",
        ),
        "array.svg": figures.dot_chart(
            f"Learned distances, {parameters.seats} players", places, array.tolist()
        ),
    }
    for name, text in charts.items():
        output.write(given.out / name, text)
    given.reporter.say(f"wrote {BEST} ({file.hash[:12]}) and {', '.join(charts)}")


def _tested(
    parameters: LearnedParameters, given: TrainingRun, games: PlanGames, array: Array
) -> str:
    """Say how often the array's seats are ahead of those of stragglers, in other openings."""
    source = np.random.default_rng([given.seed, 5])
    seeds = source.integers(0, 2**63, size=parameters.test)
    leads = games.play(array[np.newaxis], distances("stragglers")[np.newaxis], seeds)[0]
    ahead, count = float((np.sign(leads) + 1).sum() / 2), len(leads)
    low, high = wilson(ahead, count)
    return (
        f"{BEST} against stragglers: ahead in {100 * ahead / count:.1f}% of {count} games "
        f"({100 * low:.1f} to {100 * high:.1f})"
    )
