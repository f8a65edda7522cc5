"""The interface to servers, entrants and records that the runner of a tournament uses.

The package imports neither the server nor the bots. The caller passes one object with these methods
(`kibitz.local.tournament_services.LocalServices`); tests pass another one.
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
    """The server and the lobby of an entrant, for its process."""

    url: str
    lobby: str
    at_once: int


@dataclass(frozen=True)
class OwnServer:
    """A server that is the tournament's own."""

    url: str
    organizer: str = field(repr=False)
    """The secret that new players need."""


WaitExit: TypeAlias = Callable[[], Awaitable[int]]
"""Waits for the end of a process and returns its exit status, negative for a signal."""


class Services(Protocol):
    """How the processes of a tournament are started, and how what matches leave is fetched."""

    @property
    def isolation(self) -> IsolationTool | None:
        """The tool that isolates entrants that are foreign code; None if there are none."""

    def server(self, database: Path) -> AbstractAsyncContextManager[OwnServer]:
        """Run a server on `database` for the length of the block, with a new secret."""

    def entrant(
        self, entrant: Entrant, join: JoinInfo, *, secret: str, hold: int
    ) -> AbstractAsyncContextManager[WaitExit]:
        """Run an entrant's process for the length of the block; it is ended with the block.

        `secret` is the resume secret of a guest or the token of an account, and is handed over on a
        descriptor. `hold` is the descriptor of a socket: a bot writes a byte to it once it has
        compiled what it needs, and connects when it reads one.
        """

    def log_tail(self, name: str) -> str:
        """Return the last lines of an entrant's log, which says what its process has printed."""

    def token(self, entrant: Entrant) -> str | None:
        """Return the token of the entrant's account, None for a guest."""

    async def record(self, url: str, match: str, directory: Path) -> Path:
        """Fetch the record of a match into `directory`; raises `OSError` if that fails."""

    def report(self, record: Record) -> MatchReport:
        """Return the report of a record; raises `ValueError` if it cannot be made."""

    def write_report(self, report: MatchReport, record: Path, directory: Path) -> Path | None:
        """Write the report of a record; return its path, None if no seat was at fault."""
