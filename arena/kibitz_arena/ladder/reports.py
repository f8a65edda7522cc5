"""Loss reports: why a seat dropped out, fetched from the server for the entrants' recent losses.

The server gives the lobby's host the messages that a bot received, its answers and its output.
Reports are fetched after the game is journaled, so they cause no delay. Failed fetches are retried.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Final

from kibitz_arena.ladder.state import LadderState
from kibitz_protocol.client.errors import RefusedError

PAUSE_SECONDS: Final = 2.0
TRIES: Final = 3
"""The maximum number of attempts to fetch a report."""

Fetch = Callable[[str, Path], Awaitable[None]]
"""Fetches the report of a match and writes it to a file; raises `RefusedError` or `OSError`."""


class LossReports:
    """Keeps reports for the entrants' recent losses in which they were at fault."""

    def __init__(
        self, state: LadderState, directory: Path, fetch: Fetch, tell: Callable[[str], None]
    ) -> None:
        self._state = state
        self._directory = directory
        self._fetch = fetch
        self._tell = tell
        self._tried: dict[str, int] = {}

    def files(self) -> Mapping[str, str]:
        """Return the available reports by match, as paths relative to the ladder's directory."""
        place = self._directory.name
        return {
            path.name.removesuffix(_SUFFIX): f"{place}/{path.name}"
            for path in self._directory.glob(f"*{_SUFFIX}")
        }

    async def run(self) -> None:
        """Fetch missing reports and remove obsolete ones until canceled."""
        while True:
            await self.update()
            await asyncio.sleep(PAUSE_SECONDS)

    async def update(self) -> None:
        """Fetch missing reports and remove obsolete ones once."""
        wanted, there = self._wanted(), {*self.files()}
        for match in there - wanted:
            self._path(match).unlink(missing_ok=True)
        for match in sorted(wanted - there):
            if self._tried.get(match, 0) < TRIES:
                await self._get(match)
        self._tried = {match: count for match, count in self._tried.items() if match in wanted}

    async def _get(self, match: str) -> None:
        try:
            await self._fetch(match, self._path(match))
        except (RefusedError, OSError, ValueError) as error:
            self._tried[match] = self._tried.get(match, 0) + 1
            if self._tried[match] == TRIES:
                self._tell(f"no report for match {match}: {error}")

    def _wanted(self) -> set[str]:
        return {
            game.match
            for entrant in self._state.entrants.values()
            for game in entrant.last_losses
            if game.causes[game.entrants.index(entrant.entrant)] is not None
        }

    def _path(self, match: str) -> Path:
        return self._directory / f"{match}{_SUFFIX}"


_SUFFIX: Final = ".report.txt"
