"""`kibitz train`: evolve the weights of a bot, as the report on Chinese Checkers did."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kibitz.output import echo

if TYPE_CHECKING:
    from kibitz_search.chinese_checkers.hole_games import HoleGames
    from kibitz_search.training.genetic import Settings
    from kibitz_search.training.run import Stage

JOURNAL, BEST = "journal.jsonl", "best.json"


@click.command(short_help="Evolve the weights of a bot by play.")
@click.argument("game", type=click.Choice(["chinese-checkers"]))
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), required=True)
@click.option("--seats", type=click.IntRange(2, 3), default=2, show_default=True)
@click.option("--population", type=int, default=20, show_default=True)
@click.option("--generations", type=int, default=8000, show_default=True)
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--keep-survivors", is_flag=True, help="Let the fittest live on beside children.")
@click.option(
    "--patience",
    type=int,
    default=10_000,
    show_default=True,
    help="After so many generations without a win begin with a new random population.",
)
@click.option(
    "--own-distance",
    is_flag=True,
    help="Measure a loser's way by its own array, not by the opponent's.",
)
@click.option(
    "--test",
    "test_games",
    type=click.IntRange(0),
    default=1000,
    show_default=True,
    help="Games of the best against each judge at the end.",
)
@click.option(
    "--threads", type=click.IntRange(1), default=None, help="One for each core if not said."
)
def train(
    game: str,
    out: Path,
    seats: int,
    population: int,
    generations: int,
    seed: int,
    keep_survivors: bool,
    patience: int,
    own_distance: bool,
    test_games: int,
    threads: int | None,
) -> None:
    """Evolve distance arrays for GAME with the genetic algorithm of its report.

    --out is a directory, which gets the journal, the best array and the figures. A run that was
    ended, in whatever way, goes on when the same command is given again. The array plays as
    chinese-checkers/greedy-weights:file=DIRECTORY/best.json.
    """
    from kibitz_search.chinese_checkers import evolution
    from kibitz_search.chinese_checkers.hole_games import HoleGames, distances
    from kibitz_search.training.genetic import ParameterError, Settings
    from kibitz_search.training.journal import JournalError

    try:
        settings = Settings(
            population=population,
            generations=generations,
            seed=seed,
            keep_survivors=keep_survivors,
            patience=patience,
        )
    except ParameterError as error:
        raise click.UsageError(f"--{str(error).replace('_', '-')}") from None
    out.mkdir(parents=True, exist_ok=True)
    workers = threads or os.cpu_count() or 1
    games = HoleGames(
        distances("hand"),
        seats,
        threads=workers,
        most_restarts=evolution.RESTARTS,
        by_own=own_distance,
    )
    try:
        _evolve(out, games, settings, own_distance)
        _test(out, seats, seed, test_games, workers)
    except JournalError as error:
        raise click.ClickException(str(error)) from None
    finally:
        games.close()


def _evolve(out: Path, games: HoleGames, settings: Settings, own_distance: bool) -> None:
    from kibitz_search.chinese_checkers import evolution
    from kibitz_search.training import run
    from kibitz_search.training.journal import Journal

    template = evolution.template()
    with _locked(out), Journal(out / JOURNAL, _header(games, settings, own_distance)) as journal:
        history = list(journal.progress.generations)
        stage = run.resume(settings, template, journal)
        known = len(history)
        with _progress(settings.generations, stage.generation) as show:
            for stage, entry in run.run(
                settings,
                template,
                lambda population, number: evolution.evaluate(games, settings, population, number),
                journal,
            ):
                if entry["generation"] >= known:
                    history.append(entry)
                show(stage, entry)
    _save(out, games, settings, stage, history)


def _header(games: HoleGames, settings: Settings, own_distance: bool) -> dict[str, Any]:
    """Return what has to be the same for a run to go on; how long it goes on may change."""
    return {
        "game": "chinese-checkers",
        "seats": games.seats,
        "population": settings.population,
        "seed": settings.seed,
        "keep_survivors": settings.keep_survivors,
        "patience": settings.patience,
        "own_distance": own_distance,
    }


@contextmanager
def _locked(out: Path) -> Iterator[None]:
    """Keep two runs out of one directory."""
    import filelock

    try:
        with filelock.FileLock(out / "lock", timeout=0):
            yield
    except filelock.Timeout:
        raise click.ClickException(f"{out}: another run is going on here") from None


@contextmanager
def _progress(total: int, done: int) -> Iterator[Any]:
    """Show a bar on a terminal, and a line now and then elsewhere."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    if not sys.stderr.isatty():

        def tell(stage: Stage, entry: dict[str, Any]) -> None:
            if stage.generation % 100 == 0 or stage.generation == total:
                echo(_line(entry), err=True)

        yield tell
        return
    from rich.console import Console

    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("", total=total, completed=done)
        yield lambda stage, entry: bar.update(
            task, completed=stage.generation, description=_line(entry)
        )


def _line(entry: dict[str, Any]) -> str:
    return (
        f"generation {entry['generation']}: best {entry['best']:.1f}, mean {entry['mean']:.1f}, "
        f"{entry['wins']} of {entry['games']} games won"
    )


def _save(
    out: Path, games: HoleGames, settings: Settings, stage: Stage, history: list[dict[str, Any]]
) -> None:
    """Write the best array and the figures."""
    from kibitz_search.chinese_checkers import evolution
    from kibitz_search.chinese_checkers.hole_games import GOAL
    from kibitz_search.training import figures, weights

    file = weights.WeightsFile(
        game="chinese-checkers",
        kind=evolution.KIND,
        shape={"board": "star", "size": 4, "goal": GOAL, "seats": games.seats},
        weights=stage.best.tolist(),
        command=shlex.join(["kibitz", *sys.argv[1:]]),
        seed=settings.seed,
        date=datetime.now(UTC).date().isoformat(),
        package=version("kibitz"),
        notes={"fitness": stage.best_fitness, "generation": stage.best_generation},
    )
    weights.save(out / BEST, file)
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
        (out / name).write_text(text, encoding="utf-8")
    echo(f"wrote {out / BEST} ({file.hash[:12]}) and {', '.join(charts)}")


def _test(out: Path, seats: int, seed: int, count: int, threads: int) -> None:
    """Play the best array against each judge, and tell what came of it with its interval."""
    import numpy as np

    from kibitz_search.chinese_checkers import evolution
    from kibitz_search.chinese_checkers.hole_games import PLIES, WON, HoleGames, distances
    from kibitz_search.training import weights

    if count == 0:
        return
    file = weights.load(out / BEST, game="chinese-checkers", kind=evolution.KIND)
    array = np.array([file.weights])
    for judge in evolution.JUDGES:
        games = HoleGames(distances(judge), seats, threads=threads)
        came = games.play(array, [seed + 1], 0, count)[0]
        games.close()
        won = came[:, WON] > 0
        low, high = _wilson(int(won.sum()), count)
        plies = f", {came[won, PLIES].mean():.1f} plies a win" if won.any() else ""
        echo(
            f"against {judge}: won {100 * won.mean():.1f}% of {count} games "
            f"({100 * low:.1f} to {100 * high:.1f}){plies}"
        )


def _wilson(wins: int, games: int) -> tuple[float, float]:
    """Return the 95% interval of a share (E. B. Wilson, 1927)."""
    z, share = 1.959964, wins / games
    middle = share + z * z / (2 * games)
    half = z * (share * (1 - share) / games + z * z / (4 * games * games)) ** 0.5
    scale = 1 + z * z / games
    return (middle - half) / scale, (middle + half) / scale
