"""A server on a free port with its own database, running within a block.

`private_server` starts a process. `server_in_this_process` does not: a series of matches between
bots puts so little load on a server that a separate process costs more than it gains.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, ValidationError

from kibitz.builtin_games import find_game
from kibitz.process.child import child_process, log_tail
from kibitz.process.parent_death import child_command
from kibitz_server.accounts.identity import new_secret
from kibitz_server.housebots.process import secret_descriptor

if TYPE_CHECKING:
    from kibitz_server.directory.analyses import AnalysisCommand
    from kibitz_server.net.site import Site

START_SECONDS = 60.0
"""Seconds for a server to start; one is usual, more if machine code is compiled."""


class ServerAddress(BaseModel):
    """The first line of `kibitz serve --json`."""

    url: str
    http_url: str
    db: str


@dataclass(frozen=True)
class PrivateServer:
    """A running server: its address, and the directory of its database and logs."""

    address: ServerAddress
    directory: Path
    organizer: str | None = field(default=None, repr=False)
    """The secret that viewers and new players need on a closed server."""

    @property
    def url(self) -> str:
        """The URL for clients."""
        return self.address.url

    def page(self, path: str) -> str:
        """Return the address of a page, with the token that it needs."""
        token = "" if self.organizer is None else f"#token={self.organizer}"
        return f"{self.address.http_url}{path}{token}"


class ServerFailedError(OSError):
    """The private server did not start; the message ends with its output."""


@contextlib.asynccontextmanager
async def private_server(
    db: Path | None = None,
    options: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
    *,
    closed: bool = False,
) -> AsyncIterator[PrivateServer]:
    """Run a server within the block; without `db` its database is temporary.

    `env` is added to this process's environment. A `closed` server accepts new players only with
    the secret of `PrivateServer.organizer`, and limits all others to playing in their seats.
    Servers for untrusted code are closed.
    """
    organizer = new_secret() if closed else None
    with contextlib.ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="kibitz-")))
        path = db or directory / "kibitz.db"
        where = ("--port", "0", "--db", str(path))
        command = child_command(
            "kibitz", "serve", *where, "--json", "--unlimited", "--notes", *options
        )
        descriptors: list[int] = []
        if organizer is not None:
            descriptors = [stack.enter_context(secret_descriptor(organizer)).fileno()]
            command += ["--organizer-fd", str(descriptors[0])]
        log = directory / "server.log"
        async with child_process(
            command,
            log,
            listen=True,
            env=_environment() | dict(env or {}),
            descriptors=descriptors,
        ) as process:
            assert process.stdout is not None
            yield PrivateServer(await _read_address(process.stdout, log), directory, organizer)


@contextlib.asynccontextmanager
async def server_in_this_process(
    game: str,
    db: Path | None = None,
    *,
    site: Site | None = None,
    analysis_command: AnalysisCommand | None = None,
) -> AsyncIterator[PrivateServer]:
    """Run a closed server for one game on this event loop; without `db` its database is temporary.

    The rules run as Python: a ply takes at most a millisecond, and nothing is compiled first.
    """
    from kibitz_server.app import Config, running

    organizer = new_secret()
    with tempfile.TemporaryDirectory(prefix="kibitz-") as temporary:
        directory = Path(temporary)
        path = db or directory / "kibitz.db"
        rules = find_game(game)
        if rules is None:
            raise AssertionError(f"the command line has checked the game {game!r}")
        config = Config(port=0, db=path, unlimited=True, notes=True, organizer=organizer)
        served = running(config, {game: rules}, site=site, analysis_command=analysis_command)
        async with served as server:
            address = ServerAddress(url=server.url, http_url=server.http_url, db=str(path))
            yield PrivateServer(address, directory, organizer)


async def _read_address(stdout: asyncio.StreamReader, log: Path) -> ServerAddress:
    try:
        async with asyncio.timeout(START_SECONDS):
            line = await stdout.readline()
        return ServerAddress.model_validate_json(line)
    except (TimeoutError, ValidationError):
        raise ServerFailedError(f"the server did not start\n{log_tail(log)}".strip()) from None


def _environment() -> dict[str, str]:
    """Return this process's environment without variables for other players or servers."""
    return {
        name: value
        for name, value in os.environ.items()
        if name not in _IDENTITY_VARIABLES and not name.startswith(_SERVE_PREFIX)
    }


_SERVE_PREFIX = "KIBITZ_SERVE_"
"""The prefix of variables that configure the operator's server, not a private one."""
_IDENTITY_VARIABLES = frozenset({"KIBITZ_TOKEN", "KIBITZ_RESUME", "KIBITZ_SERVER"})
