"""Play a case like `kibitz arena`, in a directory from which it can be resumed."""

from __future__ import annotations

import shutil
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

from benchmarks.strength.cases import StrengthCase
from kibitz.local.tournament_services import LocalServices
from kibitz.output import tell
from kibitz.process.event_loop import draining, run
from kibitz.text import progress_bar
from kibitz_arena.journal import JournalError
from kibitz_arena.results import Results
from kibitz_arena.runner.directory import TournamentDirectory
from kibitz_arena.runner.hosting import ServerOptions
from kibitz_arena.runner.journal_file import TournamentJournal
from kibitz_arena.runner.progress import ProgressDisplay
from kibitz_arena.runner.session import is_unfinished
from kibitz_arena.runner.tournament_runner import TournamentRunner
from kibitz_arena.tournament import Tournament

TRIAL_SECONDS = 30.0
"""The timeout in seconds for a program to exit at the end of its input."""


class CaseFailedError(Exception):
    """Raised if an event does not finish; the message has the reason."""


class CaseInterruptedError(CaseFailedError):
    """Raised if the user interrupts an event; no further event should start."""


def play_case(
    case: StrengthCase, tournament: Tournament, directory: Path, *, quiet: bool = False
) -> Results:
    """Play a tournament to its end and return the result; raises `CaseFailedError`.

    If `directory` contains an unfinished run of the same tournament, the run is resumed. A finished
    or different tournament is replaced.
    """
    for entrant in tournament.entrants:
        if entrant.stdio is not None:
            _try_out(entrant.name, entrant.stdio, case.base)
    folder = TournamentDirectory(directory)
    if not _is_half_played(folder, tournament):
        shutil.rmtree(directory, ignore_errors=True)
    folder.create(case.base)
    services = LocalServices(tournament, folder)
    with progress_bar.shown(tell, quiet=quiet) as reporter:
        display = ProgressDisplay(reporter)
        runner = TournamentRunner(tournament, folder, ServerOptions(), services, display)
        return run(_run(runner))


def _try_out(name: str, command: Sequence[str], base: Path) -> None:
    """Start a program with empty input; raises `CaseFailedError` if it fails.

    Without this check, an engine that is not installed would lose every match and look weak.
    """
    try:
        tried = subprocess.run(
            command,
            cwd=base,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TRIAL_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CaseFailedError(f"{name} cannot play: {error}") from error
    if tried.returncode:
        last_words = tried.stderr.strip() or f"its program exited with status {tried.returncode}"
        raise CaseFailedError(f"{name} cannot play: {last_words}")


def _is_half_played(folder: TournamentDirectory, event: Tournament) -> bool:
    if not folder.journal.exists():
        return False
    try:
        with TournamentJournal(folder.journal, event) as journal:
            return is_unfinished(journal.state)
    except JournalError:
        return False


async def _run(runner: TournamentRunner) -> Results:
    """Play the tournament; the first Ctrl-C lets the running games end."""

    async def drain() -> None:
        runner.display.say("finishing the running games; press Ctrl-C again to stop at once")
        await runner.stop()

    async with draining(drain, (signal.SIGINT, signal.SIGTERM)):
        state = await runner.run()
    if is_unfinished(state):
        if runner.failure is not None:
            raise CaseFailedError(runner.failure)
        raise CaseInterruptedError("interrupted; run the same command to resume")
    return Results.of(runner.tournament, state)
