"""Runs a command's coroutine: the first Ctrl-C asks it to finish, the second cancels it."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from typing import Any, TypeVar

from kibitz.process import interrupts
from kibitz.process.interrupts import EXIT_INTERRUPTED, TERMINATION
from kibitz_protocol import event_loop

Answer = TypeVar("Answer")


def run(main: Coroutine[Any, Any, Answer]) -> Answer:
    """Run a coroutine to its end on the fastest available event loop.

    SIGTERM and SIGHUP cancel it, and so does Ctrl-C outside of `draining`. The process then exits
    with `EXIT_INTERRUPTED`.
    """
    try:
        return event_loop.run(_handling_signals(main))
    except (asyncio.CancelledError, KeyboardInterrupt):
        sys.exit(EXIT_INTERRUPTED)


async def _handling_signals(main: Coroutine[Any, Any, Answer]) -> Answer:
    task = asyncio.current_task()
    assert task is not None
    for number in (signal.SIGINT, *TERMINATION):
        _on_signal(number, task.cancel)
    return await main


@contextlib.asynccontextmanager
async def draining(
    finish: Callable[[], Coroutine[Any, Any, object]],
    signals: Sequence[signal.Signals] = (signal.SIGINT,),
) -> AsyncIterator[None]:
    """Within the block, start `finish` at the first of `signals`, and cancel this task at the
    second.

    The block ends when both its body and `finish` have ended.
    """
    task = asyncio.current_task()
    assert task is not None
    async with asyncio.TaskGroup() as group:

        def first() -> None:
            then(task.cancel)
            group.create_task(finish())

        def then(react: Callable[[], object]) -> None:
            for number in signals:
                _on_signal(number, react)

        then(first)
        try:
            yield
        finally:
            then(task.cancel)


async def interrupted() -> None:
    """Wait for Ctrl-C; a second one cancels this task."""
    pressed = asyncio.Event()

    async def press() -> None:
        pressed.set()

    async with draining(press):
        await pressed.wait()


def _on_signal(number: signal.Signals, react: Callable[[], object]) -> None:
    def received() -> None:
        interrupts.note(number)
        react()

    if not interrupts.is_ignored(number):
        with contextlib.suppress(NotImplementedError):  # no such signals on this system
            asyncio.get_running_loop().add_signal_handler(number, received)
