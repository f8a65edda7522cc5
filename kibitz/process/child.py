"""Child processes, each with its own log; at the end they are terminated and awaited."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path

from kibitz.process import limits as process_limits
from kibitz_server.housebots.wait_exit import wait_exit

TERM_SECONDS = 12.0
"""Seconds for a child to exit after SIGTERM; a server may need ten."""
TAIL_LINES = 12
TAIL_BYTES = 16 << 10
"""The maximum number of bytes of a log to show after its process failed."""


@contextlib.asynccontextmanager
async def child_process(
    command: Sequence[str],
    log: Path,
    *,
    listen: bool = False,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    append: bool = False,
    descriptors: Sequence[int] = (),
) -> AsyncIterator[Process]:
    """Run a command within the block, with its output in `log`.

    With `listen` the caller must read its stdout. With `append` the log keeps the output of earlier
    commands. The command inherits `descriptors` and no other open files.
    """
    with log.open("ab" if append else "wb") as output:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=DEVNULL,
            stdout=PIPE if listen else output,
            stderr=output,
            env=env,
            cwd=cwd,
            pass_fds=tuple(descriptors),
            start_new_session=True,
        )
    try:
        yield process
    finally:
        await asyncio.shield(terminate(process))


async def terminate(process: Process) -> int:
    """Terminate a process, kill it after a timeout, and return its status. Then kill all remaining
    processes of its group.
    """
    try:
        return await _terminate_group(process)
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process_limits.remove_cgroup(process.pid)


async def _terminate_group(process: Process) -> int:
    with contextlib.suppress(ProcessLookupError):
        if process.returncode is None:
            process.terminate()
    try:
        async with asyncio.timeout(TERM_SECONDS):
            return await wait_exit(process)
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        return await wait_exit(process)


def log_tail(log: Path) -> str:
    """Return the last lines of a log, at most `TAIL_BYTES`."""
    with log.open("rb") as file:
        # A bot may write any amount of output without a line break.
        file.seek(max(0, file.seek(0, os.SEEK_END) - TAIL_BYTES))
        lines = file.read(TAIL_BYTES).decode(errors="replace").splitlines()
    return "\n".join(lines[-TAIL_LINES:])
