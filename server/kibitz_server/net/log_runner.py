"""The part of a runner that matches and lobbies share: log, announcements, timer and failures.

A runner passes commands to its engine, whose state is a fold over a log. It writes the entries that
result, and announces them and the other effects when they are durable:

    command --> engine --effects--> store ...commit... durable --> pending queue --> clients
       |                              \\--lost--> closed --> a new runner
       \\--exception--> closed --> its entries are durable --> a new runner

The state of a runner must never differ from its log. So when entries are lost, or an exception has
left the state ahead of the log, the runner is closed: it carries out nothing and refuses requests
as `unavailable`. `RunnerContext.log_lost` puts a new runner in its place, which is loaded from the
log. After more than `MAX_FAILURES` exceptions the new runner ends its match or lobby. If that fails
repeatedly too, the log is set aside.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from asyncio import AbstractEventLoop
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from kibitz_server.net.loop_clock import Deadline
from kibitz_server.net.peer import Peer
from kibitz_server.storage.errors import StoreError
from kibitz_server.storage.interface import Store
from kibitz_server.storage.pending import ErrorHandler, PendingQueue, no_handler
from kibitz_server.storage.streams import Stream


@dataclass(frozen=True, slots=True, kw_only=True)
class RunnerContext:
    """The services that all runners of a server use."""

    loop: AbstractEventLoop
    clock: Callable[[], int]
    """A monotonic clock, in milliseconds."""
    store: Store
    log_lost: Callable[[LogRunner, StoreError], None]
    """Loads a new runner from the log, in place of one that is closed."""


class LogRunner(ABC):
    """Runs a match or a lobby."""

    MAX_FAILURES: ClassVar[int]
    """The number of exceptions after which the match or lobby still continues."""
    context: RunnerContext

    def __init__(
        self, context: RunnerContext, stream: Stream, on_error: ErrorHandler = no_handler
    ) -> None:
        """`on_error` refers to a function that is called when an announcement has raised."""
        self.context = context
        self.stream = stream
        self.key = stream.key
        self.pending = PendingQueue(f"{stream.kind} {stream.key}", stream, on_error)
        """Answers and announcements that wait for entries to become durable."""
        self.closed = False
        """Whether this runner has stopped carrying out commands."""
        self.failures = 0
        """The number of exceptions since the start, in this runner and those it has replaced."""
        self._timer: Deadline | None = None
        self._timer_at = 0

    # --- the log (`storage.streams.Waiter`) ---------------------------------------------------

    def durable(self, seq: int) -> None:
        """Announce everything up to entry `seq`, which is now durable."""
        self.pending.durable(seq)

    def lost(self, error: StoreError) -> None:
        """Stop, because appended entries, none of them announced, could not be written."""
        self.drop()
        self.context.log_lost(self, error)

    def drop(self) -> None:
        """Stop for good, and refuse all requests that wait for the disk."""
        self.suspend()
        self.pending.lost()

    def suspend(self) -> None:
        """Stop; what is already written is still announced."""
        self.closed = True
        self._cancel_timer()

    def hold_answer(
        self, peer: Peer, request: int, answer: Callable[[], object], seq: int | None = None
    ) -> None:
        """Answer a request once entry `seq`, or everything written so far, is durable."""
        if self.closed:
            self.pending.turn_away(peer, request)
        else:
            due = self.stream.tail if seq is None else seq
            self.pending.hold_answer(due, peer, request, answer)

    # --- exceptions -------------------------------------------------------------------------

    def fail(self, peer: Peer | None = None, request: int = 0) -> None:
        """Handle an exception, and answer the request that has raised it."""
        self.recover()
        self.pending.fail(peer, request)

    def recover(self) -> None:
        """Have this runner replaced, once all of its entries are on disk and announced."""
        if self.closed or self.stream.closed:
            return
        self.failures += 1
        self.suspend()
        error = StoreError("an exception")
        self.pending.reload_when_durable(partial(self.context.log_lost, self, error))

    # --- the timer --------------------------------------------------------------------------

    def wake_at(self, due: int | None) -> None:
        """Make sure that `tick` runs at a time of the server's clock.

        An earlier timer stays, because letting it fire is cheaper than resetting it.
        """
        if due is None or self.closed or (self._timer is not None and self._timer_at <= due):
            return
        self._cancel_timer()
        self._timer_at = due
        self._timer = Deadline(self.context.loop, self.context.clock, due, self.tick)

    def tick(self) -> None:
        """Run the timers that are due."""
        self._timer = None
        if not self.closed:
            self.run_due(self.context.clock())

    @abstractmethod
    def run_due(self, now: int) -> None:
        """Do what is due at `now`."""

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
