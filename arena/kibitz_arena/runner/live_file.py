"""The file from which a running tournament's page is made, written anew as games begin and end."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Final

from kibitz_arena.live import LiveEvent
from kibitz_arena.runner.directory import TournamentDirectory
from kibitz_arena.runner.journal_file import TournamentJournal
from kibitz_arena.state import TournamentState

PAUSE_SECONDS: Final = 1.0
"""The least time from one writing to the next."""
SHARE: Final = 0.02
"""Of one core, what the writing may take: ratings of thousands of games are computed each time."""


class LiveFile:
    """Keeps the file as the tournament is. `tell` is given a line when it cannot be written."""

    def __init__(
        self,
        journal: TournamentJournal,
        directory: TournamentDirectory,
        lobby: str,
        tell: Callable[[str], None],
    ) -> None:
        self._journal = journal
        self._directory = directory
        self._lobby = lobby
        self._tell = tell
        self._written: tuple[object, ...] | None = None
        """What the last file was made of."""
        self._failed = False
        self._writing = threading.Lock()
        """One writing at a time: the last one may begin while another is still in its thread."""

    async def keep(self) -> None:
        """Write whenever something has changed, until this is cancelled."""
        while True:
            before = time.perf_counter()
            await asyncio.to_thread(self.write)
            await asyncio.sleep(max(PAUSE_SECONDS, (time.perf_counter() - before) / SHARE))

    def write(self) -> None:
        """Write the file if something has changed. A failure is told once and harms nothing."""
        with self._writing:
            marks = self._journal.read(_marks)
            if marks != self._written:
                self._write(marks)

    def _write(self, marks: tuple[object, ...]) -> None:
        event = self._journal.read(lambda state: LiveEvent.of(state, self._lobby))
        try:
            self._directory.write_live(event.model_dump_json())
        except OSError as error:
            if not self._failed:
                self._tell(f"the event's page is not up to date: {error}")
            self._failed = True
        else:
            self._written, self._failed = marks, False


def _marks(progress: TournamentState) -> tuple[object, ...]:
    """Return what differs when the page does."""
    running = tuple(due.tag for due in progress.outstanding)
    return progress.played, progress.requeued, progress.stopped is not None, running
