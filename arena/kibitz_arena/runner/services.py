"""The interface through which a tournament's runner uses servers, entrants and records.

The package imports neither the server nor the bots. The caller passes an object with these methods
(`kibitz.local.tournament_services.LocalServices`); tests pass a fake.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeAlias

from kibitz_arena.entries import IsolationTool
from kibitz_arena.tournament import Entrant
from kibitz_protocol.wire.recordfile import Record
from kibitz_protocol.wire.reports import MatchReport


@dataclass(frozen=True)
class JoinInfo:
    """The server and the lobby that an entrant's process connects to."""

    url: str
    lobby: str
    at_once: int


@dataclass(frozen=True)
class OwnServer:
    """A private server of the tournament."""

    url: str
    organizer: str = field(repr=False)
    """The secret that new players need to connect."""


WaitExit: TypeAlias = Callable[[], Awaitable[int]]
"""Waits for a process to end and returns its exit status, negative for a signal."""


class Services(Protocol):
    """Starts a tournament's processes and fetches records and reports."""

    @property
    def isolation(self) -> IsolationTool | None:
        """The tool that isolates untrusted entrants; None if there are none."""

    def server(self, database: Path) -> AbstractAsyncContextManager[OwnServer]:
        """Run a server on `database` during the block, with a new secret."""

    def entrant(
        self, entrant: Entrant, join: JoinInfo, *, secret: str, hold: int
    ) -> AbstractAsyncContextManager[WaitExit]:
        """Run an entrant's process during the block, and stop it at the end.

        `secret` is the resume secret of a guest or the token of an account; the process reads it
        from a file descriptor. `hold` is the descriptor of a socket. A bot writes a byte to it once
        it has compiled its code, and waits for a byte from it before it connects to the server.
        """

    def log_tail(self, name: str) -> str:
        """Return the last lines of an entrant's log, which has the output of its process."""

    def token(self, entrant: Entrant) -> str | None:
        """Return the token of the entrant's account, None for a guest."""

    async def record(self, url: str, match: str, directory: Path) -> Path:
        """Fetch the record of a match into `directory`; raises `OSError` on failure."""

    def report(self, record: Record) -> MatchReport:
        """Return the report of a record; raises `ValueError` if it cannot be created."""

    def write_report(self, report: MatchReport, record: Path, directory: Path) -> Path | None:
        """Write the report of a record; return its path, None if no seat was at fault."""
