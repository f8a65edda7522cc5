"""Waits for the end of a child process."""

from __future__ import annotations

import asyncio
import os
from asyncio.subprocess import Process

RETRY_S = 0.05
"""Seconds between polls, on systems that cannot notify about a process's end."""


async def wait_exit(process: Process) -> int:
    """Wait until a process has ended, and return its status.

    `Process.wait` also waits until the process's pipes are closed. A program that the process left
    running may keep them open forever (python/cpython#119710). This function waits only for the
    process. On systems with process descriptors (Linux) it does not poll.
    """
    pause = 0.0  # the loop collects the exit status a few iterations after the end
    if process.returncode is None:
        try:
            descriptor = os.pidfd_open(process.pid)
        except (AttributeError, OSError):  # not Linux, or the exit status was already collected
            pause = RETRY_S
        else:
            await _wait_readable(descriptor)
    while process.returncode is None:  # noqa: ASYNC110 - nothing announces the status
        await asyncio.sleep(pause)
    return process.returncode


async def _wait_readable(descriptor: int) -> None:
    """Wait until a descriptor can be read, and close it."""
    loop, readable = asyncio.get_running_loop(), asyncio.Event()
    try:
        loop.add_reader(descriptor, readable.set)
        await readable.wait()
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)
