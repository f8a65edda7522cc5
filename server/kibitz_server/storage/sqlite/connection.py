"""Opens, locks and creates the database file.

`schema.py` defines its tables; `store.py`, `writer.py` and `players.py` write them.

A database consists of several files: the database itself, its write-ahead log (`-wal`), the index
of the log (`-shm`), and the lock (`.lock`). Only their names show that they belong together, so the
server observes three rules:

* It never creates an empty database next to an existing write-ahead log: SQLite would delete the
  log, and with it the latest commits of the missing database.
* It never opens a file with a second hard link: SQLite derives the log's name from the given name,
  and would find no log under the other name. Symbolic links are harmless: the server and SQLite
  resolve them first, so that every name leads to the same lock.
* It only calls `stat` on the file and never opens it itself: closing any descriptor of a file drops
  all POSIX locks that the process, and so SQLite, has on it.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import os
import sqlite3
import stat
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TypeAlias, TypeVar
from urllib.parse import quote

from filelock import FileLock, Timeout

from kibitz_server.storage.errors import DatabaseInUse, ForeignDatabase, UnusableDatabase

LOG = logging.getLogger("kibitz.database")
Value: TypeAlias = str | int | bytes | None
_T = TypeVar("_T")
FILE_MODE = 0o600
"""Only the owner may read the database, because it contains token digests and hidden information.
"""
SIDE_FILES = ("-wal", "-shm", "-mark")
"""The file name suffixes of the write-ahead log, its index, and the watermark."""
WAL_PAGES = 4000
"""The size of the write-ahead log, in pages of 4 KiB, at which a commit checkpoints it.

That commit takes some milliseconds and delays all moves in its batch. With SQLite's default of
1000, a server at a thousand moves per second would checkpoint in one commit out of 300, and delay
more than one percent of the moves.
"""


# --- SQLite bugs -------------------------------------------------------------------------


def known_faults(version: tuple[int, int, int]) -> list[str]:
    """Return a sentence about each known bug of an SQLite release that can damage a database.

    The bug concerns databases in WAL mode with one writer and several readers.
    """
    fixed = ((3, 44, 6), (3, 50, 7))  # the releases of older series with the fix
    has_fix = any(version[:2] == other[:2] and version >= other for other in fixed)
    if has_fix or not (3, 7, 0) <= version < (3, 51, 3):
        return []
    return [
        f"SQLite {'.'.join(map(str, version))} may damage a database when two programs checkpoint"
        " its write-ahead log at once (sqlite.org/wal.html#walresetbug): kibitz never does, so let"
        " no other program write to the file while a server runs"
    ]


# --- the files --------------------------------------------------------------------------------


def resolve_path(path: Path) -> Path:
    """Return the absolute path of a file, with symbolic links resolved.

    Raises `UnusableDatabase` if the path cannot be a database.
    """
    real = Path(os.path.realpath(path))
    found = _status(real)
    if found is None:
        _require_no_side_file(real, "is missing")
        return real
    if not stat.S_ISREG(found.st_mode):
        kind = "a directory" if stat.S_ISDIR(found.st_mode) else "not a regular file"
        raise UnusableDatabase(f"{str(real)!r} is {kind}; a database must be a file")
    if found.st_nlink > 1:
        raise UnusableDatabase(
            f"{str(real)!r} has {found.st_nlink} hard links, and under another name the database"
            " would lack its write-ahead log: keep only one (find -samefile lists them)"
        )
    if found.st_size == 0:
        _require_no_side_file(real, "is empty")
    return real


def lock(path: Path) -> FileLock:
    """Lock a database, given by its resolved path, for this process, or raise `DatabaseInUse`."""
    name = f"{path}.lock"
    lock = FileLock(name, mode=FILE_MODE)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=0)
    except Timeout:
        if not os.access(name, os.W_OK):
            raise UnusableDatabase(f"cannot create the file {name!r}") from None
        raise DatabaseInUse(f"another server has {str(path)!r} open") from None
    except (OSError, NotImplementedError) as error:
        raise UnusableDatabase(f"cannot lock {str(path)!r}: {os_error_text(error)}") from error
    return lock


def connect_writer(path: Path) -> sqlite3.Connection:
    """Open a database, given by its resolved path, for writing; create the file if missing.

    The caller must have the lock, and must call `ensure_schema` next. Raises `StoreError`.
    """
    create_file(path)
    with translate_errors(path):
        db = connect(path)
        db.execute(f"PRAGMA wal_autocheckpoint = {WAL_PAGES}")
        # Some SQLite builds overwrite deleted data with zeros. The server deletes journal rows all
        # the time, and would read and write each of their pages once more.
        db.execute("PRAGMA secure_delete = FAST")
        return db


def connect(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path, timeout=0.05, isolation_level=None, check_same_thread=False)
    db.text_factory = _text
    db.execute("PRAGMA synchronous = FULL")
    return db


_text = functools.partial(str, encoding="utf-8", errors="replace")
"""Decodes invalid text without an error, so that damaged rows do not make a table unreadable."""


def connect_reader(path: Path) -> sqlite3.Connection:
    db = connect(path)
    db.execute("PRAGMA query_only = ON")
    db.execute("PRAGMA wal_autocheckpoint = 0")
    return db


class Readers:
    """A server's connections for reading: one for the event loop, and others for two threads."""

    def __init__(self, path: Path, loop: asyncio.AbstractEventLoop) -> None:
        self._path = path
        self._loop = loop
        self._db = connect_reader(path)
        """The connection for the event loop."""
        self._threads = ThreadPoolExecutor(2, thread_name_prefix="kibitz-reader")
        self._idle: SimpleQueue[sqlite3.Connection] = SimpleQueue()
        self.closed = False
        """Whether reading is no longer possible."""

    def row(self, sql: str, values: Sequence[Value]) -> tuple[Value, ...] | None:
        """Return one row. Only for indexed lookups, which are fast enough for the event loop."""
        found: tuple[Value, ...] | None = self._db.execute(sql, values).fetchone()
        return found

    def rows(self, sql: str, values: Sequence[Value] = ()) -> list[tuple[Value, ...]]:
        """Return a query's rows from a small table. It blocks briefly."""
        return self._db.execute(sql, values).fetchall()

    async def find(self, sql: str, values: Sequence[Value]) -> list[tuple[Value, ...]]:
        """Run a query that may be slow in a thread, and return its rows."""
        return await self.read(lambda db: db.execute(sql, values).fetchall())

    async def read(self, query: Callable[[sqlite3.Connection], _T]) -> _T:
        """Run a query that may be slow in a thread, and return its result."""
        if self.closed:
            raise UnusableDatabase("the database is closed")
        return await self._loop.run_in_executor(self._threads, self._query, query)

    def submit(self, query: Callable[[sqlite3.Connection], _T]) -> Future[_T]:
        """Run a query in one of the threads."""
        return self._threads.submit(self._query, query)

    def _query(self, query: Callable[[sqlite3.Connection], _T]) -> _T:
        try:
            db = self._idle.get_nowait()
        except Empty:
            db = connect_reader(self._path)
        try:
            return query(db)
        finally:
            self._idle.put(db)

    def close(self) -> None:
        """Close the connections once all queries have ended. It blocks."""
        self._threads.shutdown()
        while not self._idle.empty():
            self._idle.get().close()
        self._db.close()


@contextlib.contextmanager
def translate_errors(path: Path) -> Iterator[None]:
    """Translate SQLite's errors into a `StoreError` that an operator can act on."""
    try:
        yield
    except (sqlite3.Error, UnicodeDecodeError) as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        kind = ForeignDatabase if code == sqlite3.SQLITE_NOTADB else UnusableDatabase
        raise kind(describe_error(path, error)) from error


def describe_error(path: Path, error: sqlite3.Error | UnicodeDecodeError) -> str:
    """Return a message about an SQLite error."""
    if isinstance(error, UnicodeDecodeError):  # the message quotes parts of the damaged schema
        return f"{str(path)!r} {_ERROR_TEXTS[sqlite3.SQLITE_CORRUPT]}"
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return f"{str(path)!r} {_ERROR_TEXTS.get(code, f'cannot be used: {error}')}"


_ERROR_TEXTS = {
    sqlite3.SQLITE_NOTADB: "is not an SQLite database",
    sqlite3.SQLITE_CORRUPT: "is damaged or truncated: restore a backup",
    sqlite3.SQLITE_READONLY: "cannot be written: the file or its disk is read-only",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened: this user needs permission to read and write it"
    " and to create files beside it",
    sqlite3.SQLITE_FULL: "cannot be written: the disk is full",
    sqlite3.SQLITE_IOERR: "cannot be read or written: disk I/O error",
    sqlite3.SQLITE_BUSY: "is locked by another program; try again when that has ended",
}
"""Messages by SQLite's primary error code."""


def connect_read_only(path: Path) -> sqlite3.Connection:
    """Open a database, given by its resolved path, without writing or checkpointing.

    Closing a read-only connection leaves the write-ahead log unchanged, even if it is the last
    connection. If there is no log, no other program has the database open, and SQLite is told not
    to create one.
    """
    if _status(path) is None:
        raise UnusableDatabase(f"there is no database {str(path)!r}")
    alone = "" if os.path.lexists(f"{path}-wal") else "&immutable=1"
    with translate_errors(path):
        db = sqlite3.connect(
            f"file:{quote(str(path))}?mode=ro{alone}", uri=True, timeout=5, isolation_level=None
        )
    db.text_factory = _text
    return db


def blob(value: object) -> bytes:
    """Return a value from the database, and raise `StoreError` unless it is bytes."""
    if not isinstance(value, bytes):
        raise ForeignDatabase(f"expected bytes in the database, found {value!r}")
    return value


def read_int(db: sqlite3.Connection, sql: str) -> int:
    return db.execute(sql).fetchone()[0] or 0


@contextlib.contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def create_file(path: Path) -> None:
    """Create an empty file that only its owner can access, or check a file's permissions."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, FILE_MODE))
    except FileExistsError:
        _check_permissions(path)
    except OSError as error:
        raise UnusableDatabase(f"cannot create {str(path)!r}: {os_error_text(error)}") from error


def _check_permissions(path: Path) -> None:
    found = _status(path)
    if found is not None and found.st_mode & 0o077:
        LOG.warning(
            "%s is readable by users other than its owner (mode %o): run chmod 600 on its files",
            path,
            stat.S_IMODE(found.st_mode),
        )
    if not os.access(path, os.R_OK | os.W_OK):
        raise UnusableDatabase(f"{str(path)!r} is not readable and writable by this user")


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UnusableDatabase(f"cannot open {str(path)!r}: {os_error_text(error)}") from error


def _require_no_side_file(path: Path, how: str) -> None:
    for suffix in SIDE_FILES:
        side = path.with_name(path.name + suffix)
        if os.path.lexists(side):
            raise UnusableDatabase(
                f"{str(path)!r} {how}, but {side.name!r} beside it belongs to an earlier database:"
                " restore that database, or move its remaining files away to start a new one"
            )


def os_error_text(error: Exception) -> str:
    """Return the operating system's error message, without number and file name."""
    text = error.strerror if isinstance(error, OSError) else None
    return (text or str(error) or type(error).__name__).lower()
