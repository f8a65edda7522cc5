"""A server of one's own for a while: a process on a free port, with its own database."""

from __future__ import annotations

import asyncio
import contextlib
import os
import tempfile
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ValidationError

from kibitz.children import child, tail
from kibitz.leash import leashed

START_SECONDS = 60.0
"""How long a server may take to start; a second is usual, more where machine code is compiled."""


class Address(BaseModel):
    """What `kibitz serve --json` says in its first line."""

    url: str
    http_url: str
    db: str


@dataclass(frozen=True)
class PrivateServer:
    """Where the server is, and the directory of its database and logs."""

    address: Address
    directory: Path

    @property
    def url(self) -> str:
        """Where clients connect."""
        return self.address.url


class ServerFailedError(OSError):
    """The private server did not start; the message ends with what it said."""


@contextlib.asynccontextmanager
async def private_server(
    db: Path | None = None, options: Sequence[str] = ()
) -> AsyncIterator[PrivateServer]:
    """Run a server for the length of the block; without `db` its database is temporary."""
    with tempfile.TemporaryDirectory(prefix="kibitz-") as temporary:
        directory = Path(temporary)
        path = db or directory / "kibitz.db"
        where = ("--port", "0", "--db", str(path))
        command = leashed("kibitz", "serve", *where, "--json", "--unlimited", "--notes", *options)
        log = directory / "server.log"
        async with child(command, log, listen=True, env=_environment()) as process:
            assert process.stdout is not None
            yield PrivateServer(await _address(process.stdout, log), directory)


async def _address(stdout: asyncio.StreamReader, log: Path) -> Address:
    try:
        async with asyncio.timeout(START_SECONDS):
            line = await stdout.readline()
        return Address.model_validate_json(line)
    except (TimeoutError, ValidationError):
        raise ServerFailedError(f"the server did not start\n{tail(log)}".strip()) from None


def _environment() -> dict[str, str]:
    """Return this process's environment less what would speak for another player."""
    return {name: value for name, value in os.environ.items() if name not in _IDENTITY}


_IDENTITY = frozenset({"KIBITZ_TOKEN", "KIBITZ_RESUME", "KIBITZ_SERVER"})
