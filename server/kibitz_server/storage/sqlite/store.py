"""The log in an SQLite file: streams of lines, durable before they are announced.

Every match and every lobby is a *stream*: a head line and entries numbered from 1. All streams of a
server share one journal, which gets one row and one commit per batch (`writer.py`). A stream's
older entries are in *segments*, which are rows of some dozens of consecutive entries; the newer
ones are in the journal. `compaction.py` moves entries from the journal into segments.

One server owns a database (enforced by a lock file), and only one of its connections writes. Three
checks detect data that the disk has lost or changed: links and checksums in the journal
(`journal.py`), the hash of each segment when a stream is loaded, and the watermark file beside the
database (`watermark.py`). `damaged()` returns the damaged streams; all others can be loaded.

Only the writer checkpoints. (SQLite before 3.51.3 can corrupt a database if two connections
checkpoint at once.) Every other connection is `query_only`, or has checkpoints disabled, as in the
token commands.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from kibitz_protocol.wire.recordfile import EMPTY_CHAIN, chain_hash
from kibitz_server.storage.errors import DamagedStream, StoreError
from kibitz_server.storage.group_commit import (
    RETRY_DELAYS_S,
    CommittingStore,
    GroupCommit,
    Statement,
)
from kibitz_server.storage.interface import CLOSE_TIMEOUT_S, Nodes
from kibitz_server.storage.sqlite import journal, streams, watermark
from kibitz_server.storage.sqlite.compaction import COMPACT_BYTES, Compaction
from kibitz_server.storage.sqlite.connection import (
    Readers,
    blob,
    connect_writer,
    lock,
    read_int,
    resolve_path,
    translate_errors,
)
from kibitz_server.storage.sqlite.expiry import SQLiteExpiry
from kibitz_server.storage.sqlite.players import SQLitePlayers
from kibitz_server.storage.sqlite.schema import ensure_schema
from kibitz_server.storage.sqlite.writer import SQLiteWriter
from kibitz_server.storage.streams import (
    Closed,
    Damaged,
    Kind,
    Stored,
    StoredCheckpoint,
    Stream,
    Waiter,
)

LOG = logging.getLogger("kibitz.store")


class SQLiteStore(CommittingStore):
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
        """Open or create the database at `path` and recover its journal.

        `observe(entries, seconds)` is called after each commit. Raises `StoreError`.
        """
        self._loop = loop
        self.nodes: Nodes | None = None
        self.path = path = resolve_path(path)
        self._lock = lock(path)
        try:
            with translate_errors(path):
                self._open(path, journal_bytes)
        except BaseException:
            self._lock.release()
            raise
        self._next_stream = read_int(self._writer.db, "SELECT max(number) FROM stream") + 1
        self.commits = GroupCommit(loop, self._writer.write, retries=retries, observe=observe)
        self.players = SQLitePlayers(self.commits, self._readers)
        self.expiry = SQLiteExpiry(self.commits, self._readers)

    def _open(self, path: Path, journal_bytes: int) -> None:
        db = connect_writer(path)
        try:
            watermark.require(db, path)
            ensure_schema(db, path)
            watermark.require(db, path)
            journal.recover(db)
            db.execute(
                "DELETE FROM checkpoint WHERE stream NOT IN"
                " (SELECT number FROM stream WHERE state = 'open')"
            )
            self._readers = Readers(path, self._loop)
            self._compaction = Compaction(self._loop, self._readers, journal_bytes)
            self._writer = SQLiteWriter(db, path, self._loop, self._compaction)
        except BaseException:
            db.close()
            raise

    # --- writing --------------------------------------------------------------------------

    def create(
        self, stream: Stream, head: bytes, *, owner: str | None, waiter: Waiter | None
    ) -> None:
        stream.number = self._next_stream
        stream.chain = chain_hash(EMPTY_CHAIN, head)
        self._next_stream += 1
        self.commits.gathering.statements.append(
            Statement(
                "INSERT INTO stream (number, key, kind, owner, opened, head, link)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                (
                    stream.number,
                    stream.key,
                    stream.kind,
                    owner,
                    int(time.time()),
                    head,
                    stream.chain,
                ),
            )
        )
        self.commits.wait(stream, 0, waiter)

    def append(self, stream: Stream, seq: int, line: bytes, waiter: Waiter | None) -> None:
        self.commits.append(stream, seq, line, waiter)
        if not stream.recent:
            self._compaction.watch(stream)
        stream.recent.append(line)

    def finish(
        self, stream: Stream, footer: bytes | None, summary: bytes, waiter: Waiter | None = None
    ) -> None:
        close = "UPDATE stream SET state = 'closed', footer = ?, summary = ? WHERE number = ?"
        checkpoint = "DELETE FROM checkpoint WHERE stream = ?"
        self.commits.gathering.statements += (
            Statement(close, (footer, summary, stream.number)),
            Statement(checkpoint, (stream.number,)),
        )
        self.commits.end(stream, waiter)

    def write_checkpoint(self, stream: Stream, data: bytes) -> None:
        sql = "INSERT OR REPLACE INTO checkpoint (stream, seq, link, data) VALUES (?, ?, ?, ?)"
        values = (stream.number, stream.tail, stream.chain, data)
        self.commits.execute(Statement(sql, values))

    def set_aside(self, key: str, reason: str, noticed: int) -> None:
        sql = "UPDATE stream SET state = 'damaged', reason = ?, noticed = ? WHERE key = ?"
        self.commits.execute(Statement(sql, (reason, noticed, key)))

    def rate(self, match: str, line: bytes) -> None:
        sql = "INSERT OR IGNORE INTO ledger (match, line) VALUES (?, ?)"
        self.commits.execute(Statement(sql, (match, line)))

    async def close(self, patience_s: float = CLOSE_TIMEOUT_S) -> None:
        """Finish pending writes, stop the threads and release the database.

        Later appends are lost. If the disk does not answer within `patience_s`, `close` gives up:
        the threads and the lock then last until the process ends.
        """
        await self.commits.close(patience_s / 2)
        self._readers.closed = True
        gone = asyncio.Event()
        loop = self._loop

        def take_down() -> None:
            try:
                self._readers.close()
                self._writer.close()
            finally:
                with contextlib.suppress(RuntimeError):  # the loop may be closed
                    loop.call_soon_threadsafe(gone.set)

        closing = threading.Thread(target=take_down, name="kibitz-closing", daemon=True)
        closing.start()
        try:
            await asyncio.wait_for(gone.wait(), patience_s / 2)
        except TimeoutError:
            LOG.error("%s: the disk does not respond; closing without waiting for it", self.path)
            return
        closing.join()
        self._lock.release()

    # --- reading --------------------------------------------------------------------------

    def load(self, kind: Kind) -> list[Stored]:
        found: list[Stored] = []
        with translate_errors(self.path):
            rows = self._writer.db.execute(
                "SELECT number, key, kind, head, seq, checkpoint.link, data"
                " FROM stream LEFT JOIN checkpoint ON checkpoint.stream = number"
                " WHERE state = 'open' AND kind = ? ORDER BY number",
                (kind,),
            ).fetchall()
            for number, key, _, head, seq, link, data in rows:
                kept = None if seq is None else StoredCheckpoint(seq, link, data)
                try:
                    found.append(streams.load(self._writer.db, number, key, kind, head, kept))
                except StoreError as error:
                    sound = error.sound if isinstance(error, DamagedStream) else 0
                    journal.mark_damaged(self._writer.db, number, sound, str(error))
        return found

    def damaged(self) -> list[Damaged]:
        """Return the damaged streams, oldest first.

        The server does not restore them or append to them. Their data remains on disk: sound
        entries in segments, and the journal's rows in the table `journal_damaged`.
        """
        with translate_errors(self.path):
            rows = self._readers.rows(
                "SELECT key, kind, coalesce(sound, 0), reason FROM stream"
                " WHERE state = 'damaged' ORDER BY number"
            )
            return [Damaged(*row) for row in rows]  # type: ignore[arg-type]

    def load_from_head(self, stored: Stored) -> Stored:
        stream = stored.stream
        with translate_errors(self.path):
            return streams.load(
                self._writer.db, stream.number, stream.key, stream.kind, stored.head
            )

    async def reload(self, keys: Sequence[str]) -> dict[str, Stored | StoreError]:
        # One pass over the journal, in a thread.
        try:
            found, newest = await self._readers.read(lambda db: streams.reload(db, keys))
        except sqlite3.Error as error:
            raise StoreError(f"cannot read {str(self.path)!r}: {error}") from error
        # All entries that this read finds count as durable, even those of an abandoned batch.
        self._writer.mark.note(newest)
        for stored in found.values():
            if isinstance(stored, Stored) and stored.stream.recent:
                self._compaction.watch(stored.stream)
        return found

    def summaries(self, kind: Kind, count: int) -> list[bytes]:
        with translate_errors(self.path):
            rows = self._readers.rows(
                "SELECT summary FROM stream WHERE state = 'closed' AND kind = ?"
                " ORDER BY number DESC LIMIT ?",
                (kind, count),
            )
            return [blob(row[0]) for row in rows if row[0] is not None]

    def lobby_head(self, key: str) -> bytes | None:
        with translate_errors(self.path):
            row = self._readers.row(
                "SELECT head FROM stream WHERE key = ? AND kind = 'lobby'", (key,)
            )
        return row[0] if row is not None and isinstance(row[0], bytes) else None

    def set_aside_reason(self, key: str) -> str | None:
        row = self._readers.row(
            "SELECT reason FROM stream WHERE key = ? AND state IN ('damaged', 'lost')", (key,)
        )
        return None if row is None else str(row[0])

    def ending(self, key: str) -> tuple[bytes | None, bytes | None]:
        row: Any = self._readers.row(
            "SELECT summary, footer FROM stream WHERE key = ? AND state = 'closed'", (key,)
        )
        return (None, None) if row is None else row

    def exists(self, key: str) -> bool:
        return self._readers.row("SELECT 1 FROM stream WHERE key = ?", (key,)) is not None

    async def closed(self, key: str) -> Closed | None:
        # An indexed lookup, fast enough without a thread.
        row = self._readers.row(
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
        return await self._readers.read(lambda db: streams.entries(db, number, first, last))

    async def entries_of_size(self, number: int, first: int, size: int) -> list[bytes]:
        return await self._readers.read(lambda db: streams.entries(db, number, first, size=size))

    async def lines(self, stream: Stream, first: int, last: int) -> list[bytes]:
        last = min(last, stream.durable)
        edge = stream.first_recent
        fresh = stream.recent[max(0, first - edge) : max(0, last - edge + 1)]
        if first >= edge:
            return fresh
        older = await self._readers.read(
            lambda db: streams.segment_entries(db, stream.number, first, last, edge)
        )
        return older + fresh

    async def ledger(self, after: int, count: int) -> list[tuple[int, bytes]]:
        sql = "SELECT place, line FROM ledger WHERE place > ? ORDER BY place LIMIT ?"
        return await self._readers.read(
            lambda db: [(row[0], blob(row[1])) for row in db.execute(sql, (after, count))]
        )
