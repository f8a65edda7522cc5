"""Group commit for all database engines: entries that arrive together share one transaction.

A batch contains everything that arrives while the previous batch is being written, plus any input
waiting in the sockets at that point. All these moves share the cost of one sync or round trip.

`GroupCommit` gathers batches, retries them, gives up on them, and notifies the waiters. The engine
(`sqlite/writer.py`, `postgres/writer.py`) implements `write(batch, done)`, which starts one attempt
to write a batch (never two at a time) and calls `done` on the event loop with the result:

    None            the batch is on disk
    TakenOver       another server owns the database: write nothing more
    WriteFailed     the batch is not on disk, as far as the engine can tell now

After an error the commit may still have happened, so the engine looks it up. If the lookup fails
too, the engine repeats it at the start of the next call of `write`, before it writes anything else.
`GroupCommit` passes a new batch to `write` only after the previous one was written or abandoned.

Waiters are notified after the commit. A batch that cannot be written is abandoned, together with
all entries that arrived after it. The streams of these entries become `failed` and accept no more
entries. They must be reloaded from disk, where they end with the last acknowledged entry.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from kibitz_protocol.wire.recordfile import chain_hash
from kibitz_server.storage.errors import StoreError, TakenOver, WriteFailed
from kibitz_server.storage.interface import UNHURRIED_S
from kibitz_server.storage.streams import Stream, Waiter

LOG = logging.getLogger("kibitz.store")
RETRY_DELAYS_S = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
"""Seconds before each retry of a failed batch."""
PROBE_AFTER_S = 2.0
"""Seconds after abandoning a batch until an empty batch probes whether the disk works again."""


Waiting: TypeAlias = tuple[Stream | None, int, Waiter | None]
"""A stream (None for a row of another table), an entry's number, and its waiter."""


@dataclass(frozen=True, slots=True)
class Statement:
    """An SQL statement of a batch that writes a row of another table."""

    sql: str
    values: Sequence[Any]
    applied: Callable[[int], None] | None = None
    """Called after the commit with the number of changed rows (PostgreSQL only)."""
    lobby: str | None = None
    """The lobby that the row belongs to, if nodes own lobbies."""


@dataclass(slots=True)
class Batch:
    """Entries and rows that one transaction writes."""

    entries: list[tuple[int, int, str, bytes]] = field(default_factory=list)
    """Per entry: the stream's number, the entry's number, its hash chain link, and its line."""
    statements: list[Statement] = field(default_factory=list)
    closing: list[Stream] = field(default_factory=list)
    """The streams that this batch closes."""
    waiting: list[Waiting] = field(default_factory=list)
    attempts: int = 0
    started: float = 0.0


Done: TypeAlias = Callable[[WriteFailed | None], None]


def _ignore(entries: int, seconds: float) -> None:
    """Observe nothing."""


class GroupCommit:
    """Gathers batches, passes them to an engine, and notifies the waiters of the results."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        write: Callable[[Batch, Done], None],
        *,
        retries: Sequence[float] = RETRY_DELAYS_S,
        observe: Callable[[int, float], None] | None = None,
    ) -> None:
        """`observe(entries, seconds)` is called after each commit."""
        self._loop = loop
        self._write = write
        self._retries = tuple(retries)
        self._observe = observe or _ignore
        self.on_failure: Callable[[StoreError], None] | None = None
        self.healthy = True
        self.failure: StoreError | None = None
        self.gathering = Batch()
        """The next batch."""
        self._unhurried: list[tuple[tuple[Statement, ...], Waiter | None]] = []
        """Rows that wait for the next batch instead of starting one."""
        self._unhurried_timer: asyncio.TimerHandle | None = None
        self._writing: Batch | None = None
        self._begin_scheduled = False
        self._flush_waiters: list[asyncio.Future[None]] = []

    # --- input --------------------------------------------------------------------------------

    def append(self, stream: Stream, seq: int, line: bytes, waiter: Waiter | None) -> None:
        """Add entry `seq` to a stream; see `Store.append`."""
        if seq != stream.tail + 1 or stream.failed or stream.closed:
            raise WriteFailed(f"stream {stream.key!r} ends at {stream.tail}, cannot add {seq}")
        stream.tail = seq
        stream.chain = link = chain_hash(stream.chain, line)
        self.gathering.entries.append((stream.number, seq, link, line))
        self.wait(stream, seq, waiter)

    def end(self, stream: Stream, waiter: Waiter | None) -> None:
        """Close a stream with the next batch; nothing may be appended to it afterwards."""
        self.gathering.closing.append(stream)
        stream.closed = True
        self.wait(stream, stream.tail, waiter)

    def execute(self, *statements: Statement, waiter: Waiter | None = None) -> None:
        """Write rows of other tables with the next batch."""
        self._gather_unhurried()
        self.gathering.statements += statements
        self.wait(None, 0, waiter)

    def execute_unhurried(self, *statements: Statement, waiter: Waiter | None = None) -> None:
        """Write rows with the next batch, or in their own batch after `UNHURRIED_S`.

        This saves a commit for rows that matter only once a later row refers to them. The rows
        reach the disk no later than anything appended or executed after them.
        """
        if not self._unhurried:
            self._unhurried_timer = self._loop.call_later(UNHURRIED_S, self._gather_unhurried)
        self._unhurried.append((statements, waiter))

    def _gather_unhurried(self) -> None:
        """Add the unhurried rows to the next batch."""
        if not self._unhurried:
            return
        if self._unhurried_timer is not None:
            self._unhurried_timer.cancel()
        rows, self._unhurried = self._unhurried, []
        for statements, waiter in rows:
            self.execute(*statements, waiter=waiter)

    def wait(self, stream: Stream | None, seq: int, waiter: Waiter | None) -> None:
        """Register a waiter for the result of the next batch, which has entry `seq` of a stream."""
        self.gathering.waiting.append((stream, seq, waiter))
        if self._writing is None and not self._begin_scheduled:
            self._schedule()

    async def flush(self) -> None:
        """Wait until everything submitted so far is on disk or abandoned."""
        self._gather_unhurried()
        if self._writing is None and not self._begin_scheduled:
            return
        idle = self._loop.create_future()
        self._flush_waiters.append(idle)
        await idle

    async def close(self, patience_s: float) -> None:
        """Wait up to `patience_s` for pending entries to be written; later appends are lost."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.flush(), patience_s)
        self.failure = self.failure or WriteFailed("the database is closed")

    # --- batches ------------------------------------------------------------------------------

    def _schedule(self) -> None:
        """Start a batch after this event loop iteration; all entries of it share one commit."""
        self._begin_scheduled = True
        self._loop.call_soon(self._begin)

    def _schedule_after_input(self) -> None:
        """Start a batch after reading pending input, so that waiting moves share its commit."""
        self._begin_scheduled = True
        self._loop.call_soon(self._schedule)

    def _begin(self) -> None:
        self._begin_scheduled = True  # rows gathered here belong to this batch
        self._gather_unhurried()
        self._begin_scheduled = False
        batch, self.gathering = self.gathering, Batch()
        if self.failure is not None:
            self._lose(batch, self.failure)
            return
        self._writing = batch
        batch.started = time.perf_counter()
        self._attempt(batch)

    def _attempt(self, batch: Batch) -> None:
        if self.failure is not None:
            self._give_up(batch, self.failure)
        else:
            self._write(batch, self._settled)

    def _settled(self, error: WriteFailed | None) -> None:
        """Handle the result of an attempt."""
        batch = self._writing
        if batch is None:
            raise AssertionError("got the result of a commit that was never started")
        if error is None:
            self._succeeded(batch)
        elif isinstance(error, TakenOver):
            self.fail(error)
            self._give_up(batch, error)
        else:
            self._retry(batch, error)

    def _succeeded(self, batch: Batch) -> None:
        self.healthy = True
        self._writing = None
        # Released callbacks may append entries, which join the next batch.
        self._begin_scheduled = True
        of_lobbies: list[Waiting] = []
        others: list[Waiting] = []
        for waiting in batch.waiting:
            stream = waiting[0]
            of_lobby = stream is not None and stream.kind == "lobby"
            (of_lobbies if of_lobby else others).append(waiting)
        tell_durable(others)
        self._observe(len(batch.entries), time.perf_counter() - batch.started)
        if of_lobbies:  # lobbies do slow work in their callbacks, so send the frames of moves first
            self._loop.call_soon(self._end_telling, of_lobbies)
        else:
            self._end_telling(of_lobbies)

    def _end_telling(self, of_lobbies: Sequence[Waiting]) -> None:
        """Notify the last waiters of a batch, then start the next batch unless it is empty."""
        tell_durable(of_lobbies)
        self._begin_scheduled = False
        if self.gathering.waiting:
            self._schedule_after_input()
        else:
            self._wake_flush_waiters()

    def _wake_flush_waiters(self) -> None:
        """Wake callers of `flush`, since nothing is waiting for the disk."""
        idle, self._flush_waiters = self._flush_waiters, []
        for future in idle:
            if not future.done():
                future.set_result(None)

    # --- failures -----------------------------------------------------------------------------

    def _retry(self, batch: Batch, error: WriteFailed) -> None:
        self.healthy = False
        if batch.attempts >= len(self._retries):
            self._give_up(batch, error)
            return
        delay = self._retries[batch.attempts]
        batch.attempts += 1
        self._loop.call_later(delay, self._attempt, batch)

    def _give_up(self, batch: Batch, error: StoreError) -> None:
        """Abandon a batch and everything that arrived after it."""
        lost = len(batch.entries) + len(self.gathering.entries)
        LOG.error("%s; lost %d entries", error, lost)
        batch.waiting += self.gathering.waiting
        self.gathering = Batch()
        self._writing = None
        self._lose(batch, error)
        self._loop.call_later(PROBE_AFTER_S, self._probe)

    def _lose(self, batch: Batch, error: StoreError) -> None:
        """Mark the streams of a batch as failed, then notify each waiter once of the loss."""
        self._begin_scheduled = True
        tell_lost(batch.waiting, error)
        self._begin_scheduled = False
        if self.gathering.waiting:
            self._schedule()
        else:
            self._wake_flush_waiters()

    def _probe(self) -> None:
        """Write an empty batch to test the disk, unless a batch has already succeeded."""
        if not self.healthy and self.failure is None:
            self.wait(None, 0, None)

    def fail(self, error: TakenOver) -> None:
        """Stop writing for good, because another server has taken over the database."""
        if self.failure is not None:
            return
        self.failure = error
        self.healthy = False
        LOG.critical("%s", error)
        if self.on_failure is not None:
            try:
                self.on_failure(error)
            except Exception:
                LOG.exception("on_failure raised an exception")


class CommittingStore:
    """The part of a store that its group commit implements (`interface.Store`)."""

    commits: GroupCommit

    @property
    def healthy(self) -> bool:
        return self.commits.healthy

    @property
    def failure(self) -> StoreError | None:
        return self.commits.failure

    @property
    def on_failure(self) -> Callable[[StoreError], None] | None:
        return self.commits.on_failure

    @on_failure.setter
    def on_failure(self, tell: Callable[[StoreError], None] | None) -> None:
        self.commits.on_failure = tell

    async def flush(self) -> None:
        await self.commits.flush()


# --- waiters: an exception in one does not affect the others ------------------------------------


def tell_durable(waiting: Iterable[Waiting]) -> None:
    """Notify the waiters, in order, that their entries are on disk."""
    for stream, seq, waiter in waiting:
        if stream is not None:
            stream.durable = seq
        if waiter is not None:
            try:
                waiter.durable(seq)
            except Exception:
                LOG.exception("%s: durable(%d) raised an exception", describe(stream), seq)


def tell_lost(waiting: Sequence[Waiting], error: StoreError) -> None:
    """Mark all streams as failed, then notify each waiter once of the loss."""
    told: dict[int, tuple[Stream | None, Waiter]] = {}
    for stream, _, waiter in waiting:
        if stream is not None:
            stream.failed = True
        if waiter is not None:
            told.setdefault(id(waiter), (stream, waiter))
    for stream, waiter in told.values():
        try:
            waiter.lost(error)
        except Exception:
            LOG.exception("%s: lost() raised an exception", describe(stream))


def describe(stream: Stream | None) -> str:
    """Return the name of a stream, or a placeholder for other tables' rows, for the log."""
    return "a statement" if stream is None else f"{stream.kind} {stream.key}"
