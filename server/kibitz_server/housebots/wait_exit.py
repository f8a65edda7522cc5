"""The end of a child process."""

from __future__ import annotations

import asyncio
from asyncio.subprocess import Process

POLL_S = 0.02
"""How often it is looked whether a process has ended."""


async def wait_exit(process: Process) -> int:
    """Wait until a process has ended, and return its status.

    `Process.wait` waits for the end of its pipes as well, which something that the process has
    left running may hold open for ever (python/cpython#119710).
    """
    while (status := process.returncode) is None:  # noqa: ASYNC110 - nothing tells of it alone
        await asyncio.sleep(POLL_S)
    return status
