"""The experiment ``chinese-checkers/genetic``: a run, what it leaves, and the test of the best.

journal.jsonl   every generation (`training.journal`); a run that was ended goes on from it
best.json       the fittest array of all generations
*.svg           fitness and games won over the generations, and arrays drawn on the star
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import numpy as np

from kibitz_search.chinese_checkers import evolution
from kibitz_search.chinese_checkers.experiments import GeneticParameters
from kibitz_search.chinese_checkers.hole_games import GOAL, PLIES, WON, HoleGames, against
from kibitz_search.training import figures, genetic, journal, weights
from kibitz_search.training import run as training
from kibitz_search.training.experiment import TrainingRun
from kibitz_search.training.statistics import wilson

JOURNAL, BEST = "journal.jsonl", "best.json"
_NOT_OF_THE_RUN = {"generations", "test"}
"""Parameters that may differ when a run is gone on with."""

Entry = dict[str, Any]


def run(parameters: GeneticParameters, given: TrainingRun) -> None:
    """Evolve arrays, write the best and the figures, and test it against each judge."""
    settings = _settings(parameters, given.seed)
    with closing(_games(parameters, given.threads)) as games:
        stage, history = _evolve(parameters, given, settings, games)
        _save(parameters, given, games, stage, history)
    _test(parameters, given, stage.best)


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


def _games(parameters: GeneticParameters, threads: int) -> HoleGames:
    return against(
        parameters.judge,
        parameters.seats,
        threads=threads,
        most_restarts=parameters.restarts,
        stuck_is_start=parameters.stuck == "start",
        by_own=parameters.own_distance,
        begins=parameters.begins,
    )


def _evolve(
    parameters: GeneticParameters, given: TrainingRun, settings: genetic.Settings, games: HoleGames
) -> tuple[training.Stage, list[Entry]]:
    """Go on with the run to its end; return the last stage, and every generation."""
    header = parameters.model_dump(exclude=_NOT_OF_THE_RUN) | {"seed": given.seed}
    template = evolution.template(settings, apart=parameters.fixed == "apart")
    with journal.Journal(given.out / JOURNAL, {"game": "chinese-checkers", **header}) as file:
        history = list(file.progress.generations)
        stage, known = training.resume(settings, template, file), len(history)
        for stage, entry in training.run(
            settings,
            template,
            lambda population, number: evolution.evaluate(games, settings, population, number),
            file,
        ):
            if entry["generation"] >= known:
                history.append(entry)
            given.reporter.progress(stage.generation, settings.generations, _line(entry))
    return stage, history


def _line(entry: Entry) -> str:
    return (
        f"best {entry['best']:.1f}, mean {entry['mean']:.1f}, "
        f"{entry['wins']} of {entry['games']} games won"
    )


def _save(
    parameters: GeneticParameters,
    given: TrainingRun,
    games: HoleGames,
    stage: training.Stage,
    history: list[Entry],
) -> None:
    file = weights.WeightsFile(
        game="chinese-checkers",
        kind=evolution.KIND,
        shape={"board": "star", "size": 4, "goal": GOAL, "seats": parameters.seats},
        weights=stage.best.tolist(),
        command=given.command,
        seed=given.seed,
        date=datetime.now(UTC).date().isoformat(),
        package=version("kibitz"),
        notes={"fitness": stage.best_fitness, "generation": stage.best_generation},
    )
    weights.save(given.out / BEST, file)
    best = [entry["best"] for entry in history]
    rate = [100 * entry["wins"] / entry["games"] for entry in history]
    across, places = "generation", [(x / 2, float(y)) for x, y in games.shape.points]
    charts = {
        "fitness.svg": figures.line_chart("Fitness of the fittest", best, across=across, up=""),
        "wins.svg": figures.line_chart("Games won by the population", rate, across=across, up="%"),
        "array.svg": figures.dot_chart(
            f"The fittest of generation {stage.best_generation}", places, stage.best.tolist()
        ),
    }
    for name, text in charts.items():
        (given.out / name).write_text(text, encoding="utf-8")
    given.reporter.say(f"wrote {BEST} ({file.hash[:12]}) and {', '.join(charts)}")


def _test(parameters: GeneticParameters, given: TrainingRun, best: genetic.Array) -> None:
    """Play the best array against each judge, and tell what came of it with its interval."""
    for line in _tested(parameters, given, best) if parameters.test else ():
        given.reporter.say(line)


def _tested(
    parameters: GeneticParameters, given: TrainingRun, best: genetic.Array
) -> Iterator[str]:
    count = parameters.test
    for judge in evolution.JUDGES:
        with closing(against(judge, parameters.seats, threads=given.threads)) as games:
            came = games.play(best[np.newaxis], [given.seed + 1], 0, count)[0]
        won = came[:, WON] > 0
        low, high = wilson(int(won.sum()), count)
        plies = f", {came[won, PLIES].mean():.1f} plies a win" if won.any() else ""
        yield (
            f"against {judge}: won {100 * won.mean():.1f}% of {count} games "
            f"({100 * low:.1f} to {100 * high:.1f}){plies}"
        )
