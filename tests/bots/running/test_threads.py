"""Running bots' code in threads."""

from __future__ import annotations

import asyncio
import contextvars
import threading

import pytest

from kibitz_bots.running.threads import in_thread
from kibitz_search.cancellation import CancelToken

_word: contextvars.ContextVar[str] = contextvars.ContextVar("_word")


async def test_the_outcome_comes_back_and_the_context_goes_along() -> None:
    _word.set("here")
    assert await in_thread(lambda: (_word.get(), threading.current_thread().name)) == (
        "here",
        "bot",
    )


@pytest.mark.parametrize("raised", [ValueError("x"), StopIteration("x"), SystemExit("x")])
async def test_whatever_is_raised_comes_back_as_an_exception(raised: BaseException) -> None:
    def fail() -> None:
        raise raised

    with pytest.raises((ValueError, RuntimeError), match="x"):
        await in_thread(fail)


async def test_nobody_has_to_wait_for_a_thread() -> None:
    go_on, started = threading.Event(), threading.Event()

    def wait() -> None:
        started.set()
        go_on.wait()

    waiting = asyncio.create_task(in_thread(wait))
    await asyncio.to_thread(started.wait)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    go_on.set()  # the outcome of an abandoned wait is dropped silently


def test_a_flag_tells_whoever_asked_while_they_ask() -> None:
    flag, told = CancelToken(), []
    with flag.notifying(lambda: told.append("past")):
        pass
    with flag.notifying(lambda: told.append("present")):
        flag.set()
        flag.set()
    with flag.notifying(lambda: told.append("late")):
        pass
    assert told == ["present", "late"]
