"""The database file: how it is opened, locked, made and brought to the present schema.

What is written into it, and in which order, is the store's (`store.py`) and the accounts'.

Exceptions:

    StoreError
     +-- ForeignDatabase    a file of another program, or of another version of this one
     +-- DatabaseInUse      another server has it open
     +-- CommitsMissing     the file is older than what was written to it
     +-- WriteFailed        what was appended is not on the disk
     +-- NotStored          the disk has nothing of a stream
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

from filelock import FileLock, Timeout

from kibitz_server import unlinked

Value: TypeAlias = str | int | bytes | None
SCHEMA_VERSION = 3
APPLICATION = 0x6B69627A
"""`PRAGMA application_id`: "kibz"."""
JOURNAL = """
CREATE TABLE journal (
    batch INTEGER PRIMARY KEY, owner TEXT NOT NULL, ends TEXT NOT NULL, lines BLOB NOT NULL,
    checks TEXT NOT NULL
);
CREATE TABLE journal_damaged (
    place INTEGER PRIMARY KEY, batch INTEGER, owner TEXT, ends TEXT, lines BLOB, checks TEXT
);
CREATE TABLE setting (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
"""
STREAMS = """
CREATE TABLE stream (
    number INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, owner TEXT,
    state TEXT NOT NULL DEFAULT 'open', opened INTEGER NOT NULL, head BLOB NOT NULL,
    footer BLOB, summary BLOB, link TEXT, sound INTEGER, reason TEXT
);
CREATE INDEX stream_by_state ON stream (state, kind, number);
CREATE TABLE stretch (
    stream INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,
    chain TEXT NOT NULL, lines BLOB NOT NULL
);
CREATE UNIQUE INDEX stretch_by_stream ON stretch (stream, first);
"""
PLAYERS = """
CREATE TABLE player (
    key TEXT PRIMARY KEY, name TEXT NOT NULL, skeleton TEXT UNIQUE, kind TEXT NOT NULL,
    account INTEGER NOT NULL, secret BLOB UNIQUE, created INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE token (
    id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, player TEXT NOT NULL REFERENCES player,
    created INTEGER NOT NULL, expires INTEGER, revoked INTEGER
);
"""
LEDGER = """
CREATE TABLE ledger (place INTEGER PRIMARY KEY, match TEXT NOT NULL UNIQUE, line BLOB NOT NULL);
"""


class StoreError(Exception):
    """Something about the database; `str()` is fit for the operator."""


class ForeignDatabase(StoreError):
    """The file is not a kibitz database, or one of another version."""


class DatabaseInUse(StoreError):
    """Another server has the database open."""


class CommitsMissing(StoreError):
    """The file lacks what was written to it last, such as the end of its write-ahead log."""


class WriteFailed(StoreError):
    """The disk does not have what was appended."""


class NotStored(StoreError):
    """The disk has nothing of a stream, not even its head."""


def connect_beside(path: Path) -> sqlite3.Connection:
    """Open the database for a short administrative change while a server may be running.

    Such a connection never checkpoints: that is the server's writer's alone.
    """
    db = connect(path)
    db.execute("PRAGMA busy_timeout = 5000")
    db.execute("PRAGMA wal_autocheckpoint = 0")
    try:
        if number_of(db, "PRAGMA user_version") in _UPGRADES:
            with lock(path):  # no server of an older version may be running
                prepare(db, path)
        else:
            prepare(db, path)
    except BaseException:
        db.close()
        raise
    return db


def lock(path: Path) -> FileLock:
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(str(path) + ".lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise DatabaseInUse(f"another server has {str(path)!r} open") from None
    return lock


def connect(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path, timeout=0.05, isolation_level=None, check_same_thread=False)
    db.execute("PRAGMA synchronous = FULL")
    return db


def connect_reader(path: Path) -> sqlite3.Connection:
    db = connect(path)
    db.execute("PRAGMA query_only = ON")
    db.execute("PRAGMA wal_autocheckpoint = 0")
    return db


def blob(value: object) -> bytes:
    """Return a value that this program wrote as bytes."""
    if not isinstance(value, bytes):
        raise ForeignDatabase(f"expected bytes in the database, found {value!r}")
    return value


def number_of(db: sqlite3.Connection, sql: str) -> int:
    return db.execute(sql).fetchone()[0] or 0


def prepare(db: sqlite3.Connection, path: Path) -> None:
    """Create the tables in an empty file; refuse every other file that is not ours.

    A database of an older version is upgraded; the caller holds the lock.
    """
    application = number_of(db, "PRAGMA application_id")
    tables = number_of(db, "SELECT count(*) FROM sqlite_master")
    if tables == 0 and application == 0:
        _create(db)
        return
    if application != APPLICATION:
        raise ForeignDatabase(f"{str(path)!r} is a database of another program")
    version = number_of(db, "PRAGMA user_version")
    while version in _UPGRADES:
        version = _upgrade(db, version)
    if version != SCHEMA_VERSION:
        raise ForeignDatabase(
            f"{str(path)!r} has schema version {version}, this server reads {SCHEMA_VERSION};"
            " start it with another database or with the release that wrote this one"
        )


def _create(db: sqlite3.Connection) -> None:
    db.execute("PRAGMA journal_mode = WAL")
    with transaction(db):
        _run(db, JOURNAL + STREAMS + PLAYERS + LEDGER)
        db.execute("INSERT INTO setting VALUES ('trimmed', 0)")
        db.execute(f"PRAGMA application_id = {APPLICATION}")
        db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def _run(db: sqlite3.Connection, statements: str) -> None:
    for statement in statements.split(";"):
        db.execute(statement)


def _upgrade(db: sqlite3.Connection, version: int) -> int:
    """Bring a database to the next version, and return which one it has."""
    with transaction(db):
        found = number_of(db, "PRAGMA user_version")  # again: another program may have been faster
        if found == version:
            _UPGRADES[version](db)
            db.execute(f"PRAGMA user_version = {version + 1}")
    return max(found, version + 1)


def _add_ledger(db: sqlite3.Connection) -> None:
    _run(db, LEDGER)


def _link_entries(db: sqlite3.Connection) -> None:
    """Give the entries of the journal links: those that have none go into stretches."""
    for column in ("link TEXT", "sound INTEGER", "reason TEXT"):
        db.execute(f"ALTER TABLE stream ADD COLUMN {column}")
    db.execute("ALTER TABLE journal RENAME TO journal_unlinked")
    _run(db, JOURNAL)
    unlinked.fold(db)
    db.execute("DROP TABLE journal_unlinked")


_UPGRADES = {1: _add_ledger, 2: _link_entries}
"""What brings a database to the next version."""


@contextlib.contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")
