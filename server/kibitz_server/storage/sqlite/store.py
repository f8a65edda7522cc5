"""The log on disk: streams of lines in SQLite, written in batches, durable before anybody is told.

Every match and every lobby is a *stream*: a head line and entries numbered from 1. All streams
of a server share one journal. A batch is everything that was appended while the batch before
it was on its way to the disk, and what was in the sockets by then; it becomes one row of the
journal and one commit, so the price of the sync is shared by all moves of that moment.

Why a journal and not one row an entry, keyed by stream and number: the tails of 200 running
matches lie on 200 pages, and a commit must write every page that it touches. Measured at 200
matches a batch: 19 us of CPU an entry that way, 2 us with the journal. A stream is its
*segments*, rows with some dozens of consecutive entries, and then what the journal has of it.

Why nothing is lost, doubled or out of order:

1. One server owns a database (a lock file), and one connection writes. A batch's number is the
   journal's primary key: an owner that was replaced without noticing collides with its
   successor's number. Then the store has *failed*: nothing is written any more, what is still
   appended is lost at once, and `on_failure` is called.
2. A batch is one transaction, and its waiters are told after its commit. After an error the
   journal is asked whether the batch is there, for a commit in doubt may have happened. If it
   is not, the batch is tried again, and when that does not help it is given up together with
   everything appended since: its streams are `failed`, take no more entries, and have to be
   loaded again from the disk, where their entries end with what was told.
3. Entries leave the journal by one rule: **a row is deleted when all entries that it holds, as
   they were read from the disk, are in segments by commits that have succeeded.** When the
   journal has become heavy, a *compaction* reads its oldest rows in a reader's thread
   (`journal.read`). Each following batch writes a few of the segments that they make, and
   batches after the last of these delete the rows, some at a time. A batch that is given up, or
   rows that are damaged, end the compaction, and a later one begins again from the disk. There
   is nothing else to remember, so there is nothing to get wrong: recovery is the same in one go.
4. A stream's rest becomes a segment in the batch that closes the stream, because transcripts are
   made of segments. `journal.write_segment` looks, within the transaction, where the segments
   of a stream end, and leaves out what they have. So it does not matter who comes first.
5. In memory a stream keeps its entries since some segment (`fresh`). It may be more than the
   journal has and never less: they are dropped only when a commit has put them into a segment.

What the disk itself loses or changes is found: by links and checks in the journal
(`journal.py`), by the hash of each segment when a stream is loaded, by the mark beside the file
(`storage/sqlite/watermark.py`). A damaged stream is in `damaged()`; all others load.

Only the writer checkpoints. (SQLite before 3.51.3 can corrupt a database whose write-ahead log
is reset by two checkpointers at once.) Every other connection is `query_only`, or writes with
checkpoints switched off, as the token commands do.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import secrets
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Literal, TypeVar

from kibitz_protocol.wire.recordfile import EMPTY_CHAIN, chain_hash
from kibitz_server.storage.errors import (
    DamagedStream,
    StoreError,
    UnusableDatabase,
    WriteFailed,
)
from kibitz_server.storage.interface import CLOSE_TIMEOUT_S, UNHURRIED_S, Nodes
from kibitz_server.storage.sqlite import journal, streams, watermark
from kibitz_server.storage.sqlite.batch import Batch
from kibitz_server.storage.sqlite.connection import (
    Value,
    blob,
    connect_reader,
    connect_writer,
    describe_error,
    lock,
    read_int,
    resolve_path,
    translate_errors,
)
from kibitz_server.storage.sqlite.expiry import SQLiteExpiry
from kibitz_server.storage.sqlite.journal import Segment
from kibitz_server.storage.sqlite.players import SQLitePlayers
from kibitz_server.storage.sqlite.schema import ensure_schema
from kibitz_server.storage.streams import (
    Closed,
    Damaged,
    Kind,
    Stored,
    StoredCheckpoint,
    Stream,
    Transcript,
    Waiter,
)
from kibitz_server.storage.telling import Waiting, describe, tell_durable, tell_lost

LOG = logging.getLogger("kibitz.store")
_T = TypeVar("_T")

COMPACT_BYTES = 4 * 1024 * 1024
"""How heavy the journal may be before a compaction begins; some 13,000 moves."""
SEGMENTS_PER_BATCH = 16
"""How many segments of a compaction a batch writes, or more where it has many entries itself."""
TRIM_BYTES_PER_BATCH = 256 * 1024
"""How many bytes of journal rows a batch deletes, or more where one row is heavier."""
RETRY_DELAYS_S = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
"""Seconds before each new attempt at a batch that failed."""
PROBE_AFTER_S = 2.0
"""Seconds after a batch was given up until an empty one is tried, to see how the disk is."""


@dataclass(slots=True)
class _Compaction:
    """The oldest rows of the journal, on their way into segments."""

    segments: deque[Segment]
    rows: deque[tuple[int, int]]
    """Number and weight of the rows that are still in the journal."""
    segments_per_byte: float
    """Stretches for each byte of the rows."""


class SQLiteStore:
    """The database file of one server (`interface.Store`)."""

    remembers_closed = True

    def __init__(
        self,
        path: Path,
        loop: asyncio.AbstractEventLoop,
        *,
        observe: Callable[[int, float], None] | None = None,
        retries: Sequence[float] = RETRY_DELAYS_S,
        journal_bytes: int = COMPACT_BYTES,
    ) -> None:
        """Open or create the database at `path` and bring its journal in order.

        `observe(entries, seconds)` is called after each commit. Raises `StoreError`.
        """
        self._loop = loop
        self._observe = observe
        self.on_failure: Callable[[StoreError], None] | None = None
        self.nodes: Nodes | None = None
        self.players = SQLitePlayers(self)
        self.expiry = SQLiteExpiry(self)
        self._retries = tuple(retries)
        self.path = path = resolve_path(path)
        self._lock = lock(path)
        self._marked = 0
        """The batch that the mark names."""
        try:
            with translate_errors(path):
                self._open(path)
        except BaseException:
            self._lock.release()
            raise
        self._owner = secrets.token_hex(4)
        self._next_batch = journal.last_batch(self._db) + 1
        self._next_stream = read_int(self._db, "SELECT max(number) FROM stream") + 1
        self._gathering = Batch()
        self._unhurried: list[tuple[str, Sequence[Value], Waiter | None]] = []
        """Rows for the next batch that are in no hurry for it."""
        self._unhurried_timer: asyncio.TimerHandle | None = None
        self._writing: Batch | None = None
        self._begin_scheduled = False
        self._closed = False
        self._doubtful_checks: str | None = None
        """The checks of the last batch that was given up: it may have been written all the same."""
        self._with_recent: dict[int, Stream] = {}
        """Streams with `fresh` entries."""
        self._journal_weight = 0
        """Of the journal's rows."""
        self._journal_bytes = journal_bytes
        self._compact_at = journal_bytes
        self._compaction: _Compaction | None = None
        self._compacting: object | None = None
        """Stands for the compaction whose rows are being read."""
        self._flush_waiters: list[asyncio.Future[None]] = []
        self.healthy = True
        self.failure: StoreError | None = None
        self._readers = ThreadPoolExecutor(2, thread_name_prefix="kibitz-reader")
        self._connections: SimpleQueue[sqlite3.Connection] = SimpleQueue()
        self._commits: SimpleQueue[Batch | None] = SimpleQueue()
        self._writer = threading.Thread(target=self._write, name="kibitz-writer", daemon=True)
        self._writer.start()

    def _open(self, path: Path) -> None:
        self._db = connect_writer(path)
        try:
            watermark.require(self._db, path)
            ensure_schema(self._db, path)
            watermark.require(self._db, path)
            journal.recover(self._db)
            self._db.execute(
                "DELETE FROM checkpoint WHERE stream NOT IN"
                " (SELECT number FROM stream WHERE state = 'open')"
            )
            self._watermark = watermark.open_file(path)
            self._mark_row(journal.last_row(self._db))
            self._loop_reader = connect_reader(path)
        except BaseException:
            self._db.close()
            raise

    # --- writing --------------------------------------------------------------------------

    def create(
        self, stream: Stream, head: bytes, *, owner: str | None, waiter: Waiter | None
    ) -> None:
        stream.number = self._next_stream
        stream.chain = chain_hash(EMPTY_CHAIN, head)
        self._next_stream += 1
        self._gathering.statements.append(
            (
                "INSERT INTO stream (number, key, kind, owner, opened, head, link)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                (stream.number, stream.key, stream.kind, owner, _now(), head, stream.chain),
            )
        )
        self._wait(stream, 0, waiter)

    def append(self, stream: Stream, seq: int, line: bytes, waiter: Waiter | None) -> None:
        if seq != stream.tail + 1 or stream.failed or stream.closed:
            raise WriteFailed(f"stream {stream.key!r} ends at {stream.tail}, cannot add {seq}")
        stream.tail = seq
        stream.chain = chain_hash(stream.chain, line)
        if not stream.recent:
            self._with_recent[stream.number] = stream
        stream.recent.append(line)
        batch = self._gathering
        link = stream.chain[: journal.LINK].encode()
        batch.lines.append(journal.ENTRY % (stream.number, seq, link, line))
        batch.ends[stream.number] = seq
        batch.waiters.append((stream, seq, waiter))
        if self._writing is None and not self._begin_scheduled:
            self._schedule()

    def finish(
        self, stream: Stream, footer: bytes | None, summary: bytes, waiter: Waiter | None = None
    ) -> None:
        self._gathering.statements.append(
            (
                "UPDATE stream SET state = 'closed', footer = ?, summary = ? WHERE number = ?",
                (footer, summary, stream.number),
            )
        )
        self._gathering.statements.append(
            ("DELETE FROM checkpoint WHERE stream = ?", (stream.number,))
        )
        self._gathering.closing.append(stream)
        stream.closed = True
        self._wait(stream, stream.tail, waiter)

    def execute(self, sql: str, values: Sequence[Value], waiter: Waiter | None = None) -> None:
        """Write a row of another table with the next batch."""
        self._gather_unhurried()
        self._gathering.statements.append((sql, values))
        self._wait(None, 0, waiter)

    def execute_unhurried(
        self, sql: str, values: Sequence[Value], waiter: Waiter | None = None
    ) -> None:
        """Write a row with the next batch, for which none has to begin within `UNHURRIED_S`.

        It is never on the disk later than what is appended or executed after it. So a row that
        matters only once something names it costs no commit of its own.
        """
        if not self._unhurried:
            self._unhurried_timer = self._loop.call_later(UNHURRIED_S, self._gather_unhurried)
        self._unhurried.append((sql, values, waiter))

    def _gather_unhurried(self) -> None:
        """Let the rows that wait for a batch have the next one."""
        if not self._unhurried:
            return
        if self._unhurried_timer is not None:
            self._unhurried_timer.cancel()
        rows, self._unhurried = self._unhurried, []
        for sql, values, waiter in rows:
            self.execute(sql, values, waiter)

    def write_checkpoint(self, stream: Stream, data: bytes) -> None:
        self.execute(
            "INSERT OR REPLACE INTO checkpoint (stream, seq, link, data) VALUES (?, ?, ?, ?)",
            (stream.number, stream.tail, stream.chain, data),
        )

    def set_aside(self, key: str, reason: str, noticed: int) -> None:
        self.execute(
            "UPDATE stream SET state = 'damaged', reason = ?, noticed = ? WHERE key = ?",
            (reason, noticed, key),
        )

    def rate(self, match: str, line: bytes) -> None:
        self.execute("INSERT OR IGNORE INTO ledger (match, line) VALUES (?, ?)", (match, line))

    async def flush(self) -> None:
        self._gather_unhurried()
        if self._writing is None and not self._begin_scheduled:
            return
        idle = self._loop.create_future()
        self._flush_waiters.append(idle)
        await idle

    async def close(self, patience_s: float = CLOSE_TIMEOUT_S) -> None:
        """Write what is left, stop the threads and let the database go.

        What is appended from now on is lost. A disk that does not answer is given up after
        `patience_s`: its threads end with the process, and the lock with them.
        """
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.flush(), patience_s / 2)
        self.failure = self.failure or WriteFailed("the database is closed")
        self._closed = True
        gone = asyncio.Event()
        loop = self._loop

        def take_down() -> None:
            try:
                self._shut_down()
            finally:
                with contextlib.suppress(RuntimeError):  # nobody waits any more
                    loop.call_soon_threadsafe(gone.set)

        closing = threading.Thread(target=take_down, name="kibitz-closing", daemon=True)
        closing.start()
        try:
            await asyncio.wait_for(gone.wait(), patience_s / 2)
        except TimeoutError:
            LOG.error("%s: the disk does not answer, it is left as it is", self.path)
            return
        closing.join()
        self._lock.release()

    def _shut_down(self) -> None:
        self._commits.put(None)
        self._writer.join()
        self._readers.shutdown()
        while not self._connections.empty():
            self._connections.get().close()
        self._loop_reader.close()
        with contextlib.suppress(sqlite3.Error):
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._db.close()
        os.close(self._watermark)

    # --- reading --------------------------------------------------------------------------

    def load(self, kind: Kind) -> list[Stored]:
        found: list[Stored] = []
        with self._reading():
            rows = self._db.execute(
                "SELECT number, key, kind, head, seq, checkpoint.link, data"
                " FROM stream LEFT JOIN checkpoint ON checkpoint.stream = number"
                " WHERE state = 'open' AND kind = ? ORDER BY number",
                (kind,),
            ).fetchall()
            for number, key, _, head, seq, link, data in rows:
                kept = None if seq is None else StoredCheckpoint(seq, link, data)
                try:
                    found.append(streams.load(self._db, number, key, kind, head, kept))
                except StoreError as error:
                    sound = error.sound if isinstance(error, DamagedStream) else 0
                    journal.mark_damaged(self._db, number, sound, str(error))
        return found

    @contextlib.contextmanager
    def _reading(self) -> Iterator[None]:
        """Tell a database that cannot be read from what is wrong with a single stream."""
        try:
            yield
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise UnusableDatabase(describe_error(self.path, error)) from error

    def damaged(self) -> list[Damaged]:
        """Return the streams that are not as they were written, oldest first.

        They are neither restored nor appended to, and what the disk has of them stays: entries
        that are sound as segments, and the journal's rows in the table `journal_damaged`.
        """
        with self._reading():
            rows = self._loop_reader.execute(
                "SELECT key, kind, owner, coalesce(sound, 0), reason FROM stream"
                " WHERE state = 'damaged' ORDER BY number"
            )
            return [Damaged(*row) for row in rows]

    def load_from_head(self, stored: Stored) -> Stored:
        stream = stored.stream
        with self._reading():
            return streams.load(self._db, stream.number, stream.key, stream.kind, stored.head)

    async def reload(self, keys: Sequence[str]) -> dict[str, Stored | StoreError]:
        # In one pass over the journal, off the event loop.
        try:
            found, newest = await self._read(lambda db: streams.reload(db, keys))
        except sqlite3.Error as error:
            raise StoreError(f"cannot read {str(self.path)!r}: {error}") from error
        # What was found is told as durable now, though its batch may have been given up.
        self._mark_row(newest)
        for stored in found.values():
            if isinstance(stored, Stored) and stored.stream.recent:
                self._with_recent[stored.stream.number] = stored.stream
        return found

    def summaries(self, kind: Kind, count: int) -> list[bytes]:
        with self._reading():
            rows = self._loop_reader.execute(
                "SELECT summary FROM stream WHERE state = 'closed' AND kind = ?"
                " ORDER BY number DESC LIMIT ?",
                (kind, count),
            )
            return [blob(row[0]) for row in rows if row[0] is not None]

    def lobby_head(self, key: str) -> bytes | None:
        with self._reading():
            row = self.row("SELECT head FROM stream WHERE key = ? AND kind = 'lobby'", (key,))
        return row[0] if row is not None and isinstance(row[0], bytes) else None

    def set_aside_reason(self, key: str) -> str | None:
        row = self.row(
            "SELECT reason FROM stream WHERE key = ? AND state IN ('damaged', 'lost')", (key,)
        )
        return None if row is None else str(row[0])

    def summary(self, key: str) -> bytes | None:
        row = self.row("SELECT summary FROM stream WHERE key = ? AND state = 'closed'", (key,))
        return row[0] if row is not None and isinstance(row[0], bytes) else None

    def footer(self, key: str) -> bytes | None:
        row = self.row("SELECT footer FROM stream WHERE key = ? AND state = 'closed'", (key,))
        return row[0] if row is not None and isinstance(row[0], bytes) else None

    def exists(self, key: str) -> bool:
        return self.row("SELECT 1 FROM stream WHERE key = ?", (key,)) is not None

    def row(self, sql: str, values: Sequence[Value]) -> tuple[Value, ...] | None:
        """Return one row by an indexed look-up, which is cheap enough for the event loop."""
        found: tuple[Value, ...] | None = self._loop_reader.execute(sql, values).fetchone()
        return found

    def rows(self, sql: str, values: Sequence[Value]) -> list[tuple[Value, ...]]:
        """Return the rows of a small table that a query finds. It blocks for a moment."""
        return self._loop_reader.execute(sql, values).fetchall()

    async def closed(self, key: str) -> Closed | None:
        # An indexed look-up: it is done at once, without a thread.
        row = self.row(
            "SELECT number, kind, head, footer, summary, coalesce((SELECT last FROM stretch"
            " WHERE stretch.stream = stream.number ORDER BY first DESC LIMIT 1), 0), link"
            " FROM stream WHERE key = ? AND state = 'closed'",
            (key,),
        )
        if row is None:
            return None
        if chain_hash(EMPTY_CHAIN, blob(row[2])) != row[6]:
            raise DamagedStream(0, "its head is damaged")
        return Closed(*row[:6])  # type: ignore[arg-type]

    async def entries(self, number: int, first: int, last: int) -> list[bytes]:
        return await self._read(lambda db: streams.entries(db, number, first, last))

    async def find(self, sql: str, values: Sequence[Value]) -> list[tuple[Value, ...]]:
        """Return the rows that a query finds, which may take a while."""
        return await self._read(lambda db: db.execute(sql, values).fetchall())

    async def journalled(self) -> set[int]:
        """Return the numbers of all streams that the journal on the disk has entries of."""
        return await self._read(journal.streams_in_journal)

    async def entries_of_size(self, number: int, first: int, size: int) -> list[bytes]:
        return await self._read(lambda db: streams.entries(db, number, first, size=size))

    async def transcript(self, key: str, kind: Kind = "match") -> Transcript | None:
        return await self._read(lambda db: streams.transcript(db, key, kind))

    async def lines(self, stream: Stream, first: int, last: int) -> list[bytes]:
        last = min(last, stream.durable)
        edge = stream.first_recent
        fresh = stream.recent[max(0, first - edge) : max(0, last - edge + 1)]
        if first >= edge:
            return fresh
        older = await self._read(
            lambda db: streams.segment_entries(db, stream.number, first, last, edge)
        )
        return older + fresh

    async def ledger(self, after: int, count: int) -> list[tuple[int, bytes]]:
        sql = "SELECT place, line FROM ledger WHERE place > ? ORDER BY place LIMIT ?"
        return await self._read(
            lambda db: [(row[0], blob(row[1])) for row in db.execute(sql, (after, count))]
        )

    async def _read(self, query: Callable[[sqlite3.Connection], _T]) -> _T:
        if self._closed:
            raise UnusableDatabase("the database is closed")
        return await self._loop.run_in_executor(self._readers, self._query, query)

    def _query(self, query: Callable[[sqlite3.Connection], _T]) -> _T:
        try:
            db = self._connections.get_nowait()
        except Empty:
            db = connect_reader(self.path)
        try:
            return query(db)
        finally:
            self._connections.put(db)

    # --- the group commit -----------------------------------------------------------------

    def _wait(self, stream: Stream | None, seq: int, waiter: Waiter | None) -> None:
        self._gathering.waiters.append((stream, seq, waiter))
        if self._writing is None and not self._begin_scheduled:
            self._schedule()

    def _schedule(self) -> None:
        """Begin at the end of this turn of the loop, so that all of the turn shares a commit."""
        self._begin_scheduled = True
        self._loop.call_soon(self._begin)

    def _schedule_after_input(self) -> None:
        """Begin once all that is in the sockets now was read, so that it shares the commit too.

        Where nothing is, that is at once: no turn of the loop waits for anything.
        """
        self._begin_scheduled = True
        self._loop.call_soon(self._schedule)

    def _begin(self) -> None:
        self._begin_scheduled = True  # what is gathered here begins with this batch
        self._gather_unhurried()
        self._begin_scheduled = False
        batch, self._gathering = self._gathering, Batch()
        if self.failure is not None:
            self._lose(batch, self.failure)
            return
        self._writing = batch
        self._number(batch)
        self._assign_compaction(batch)
        batch.started = time.perf_counter()
        self._attempt(batch)

    def _number(self, batch: Batch) -> None:
        text = b"\n".join(batch.lines)
        row = journal.seal_row(self._next_batch, self._owner, batch.ends, text)
        batch.row, batch.weight = row, len(row.lines) + journal.ROW_BYTES

    def _attempt(self, batch: Batch) -> None:
        if self.failure is not None:
            self._give_up(batch, self.failure)
            return
        try:
            if self._doubtful_checks is not None:
                self._resolve_doubt(batch)
            self._insert(batch)
        except sqlite3.Error as error:
            self._failed(batch, error)
        except Exception as error:
            LOG.exception("a batch cannot be written")
            self._failed(batch, error)
        else:
            self._commits.put(batch)

    def _insert(self, batch: Batch) -> None:
        """Write all of a batch, and its share of the compaction, in a transaction left open."""
        execute = self._db.execute
        execute("BEGIN IMMEDIATE")
        execute(journal.INSERT_ROW, _row_of(batch))
        for sql, values in batch.statements:
            execute(sql, values)
        for segment in batch.segments:
            journal.write_segment(self._db, segment)
        for stream in batch.closing:
            if stream.recent:
                rest = Segment(stream.number, stream.first_recent, stream.recent, stream.chain)
                journal.write_segment(self._db, rest)
        if batch.trim_to is not None:
            journal.trim(self._db, batch.trim_to)

    def _write(self) -> None:
        """The writer's thread: waits for the disk, once a batch."""
        while (batch := self._commits.get()) is not None:
            error: sqlite3.Error | None = None
            try:
                self._commit(batch)
            except sqlite3.Error as failure:
                error = failure
            self._loop.call_soon_threadsafe(self._settled, error)

    def _commit(self, batch: Batch) -> None:
        self._db.execute("COMMIT")

    def _settled(self, error: sqlite3.Error | None) -> None:
        """The writer's thread is done with a batch."""
        batch = self._writing
        if batch is None:
            raise AssertionError("a commit came back that nobody began")
        if error is not None:
            self._failed(batch, error)
        else:
            self._succeeded(batch)

    def _succeeded(self, batch: Batch) -> None:
        self.healthy = True
        row = _row_of(batch)
        self._next_batch = row.batch + 1
        # Here and not in the writer's thread, which would have to wait for the interpreter again.
        self._mark_row(row)
        self._note_compacted(batch)
        self._writing = None
        # What is released now may append again: those entries gather for the next batch.
        self._begin_scheduled = True
        of_lobbies: list[Waiting] = []
        for each in batch.waiters:  # `tell_durable` in place: each move passes here
            stream, seq, waiter = each
            if stream is not None:
                stream.durable = seq
                if stream.kind == "lobby":
                    of_lobbies.append(each)
                    continue
            if waiter is not None:
                try:
                    waiter.durable(seq)
                except Exception:
                    LOG.exception("%s: the news that %d is durable", describe(stream), seq)
        self._report_commit(batch)
        if of_lobbies:  # what they begin takes as long as many moves, which are written first
            self._loop.call_soon(self._tell_lobbies, of_lobbies)
        else:
            self._end_telling()

    def _tell_lobbies(self, waiting: Sequence[Waiting]) -> None:
        tell_durable(waiting)
        self._end_telling()

    def _end_telling(self) -> None:
        """Everybody in a batch was told: begin the next one, if there is anything for it."""
        self._begin_scheduled = False
        if self._gathering.waiters:
            self._schedule_after_input()
        else:
            self._wake_flush_waiters()

    def _mark_row(self, row: journal.Row | None) -> None:
        """Note that a row is on the disk, before anything in it is told to be durable."""
        if row is not None and row.batch > self._marked:
            with contextlib.suppress(OSError):  # a mark that stays behind is allowed
                os.pwrite(self._watermark, journal.watermark_text(row), 0)
            self._marked = row.batch

    def _report_commit(self, batch: Batch) -> None:
        if self._observe is not None:
            try:
                self._observe(len(batch.lines), time.perf_counter() - batch.started)
            except Exception:
                LOG.exception("the figures of a commit")

    def _wake_flush_waiters(self) -> None:
        """Nothing waits for the disk: tell who waits for that."""
        idle, self._flush_waiters = self._flush_waiters, []
        for future in idle:
            if not future.done():
                future.set_result(None)

    # --- the compaction -------------------------------------------------------------------

    def _assign_compaction(self, batch: Batch) -> None:
        """Give a batch what it has to do for the compaction, in proportion to its own size."""
        compaction = self._compaction
        if compaction is None:
            return
        waiting = compaction.segments
        if waiting:
            count = max(SEGMENTS_PER_BATCH, round(2 * batch.weight * compaction.segments_per_byte))
            batch.segments = [waiting.popleft() for _ in range(min(count, len(waiting)))]
            return  # rows are deleted by batches that begin when these are on the disk
        most = max(TRIM_BYTES_PER_BATCH, 2 * batch.weight)
        while compaction.rows and (batch.trim_to is None or batch.trim_bytes < most):
            batch.trim_to, weight = compaction.rows.popleft()
            batch.trim_bytes += weight

    def _note_compacted(self, batch: Batch) -> None:
        """Note what a batch has brought into segments, and begin a compaction when it is time."""
        for segment in batch.segments:
            self._drop_recent(segment.number, segment.last)
        for stream in batch.closing:
            self._drop_recent(stream.number, stream.tail)
        self._journal_weight += batch.weight - batch.trim_bytes
        compaction = self._compaction
        if compaction is not None and not compaction.segments and not compaction.rows:
            self._compaction = None
            self._compact_at = self._journal_bytes
        if (
            self._journal_weight >= self._compact_at
            and not self._compaction
            and not self._compacting
        ):
            self._compacting = object()
            self._read_journal(self._compacting)

    def _drop_recent(self, number: int, last: int) -> None:
        stream = self._with_recent.get(number)
        if stream is not None:
            stream.drop_recent(last)
            if not stream.recent:
                del self._with_recent[number]

    def _read_journal(self, compacting: object) -> None:
        """Have a reader's thread read the older half, which `_journal_read` is given then.

        On a busy server most matches in it are over, and have made their segments themselves.
        """
        weight = self._journal_weight // 2
        reading = self._readers.submit(self._query, lambda db: journal.read(db, weight=weight))
        reading.add_done_callback(
            lambda done: self._loop.call_soon_threadsafe(self._journal_read, compacting, done)
        )

    def _journal_read(self, compacting: object, done: Future[journal.JournalContents]) -> None:
        if compacting is not self._compacting:
            return
        self._compacting = None
        error = done.exception()
        if error is not None:
            self._postpone_compaction(str(error))
            return
        found = done.result()
        if not found.sound:
            self._postpone_compaction("; ".join(str(tail.fault) for tail in found.faults))
            return
        segments = deque(segment for tail in found.tails.values() for segment in tail.segments())
        share = len(segments) / max(1, found.weight)
        self._compaction = _Compaction(segments, deque(found.rows), share)

    def _postpone_compaction(self, reason: str) -> None:
        self._compact_at = self._journal_weight + self._journal_bytes
        LOG.error("the journal cannot be compacted and grows on: %s", reason or "rows are missing")

    def _cancel_compaction(self) -> None:
        self._compaction = self._compacting = None

    # --- trouble --------------------------------------------------------------------------

    def _failed(self, batch: Batch, error: Exception) -> None:
        with contextlib.suppress(sqlite3.Error):
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
        match self._outcome(batch):
            case "written":
                self._succeeded(batch)
            case "foreign":
                self._fail_for_good(batch)
            case "absent":
                self._retry(batch, error)

    def _outcome(self, batch: Batch) -> Literal["written", "absent", "foreign"]:
        """Ask the disk what became of a batch whose commit reported an error."""
        row = _row_of(batch)
        try:
            found = self._db.execute(
                "SELECT checks FROM journal WHERE batch >= ? ORDER BY batch", (row.batch,)
            ).fetchone()
        except sqlite3.Error:
            return "absent"
        if found is None or (
            self._doubtful_checks is not None and found[0] == self._doubtful_checks
        ):
            return "absent"
        return "written" if found[0] == row.checks else "foreign"

    def _resolve_doubt(self, batch: Batch) -> None:
        """Find out whether the batch that was given up has its number on the disk after all."""
        found = journal.row_at(self._db, self._next_batch)
        if found is not None and found.checks == self._doubtful_checks:
            self._next_batch += 1
            self._number(batch)
        self._doubtful_checks = None

    def _retry(self, batch: Batch, error: Exception) -> None:
        self.healthy = False
        if batch.attempts >= len(self._retries):
            self._give_up(batch, WriteFailed(f"cannot write to {str(self.path)!r}: {error}"))
            return
        delay = self._retries[batch.attempts]
        batch.attempts += 1
        self._loop.call_later(delay, self._attempt, batch)

    def _give_up(self, batch: Batch, error: StoreError) -> None:
        """Lose a batch, and everything that was appended after it."""
        LOG.error("%s; %d entries are lost", error, len(batch.lines) + len(self._gathering.lines))
        if self._doubtful_checks is None:
            self._doubtful_checks = _row_of(batch).checks
        self._cancel_compaction()
        batch.waiters += self._gathering.waiters
        self._gathering = Batch()
        self._writing = None
        self._lose(batch, error)
        self._loop.call_later(PROBE_AFTER_S, self._probe)

    def _lose(self, batch: Batch, error: StoreError) -> None:
        """Tell everybody in a batch that it is lost, once each, after its streams have failed."""
        self._begin_scheduled = True
        for stream, _, _ in batch.waiters:
            if stream is not None:
                self._with_recent.pop(stream.number, None)
        tell_lost(batch.waiters, error)
        self._begin_scheduled = False
        if self._gathering.waiters:
            self._schedule()
        else:
            self._wake_flush_waiters()

    def _probe(self) -> None:
        """Write an empty batch where nobody else would find out that the disk is well again."""
        if not self.healthy and self.failure is None:
            self._wait(None, 0, None)

    def _fail_for_good(self, batch: Batch) -> None:
        """Another owner has written: never write again."""
        self.failure = WriteFailed("another server has taken this database over")
        self.healthy = False
        LOG.critical("%s", self.failure)
        if self.on_failure is not None:
            try:
                self.on_failure(self.failure)
            except Exception:
                LOG.exception("the news that nothing can be written")
        self._give_up(batch, self.failure)


def _now() -> int:
    return int(time.time())


def _row_of(batch: Batch) -> journal.Row:
    if batch.row is None:
        raise AssertionError("a batch gets its row when it begins")
    return batch.row
