"""A worker pool for code without an event loop; the pool's loop runs in a separate thread."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, TypeVar

from kibitz.workers.pools import worker_pool
from kibitz.workers.port import Json, PoolError
from kibitz_arena.runner.block_task import TaskFailedError, WorkerLostError, WorkerPool

MOST_LOSSES: Final = 5
"""How often a task is retried on another worker after one was lost."""
Found = TypeVar("Found")


class PoolCompute:
    """An adapter that makes a pool a `kibitz_training.experiment.Compute`."""

    def __init__(self, pool: WorkerPool, loop: asyncio.AbstractEventLoop) -> None:
        self._pool = pool
        self._loop = loop

    @property
    def size(self) -> int:
        """The number of tasks to split an evaluation into."""
        return self._pool.size

    def run(self, task: str, given: Sequence[Json]) -> list[Json]:
        """Run a task for each of `given`, and return the answers in order.

        Raises `PoolError` if one fails.
        """
        return _wait(self._loop, self._run_all(task, given))

    async def _run_all(self, task: str, given: Sequence[Json]) -> list[Json]:
        return [*await asyncio.gather(*(self._run(task, item) for item in given))]

    async def _run(self, task: str, given: Json) -> Json:
        for losses in range(MOST_LOSSES + 1):
            try:
                return await self._pool.run(task, given)
            except WorkerLostError as error:
                if losses == MOST_LOSSES:
                    raise PoolError(f"{task}: {losses + 1} workers were lost: {error}") from None
            except TaskFailedError as error:
                raise PoolError(str(error)) from None
        raise AssertionError("the loop returns or raises")


@contextmanager
def computing(workers: str | None) -> Iterator[PoolCompute | None]:
    """Provide the pool for the value of ``--workers`` within the block, None without one."""
    if workers is None:
        yield None
        return
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="workers", daemon=True)
    thread.start()
    pool = worker_pool(workers)
    try:
        entered = _wait(loop, pool.__aenter__())
        try:
            yield PoolCompute(entered, loop)
        finally:
            _wait(loop, pool.__aexit__(None, None, None))
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def _wait(loop: asyncio.AbstractEventLoop, what: Coroutine[Any, Any, Found]) -> Found:
    """Wait for a coroutine on the loop; interrupting this thread cancels it."""
    future = asyncio.run_coroutine_threadsafe(what, loop)
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise
