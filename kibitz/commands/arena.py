"""`kibitz arena`: run a tournament, given by a file or by flags, and print its results."""

from __future__ import annotations

import asyncio
import shlex
import shutil
import signal
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import click

from kibitz.builtin_games import load_games
from kibitz.local.tournament_services import LocalServices, choose_isolation
from kibitz.local.tournament_source import EXIT_UNABLE, resolve, with_concurrency
from kibitz.options import connection
from kibitz.options import match as options_match
from kibitz.options.output_path import OutputPath
from kibitz.options.workers import workers_option
from kibitz.output import echo, echo_json, tell
from kibitz.process.event_loop import draining, run
from kibitz.process.interrupts import EXIT_INTERRUPTED, TERMINATION
from kibitz.process.isolation.backends import BackendError
from kibitz.process.isolation.launch import is_local
from kibitz.text import progress_bar, result_tables
from kibitz.workers.blocks import load_sentence, task_terms, worker_problem
from kibitz.workers.pools import worker_pool
from kibitz.workers.port import PoolError
from kibitz_arena.report import export
from kibitz_arena.report import text as report_text
from kibitz_arena.results import Results
from kibitz_arena.runner.directory import TournamentDirectory
from kibitz_arena.runner.distributed_runner import DistributedRunner
from kibitz_arena.runner.hosting import START_SECONDS, ServerOptions
from kibitz_arena.runner.progress import ProgressDisplay
from kibitz_arena.runner.publish import publish, replay_page
from kibitz_arena.runner.tournament_runner import TournamentRunner
from kibitz_arena.tournament import Tournament
from kibitz_arena.tournament_state import TournamentState
from kibitz_bots.adapters.external_program import WithProgram
from kibitz_bots.number_types import COUNT, SEED, FiniteRange
from kibitz_clients.matches import recorded_match
from kibitz_clients.web import record_page
from kibitz_protocol import printable
from kibitz_protocol.atomic_write import write_atomically

Runner: TypeAlias = TournamentRunner | DistributedRunner
FORMATS = ("round-robin", "gauntlet", "swiss", "free-for-all")


@click.command(cls=WithProgram, short_help="Run a tournament with ratings.")
@click.argument("words", nargs=-1, metavar="[TOURNAMENT.yaml | DIRECTORY]")
@click.option("--game", metavar="GAME", help="The game of a tournament given by flags.")
@click.option(
    "--players", multiple=True, metavar="BOT...", help="Entrants: house bots or Python files."
)
@click.option(
    "--remote", multiple=True, metavar="NAME", help="Entrant that connects from elsewhere."
)
@click.option("--stdio", "kind", flag_value="stdio", help="PROGRAM speaks JSON lines over stdio.")
@click.option("--gomocup", "kind", flag_value="gomocup", help="PROGRAM is a Gomocup engine.")
@click.option("--memory", type=COUNT, metavar="MIB", help="Memory limit of each process.")
@click.option("--cpu", type=COUNT, metavar="S", help="CPU time limit of each process.")
@click.option(
    "--format", type=click.Choice(FORMATS), help="Pairing system.  [default: round-robin]"
)
@click.option("--seats", type=click.IntRange(2, 6), help="Seats per game.")
@click.option("--games", type=COUNT, help="Games per pairing or group.")
@click.option(
    "--blocks", type=COUNT, help="Blocks per pairing or group; a block has one game per seat."
)
@click.option("--rounds", type=COUNT, help="Rounds of a Swiss tournament.")
@click.option(
    "--challengers", type=COUNT, help="Gauntlet: the first N entrants are the challengers."
)
@click.option("--tc", metavar="TC", help="Clock: 10+0.1, move=1, none, ...")
@click.option(
    "--seed",
    type=SEED,
    help="Random seed.  [default: drawn, and published at the end]",
)
@click.option("--option", "options", multiple=True, metavar="KEY=VALUE", help="Option of the game.")
@click.option(
    "--opening",
    "openings",
    multiple=True,
    metavar="KEY=VALUE,..",
    help="Game options for the blocks, used in turn; or random=N for N random moves; or"
    " file=FILE for an opening file.",
)
@click.option(
    "--sprt",
    metavar="ELO0,ELO1",
    help="Stop as soon as the sequential test (SPRT) accepts ELO0 or ELO1.",
)
@click.option("--rated", is_flag=True, help="Count the games for the server's ratings.")
@click.option("--concurrency", metavar="N|auto", help="Games to play at once.  [default: auto]")
@click.option("--name", "title", help="Name of the tournament.")
@click.option(
    "--dir",
    "directory",
    type=OutputPath(directory=True),
    help="The tournament's directory.  [default: NAME.arena beside its file]",
)
@workers_option
@click.option("--server", metavar="URL", help="Play on this server instead of a private one.")
@click.option(
    "--token-file", type=click.Path(path_type=Path), help="File with your token for that server."
)
@click.option(
    "--wait",
    default=START_SECONDS,
    show_default=True,
    type=FiniteRange(1, 86_400),
    metavar="S",
    help="How long to wait for all entrants to connect.",
)
@options_match.isolation_option
@click.option("--html", type=OutputPath(), help="Also write the results page to this file.")
@click.option("--pages", is_flag=True, help="Also write a replay page for every game.")
@click.option("--json", "as_json", is_flag=True, help="Print the results as JSON.")
@click.option("-q", "--quiet", is_flag=True, help="Do not show progress.")
@click.option("-v", "--verbose", is_flag=True, help="Report every game.")
def arena(words: tuple[str, ...], **given: Any) -> None:
    """Run a tournament from TOURNAMENT.yaml or flags, or continue the one in DIRECTORY.

    Every entrant runs in its own process; untrusted code is isolated. The tournament starts a
    private server, or plays on the one at --server, which remote bots can join. The first Ctrl-C
    finishes the running games and prints the command to continue; a second one stops at once. After
    any interruption, the same command continues without losing or repeating a game.

    The exit status is 0 if all games were played without trouble, and 2 if the tournament could not
    begin. It is 1 if a bot crashed, made an illegal move, left or lost on time, or if the
    tournament cannot continue, and 130 if it was interrupted.

    \b
    kibitz arena final.yaml
    kibitz arena final.arena
    kibitz arena --game line-nim --players line-nim/random mybot.py --games 20 --tc 10+0.1
    kibitz arena --game five-in-a-row --players five-in-a-row/greedy --gomocup -- ./pbrain-engine
    kibitz arena final.yaml --server ws://127.0.0.1:8765 --token-file host.token
    """
    tournament, directory, base = resolve(words, given)
    if given["concurrency"] and given["game"] is None:
        tournament = with_concurrency(tournament, given["concurrency"])
    if given["workers"] is not None and (problem := worker_problem(tournament, given["server"])):
        raise click.UsageError(f"--workers: {problem}")
    token = connection.token(given["token_file"]) if given["token_file"] else None
    options = ServerOptions(server=given["server"], token=token, wait=given["wait"])
    directory.create(base)
    tournament = directory.with_seed(tournament)
    if tournament.commitment is not None:
        tell(f"SHA-256 of the seed: {tournament.commitment}")
    services = _services(tournament, directory, given)
    if given["games"] == 1:
        tell("one game per pairing is unbalanced because the seats are not equally strong")
    if services.has_strangers:
        tell(services.isolation_sentence)
    resume = _resume_command(directory, options, given)
    try:
        with progress_bar.shown(tell, quiet=given["quiet"]) as reporter:
            display = ProgressDisplay(reporter, loud=given["verbose"])
            if given["workers"] is None:
                runner: Runner = TournamentRunner(tournament, directory, options, services, display)
                state = run(_run(runner, resume))
            else:
                playing = _run_on_workers(tournament, directory, services, display, given)
                runner, state = run(playing)
    except PoolError as error:
        echo(f"Error: {error}", err=True)
        sys.exit(EXIT_UNABLE)
    sys.exit(_write_results(runner, state, resume, given))


async def _run_on_workers(
    tournament: Tournament,
    directory: TournamentDirectory,
    services: LocalServices,
    display: ProgressDisplay,
    given: dict[str, Any],
) -> tuple[Runner, TournamentState]:
    """Run the tournament on workers; return the runner and the final state."""
    async with worker_pool(given["workers"]) as pool:
        terms = task_terms(tournament, directory, services.isolation, pool, given["wait"])
        sentence = load_sentence(tournament, pool)
        if sentence is not None:
            display.say(sentence)
        display.say(
            f"{pool.size} workers play the games. You cannot watch them live, and results and"
            " records arrive in whole blocks"
        )
        runner = DistributedRunner(tournament, directory, pool, services, terms, display)
        resume = _resume_command(directory, ServerOptions(wait=given["wait"]), given)
        return runner, await _run(runner, resume)


def _services(
    tournament: Tournament, directory: TournamentDirectory, given: dict[str, Any]
) -> LocalServices:
    """Return the services that start entrants; exit if the requested isolation is unavailable."""
    tokens = [given["token_file"].absolute()] if given["token_file"] else []
    try:
        isolation = choose_isolation(tournament, directory, given["isolation"], tokens)
    except BackendError as error:
        echo(f"Error: {error}", err=True)
        sys.exit(EXIT_UNABLE)
    server = given["server"]
    elsewhere = server is not None and not is_local(server)
    return LocalServices(tournament, directory, replace(isolation, elsewhere=elsewhere))


async def _run(runner: Runner, resume: str) -> TournamentState:
    """Run the tournament; the first Ctrl-C, SIGTERM or SIGHUP drains it."""

    async def drain() -> None:
        runner.display.say("finishing the running games; press Ctrl-C again to stop at once")
        await runner.stop()

    try:
        async with draining(drain, (signal.SIGINT, *TERMINATION)):
            return await runner.run()
    except asyncio.CancelledError:
        runner.display.say(f"continue with: {resume}")
        raise


# Results


def _resume_command(
    directory: TournamentDirectory, options: ServerOptions, given: dict[str, Any]
) -> str:
    """Return the command that continues the tournament."""
    words = ["kibitz", "arena", str(directory.path)]
    words += ["--server", options.server] if options.server else []
    words += ["--token-file", str(given["token_file"])] if given["token_file"] else []
    words += ["--concurrency", given["concurrency"]] if given["concurrency"] else []
    words += ["--jail", given["isolation"]] if given["isolation"] != "auto" else []
    words += ["--workers", given["workers"]] if given["workers"] else []
    words += ["--wait", f"{given['wait']:g}"] if given["wait"] != START_SECONDS else []
    return shlex.join(words)


def _write_results(
    runner: Runner, state: TournamentState, resume: str, given: dict[str, Any]
) -> int:
    """Write and print the results, and return the exit status."""
    results = Results.of(runner.tournament, state)
    if given["pages"]:
        _write_replay_pages(results, runner)
    publish(results, runner.directory, given["html"])
    width = max(80, shutil.get_terminal_size((100, 24)).columns)
    if given["as_json"]:
        echo_json(export.results_json(results), nl=False)
    else:
        echo(report_text.render_text(results, width), nl=False)
    if not given["as_json"] and not given["quiet"]:
        echo(f"results: {runner.directory.path / 'results.html'}", err=True)
        _tell_reports(results, runner.directory)
    if runner.failure is not None:
        echo(f"Error: {runner.failure}", err=True)
    return _exit_status(runner, state, resume)


def _write_replay_pages(results: Results, runner: Runner) -> None:
    """Write the missing replay pages of games with a record; report failures and continue."""
    games, missing = load_games("plain"), 0
    for game in results.games:
        record = runner.directory.path / (game.record or "")
        page = replay_page(record)
        if not record.is_file() or page.is_file():
            continue
        try:
            write_atomically(
                page, record_page.render_html(recorded_match.load_record(record, games))
            )
        except (OSError, ValueError) as error:
            missing += 1
            runner.display.say(
                f"cannot write the page of game {game.tag}: {printable.line(str(error))}"
            )
    if missing:
        echo(f"{missing} games have no replay page", err=True)


def _tell_reports(results: Results, directory: TournamentDirectory) -> None:
    reports = [game.report for game in results.games if game.report is not None]
    if reports:
        games = "a game" if len(reports) == 1 else f"{len(reports)} games"
        echo(
            f"a seat was at fault in {games}; last report: {directory.path / reports[-1]}", err=True
        )


def _exit_status(runner: Runner, state: TournamentState, resume: str) -> int:
    stopped = state.stopped
    if state.finished or (stopped is not None and stopped.reason == "deadline"):
        return 1 if _abnormal(state) else 0
    if stopped is not None and stopped.reason == "failed" and runner.failure is None:
        echo(f"Error: the tournament cannot continue: {stopped.detail}", err=True)
    echo(f"continue with: {resume}", err=True)
    if runner.failure is not None:
        return 1 if state.played else EXIT_UNABLE
    return EXIT_INTERRUPTED if runner.stop_requested else 1


def _abnormal(state: TournamentState) -> bool:
    return any(
        seat.cause in result_tables.BOT_FAULTS or seat.takeover
        for ended in state.ended.values()
        for seat in ended.result.seats
    )
