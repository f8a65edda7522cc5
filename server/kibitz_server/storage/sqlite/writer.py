"""Writes batches to SQLite: the engine's part of the group commit (`storage/group_commit.py`).

A journal is cheaper than a table with one row per entry, keyed by stream and number. In such a
table the latest entries of 200 running matches are on 200 pages, and a commit must write all of
them. Measured with 200 matches per batch, an entry takes 19 us of CPU in such a table and 2 us in
the journal.

A batch is one row of the journal and one transaction. The writer inserts it on the event loop,
which takes microseconds, and commits it in a thread, which waits for the disk. The batch's number
is the journal's primary key. If another server has taken over the database unnoticed, it has used
the next number, and this server's write fails with a key conflict. After an error the writer looks
for the batch in the journal.

Transcripts are read from segments, so the batch that closes a stream writes its remaining entries
as a segment. A compaction may write the same entries before or after: `journal.write_segment` skips
entries that are already in a segment.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
import sqlite3
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from queue import SimpleQueue

from kibitz_server.storage.errors import TakenOver, WriteFailed
from kibitz_server.storage.group_commit import Batch, Done
from kibitz_server.storage.sqlite import journal
from kibitz_server.storage.sqlite.compaction import NO_SHARE, Compaction, Share
from kibitz_server.storage.sqlite.journal import Row, Segment
from kibitz_server.storage.sqlite.watermark import MarkFile

LOG = logging.getLogger("kibitz.store")


class SQLiteWriter:
    """The only connection that writes, and its thread."""

    def __init__(
        self,
        db: sqlite3.Connection,
        path: Path,
        loop: asyncio.AbstractEventLoop,
        compaction: Compaction,
    ) -> None:
        self.db = db
        self.mark = MarkFile(path)
        self.mark.note(journal.last_row(db))
        self._path = path
        self._loop = loop
        self._compaction = compaction
        self._owner = secrets.token_hex(4)
        self._next_batch = journal.last_batch(db) + 1
        self._batch: Batch | None = None
        """The batch that is in progress or was abandoned."""
        self._row: Row
        """The batch's row."""
        self._share: Share
        """The part of a compaction that the batch carries out."""
        self._done: Done
        self._doubtful_checks: str | None = None
        """The checksums of an abandoned batch that may have been written after all."""
        self._commits: SimpleQueue[bool] = SimpleQueue()
        """Contains True for each transaction to commit, or False to end the thread."""
        self._thread = threading.Thread(target=self._run, name="kibitz-writer", daemon=True)
        self._thread.start()

    def write(self, batch: Batch, done: Done) -> None:
        """Start an attempt to write a batch, as `GroupCommit` requires."""
        self._done = done
        if batch is not self._batch:
            self._begin(batch)
        try:
            if self._doubtful_checks is not None:
                self._resolve_doubt(batch)
            self._insert(batch)
        except Exception as error:
            if not isinstance(error, sqlite3.Error):
                LOG.exception("cannot write a batch")
            self._failed(error)
        else:
            self._commits.put(True)

    def close(self) -> None:
        """Release the database. It blocks."""
        self._commits.put(False)
        self._thread.join()
        with contextlib.suppress(sqlite3.Error):
            self.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self.db.close()
        self.mark.close()

    def _begin(self, batch: Batch) -> None:
        if self._batch is not None:  # the previous batch was abandoned
            self._doubtful_checks = self._doubtful_checks or self._row.checks
            self._compaction.cancel()
        self._batch = batch
        self._row = self._seal(batch)
        self._share = NO_SHARE
        if self._compaction.oldest is not None:
            self._share = self._compaction.share(self._row.weight)

    def _seal(self, batch: Batch) -> Row:
        """Make a batch's row, with the next number."""
        size = journal.LINK
        lines = [
            journal.ENTRY % (number, seq, link[:size].encode(), line)
            for number, seq, link, line in batch.entries
        ]
        ends = {number: seq for number, seq, _, _ in batch.entries}
        return journal.seal_row(self._next_batch, self._owner, ends, b"\n".join(lines))

    def _insert(self, batch: Batch) -> None:
        """Write a batch and its part of the compaction, and leave the transaction open."""
        execute = self.db.execute
        execute("BEGIN IMMEDIATE")
        execute(journal.INSERT_ROW, self._row)
        for statement in batch.statements:
            execute(statement.sql, statement.values)
        for segment in self._share.segments:
            journal.write_segment(self.db, segment)
        for stream in batch.closing:
            if stream.recent:
                rest = Segment(stream.number, stream.first_recent, stream.recent, stream.chain)
                journal.write_segment(self.db, rest)
        if self._share.trim_to is not None:
            journal.trim(self.db, self._share.trim_to)

    def _run(self) -> None:
        """Commit batches one after another; the body of the thread."""
        while self._commits.get():
            settled: Callable[[], None] = self._succeeded
            try:
                self._commit()
            except sqlite3.Error as error:
                settled = partial(self._failed, error)
            self._loop.call_soon_threadsafe(settled)

    def _commit(self) -> None:
        self.db.execute("COMMIT")

    def _succeeded(self) -> None:
        batch, self._batch = self._batch, None
        if batch is None:
            raise AssertionError("got the result of a commit that was never started")
        self._next_batch = self._row.batch + 1
        # The thread would have to wait for the GIL again, so this runs on the event loop.
        self.mark.note(self._row)
        self._compaction.written(self._row.weight, self._share, batch.closing)
        self._done(None)

    def _failed(self, error: Exception) -> None:
        """Find out from disk whether a batch was written although its commit reported an error."""
        with contextlib.suppress(sqlite3.Error):
            if self.db.in_transaction:
                self.db.execute("ROLLBACK")
        sql = "SELECT checks FROM journal WHERE batch >= ? ORDER BY batch"
        found = None
        with contextlib.suppress(sqlite3.Error):
            found = self.db.execute(sql, (self._row.batch,)).fetchone()
        if found is None or found[0] == self._doubtful_checks:
            self._done(WriteFailed(f"cannot write to {str(self._path)!r}: {error}"))
        elif found[0] == self._row.checks:
            self._succeeded()
        else:
            self._done(TakenOver())

    def _resolve_doubt(self, batch: Batch) -> None:
        """Find out whether the abandoned batch is on disk after all."""
        found = journal.row_at(self.db, self._next_batch)
        if found is not None and found.checks == self._doubtful_checks:
            self._next_batch += 1
            self._row = self._seal(batch)
        self._doubtful_checks = None
