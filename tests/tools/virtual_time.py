"""Virtual time: a scheduler of calls, and the subset of an event loop that a server uses."""

from __future__ import annotations

import asyncio
import heapq
import itertools
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextvars import Context
from typing import Any, TypeVar, cast

_T = TypeVar("_T")


class TimerHandle:
    def __init__(self, call: Callable[[], object]) -> None:
        self.call = call
        self.cancelled = False

    def cancel(self) -> None:
        self.cancelled = True


class Scheduler:
    """A scheduler on virtual time; calls due at the same time run in the order of scheduling."""

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
        """Run the next call; return whether there was one."""
        while self._calls:
            when, _, handle = heapq.heappop(self._calls)
            if not handle.cancelled:
                self.now = when
                handle.call()
                return True
        return False

    def run_until(self, when: float) -> None:
        """Run all calls due until a time, including those they schedule."""
        while self._calls and self._calls[0][0] <= when:
            if self._calls[0][2].cancelled:
                heapq.heappop(self._calls)
            else:
                self.run_next()
        self.now = when


class CompletedAwaitable:
    """An awaitable that is already complete."""

    def __init__(self, value: object) -> None:
        self._value = value

    def __await__(self) -> Iterator[None]:
        return self._value  # type: ignore[return-value]
        yield


class VirtualLoop:
    """The subset of an event loop that one life of the server uses; it ends with the server."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._coroutines: list[Any] = []
        self.running = True

    def stop(self) -> None:
        """Discard all scheduled calls."""
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

    def spawn(self, work: Callable[[], Awaitable[None]], wait: float) -> None:
        """Start a coroutine after a delay; it may only wait for threads, which take no time."""
        self.call_later(wait, self._begin, work)

    def _begin(self, work: Callable[[], Awaitable[None]]) -> None:
        begun = work()
        self._coroutines.append(begun)
        self._step(begun)

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
        self.call_soon(self._step, work)  # it yields to other calls


class VirtualTaskLoop(VirtualLoop):
    """An event loop of one process, with tasks and futures, that can be frozen.

    Callbacks that become due while frozen run in order when the loop is thawed, as in a process
    that was stopped by a signal.
    """

    def __init__(self, scheduler: Scheduler) -> None:
        super().__init__(scheduler)
        self.frozen = False
        self.exceptions: list[str] = []
        """Uncaught exceptions."""
        self._overdue: list[Callable[[], None]] = []
        self._tasks: dict[asyncio.Task[Any], None] = {}

    def freeze(self) -> None:
        self.frozen = True

    def thaw(self) -> None:
        self.frozen = False
        overdue, self._overdue = self._overdue, []
        for call in overdue:
            self._scheduler.call_after(0.0, call)

    def stop(self) -> None:
        super().stop()
        for task in list(self._tasks):
            task._log_destroy_pending = False  # type: ignore[attr-defined]
            cast(Any, task.get_coro()).close()
        self._tasks.clear()

    def call_at(
        self,
        when: float,
        call: Callable[..., object],
        *args: object,
        context: Context | None = None,
    ) -> TimerHandle:
        handle = TimerHandle(lambda: None)

        def run() -> None:
            if not self.running or handle.cancelled:
                return
            if self.frozen:
                self._overdue.append(run)
            else:
                self.enter(lambda: call(*args) if context is None else context.run(call, *args))

        self._scheduler.call_at(when, run)
        return handle

    def call_later(
        self,
        wait: float,
        call: Callable[..., object],
        *args: object,
        context: Context | None = None,
    ) -> TimerHandle:
        return self.call_at(self._scheduler.now + wait, call, *args, context=context)

    def call_soon(
        self, call: Callable[..., object], *args: object, context: Context | None = None
    ) -> TimerHandle:
        return self.call_at(self._scheduler.now, call, *args, context=context)

    def enter(self, call: Callable[[], _T]) -> _T:
        """Call a function as the running loop."""
        before = asyncio._get_running_loop()
        asyncio._set_running_loop(self.loop)
        try:
            return call()
        finally:
            asyncio._set_running_loop(before)

    def create_future(self) -> asyncio.Future[Any]:
        return asyncio.Future(loop=self.loop)

    def create_task(
        self, work: Coroutine[Any, Any, _T], *, name: str | None = None
    ) -> asyncio.Task[_T]:
        task = self.enter(lambda: asyncio.Task(work, loop=self.loop, name=name))
        self._tasks[task] = None
        task.add_done_callback(lambda done: self._tasks.pop(done, None))
        return task

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        self.exceptions.append(f"{context.get('message')}: {context.get('exception')!r}")

    def get_debug(self) -> bool:
        return False

    def is_running(self) -> bool:
        return True

    def is_closed(self) -> bool:
        return not self.running
