"""The experiment ``chinese-checkers/genetic``: a run, what it leaves, and the test of the best.

journal.jsonl   every generation (`training.journal`); a run that was ended goes on from it
fittest.json    the array of the highest fitness that any individual had, by its few games
best.json       the array that was best when the last populations played anew
*.svg           fitness and games won over the generations, and arrays drawn on the star
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from typing import Any

import numpy as np

from kibitz_search.chinese_checkers import evolution, genetic_figures, genetic_selection
from kibitz_search.chinese_checkers.genetic_parameters import GeneticParameters
from kibitz_search.chinese_checkers.hole_arrays import GOAL, KIND
from kibitz_search.chinese_checkers.hole_games import PLIES, WON, HoleGames, against
from kibitz_search.training import genetic, journal, output, weights
from kibitz_search.training import run as training
from kibitz_search.training.experiment import TrainingRun
from kibitz_search.training.genetic import Array
from kibitz_search.training.statistics import wilson

JOURNAL, FITTEST, BEST = "journal.jsonl", "fittest.json", "best.json"
_NOT_OF_THE_RUN = {"generations", "test"}
"""Parameters that may differ when a run is gone on with."""

Entry = dict[str, Any]


@dataclass(frozen=True)
class _Evolution:
    """A run with everything that its generations are computed from."""

    parameters: GeneticParameters
    given: TrainingRun
    settings: genetic.Settings
    template: genetic.Template
    games: HoleGames
    file: journal.Journal

    def judge(self, population: Array, generation: int) -> evolution.Fitness:
        return evolution.evaluate(self.games, self.settings, population, generation)


def run(parameters: GeneticParameters, given: TrainingRun) -> None:
    """Evolve arrays, write the best and the figures, and test them against each judge."""
    settings = _settings(parameters, given.seed)
    template = evolution.template(settings, apart=parameters.fixed == "apart")
    header = parameters.model_dump(exclude=_NOT_OF_THE_RUN) | {"seed": given.seed}
    with (
        journal.Journal(given.out / JOURNAL, {"game": "chinese-checkers", **header}) as file,
        closing(_games(parameters, given)) as games,
    ):
        run = _Evolution(parameters, given, settings, template, games, file)
        stage = _evolve(run)
        best = _selected(run, stage)
        _draw(run, stage, best)
    _save(parameters, given, FITTEST, stage.best, _notes(stage))
    _save(parameters, given, BEST, best, {"generations": stage.generation})
    _test(parameters, given, FITTEST, stage.best)
    _test(parameters, given, BEST, best)


def _settings(parameters: GeneticParameters, seed: int) -> genetic.Settings:
    return genetic.Settings(
        seed=seed,
        population=parameters.population,
        generations=parameters.generations,
        keep_survivors=parameters.keep_survivors,
        patience=parameters.patience,
        lowest=parameters.lowest,
        highest=parameters.highest,
    )


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
    """Return the games of the selection and of the tests: begun as those of the run are."""
    return against(
        judge,
        parameters.seats,
        threads=given.threads,
        compute=given.compute,
        begins=parameters.begins,
    )


def _evolve(run: _Evolution) -> training.Stage:
    """Go on with the run to its end; return the last stage."""
    last = run.settings.generations
    stage = training.resume(run.settings, run.template, run.file)
    for stage, entry in training.run(run.settings, run.template, run.judge, run.file):
        run.given.reporter.progress(stage.generation, last, _line(entry))
    return stage


def _line(entry: Entry) -> str:
    return (
        f"best {entry['best']:.1f}, mean {entry['mean']:.1f}, "
        f"{entry['wins']} of {entry['games']} games won"
    )


def _selected(run: _Evolution, stage: training.Stage) -> Array:
    """Return the best of the last populations and of the fittest so far, by games of their own."""
    there = [number for number in run.file.progress.populations if number < stage.generation]
    numbers = sorted(there)[-genetic_selection.POPULATIONS :]
    each = [training.resume(run.settings, run.template, run.file, at) for at in numbers]
    candidates = [array for at in each for array in (at.population, at.best[np.newaxis])]
    everybody = np.concatenate([*candidates, stage.population, stage.best[np.newaxis]])
    with closing(_fresh(run.parameters, run.parameters.judge, run.given)) as games:
        return genetic_selection.best_of(games, everybody, run.given.seed)


def _draw(run: _Evolution, stage: training.Stage, best: Array) -> None:
    """Write the figures that the report has."""
    entries = run.file.progress.generations[: stage.generation]
    charts = genetic_figures.over_generations(run.games.seats, entries)
    fittest = partial(training.fittest_of, run.settings, run.template, run.file, run.judge)
    for name, number in genetic_figures.shown_generations(entries, stage.best_generation).items():
        title = f"The fittest of generation {number:,}: {entries[number]['best']:.1f}"
        charts[f"array-{name}.svg"] = genetic_figures.star(title, fittest(number))
    charts["array-best.svg"] = genetic_figures.star("The best of the last populations", best)
    for name, text in charts.items():
        output.write(run.given.out / name, text)
    run.given.reporter.say(f"wrote {', '.join(charts)}")


def _notes(stage: training.Stage) -> dict[str, int | float | str]:
    return {"fitness": stage.best_fitness, "generation": stage.best_generation}


def _save(
    parameters: GeneticParameters,
    given: TrainingRun,
    name: str,
    array: Array,
    notes: dict[str, int | float | str],
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
        notes=notes,
    )
    weights.save(given.out / name, file)
    given.reporter.say(f"wrote {name} ({file.hash[:12]})")


def _test(parameters: GeneticParameters, given: TrainingRun, name: str, array: Array) -> None:
    """Play an array against each judge, and tell what came of it with its interval."""
    for line in _tested(parameters, given, array) if parameters.test else ():
        given.reporter.say(f"{name} {line}")


def _tested(parameters: GeneticParameters, given: TrainingRun, array: Array) -> Iterator[str]:
    count = parameters.test
    for judge in evolution.JUDGES:
        with closing(_fresh(parameters, judge, given)) as games:
            came = games.play(array[np.newaxis], [given.seed + 1], 0, count)[0]
        won = came[:, WON] > 0
        low, high = wilson(int(won.sum()), count)
        plies = f", {came[won, PLIES].mean():.1f} plies a win" if won.any() else ""
        yield (
            f"against {judge}: won {100 * won.mean():.1f}% of {count} games "
            f"({100 * low:.1f} to {100 * high:.1f}){plies}, "
            f"fitness {evolution.scores(came).mean():.1f}"
        )
