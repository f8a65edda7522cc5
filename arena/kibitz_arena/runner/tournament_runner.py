"""Runs a tournament to its end, in one or more sessions.

Each session continues from the journal.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

from kibitz_arena.entries import RunStarted
from kibitz_arena.runner.arranged_lobby import LobbyGoneError
from kibitz_arena.runner.concurrency import ConcurrencyLimit
from kibitz_arena.runner.directory import TournamentDirectory
from kibitz_arena.runner.errors import EntrantFailedError, first_error
from kibitz_arena.runner.hosting import MAX_AT_ONCE, ServerOptions, TournamentHost
from kibitz_arena.runner.journal_file import TournamentJournal, now_ms
from kibitz_arena.runner.live_file import live_file
from kibitz_arena.runner.players import EntrantPlayers
from kibitz_arena.runner.progress import ProgressDisplay
from kibitz_arena.runner.records import RecordCollector
from kibitz_arena.runner.scheduler import GameScheduler
from kibitz_arena.runner.services import JoinInfo, Services
from kibitz_arena.runner.session import NotReadyError, Session, is_unfinished
from kibitz_arena.runner.supervisor import EntrantSupervisor
from kibitz_arena.schedule import Schedule
from kibitz_arena.tournament import Tournament
from kibitz_arena.tournament_state import TournamentState
from kibitz_protocol.client.errors import KibitzError, RefusedError

MAX_FAILED_SESSIONS: Final = 3
"""How many sessions may fail in a row without a finished game."""
DATABASE_LOCK_SECONDS: Final = 20.0
"""How long to wait for the server of a killed run to exit, in seconds; it may take ten to shut
down."""


@dataclass
class TournamentRunner:
    """Runs a tournament. `stop` may be called at any time."""

    tournament: Tournament
    directory: TournamentDirectory
    options: ServerOptions
    services: Services
    display: ProgressDisplay
    schedule: Schedule | None = None
    """The games to play; None for the whole tournament."""
    concurrency: ConcurrencyLimit = field(init=False)
    stop_requested: bool = False
    """Whether a stop was requested."""
    failure: str | None = None
    """Why the run failed, if it did."""
    _scheduler: GameScheduler | None = None

    def __post_init__(self) -> None:
        self.concurrency = ConcurrencyLimit.of(self.tournament.concurrency, self.tournament.clock)

    async def stop(self) -> None:
        """Start no more games, and end once the running games have ended."""
        self.stop_requested = True
        if self._scheduler is not None:
            self._scheduler.stop("asked")

    async def run(self) -> TournamentState:
        """Play the remaining games and return the state of the tournament.

        Raises `JournalError` if the journal belongs to another tournament or is open elsewhere.
        """
        with TournamentJournal(self.directory.journal, self.tournament, self.schedule) as journal:
            journal.tell_torn(self.display.say)
            if not journal.state.finished:
                journal.append(RunStarted(at_ms=now_ms(), isolation=self.services.isolation))
                await self._run_sessions(journal)
            return journal.state

    async def _run_sessions(self, journal: TournamentJournal) -> None:
        failed = 0
        while not self.stop_requested and self.failure is None and is_unfinished(journal.state):
            before = journal.state.played
            try:
                await self._run_session(journal)
            except* (
                KibitzError,
                LobbyGoneError,
                NotReadyError,
                EntrantFailedError,
                OSError,
            ) as group:
                failed = 1 if journal.state.played > before else failed + 1
                self._fail(group, failed)

    def _fail(self, group: BaseExceptionGroup[Exception], failed: int) -> None:
        error = first_error(group)
        hopeless = isinstance(error, RefusedError | NotReadyError | EntrantFailedError)
        if failed >= MAX_FAILED_SESSIONS or hopeless:
            self.failure = str(error)
        else:
            self.display.say(f"{error}; continuing")

    async def _run_session(self, journal: TournamentJournal) -> None:
        host = TournamentHost(self.tournament, self.directory, self.options)
        async with contextlib.AsyncExitStack() as stack:
            url, organizer = await stack.enter_async_context(self._server())
            client = await stack.enter_async_context(host.connect(url, organizer))
            players = EntrantPlayers(self.directory, self.services, url, MAX_AT_ONCE, organizer)
            lobby = await host.lobby(client, players)
            own, say = organizer is not None, self.display.say
            if organizer is not None:
                say(f"watch the tournament in a browser: {_event_page(url, organizer)}")
            records = RecordCollector(url, client, self.directory, self.services, own, say)
            scheduler = GameScheduler(
                client,
                lobby,
                journal,
                self.concurrency,
                now=now_ms,
                fetch=records.collect,
                tell=self.display.say_game,
            )
            supervisor = EntrantSupervisor(
                self.tournament,
                self.directory,
                self.services,
                JoinInfo(url, lobby, MAX_AT_ONCE),
                played=scheduler.progress.games_of,
                tell=say,
                organizer=organizer,
            )
            session = Session(
                client,
                lobby,
                scheduler,
                supervisor,
                self.concurrency,
                self.options,
                self.display,
                live_file(journal, self.directory, lobby, say),
            )
            await self._play(scheduler, session)

    async def _play(self, scheduler: GameScheduler, session: Session) -> None:
        self._scheduler = scheduler
        if self.stop_requested:
            scheduler.stop("asked")
        try:
            await session.run()
        finally:
            self._scheduler = None
            self.failure = self.failure or session.failure

    @contextlib.asynccontextmanager
    async def _server(self) -> AsyncIterator[tuple[str, str | None]]:
        """Yield the server's URL, and the secret if the server is private."""
        if self.options.server is not None:
            yield self.options.server, None
            return
        await _wait_for_database(self.directory.database)
        async with self.services.server(self.directory.database) as server:
            self.directory.save_organizer(server.organizer)
            yield server.url, server.organizer


async def _wait_for_database(database: Path) -> None:
    """Wait until the server of a killed run releases the database."""
    deadline = time.monotonic() + DATABASE_LOCK_SECONDS
    while True:
        try:
            with FileLock(f"{database}.lock", timeout=0):
                return
        except Timeout:
            if time.monotonic() > deadline:
                raise OSError(f"{database}: in use by another server") from None
        await asyncio.sleep(0.1)


def _event_page(url: str, organizer: str) -> str:
    """Return the URL of the tournament's page on the private server; clients connect to `url`.

    The secret is in the fragment, which browsers do not send; the page uses it to log in.
    """
    return f"http{url.removeprefix('ws')}/event#token={organizer}"
