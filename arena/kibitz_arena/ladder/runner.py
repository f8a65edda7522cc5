"""The runner of a ladder: runs sessions, each of which continues from the journal.

A session ends when the ladder's lobby no longer exists, when the disk fails, or on request. If the
server goes down, the session continues and tries to reconnect indefinitely.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kibitz_arena.ladder.config import Ladder
from kibitz_arena.ladder.directory import LadderDirectory
from kibitz_arena.ladder.entries import Kept
from kibitz_arena.ladder.hosting import LadderHost, find_ladder_lobby, moving_entries
from kibitz_arena.ladder.journal_file import LadderJournal
from kibitz_arena.ladder.keeper import LadderKeeper
from kibitz_arena.ladder.publisher import Publisher
from kibitz_arena.ladder.reports import Fetch, LossReports
from kibitz_arena.ladder.state import PlayedGame
from kibitz_arena.ladder.webhook import Webhook, post_json
from kibitz_arena.runner.arranged_lobby import LobbyGoneError
from kibitz_arena.runner.errors import first_error
from kibitz_arena.runner.journal_file import now_ms
from kibitz_arena.runner.publication import Publication
from kibitz_protocol.client.client import Client
from kibitz_protocol.client.errors import HelloRefusedError, SessionError
from kibitz_protocol.wire.reports import MatchReport

FIRST_PAUSE: Final = 1.0
"""The initial pause between sessions, in seconds."""
LONGEST_PAUSE: Final = 60.0
"""The maximum pause. The pause doubles after each session in which no game ended."""

WriteReport = Callable[[MatchReport, Path], None]
"""Writes a human-readable report to a file."""
Ended = Callable[[PlayedGame], None]
"""Receives each game that counts."""


@dataclass
class LadderRunner:
    """Runs a ladder on a server.

    `stop` may be called at any time. `tell` receives the log lines for people.
    """

    ladder: Ladder
    directory: LadderDirectory
    server: str
    token: str | None
    write_report: WriteReport
    tell: Callable[[str], None]
    stop_requested: bool = False
    _keeper: LadderKeeper | None = None

    async def stop(self) -> None:
        """Request no more games, and end once the running games have ended."""
        self.stop_requested = True
        if self._keeper is not None:
            self._keeper.stop()

    async def run(self) -> None:
        """Run the ladder until `stop` is called.

        Raises `JournalError` if the journal belongs to another ladder or is open elsewhere, and
        `HelloRefusedError` or `RefusedError` if the server refuses to host this ladder.
        """
        async with self._sending_results() as ended:
            await self._run_sessions(ended)

    async def _run_sessions(self, ended: Ended) -> None:
        pause = FIRST_PAUSE
        while not self.stop_requested:
            played = 0
            try:
                with self._open_journal() as journal:
                    before = journal.state.played
                    try:
                        await self._run_session(journal, ended)
                    finally:
                        played = journal.state.played - before
            except* (LobbyGoneError, OSError, SessionError) as group:
                error = first_error(group)
                if isinstance(error, HelloRefusedError):
                    raise error from None
                self.tell(f"{error}; continuing")
            if not self.stop_requested:
                pause = FIRST_PAUSE if played else min(2 * pause, LONGEST_PAUSE)
                await asyncio.sleep(pause)

    @contextlib.asynccontextmanager
    async def _sending_results(self) -> AsyncIterator[Ended]:
        """Send results to the webhook, if any, during the block."""
        if self.ladder.webhook is None:
            yield lambda game: None
            return
        webhook = Webhook(self.ladder.webhook, post_json, self.tell)
        async with asyncio.TaskGroup() as group:
            sending = group.create_task(webhook.run())
            yield webhook.put
            sending.cancel()

    def _open_journal(self) -> LadderJournal:
        journal = LadderJournal(self.directory.journal, self.ladder)
        journal.tell_torn(self.tell)
        try:
            journal.append(Kept(at_ms=now_ms(), ladder=self.ladder.dump()))
        except BaseException:
            journal.close()
            raise
        return journal

    async def _run_session(self, journal: LadderJournal, ended: Ended) -> None:
        host = LadderHost(self.ladder, self.directory, self.server, self.token)
        state = journal.state
        async with host.connect() as client:
            before = state.lobby
            lobby = await find_ladder_lobby(client, state)
            journal.append(*moving_entries(state, lobby, now_ms()))
            where = "continues" if lobby == before else "runs"
            self.tell(f"ladder {self.ladder.name} {where} in lobby {lobby} on {self.server}")
            reports = LossReports(
                state, self.directory.reports, self._report_fetcher(client), self.tell
            )
            publisher = Publisher(
                state,
                self.directory,
                self.server,
                here=lambda: keeper.here,
                reports=reports.files,
                now=now_ms,
                tell=self.tell,
            )
            keeper = LadderKeeper(
                client,
                lobby,
                journal,
                now=now_ms,
                rating=publisher.rating,
                on_ended=ended,
                tell=self.tell,
            )
            await self._keep(keeper, publisher.publication, reports)

    async def _keep(
        self, keeper: LadderKeeper, publication: Publication, reports: LossReports
    ) -> None:
        """Run the keeper until it ends; meanwhile publish the pages and fetch reports."""
        self._keeper = keeper
        if self.stop_requested:
            keeper.stop()
        try:
            async with asyncio.TaskGroup() as group:
                beside = [
                    group.create_task(publication.run()),
                    group.create_task(reports.run()),
                ]
                await keeper.keep()
                for task in beside:
                    task.cancel()
        finally:
            self._keeper = None
        await publication.update()

    def _report_fetcher(self, client: Client) -> Fetch:
        async def fetch(match: str, path: Path) -> None:
            report = (await client.report(match)).report
            await asyncio.to_thread(self.write_report, report, path)

        return fetch
