"""Run a bot's own code in daemon threads, which never block the exit of the process.

The interpreter joins the threads of an executor at exit, so a bot that never returns would keep its
process alive forever.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, TypeVar

Outcome = TypeVar("Outcome")


class TurnCancelled(RuntimeError):
    """Raised in code that waits for an answer when the answer is no longer needed."""


class _Worker:
    """A reusable thread, since starting one costs more than a short turn."""

    def __init__(self) -> None:
        self._calls: SimpleQueue[Callable[[], None]] = SimpleQueue()
        threading.Thread(target=self._work, name="bot", daemon=True).start()

    def run(self, call: Callable[[], None]) -> None:
        """Run `call`, which must not raise, and then wait for the next one."""
        self._calls.put(call)

    def _work(self) -> None:
        while True:
            self._calls.get()()
            _idle.append(self)


_idle: list[_Worker] = []
"""The idle workers. A worker with a bot that never returns is not added again."""


async def in_thread(call: Callable[[], Outcome]) -> Outcome:
    """Run `call` in another thread, in a copy of the current context; return its result.

    If the wait is canceled, the thread keeps running and its result is dropped.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Outcome] = loop.create_future()
    context = contextvars.copy_context()

    def work() -> None:
        try:
            outcome = context.run(call)
        except BaseException as error:  # noqa: BLE001 - whatever a bot raises is its outcome
            _deliver(loop, future, future.set_exception, _as_exception(error))
        else:
            _deliver(loop, future, future.set_result, outcome)

    try:
        worker = _idle.pop()
    except IndexError:
        worker = _Worker()
    worker.run(work)
    return await future


def _as_exception(error: BaseException) -> Exception:
    """Wrap an exception that a future rejects (StopIteration) or that would end the process."""
    if isinstance(error, Exception) and not isinstance(error, StopIteration):
        return error
    stand_in = RuntimeError(f"{type(error).__name__} raised: {error}")
    stand_in.__cause__ = error
    return stand_in


def _deliver(
    loop: asyncio.AbstractEventLoop,
    future: asyncio.Future[Any],
    deliver: Callable[[Any], None],
    value: object,
) -> None:
    def settle() -> None:
        if not future.done():
            deliver(value)

    with contextlib.suppress(RuntimeError):  # the loop has closed, so nothing awaits the result
        loop.call_soon_threadsafe(settle)
