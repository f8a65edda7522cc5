"""`kibitz play`: a series of matches between bots, on a private server."""

from __future__ import annotations

import contextlib
import importlib
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from kibitz.browser import show_page
from kibitz.local.match_series import (
    AT_ONCE,
    MatchSeries,
    SeriesOutcome,
    check,
    climbing_plans,
    has_strangers,
    play_series,
    with_isolation,
    with_opponents,
)
from kibitz.options import match as options_match
from kibitz.options import notation
from kibitz.options.notation import GameChoice
from kibitz.options.output_path import OutputPath
from kibitz.options.program import Program, program_of_word, trailing_program
from kibitz.output import echo, echo_json, ignore, tell
from kibitz.process.event_loop import interrupted, run
from kibitz.text import progress_bar, series_score
from kibitz.text.lobby_progress import LobbyProgress
from kibitz_bots.adapters.external_program import WithProgram, program_options
from kibitz_bots.number_types import COUNT, SEED
from kibitz_protocol.wire.clocks import TimeControl


@click.command(cls=WithProgram, short_help="Play bots against each other on this machine.")
@click.argument("game", type=notation.GAME)
@click.argument("bots", nargs=-1)
@options_match.games_option
@click.option("--seed", type=SEED, help="Random seed of the first match.")
@options_match.clock_option
@click.option("--option", "pairs", multiple=True, metavar="KEY=VALUE", help="Option of the game.")
@options_match.rotate_option
@options_match.strict_option
@options_match.at_once_option(AT_ONCE)
@click.option(
    "--records",
    default="records",
    show_default=True,
    type=OutputPath(directory=True),
    help="Directory for the records.",
)
@click.option("--db", type=OutputPath(), help="Keep the private server's database in this file.")
@click.option(
    "--level",
    type=COUNT,
    default=1,
    show_default=True,
    help="Level of the computer if there are no BOTS.",
)
@click.option(
    "--climb", is_flag=True, help="Play a single bot against each level until it scores below half."
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@program_options
@options_match.isolation_option
@click.option("--list", "listed", is_flag=True, help="With a single bot, also list the matches.")
@click.option("--watch", is_flag=True, help="Show the matches in a browser until Ctrl-C.")
@click.option("-q", "--quiet", is_flag=True, help="Do not show progress.")
def play(
    game: GameChoice,
    bots: tuple[str, ...],
    pairs: tuple[str, ...],
    records: Path,
    db: Path | None,
    level: int,
    climb: bool,
    as_json: bool,
    listed: bool,
    watch: bool,
    quiet: bool,
    **given: Any,
) -> None:
    """Play GAME between BOTS: house bots like chinese-checkers/random, or files like mybot.py.

    Without BOTS you play against the computer in the terminal, at --level (1 is the weakest). A
    single bot plays ten games against the random bot and gets an Elo estimate; with --climb, it
    plays against one level of the computer after another, until it scores less than half.

    Every file, program and search runs in its own process. The command prints the results and the
    path of the records. The exit status is 1 if a bot failed.

    Write a program in any language as "stdio:COMMAND" or "gomocup:COMMAND". One more PROGRAM may
    follow --. With --stdio or --gomocup it uses that protocol. Otherwise it connects to
    KIBITZ_SERVER with the secret it reads from the descriptor KIBITZ_RESUME_FD, and joins
    KIBITZ_LOBBY.

    \b
    kibitz play connect-four --level 3
    kibitz play connect-four mybot.py --climb
    kibitz play chinese-checkers mybot.py chinese-checkers/greedy-hand --games 10
    kibitz play line-nim line-nim/random --stdio -- node bot.js
    kibitz play five-in-a-row "gomocup:./one" "gomocup:./two --fast"
    kibitz play chinese-checkers:size=3 chinese-checkers/random mybot.py mybot.py --tc 10+0.1
    """
    plan, told = _plan(game, bots, pairs, given), ignore if quiet else tell
    if not plan.bots:
        return _play_computer(plan.game, level, given["tc"])
    if climb:
        sys.exit(_climb(plan, records, db, told, given))
    alone = len(plan.bots) == 1
    plan = _prepare(with_opponents(plan), records, db, told, given)

    async def ended(played: SeriesOutcome) -> None:
        if alone and not as_json:
            _report_score(played, plan, listed=listed)
        else:
            _report(played, as_json=as_json)
        if watch:
            await _serve_pages()

    played = _play_series(plan, records, db, told, ended, alone=alone, watch=watch)
    sys.exit(1 if played.trouble else 0)


async def _serve_pages() -> None:
    tell("press Ctrl-C to stop serving the pages")
    await interrupted()


def _climb(
    plan: MatchSeries,
    records: Path,
    db: Path | None,
    told: Callable[[str], None],
    given: dict[str, Any],
) -> int:
    """Play against one level after another and print where the bot stands; return the status."""

    async def ended(_: SeriesOutcome) -> None:
        """Nothing to do while the server is still running."""

    plans = climbing_plans(plan)
    reached, trouble = 0, False
    for number, step in enumerate(plans, 1):
        step = _prepare(step, records, db, told, given)
        played = _play_series(step, records, db, told, ended)
        _report_trouble(played)
        trouble = trouble or bool(played.trouble)
        line = played.course.standing_of(step.names[0])
        if line is None or not line.played:
            break
        echo(series_score.climb_step(number, str(step.bots[1]), line))
        if series_score.share(line) < 0.5:
            break
        reached = number
    echo(series_score.climb_summary(plan.names[0], reached, len(plans)))
    return 1 if trouble else 0


def _play_computer(game: GameChoice, level: int, control: TimeControl) -> None:
    from kibitz.local.computer_match import play_computer  # needs much that matches of bots do not

    play_computer(game, level, control)


def _prepare(
    plan: MatchSeries,
    records: Path,
    db: Path | None,
    told: Callable[[str], object],
    given: dict[str, Any],
) -> MatchSeries:
    """Check a plan, report its caveats, and create the directory for its records."""
    check(plan)
    if note := options_match.unbalanced_note(plan.game.name, given["each"]):
        told(note)
    with _importing("kibitz_server.app"):  # meanwhile another process tests the isolation
        plan = with_isolation(plan, given["isolation"], records, db)
    if has_strangers(plan):
        told(plan.isolation.sentence)
    records.mkdir(parents=True, exist_ok=True)
    return plan


@contextlib.contextmanager
def _importing(module: str) -> Iterator[None]:
    """Import a module in a thread during the block; ignore errors, which occur again on use."""
    thread = threading.Thread(target=_try_import, args=(module,), name="import")
    thread.start()
    try:
        yield
    finally:
        thread.join()


def _try_import(module: str) -> None:
    with contextlib.suppress(ImportError):
        importlib.import_module(module)


def _plan(
    game: GameChoice, bots: Sequence[str], pairs: Sequence[str], given: dict[str, Any]
) -> MatchSeries:
    """Return the match series that the command line describes."""
    try:
        options = notation.parse_options(pairs, game.name)
        merged = notation.choose_game(game.name, game.options | options)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--option") from None
    entrants = [program_of_word(bot, given) or bot for bot in bots]
    programs = [entrant for entrant in entrants if isinstance(entrant, Program)]
    program = trailing_program(given, programs)
    entrants += [] if program is None else [program]
    return MatchSeries(
        game=merged,
        bots=entrants,
        games=given["each"],
        rotate=options_match.rotates(game.name, given["each"], rotate=given["rotate"]),
        strict=given["strict"],
        seed=given["seed"],
        time_control=given["tc"],
        at_once=given["at_once"],
        limits=options_match.limit_arguments(given["memory"], given["cpu"]),
        memory=given["memory"],
    )


def _play_series(
    plan: MatchSeries,
    records: Path,
    db: Path | None,
    told: Callable[[str], None],
    ended: Callable[[SeriesOutcome], Awaitable[None]],
    *,
    alone: bool = True,
    watch: bool = False,
) -> SeriesOutcome:
    """Play a series; if the first bot plays `alone`, show its score on a terminal."""
    began = time.monotonic()
    with progress_bar.shown(quiet=told is ignore or not sys.stderr.isatty()) as bar:

        def advanced(course: LobbyProgress) -> None:
            if (line := course.standing_of(plan.names[0])) is not None:
                text = series_score.progress(line, time.monotonic() - began)
                bar.progress(line.played, plan.games or 1, text)

        async def stopped(played: SeriesOutcome) -> None:
            bar.stop()
            await ended(played)

        return run(
            play_series(
                plan,
                records,
                db,
                told,
                web=watch,
                advanced=advanced if alone else None,
                opened=show_page if watch else ignore,
                ended=stopped,
            )
        )


def _report_score(played: SeriesOutcome, plan: MatchSeries, *, listed: bool) -> None:
    """Print the score of the first bot, and where to find reports of failures."""
    if listed and played.course.matches:
        echo(f"{played.course.tables()}\n")
    line = played.course.standing_of(plan.names[0])
    if line is not None:
        opponents = ", ".join(map(str, plan.bots[1:]))
        echo(series_score.summary(line, opponents, plan.game.name, len(plan.bots)))
    _report_trouble(played)


def _report(played: SeriesOutcome, *, as_json: bool) -> None:
    """Print the results."""
    if as_json:
        echo_json(played.json())
    elif played.course.matches:
        echo(played.course.tables())
    _report_trouble(played)


def _report_trouble(played: SeriesOutcome) -> None:
    """Print what went wrong, and the paths of the reports."""
    for path in played.reports.values():
        tell(f"a seat was at fault: {path}")
    for sentence in played.trouble:
        tell(sentence)
