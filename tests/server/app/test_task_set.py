"""The tasks of a server: exceptions are logged, and tasks that end early leave nothing behind."""

from __future__ import annotations

import asyncio
import gc

import pytest

from kibitz_server.app.task_set import TaskSet


async def test_what_a_task_raises_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def fails() -> None:
        raise ValueError("planted")

    tasks = TaskSet()
    tasks.spawn(fails)
    await asyncio.sleep(0)
    assert [each.exc_info[0] for each in caplog.records if each.exc_info] == [ValueError]


async def test_a_task_that_is_cancelled_before_it_runs_has_begun_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A coroutine that is never awaited makes the interpreter warn, which fails this test."""
    ran: list[str] = []

    async def work() -> None:
        ran.append("work")

    tasks = TaskSet()
    tasks.spawn(work)
    await tasks.close()
    gc.collect()
    assert (ran, caplog.records) == ([], [])
