"""Child processes: each on a leash, each with a log of its own, each ended and waited for."""

from __future__ import annotations

import asyncio
import contextlib
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path

POLITE_SECONDS = 12.0
"""How long a child may take to end after it was asked to; a server drains for up to ten."""
TAIL_LINES = 12
"""How much of a log is shown when its writer failed."""


@contextlib.asynccontextmanager
async def child(
    command: Sequence[str], log: Path, env: Mapping[str, str] | None = None
) -> AsyncIterator[Process]:
    """Run a command for the length of the block; what it says on stderr goes to `log`."""
    with log.open("wb") as stderr:
        process = await asyncio.create_subprocess_exec(
            *command, stdin=DEVNULL, stdout=PIPE, stderr=stderr, env=env, start_new_session=True
        )
    try:
        yield process
    finally:
        await asyncio.shield(end(process))


async def end(process: Process) -> int:
    """Ask a process to end, insist after a while, and return its status."""
    with contextlib.suppress(ProcessLookupError):
        if process.returncode is None:
            process.terminate()
    try:
        async with asyncio.timeout(POLITE_SECONDS):
            return await process.wait()
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        return await process.wait()


def tail(log: Path) -> str:
    """Return the last lines of a log."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    return "\n".join(lines[-TAIL_LINES:])
