"""The log on disk: streams of lines in SQLite, written in batches, durable before anybody is told.

Every match and every lobby is a *stream*: a head line and entries numbered from 1. All streams
of a server share one journal. A batch is everything that was appended while the batch before
it was on its way to the disk; it becomes one row of the journal and one commit, so the price of
the sync is shared by all moves of that moment.

Why a journal and not one row an entry, keyed by stream and number: the tails of 200 running
matches lie on 200 pages, and a commit must write every page that it touches. Measured at 200
matches a batch: 19 us of CPU an entry that way, 2 us with the journal. Entries leave the
journal when their stream has 32 of them, or when they have become old: then they go, in order,
into one row of `stretch`, written by the transaction of some ordinary batch, so that nothing
ever stops for housekeeping. A stream is its stretches and then what the journal still holds of
it; only recovery reads the journal, running servers hold that part in memory.

The rules that keep this correct:

* One server owns a database (a lock file), and one connection writes. The rows of a batch are
  inserted on the event loop, and only COMMIT, which waits for the disk without holding the
  interpreter, runs in the writer's thread. The two never use the connection at the same time.
* A batch's number is the journal's primary key: an owner that was replaced without noticing
  collides with its successor's number, and stops writing for good.
* After any error the journal is asked whether the batch is there, for a commit in doubt may
  have happened. If it is not, the batch is tried again, and when that does not help its
  streams are given up: their waiters are told, and they must be loaded again from the disk.
* Only the writer checkpoints. (SQLite before 3.51.3 can corrupt a database whose write-ahead
  log is reset by two checkpointers at once.) Every other connection is `query_only`, or writes
  with checkpoints switched off, as the token commands do.
"""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Literal, Protocol, TypeAlias, TypeVar

from kibitz_protocol.recordfile import chain
from kibitz_server.database import (
    ForeignDatabase,
    StoreError,
    Value,
    WriteFailed,
    blob,
    connect,
    connect_reader,
    lock,
    number_of,
    prepare,
    transaction,
)

Kind: TypeAlias = Literal["match", "lobby"]
_T = TypeVar("_T")

STRETCH = 32
"""Entries of a stream that go into one row."""
JOURNAL_ENTRIES = 16_384
"""How many entries ago an entry may have been written and still be in the journal only."""
STRETCHES_A_BATCH = 16
TRIM_EVERY = 64
"""Batches between two removals of journal rows that nothing needs any more."""
RETRIES = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
"""Seconds before each new attempt at a batch that failed."""


class Waiter(Protocol):
    """Who appended something and waits until the disk has it."""

    def durable(self, seq: int) -> None:
        """Entry `seq`, and all before it, is on the disk."""

    def lost(self, error: StoreError) -> None:
        """What was appended is not on the disk and will not be. Called once a stream."""


@dataclass(slots=True)
class Stream:
    """The writing end of a stream. Made by `Store.create` and `Store.load` only."""

    number: int
    key: str
    kind: Kind
    tail: int = 0
    """Number of the last entry that was appended."""
    durable: int = -1
    """Number of the last entry that is on the disk; -1 before the head is, 0 for the head."""
    chain: str = ""
    """Hash over the head and all entries up to `tail`."""
    fresh: list[bytes] = field(default_factory=list)
    """The last entries, which are in no stretch yet."""
    since: int = -1
    """Position in the journal of the first of `fresh`, -1 when there is none."""
    batch: int = 0
    """The batch that holds the first of `fresh`."""
    closed: bool = False
    """Whether nothing more will be appended."""
    failed: bool = False
    """Whether an append was lost, so that `tail` is ahead of the disk for good."""

    @property
    def first_fresh(self) -> int:
        return self.tail - len(self.fresh) + 1


@dataclass(frozen=True, slots=True)
class Stored:
    """A stream as it was found on the disk."""

    stream: Stream
    head: bytes
    lines: list[bytes]


@dataclass(frozen=True, slots=True)
class Transcript:
    """A stream's text: `footer` is absent while the match runs."""

    head: bytes
    lines: list[bytes]
    footer: bytes | None


@dataclass(frozen=True, slots=True)
class Closed:
    """What is known of a closed stream without its entries; a lobby has no footer."""

    number: int
    kind: Kind
    head: bytes
    footer: bytes | None
    summary: bytes
    tail: int
    """Number of its last entry."""


@dataclass(frozen=True, slots=True)
class _Stretch:
    """The first `count` fresh entries of a stream, which leave the journal; `chain` ends them."""

    stream: Stream
    first: int
    count: int
    chain: str


@dataclass(slots=True)
class _Batch:
    number: int
    lines: list[bytes] = field(default_factory=list)
    waiters: list[tuple[Stream | None, int, Waiter | None]] = field(default_factory=list)
    statements: list[tuple[str, Sequence[Value]]] = field(default_factory=list)
    stretches: list[_Stretch] = field(default_factory=list)
    attempts: int = 0
    started: float = 0.0


class Store:
    """The database of one server. After use `close()` must be awaited."""

    def __init__(
        self,
        path: Path,
        loop: asyncio.AbstractEventLoop,
        *,
        observe: Callable[[int, float], None] | None = None,
        retries: Sequence[float] = RETRIES,
    ) -> None:
        """Open or create the database at `path` and bring its journal in order.

        `observe(entries, seconds)` is called after each commit. Raises `StoreError`.
        """
        self._loop = loop
        self._observe = observe
        self._retries = tuple(retries)
        self._path = path
        self._lock = lock(path)
        try:
            self._db = connect(path)
            prepare(self._db, path)
            self._next_batch = _recover(self._db)
            self._look = connect_reader(path)
        except sqlite3.Error as error:
            self._lock.release()
            raise ForeignDatabase(f"cannot open {str(path)!r}: {error}") from error
        except StoreError:
            self._lock.release()
            raise
        self._next_stream = number_of(self._db, "SELECT max(number) FROM stream") + 1
        self._gathering = _Batch(self._next_batch)
        self._writing: _Batch | None = None
        self._begin_scheduled = False
        self._position = 0
        self._dirty: dict[int, Stream] = {}
        """Streams with `fresh` entries, those with the oldest first."""
        self._full: deque[Stream] = deque()
        """Streams with enough `fresh` entries for a stretch."""
        self._idle: list[asyncio.Future[None]] = []
        self.healthy = True
        """False while a batch is being tried again; new matches should wait."""
        self.retired = False
        """True when another owner wrote to this database; nothing is written any more."""
        self._readers = ThreadPoolExecutor(2, thread_name_prefix="kibitz-reader")
        self._connections: SimpleQueue[sqlite3.Connection] = SimpleQueue()
        self._commits: SimpleQueue[bool] = SimpleQueue()
        self._thread = threading.Thread(target=self._write, name="kibitz-writer", daemon=True)
        self._thread.start()

    # --- writing --------------------------------------------------------------------------

    def create(
        self, kind: Kind, key: str, head: bytes, *, owner: str | None, waiter: Waiter | None
    ) -> Stream:
        """Begin a stream; the waiter's `durable(0)` says that its head is on the disk."""
        stream = Stream(self._next_stream, key, kind, chain=chain("", head))
        self._next_stream += 1
        self._statement(
            "INSERT INTO stream (number, key, kind, owner, opened, head) VALUES (?, ?, ?, ?, ?, ?)",
            (stream.number, key, kind, owner, int(time.time()), head),
        )
        self._wait(stream, 0, waiter)
        return stream

    def append(self, stream: Stream, seq: int, line: bytes, waiter: Waiter | None) -> None:
        """Add entry `seq`, which must be the next one; the waiter is told when it is durable."""
        if seq != stream.tail + 1 or stream.failed:
            raise WriteFailed(f"stream {stream.key!r} ends at {stream.tail}, cannot add {seq}")
        stream.tail = seq
        stream.chain = chain(stream.chain, line)
        stream.fresh.append(line)
        batch = self._gathering
        if stream.since < 0:
            stream.since = self._position
            stream.batch = batch.number
            self._dirty[stream.number] = stream
        elif len(stream.fresh) == STRETCH:
            self._full.append(stream)
        self._position += 1
        batch.lines.append(b"%d %d %b" % (stream.number, seq, line))
        batch.waiters.append((stream, seq, waiter))
        if self._writing is None and not self._begin_scheduled:
            self._schedule()

    def finish(
        self, stream: Stream, footer: bytes | None, summary: bytes, waiter: Waiter | None = None
    ) -> None:
        """Close a stream: it is not restored at the next start, and can be downloaded."""
        self._statement(
            "UPDATE stream SET state = 'closed', footer = ?, summary = ? WHERE number = ?",
            (footer, summary, stream.number),
        )
        self._wait(stream, stream.tail, waiter)
        stream.closed = True
        self._full.append(stream)

    def execute(self, sql: str, values: Sequence[Value], waiter: Waiter | None = None) -> None:
        """Write a row of another table with the next batch."""
        self._statement(sql, values)
        self._wait(None, 0, waiter)

    async def flush(self) -> None:
        """Wait until everything appended so far is on the disk or was given up."""
        if self._writing is None and not self._begin_scheduled:
            return
        idle = self._loop.create_future()
        self._idle.append(idle)
        await idle

    async def close(self) -> None:
        """Write what is left, stop the threads and let the database go."""
        await self.flush()
        self._commits.put(False)
        await self._loop.run_in_executor(self._readers, self._thread.join)
        self._readers.shutdown()
        while not self._connections.empty():
            self._connections.get().close()
        self._look.close()
        with contextlib.suppress(sqlite3.Error):
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._db.close()
        self._lock.release()

    # --- reading --------------------------------------------------------------------------

    def load(self, kind: Kind) -> list[Stored]:
        """Return the open streams of a kind, oldest first. For the start only: it blocks."""
        rows = self._db.execute(
            "SELECT number, key, kind, head FROM stream WHERE state = 'open' AND kind = ?"
            " ORDER BY number",
            (kind,),
        ).fetchall()
        return [_load(self._db, *row) for row in rows]

    def reload(self, key: str) -> Stored:
        """Return a stream whose appends were lost as the disk has it. It blocks for a moment."""
        row = self._look.execute(
            "SELECT number, key, kind, head FROM stream WHERE key = ?", (key,)
        ).fetchone()
        if row is None:
            raise StoreError(f"no stream {key!r} on the disk")
        found = _load(self._look, *row)
        journal = _journal_of(self._look, found.stream)
        for line in journal:
            found.stream.chain = chain(found.stream.chain, line)
        stream = found.stream
        stream.tail = stream.durable = stream.tail + len(journal)
        if journal:
            stream.fresh = journal.copy()
            stream.since = self._position
            stream.batch = number_of(self._look, "SELECT min(batch) FROM journal")
            self._dirty[stream.number] = stream
        return Stored(stream, found.head, found.lines + journal)

    def summaries(self, kind: Kind, count: int) -> list[bytes]:
        """Return what `finish` was given for the newest closed streams, newest first."""
        rows = self._look.execute(
            "SELECT summary FROM stream WHERE state = 'closed' AND kind = ?"
            " ORDER BY number DESC LIMIT ?",
            (kind, count),
        )
        return [blob(row[0]) for row in rows if row[0] is not None]

    def summary(self, key: str) -> bytes | None:
        """Return what `finish` was given for a stream, None where it is open or unknown."""
        row = self.row("SELECT summary FROM stream WHERE key = ? AND state = 'closed'", (key,))
        return row[0] if row is not None and isinstance(row[0], bytes) else None

    def knows(self, key: str) -> bool:
        """Whether there is, or was, a stream of this name."""
        return self.row("SELECT 1 FROM stream WHERE key = ?", (key,)) is not None

    def row(self, sql: str, values: Sequence[Value]) -> tuple[Value, ...] | None:
        """Return one row by an indexed look-up, which is cheap enough for the event loop."""
        found: tuple[Value, ...] | None = self._look.execute(sql, values).fetchone()
        return found

    def rows(self, sql: str, values: Sequence[Value]) -> list[tuple[Value, ...]]:
        """Return the rows of a small table that a query finds. It blocks for a moment."""
        return self._look.execute(sql, values).fetchall()

    def closed(self, key: str) -> Closed | None:
        """Return what is known of a closed stream without reading its entries, or None."""
        row = self.row(
            "SELECT number, kind, head, footer, summary, coalesce((SELECT last FROM stretch"
            " WHERE stretch.stream = stream.number ORDER BY first DESC LIMIT 1), 0)"
            " FROM stream WHERE key = ? AND state = 'closed'",
            (key,),
        )
        return None if row is None else Closed(*row)  # type: ignore[arg-type]

    async def entries(self, number: int, first: int, last: int) -> list[bytes]:
        """Return the entries `first` to `last`, as far as there are any, of a closed stream."""
        return await self._read(lambda db: _stretches(db, number, first, last, last + 1))

    async def find(self, sql: str, values: Sequence[Value]) -> list[tuple[Value, ...]]:
        """Return the rows that a query finds, which may take a while."""
        return await self._read(lambda db: db.execute(sql, values).fetchall())

    async def journalled(self) -> set[int]:
        """Return the numbers of all streams that the journal on the disk has entries of."""
        return await self._read(_journalled)

    async def piece(self, number: int, first: int, size: int) -> list[bytes]:
        """Return entries of a closed stream from `first` on, about `size` bytes of them."""
        return await self._read(lambda db: _piece(db, number, first, size))

    async def transcript(self, key: str) -> Transcript | None:
        """Return a closed stream as it was written, or None."""
        return await self._read(lambda db: _transcript(db, key))

    async def lines(self, stream: Stream, first: int, last: int) -> list[bytes]:
        """Return the durable entries `first` to `last` of a stream."""
        last = min(last, stream.durable)
        edge = stream.first_fresh
        fresh = stream.fresh[max(0, first - edge) : max(0, last - edge + 1)]
        if first >= edge:
            return fresh
        older = await self._read(lambda db: _stretches(db, stream.number, first, last, edge))
        return older + fresh

    async def ledger(self, after: int, count: int) -> list[tuple[int, bytes]]:
        """Return the next lines of the ledger after a place, with their places."""
        sql = "SELECT place, line FROM ledger WHERE place > ? ORDER BY place LIMIT ?"
        return await self._read(
            lambda db: [(row[0], blob(row[1])) for row in db.execute(sql, (after, count))]
        )

    async def _read(self, query: Callable[[sqlite3.Connection], _T]) -> _T:
        return await self._loop.run_in_executor(self._readers, self._query, query)

    def _query(self, query: Callable[[sqlite3.Connection], _T]) -> _T:
        try:
            db = self._connections.get_nowait()
        except Empty:
            db = connect_reader(self._path)
        try:
            return query(db)
        finally:
            self._connections.put(db)

    # --- the group commit -----------------------------------------------------------------

    def _statement(self, sql: str, values: Sequence[Value]) -> None:
        self._gathering.statements.append((sql, values))

    def _wait(self, stream: Stream | None, seq: int, waiter: Waiter | None) -> None:
        self._gathering.waiters.append((stream, seq, waiter))
        if self._writing is None and not self._begin_scheduled:
            self._schedule()

    def _schedule(self) -> None:
        """Begin at the end of this turn of the loop, so that all of the turn shares a commit."""
        self._begin_scheduled = True
        self._loop.call_soon(self._begin)

    def _begin(self) -> None:
        self._begin_scheduled = False
        batch = self._writing = self._gathering
        self._gathering = _Batch(batch.number + 1)
        batch.stretches = self._due()
        batch.started = time.perf_counter()
        self._attempt(batch)

    def _attempt(self, batch: _Batch) -> None:
        if self.retired:
            self._give_up(batch, WriteFailed("another server has taken this database over"))
            return
        try:
            self._insert(batch)
        except sqlite3.Error as error:
            self._failed(batch, error)
        else:
            self._commits.put(True)

    def _insert(self, batch: _Batch) -> None:
        """Insert everything of a batch, and what is due of housekeeping, in an open transaction."""
        execute = self._db.execute
        execute("BEGIN IMMEDIATE")
        execute("INSERT INTO journal VALUES (?, ?)", (batch.number, b"\n".join(batch.lines)))
        for sql, values in batch.statements:
            execute(sql, values)
        for stretch in batch.stretches:
            stream, last = stretch.stream, stretch.first + stretch.count - 1
            lines = b"\n".join(stream.fresh[: stretch.count])
            execute(
                "INSERT INTO stretch VALUES (?, ?, ?, ?, ?)",
                (stream.number, stretch.first, last, stretch.chain, lines),
            )
        if batch.number % TRIM_EVERY == 0:
            execute("DELETE FROM journal WHERE batch < ?", (self._horizon(batch),))

    def _due(self) -> list[_Stretch]:
        """Choose what leaves the journal with the batch that has just stopped gathering."""
        due = {stream.number: stream for stream in self._full}
        self._full.clear()
        for stream in self._dirty.values():
            if len(due) >= STRETCHES_A_BATCH or self._position - stream.since < JOURNAL_ENTRIES:
                break
            due[stream.number] = stream
        return [
            _Stretch(stream, stream.first_fresh, len(stream.fresh), stream.chain)
            for stream in due.values()
            if stream.fresh and not stream.failed
        ]

    def _horizon(self, batch: _Batch) -> int:
        """The first batch that is still needed: that of the oldest entry in no stretch."""
        oldest = next(iter(self._dirty.values()), None)
        return batch.number if oldest is None else min(oldest.batch, batch.number)

    def _write(self) -> None:
        """The writer's thread: waits for the disk, once a batch."""
        while self._commits.get():
            error: sqlite3.Error | None = None
            try:
                self._db.execute("COMMIT")
            except sqlite3.Error as failure:
                error = failure
            self._loop.call_soon_threadsafe(self._settled, error)

    def _settled(self, error: sqlite3.Error | None) -> None:
        batch = self._writing
        if batch is None:
            raise AssertionError("a commit came back that nobody began")
        if error is not None:
            self._failed(batch, error)
        else:
            self._succeeded(batch)

    def _succeeded(self, batch: _Batch) -> None:
        self.healthy = True
        for stretch in batch.stretches:
            self._stretched(stretch.stream, stretch.count)
        self._writing = None
        # What is released now may append again: those entries gather for the next batch.
        self._begin_scheduled = True
        for stream, seq, waiter in batch.waiters:
            if stream is not None:
                stream.durable = seq
            if waiter is not None:
                waiter.durable(seq)
        if self._observe is not None:
            self._observe(len(batch.lines), time.perf_counter() - batch.started)
        self._continue()

    def _continue(self) -> None:
        self._begin_scheduled = False
        if self._gathering.waiters:
            self._begin()
            return
        idle, self._idle = self._idle, []
        for future in idle:
            if not future.done():
                future.set_result(None)

    def _stretched(self, stream: Stream, count: int) -> None:
        """Forget the entries that are in a stretch now; newer ones stay fresh."""
        del stream.fresh[:count]
        self._dirty.pop(stream.number, None)
        stream.since = -1
        if stream.fresh:
            stream.since = self._position
            stream.batch = self._gathering.number
            self._dirty[stream.number] = stream
        if stream.closed or len(stream.fresh) >= STRETCH:
            self._full.append(stream)

    # --- trouble --------------------------------------------------------------------------

    def _failed(self, batch: _Batch, error: sqlite3.Error) -> None:
        with contextlib.suppress(sqlite3.Error):
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
        match self._outcome(batch):
            case "written":
                self._succeeded(batch)
            case "foreign":
                self.retired = True
                self._give_up(batch, WriteFailed("another server has taken this database over"))
            case "absent":
                self._again(batch, error)

    def _outcome(self, batch: _Batch) -> Literal["written", "absent", "foreign"]:
        """Ask the disk what became of a batch whose commit reported an error."""
        try:
            found = self._db.execute(
                "SELECT batch, lines FROM journal WHERE batch >= ? ORDER BY batch", (batch.number,)
            ).fetchone()
        except sqlite3.Error:
            return "absent"
        if found is None:
            return "absent"
        return "written" if found[1] == b"\n".join(batch.lines) else "foreign"

    def _again(self, batch: _Batch, error: sqlite3.Error) -> None:
        self.healthy = False
        if batch.attempts >= len(self._retries):
            self._give_up(batch, WriteFailed(f"cannot write to {str(self._path)!r}: {error}"))
            return
        delay = self._retries[batch.attempts]
        batch.attempts += 1
        self._loop.call_later(delay, self._attempt, batch)

    def _give_up(self, batch: _Batch, error: StoreError) -> None:
        """Tell everybody in the batch, and everybody who appended after them, that it is lost."""
        waiters = batch.waiters + self._gathering.waiters
        self._gathering = _Batch(batch.number)
        self._writing = None
        self._begin_scheduled = True
        told: set[int] = set()
        for lost, _, _ in waiters:
            if lost is not None:
                lost.failed = True
                self._dirty.pop(lost.number, None)
        for _, _, waiter in waiters:
            if waiter is not None and id(waiter) not in told:
                told.add(id(waiter))
                waiter.lost(error)
        self._continue()


# --- recovery and reading -------------------------------------------------------------------


def _recover(db: sqlite3.Connection) -> int:
    """Move the journal's entries into stretches; return the number of the next batch.

    The last row stays, because the numbers of batches go on from it.
    """
    with transaction(db):
        tails: dict[int, tuple[int, str]] = {}
        fresh: dict[int, list[bytes]] = {}
        last = 0
        for batch, lines in db.execute("SELECT batch, lines FROM journal ORDER BY batch"):
            last = batch
            for number, seq, line in _split(blob(lines)):
                tail, _ = tails.get(number) or tails.setdefault(number, _tail(db, number))
                held = fresh.setdefault(number, [])
                if seq <= tail + len(held):
                    continue
                if seq != tail + len(held) + 1:
                    raise ForeignDatabase(f"entries are missing before {seq} of stream {number}")
                held.append(line)
        for number, held in fresh.items():
            _write_stretch(db, number, *tails[number], held)
        db.execute("DELETE FROM journal WHERE batch < ?", (last,))
    return last + 1


def _write_stretch(
    db: sqlite3.Connection, number: int, tail: int, hashed: str, held: list[bytes]
) -> None:
    if not held:
        return
    for line in held:
        hashed = chain(hashed, line)
    db.execute(
        "INSERT INTO stretch VALUES (?, ?, ?, ?, ?)",
        (number, tail + 1, tail + len(held), hashed, b"\n".join(held)),
    )


def _tail(db: sqlite3.Connection, number: int) -> tuple[int, str]:
    """Return number and hash of the last entry of a stream that is in a stretch."""
    row = db.execute(
        "SELECT last, chain FROM stretch WHERE stream = ? ORDER BY first DESC LIMIT 1", (number,)
    ).fetchone()
    if row is not None:
        return row[0], row[1]
    head = db.execute("SELECT head FROM stream WHERE number = ?", (number,)).fetchone()
    if head is None:
        raise ForeignDatabase(f"the journal has entries of stream {number}, which was never opened")
    return 0, chain("", blob(head[0]))


def _split(lines: bytes) -> Iterator[tuple[int, int, bytes]]:
    for row in lines.split(b"\n"):
        if row:
            number, seq, line = row.split(b" ", 2)
            yield int(number), int(seq), line


def _load(db: sqlite3.Connection, number: int, key: str, kind: Kind, head: bytes) -> Stored:
    """Read a stream from its stretches and check the hashes that were stored with them."""
    head = blob(head)
    hashed = chain("", head)
    lines: list[bytes] = []
    rows = db.execute(
        "SELECT first, last, chain, lines FROM stretch WHERE stream = ? ORDER BY first", (number,)
    )
    for first, last, expected, text in rows:
        part = blob(text).split(b"\n")
        for line in part:
            hashed = chain(hashed, line)
        if first != len(lines) + 1 or last != first + len(part) - 1 or hashed != expected:
            raise ForeignDatabase(f"the log of {key!r} is damaged between {first} and {last}")
        lines += part
    tail = len(lines)
    return Stored(Stream(number, key, kind, tail=tail, durable=tail, chain=hashed), head, lines)


def _journal_of(db: sqlite3.Connection, stream: Stream) -> list[bytes]:
    """Return the entries of one stream that only the journal has."""
    found: list[bytes] = []
    for (lines,) in db.execute("SELECT lines FROM journal ORDER BY batch"):
        for number, seq, line in _split(blob(lines)):
            if number == stream.number and seq == stream.tail + len(found) + 1:
                found.append(line)
    return found


def _journalled(db: sqlite3.Connection) -> set[int]:
    rows = db.execute("SELECT lines FROM journal")
    return {number for (lines,) in rows for number, _, _ in _split(blob(lines))}


def _stretches(
    db: sqlite3.Connection, number: int, first: int, last: int, edge: int
) -> list[bytes]:
    """Return the entries from `first` to `last`, but none from `edge` on."""
    rows = db.execute(
        "SELECT first, lines FROM stretch WHERE stream = ? AND last >= ? AND first <= ?"
        " ORDER BY first",
        (number, first, last),
    )
    found: list[bytes] = []
    for start, text in rows:
        for seq, line in enumerate(blob(text).split(b"\n"), start):
            if first <= seq <= last and seq < edge:
                found.append(line)
    return found


def _piece(db: sqlite3.Connection, number: int, first: int, size: int) -> list[bytes]:
    """Return at least one entry, where there is one, and no more after `size` bytes."""
    rows = db.execute(
        "SELECT first, lines FROM stretch WHERE stream = ? AND last >= ? ORDER BY first",
        (number, first),
    )
    found: list[bytes] = []
    for start, text in rows:
        for seq, line in enumerate(blob(text).split(b"\n"), start):
            if size <= 0:
                return found
            if seq >= first:
                found.append(line)
                size -= len(line)
    return found


def _transcript(db: sqlite3.Connection, key: str) -> Transcript | None:
    row = db.execute(
        "SELECT number, head, footer FROM stream WHERE key = ? AND state = 'closed'", (key,)
    ).fetchone()
    if row is None:
        return None
    number, head, footer = row
    lines = _stretches(db, number, 1, 2**62, 2**62)
    return Transcript(blob(head), lines, None if footer is None else blob(footer))
