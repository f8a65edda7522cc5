"""The watermark: a small file beside the database that identifies the last commit.

If a database's write-ahead log was truncated or deleted, SQLite silently recovers to an older
state. So after each commit the store writes the number and checksums of the newest batch into
`<database>-mark`, in place and without a sync, before the batch counts as durable. It also writes
the mark when it opens a database, and when it rereads streams after a doubtful commit. The commit
is synced before the mark is written. So after a crash or power failure the mark is as new as the
database or older, or it is torn, which its checksum reveals. If the mark is newer than the
database, the database has lost commits.

A database without a mark, such as a backup, gets a new one. A backup that replaces a newer database
lacks the latest writes, so the server refuses it until the operator accepts the loss
(`accept_loss`).
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import zlib
from dataclasses import dataclass
from pathlib import Path

from kibitz_server.storage.errors import CommitsMissing
from kibitz_server.storage.sqlite import journal
from kibitz_server.storage.sqlite.connection import read_int

MARK_BYTES = 64
"""The size of the mark's file."""


@dataclass(frozen=True, slots=True)
class Watermark:
    """The last committed batch."""

    batch: int
    checks: str


def watermark_path(path: Path) -> Path:
    return Path(f"{path}-mark")


def read(path: Path) -> Watermark | None:
    """Return a database's mark, or None if it is missing or unreadable."""
    try:
        text = watermark_path(path).read_bytes()
        batch, checks, checksum = text.decode().split()
        if int(checksum, 16) != zlib.crc32(f"{batch} {checks}".encode()):
            return None
        return Watermark(int(batch), checks)
    except (OSError, ValueError):
        return None


def require(db: sqlite3.Connection, path: Path) -> None:
    """Raise `CommitsMissing` if the database is older than its mark, or the batches differ.

    Call it both before `ensure_schema`, which would fill an empty file, and after it.
    """
    mark = read(path)
    if mark is None:
        return
    tables = read_int(db, "SELECT count(*) FROM sqlite_master WHERE name = 'setting'")
    last = journal.last_batch(db) if tables else 0
    if last < mark.batch:
        raise CommitsMissing(
            f"{str(path)!r} ends with batch {last}, but batch {mark.batch} was written to it: its"
            f" latest commits, probably in {path.name}-wal, are missing. Put the missing files"
            f" back; to use the database as it is (such as a backup), delete {path.name}-mark"
        )
    row = journal.row_at(db, mark.batch)
    if row is not None and row.checks != mark.checks:
        raise CommitsMissing(
            f"{str(path)!r} is not the database that was last written here: its batch"
            f" {mark.batch} differs. To use the database as it is, delete {path.name}-mark"
        )


def accept_loss(db: sqlite3.Connection, path: Path) -> None:
    """Accept a database as it is, although it lacks some of its commits."""
    row = journal.last_row(db)
    if row is None:
        watermark_path(path).unlink(missing_ok=True)
        return
    mark = MarkFile(path)
    mark.note(row)
    mark.close()


class MarkFile:
    """Writes the mark of a database, in place and without a sync."""

    def __init__(self, path: Path) -> None:
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0)
        self._descriptor = os.open(watermark_path(path), flags, 0o600)
        self._batch = 0
        """The batch in the mark."""

    def note(self, row: journal.Row | None) -> None:
        """Record that a row is on disk, before its entries count as durable."""
        if row is not None and row.batch > self._batch:
            with contextlib.suppress(OSError):  # the mark may be older than the database
                body = f"{row.batch} {row.checks}"
                text = f"{body} {zlib.crc32(body.encode()):08x}".ljust(MARK_BYTES - 1)
                os.pwrite(self._descriptor, text.encode() + b"\n", 0)
            self._batch = row.batch

    def close(self) -> None:
        os.close(self._descriptor)
