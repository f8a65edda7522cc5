"""The experiments ``tanks/report`` and ``tanks/neuroevolution``: their runs and what they leave.

journal.jsonl   every generation (`training.journal`); a run that was ended goes on from it
best.json       the network: the report's fittest of the last generation, or the strategy's mean
*.svg           the highest and the mean points of each generation
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import numpy as np

from kibitz_search.tanks import networks, weights_file
from kibitz_search.tanks.network_games import Array, NetworkGames
from kibitz_search.tanks.neuroevolution import (
    ReportEvolution,
    SeparableCma,
    Stage,
    Step,
    source,
)
from kibitz_search.tanks.parameters import NeuroevolutionParameters, ReportParameters
from kibitz_search.training import output, weights
from kibitz_search.training.experiment import TrainingRun
from kibitz_search.training.figures import line_chart
from kibitz_search.training.journal import Journal, JournalError
from kibitz_search.training.statistics import Z

JOURNAL, BEST = "journal.jsonl", "best.json"
EVERY = 10
"""Generations between two stages in the journal."""
GAMES, TEST, TABLE = 2, 3, 4
"""Purposes of random numbers, besides those of the evolution."""
TABLE_GAMES = 5
DIGITS = 4

Entry = dict[str, Any]


def run_report(parameters: ReportParameters, given: TrainingRun) -> None:
    """Evolve the report's network, write it and the figures, and test it."""
    evolution = ReportEvolution(given.seed, parameters.population, networks.REPORT_WEIGHTS)
    scale = weights_file.SCALES[parameters.input]
    fittest: list[Array] = []

    def step(stage: Stage, generation: int) -> tuple[Stage, Entry]:
        chances = _seeds(given.seed, generation, GAMES, (parameters.population, 1))
        points = games.own_points(stage["population"], [0], chances)[:, 0]
        fittest[:] = [stage["population"][int(np.argmax(points))]]
        following = evolution.following(stage, points, generation)
        return following, _entry(generation, points, stage["population"])

    header = {"game": "tanks", "experiment": "report", "seed": given.seed}
    header |= parameters.model_dump(exclude={"generations", "test"})
    with (
        closing(
            NetworkGames("report", scale=scale, threads=given.threads, compute=given.compute)
        ) as games,
        Journal(given.out / JOURNAL, header) as journal,
    ):
        # The fittest of the last generation is that of a stage that is judged again.
        _go_on(journal, evolution.begin, step, parameters.generations, given)
        entries = journal.progress.generations[: parameters.generations]
        _draw(given, entries)
        file = weights_file.report_file(fittest[0].tolist(), parameters.input)
        _save(given, file, {"fitness": entries[-1]["best"], "generations": len(entries)})
        _tell_table(given, games, fittest[0])
        _tell_test(given, games, fittest[0], parameters.test)


def run_neuroevolution(parameters: NeuroevolutionParameters, given: TrainingRun) -> None:
    """Evolve a network with its own eyes, write it and the figures, and test it."""
    strategy = SeparableCma(given.seed, parameters.population, networks.EYES_WEIGHTS)
    seats = np.arange(parameters.games) % 4

    def step(stage: Stage, generation: int) -> tuple[Stage, Entry]:
        offspring = strategy.offspring(stage, generation)
        chances = _seeds(given.seed, generation, GAMES, (1, parameters.games))
        points = games.own_points(offspring, seats, np.tile(chances, (len(offspring), 1)))
        fitness = points.mean(axis=1)
        return strategy.following(stage, fitness, generation), _entry(
            generation, fitness, offspring
        )

    header = {"game": "tanks", "experiment": "neuroevolution", "seed": given.seed}
    header |= parameters.model_dump(exclude={"generations", "test"})
    with (
        closing(NetworkGames("eyes", threads=given.threads, compute=given.compute)) as games,
        Journal(given.out / JOURNAL, header) as journal,
    ):
        stage = _go_on(journal, strategy.begin, step, parameters.generations, given)
        entries = journal.progress.generations[: parameters.generations]
        _draw(given, entries)
        best = np.round(stage["mean"], DIGITS)
        _save(given, weights_file.eyes_file(best.tolist()), {"generations": len(entries)})
        _tell_table(given, games, best)
        _tell_test(given, games, best, parameters.test)


def _seeds(seed: int, generation: int, purpose: int, shape: tuple[int, int]) -> Any:
    return source(seed, generation, purpose).integers(0, 2**63, size=shape)


def _entry(generation: int, points: Array, judged: Array) -> Entry:
    return {
        "kind": "generation",
        "generation": generation,
        "best": float(points.max()),
        "mean": float(points.mean()),
        "hash": hashlib.sha256(judged.tobytes()).hexdigest()[:16],
    }


def _go_on(
    journal: Journal, begin: Callable[[], Stage], step: Step, last: int, given: TrainingRun
) -> Stage:
    """Go on to the last generation from the last stage before it; return the stage after it."""
    number, stage = _resume(journal, begin(), last)
    while number < last:
        known, lines = journal.progress.generations, journal.progress.populations
        if number % EVERY == 0 and number >= len(known) and number not in lines:
            journal.append(_stage_line(number, stage))
        stage, entry = step(stage, number)
        if number >= len(known):
            journal.append(entry)
        elif known[number] != entry:
            raise JournalError(
                f"{journal.path}: generation {number} came out otherwise than the journal says; "
                "expected the same package version and machine that it was begun with"
            )
        number += 1
        given.reporter.progress(
            number, last, f"highest {entry['best']:.0f}, mean {entry['mean']:.0f}"
        )
    journal.sync()
    return stage


def _stage_line(number: int, stage: Stage) -> Entry:
    numbers = {name: array.tolist() for name, array in stage.items()}
    return {"kind": "population", "generation": number, "stage": numbers}


def _resume(journal: Journal, first: Stage, last: int) -> tuple[int, Stage]:
    """Return the last stage of a journal that leaves a generation to be judged."""
    numbers = [number for number in journal.progress.populations if number < last]
    if not numbers:
        return 0, first
    number = max(numbers)
    line = journal.population(number)
    try:
        found = {name: np.array(line["stage"][name], np.float64) for name in first}
    except (KeyError, TypeError, ValueError):
        found = {}
    if any(name not in found or found[name].shape != first[name].shape for name in first):
        raise JournalError(
            f"{journal.path}: the population before generation {number}: expected numbers of "
            f"the shapes {', '.join(f'{name} {array.shape}' for name, array in first.items())}"
        )
    return number, found


def _draw(given: TrainingRun, entries: list[Entry]) -> None:
    """Write the charts that the report has."""
    for name, key, title in (
        ("highest.svg", "best", "Highest points in each generation"),
        ("mean.svg", "mean", "Mean points in each generation"),
    ):
        values = [entry[key] for entry in entries]
        chart = line_chart(title, values, across="generation", up="points")
        output.write(given.out / name, chart)
    given.reporter.say("wrote highest.svg, mean.svg")


def _save(given: TrainingRun, file: weights.WeightsFile, notes: dict[str, Any]) -> None:
    whole = file.model_copy(
        update={
            "command": given.command,
            "seed": given.seed,
            "date": datetime.now(UTC).date().isoformat(),
            "package": version("kibitz"),
            "notes": notes,
        }
    )
    weights.save(given.out / BEST, whole)
    given.reporter.say(f"wrote {BEST} ({file.hash[:12]})")


def _tell_table(given: TrainingRun, games: NetworkGames, network: Array) -> None:
    """Tell the points of all in five games, as the report does."""
    chances = _seeds(given.seed, 0, TABLE, (1, TABLE_GAMES))
    points = games.play(network[np.newaxis], [0] * TABLE_GAMES, chances, whole=True)[0]
    for number, (own, *others) in enumerate(points, 1):
        rest = ", ".join(f"{each:.0f}" for each in others)
        given.reporter.say(f"game {number}: {own:.0f} against {rest}")


def _tell_test(given: TrainingRun, games: NetworkGames, network: Array, count: int) -> None:
    """Tell the mean of many games in every seat in turn, with its 95% interval, and the wins."""
    chances = _seeds(given.seed, 0, TEST, (1, count))
    seats = np.arange(count) % 4
    points = games.play(network[np.newaxis], seats, chances, whole=True)[0]
    own = points[np.arange(count), seats]
    half = Z * float(own.std(ddof=1)) / count**0.5
    others = (points.sum() - own.sum()) / (3 * count)
    highest = points.max(axis=1)
    share = ((own == highest) / (points == highest[:, np.newaxis]).sum(axis=1)).mean()
    given.reporter.say(
        f"{count} games, every seat in turn: {own.mean():.1f} points on average "
        f"({own.mean() - half:.1f} to {own.mean() + half:.1f}), the others {others:.1f}; "
        f"won {100 * share:.1f}%, ties shared"
    )
