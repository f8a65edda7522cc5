"""Virtual time: a scheduler of calls, and the part of an event loop that a server uses."""

from __future__ import annotations

import asyncio
import heapq
import itertools
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, cast


class TimerHandle:
    def __init__(self, call: Callable[[], object]) -> None:
        self.call = call
        self.cancelled = False

    def cancel(self) -> None:
        self.cancelled = True


class Scheduler:
    """Virtual time: what is due when; what is due at once is done in the order of asking."""

    def __init__(self) -> None:
        self.now = 1000.0
        self._calls: list[tuple[float, int, TimerHandle]] = []
        self._numbers = itertools.count()

    def call_at(self, when: float, call: Callable[[], object]) -> TimerHandle:
        handle = TimerHandle(call)
        heapq.heappush(self._calls, (max(when, self.now), next(self._numbers), handle))
        return handle

    def call_after(self, seconds: float, call: Callable[[], object]) -> TimerHandle:
        return self.call_at(self.now + seconds, call)

    def run_next(self) -> bool:
        """Do the next thing; return whether there was any."""
        while self._calls:
            when, _, handle = heapq.heappop(self._calls)
            if not handle.cancelled:
                self.now = when
                handle.call()
                return True
        return False

    def run_until(self, when: float) -> None:
        """Do all that is due until then, and what that makes due."""
        while self._calls and self._calls[0][0] <= when:
            if self._calls[0][2].cancelled:
                heapq.heappop(self._calls)
            else:
                self.run_next()
        self.now = when


class CompletedAwaitable:
    """An awaitable that is there already."""

    def __init__(self, value: object) -> None:
        self._value = value

    def __await__(self) -> Iterator[None]:
        return self._value  # type: ignore[return-value]
        yield


class VirtualLoop:
    """The part of an event loop that one life of the server uses; it dies with the server."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._coroutines: list[Any] = []
        self.running = True

    def stop(self) -> None:
        """Nothing that waits is ever done."""
        self.running = False
        for work in self._coroutines:
            work.close()

    def time(self) -> float:
        return self._scheduler.now

    def call_at(self, when: float, call: Callable[..., object], *args: object) -> TimerHandle:
        return self._scheduler.call_at(when, lambda: call(*args) if self.running else None)

    def call_later(self, wait: float, call: Callable[..., object], *args: object) -> TimerHandle:
        return self.call_at(self._scheduler.now + wait, call, *args)

    def call_soon(self, call: Callable[..., object], *args: object) -> TimerHandle:
        return self.call_at(self._scheduler.now, call, *args)

    def run_in_executor(
        self, executor: object, call: Callable[..., object], *args: object
    ) -> CompletedAwaitable:
        return CompletedAwaitable(call(*args))

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        return cast(asyncio.AbstractEventLoop, self)

    def spawn(self, work: Awaitable[None], wait: float) -> None:
        """Run a coroutine after a while; it waits for nothing but threads, which take no time."""
        self._coroutines.append(work)
        self.call_later(wait, self._step, work)

    def _step(self, work: Any) -> None:
        asyncio._set_running_loop(self.loop)
        try:
            waited = work.send(None)
        except StopIteration:
            return
        finally:
            asyncio._set_running_loop(None)
        if waited is not None:
            raise AssertionError("a coroutine of the server waited for something")
        self.call_soon(self._step, work)  # it lets others go first
