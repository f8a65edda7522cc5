"""Files for spectators that follow the state of a tournament or a ladder."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final

from kibitz_arena.runner.arranged_lobby import uninterrupted

PAUSE_SECONDS: Final = 1.0
"""The minimum time between writes, in seconds."""


class Publication:
    """Rewrites files after each change.

    A failure is reported once and does not stop the run. `marks` returns a value that changes
    whenever the files have to be rewritten; `write` writes them and may use a `share` of one core.
    If writing fails, `tell` receives a line that starts with `what`.
    """

    def __init__(
        self,
        marks: Callable[[], object],
        write: Callable[[], Awaitable[None]],
        *,
        share: float,
        what: str,
        tell: Callable[[str], None],
    ) -> None:
        self._marks = marks
        self._write = write
        self._share = share
        self._what = what
        self._tell = tell
        self._written: object = None
        """The marks of the last write."""
        self._failed = False
        self._writing = asyncio.Lock()

    async def run(self) -> None:
        """Write after each change until canceled."""
        while True:
            before = time.perf_counter()
            await self.update()
            await asyncio.sleep(max(PAUSE_SECONDS, (time.perf_counter() - before) / self._share))

    async def update(self) -> None:
        """Write the files if something has changed."""
        async with self._writing:
            marks = self._marks()
            if marks != self._written:
                await uninterrupted(self._write_marked(marks))

    async def _write_marked(self, marks: object) -> None:
        try:
            await self._write()
        except OSError as error:
            if not self._failed:
                self._tell(f"{self._what} not up to date: {error}")
            self._failed = True
        else:
            self._written, self._failed = marks, False
