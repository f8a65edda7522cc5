"""Waits for the end of a child process."""

from __future__ import annotations

import asyncio
import os
from asyncio import AbstractEventLoop
from asyncio.subprocess import Process
from collections.abc import Callable, Iterator
from contextlib import contextmanager

RETRY_S = 0.05
"""Seconds between polls, on systems that cannot notify about a process's end."""


async def wait_exit(process: Process) -> int:
    """Wait until a process has ended, and return its status.

    `Process.wait` also waits until the process's pipes are closed. A program that the process left
    running may keep them open forever (python/cpython#119710). This function waits only for the
    process. On systems with process descriptors (Linux) it does not poll.
    """
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[int] = loop.create_future()

    def look() -> None:
        if process.returncode is not None and not ended.done():
            ended.set_result(process.returncode)

    look()
    if not ended.done():
        with _calling_at_exit(loop, process.pid, look):
            await ended
    return ended.result()


@contextmanager
def _calling_at_exit(loop: AbstractEventLoop, pid: int, look: Callable[[], None]) -> Iterator[None]:
    """Call `look` in each event loop iteration after a process has ended.

    The loop collects the exit status a few iterations after the end. The descriptor stays readable,
    so `look` is called then too.
    """
    try:
        descriptor = os.pidfd_open(pid)
    except (AttributeError, OSError):  # not Linux, or the exit status was already collected
        with _calling_regularly(loop, look):
            yield
        return
    try:
        loop.add_reader(descriptor, look)
        yield
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)


@contextmanager
def _calling_regularly(loop: AbstractEventLoop, look: Callable[[], None]) -> Iterator[None]:
    timer: asyncio.TimerHandle | None = None

    def again() -> None:
        nonlocal timer
        look()
        timer = loop.call_later(RETRY_S, again)

    again()
    try:
        yield
    finally:
        if timer is not None:
            timer.cancel()
