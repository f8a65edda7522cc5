"""The set of tasks that the server cancels when it ends."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

LOG = logging.getLogger("kibitz.app")


class TaskSet:
    """The tasks of a server, such as house bots and reads from disk."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def spawn(self, work: Callable[[], Awaitable[None]]) -> None:
        """Run the coroutine that a function returns; log its exceptions.

        It takes a function, not a coroutine: a task that is canceled before it starts would leave
        the coroutine unawaited.
        """
        task = asyncio.ensure_future(_guarded(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self, timeout_s: float = 2.0) -> None:
        """Cancel the running tasks, and wait up to `timeout_s` for them to end."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=timeout_s)


async def _guarded(work: Callable[[], Awaitable[None]]) -> None:
    try:
        await work()
    except Exception:
        LOG.exception("a task of the server failed")
