"""The task that plays blocks of games, and the data that a tournament sends with it.

A worker plays them as `kibitz arena` plays a tournament on one machine: on a private server, with a
process for each entrant, isolated if it is untrusted. All files are in a temporary directory.
"""

from __future__ import annotations

import base64
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from kibitz.local.tournament_services import LocalServices, choose_isolation, is_untrusted
from kibitz.output import ignore
from kibitz.text.progress_bar import Lines
from kibitz.workers.port import Json, PoolError
from kibitz_arena.entries import IsolationTool
from kibitz_arena.runner.block_task import (
    BlockOutcome,
    BlockTask,
    PlayedGame,
    TaskFile,
    WorkerPool,
)
from kibitz_arena.runner.concurrency import cpu_count
from kibitz_arena.runner.directory import TournamentDirectory
from kibitz_arena.runner.distributed_runner import TaskTerms
from kibitz_arena.runner.hosting import ServerOptions
from kibitz_arena.runner.progress import ProgressDisplay
from kibitz_arena.runner.tournament_runner import TournamentRunner
from kibitz_arena.schedule import FixedSchedule
from kibitz_arena.tournament import Entrant, Tournament
from kibitz_arena.tournament_state import TournamentState

MOST_BYTES: Final = 64 << 20
"""The maximum total size of a tournament's files in bytes; larger ones must be installed on the
workers."""


async def play(given: Json) -> Json:
    """Play a `BlockTask` in this process; return its `BlockOutcome`."""
    task = BlockTask.model_validate(given)
    # Entrants running as other users must reach their files; the tournament's directory is hidden.
    with tempfile.TemporaryDirectory(prefix="kibitz-block-") as temporary:
        base = Path(temporary)
        os.chmod(temporary, 0o755)
        lay_out(task.files, base)
        outcome = await _played(task, base)
    return outcome.model_dump(mode="json")


def lay_out(files: Sequence[TaskFile], base: Path) -> None:
    """Write files below `base`; raises `ValueError` for a path outside of it."""
    for file in files:
        path = base / file.path
        if not path.resolve().is_relative_to(base.resolve()):
            raise ValueError(f"expected a path below the tournament's base, not {file.path!r}")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(file.content))
        path.chmod(0o755 if file.executable else 0o644)


async def _played(task: BlockTask, base: Path) -> BlockOutcome:
    from kibitz_games.compiled import kernels

    kernels.set_mode("plain")  # only openings are drawn here; bots compile what they need
    tournament = Tournament.model_validate(task.tournament)
    directory = TournamentDirectory(base / "event.arena")
    directory.create(base)
    isolation = choose_isolation(tournament, directory, task.isolation, [])
    schedule = FixedSchedule(tournament, task.games)
    runner = TournamentRunner(
        tournament,
        directory,
        ServerOptions(wait=task.wait),
        LocalServices(tournament, directory, isolation),
        ProgressDisplay(Lines(ignore, ignore)),
        schedule,
    )
    state = await runner.run()
    return BlockOutcome(games=[*_games(state, directory)], failure=_failure(runner, state))


def _games(state: TournamentState, directory: TournamentDirectory) -> Iterator[PlayedGame]:
    for ended in state.ended.values():
        path = None if ended.record is None else directory.path / ended.record
        yield PlayedGame(ended=ended, record=None if path is None else path.read_text("utf-8"))


def _failure(runner: TournamentRunner, state: TournamentState) -> str | None:
    if state.finished:
        return None
    stopped = "" if state.stopped is None else state.stopped.detail
    return runner.failure or stopped or "the block ended before all its games were played"


# The data that a tournament sends


def worker_problem(tournament: Tournament, server: str | None) -> str | None:
    """Return why workers cannot play a tournament, None if they can."""
    if server is not None:
        return "expected no --server: workers play on private servers"
    remote = next((entrant.name for entrant in tournament.entrants if entrant.remote), None)
    if remote is not None:
        return f"{remote} is a remote entrant, but workers play on private servers"
    return None


def task_terms(
    tournament: Tournament,
    directory: TournamentDirectory,
    isolation: IsolationTool | None,
    pool: WorkerPool,
    wait: float,
) -> TaskTerms:
    """Return the data common to all tasks of a tournament; raises `PoolError`."""
    try:
        files = entrant_files(tournament, directory.base())
    except (OSError, ValueError) as error:
        raise PoolError(str(error)) from None
    # `concurrency` counts the games of the whole tournament, as on one machine, but each worker
    # plays at least one game.
    games = 1 if tournament.concurrency == "auto" else max(1, tournament.concurrency // pool.size)
    return TaskTerms(isolation, files, games, wait)


def load_sentence(tournament: Tournament, pool: WorkerPool) -> str | None:
    """Return a warning if games have clocks and more workers than processors share this machine."""
    cores = cpu_count()
    if pool.shared_machine and pool.size > cores and tournament.clock.limited:
        return (
            f"{pool.size} workers share {cores} processors; bots may lose on time because of "
            "the load"
        )
    return None


def entrant_files(tournament: Tournament, base: Path) -> tuple[TaskFile, ...]:
    """Return the files that the entrants need.

    These are a bot's file with the Python files beside it, and each file below the tournament's
    base that is named in a program's command. Everything else must be on the workers' machines.
    Raises `ValueError` if the files are too large or outside the base.
    """
    paths = sorted({path for entrant in tournament.entrants for path in _paths(entrant, base)})
    files, total = [], 0
    for path in paths:
        total += path.stat().st_size
        if total > MOST_BYTES:
            raise ValueError(
                f"the entrants' files are larger than {MOST_BYTES >> 20} MiB in total; install "
                "large programs on the workers' machines instead"
            )
        content = base64.b64encode(path.read_bytes()).decode()
        relative = path.relative_to(base).as_posix()
        files.append(TaskFile(path=relative, content=content, executable=os.access(path, os.X_OK)))
    return tuple(files)


def _paths(entrant: Entrant, base: Path) -> Iterator[Path]:
    if not is_untrusted(entrant):
        return
    if entrant.bot is not None:
        file = Path(os.path.normpath(base / entrant.bot))
        if not file.is_relative_to(base):
            raise ValueError(
                f"{entrant.name}: expected a bot below the tournament's base {base}, because only"
                f" files below it are sent to workers, not {entrant.bot}"
            )
        yield file
        yield from (path for path in file.parent.glob("*.py") if path.is_file())
        return
    for word in getattr(entrant, entrant.source):
        path = Path(os.path.normpath(base / word))
        if path.is_file() and path.is_relative_to(base):
            yield path
