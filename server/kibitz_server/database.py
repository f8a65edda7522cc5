"""The database file: how it is opened, locked, made and brought to the present schema.

What is written into it, and in which order, is the store's (`store.py`) and the accounts'.

Exceptions:

    StoreError
     +-- ForeignDatabase    a file of another program, or of another version of this one
     +-- DatabaseInUse      another server has it open
     +-- WriteFailed        what was appended is not on the disk
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

from filelock import FileLock, Timeout

Value: TypeAlias = str | int | bytes | None
SCHEMA_VERSION = 2
APPLICATION = 0x6B69627A
"""`PRAGMA application_id`: "kibz"."""
SCHEMA = """
CREATE TABLE journal (batch INTEGER PRIMARY KEY, lines BLOB NOT NULL);
CREATE TABLE stream (
    number INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, owner TEXT,
    state TEXT NOT NULL DEFAULT 'open', opened INTEGER NOT NULL, head BLOB NOT NULL,
    footer BLOB, summary BLOB
);
CREATE INDEX stream_by_state ON stream (state, kind, number);
CREATE TABLE stretch (
    stream INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,
    chain TEXT NOT NULL, lines BLOB NOT NULL
);
CREATE UNIQUE INDEX stretch_by_stream ON stretch (stream, first);
CREATE TABLE player (
    key TEXT PRIMARY KEY, name TEXT NOT NULL, skeleton TEXT UNIQUE, kind TEXT NOT NULL,
    account INTEGER NOT NULL, secret BLOB UNIQUE, created INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE token (
    id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, player TEXT NOT NULL REFERENCES player,
    created INTEGER NOT NULL, expires INTEGER, revoked INTEGER
);
CREATE TABLE ledger (place INTEGER PRIMARY KEY, match TEXT NOT NULL UNIQUE, line BLOB NOT NULL);
"""
UPGRADES = {1: SCHEMA[SCHEMA.index("CREATE TABLE ledger") :]}
"""What a database of an older version lacks of the next one."""


class StoreError(Exception):
    """Something about the database; `str()` is fit for the operator."""


class ForeignDatabase(StoreError):
    """The file is not a kibitz database, or one of another version."""


class DatabaseInUse(StoreError):
    """Another server has the database open."""


class WriteFailed(StoreError):
    """The disk does not have what was appended."""


def connect_beside(path: Path) -> sqlite3.Connection:
    """Open the database for a short administrative change while a server may be running.

    Such a connection never checkpoints: that is the server's writer's alone.
    """
    db = connect(path)
    db.execute("PRAGMA busy_timeout = 5000")
    db.execute("PRAGMA wal_autocheckpoint = 0")
    try:
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
    """Create the tables in an empty file; refuse every other file that is not ours."""
    application = number_of(db, "PRAGMA application_id")
    version = number_of(db, "PRAGMA user_version")
    tables = number_of(db, "SELECT count(*) FROM sqlite_master")
    if tables == 0 and application == 0:
        db.execute("PRAGMA journal_mode = WAL")
        with transaction(db):
            for statement in SCHEMA.split(";"):
                db.execute(statement)
            db.execute(f"PRAGMA application_id = {APPLICATION}")
            db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        return
    if application != APPLICATION:
        raise ForeignDatabase(f"{str(path)!r} is a database of another program")
    while version in UPGRADES:
        version = _upgrade(db, version)
    if version != SCHEMA_VERSION:
        raise ForeignDatabase(
            f"{str(path)!r} has schema version {version}, this server reads {SCHEMA_VERSION};"
            " start it with another database or with the release that wrote this one"
        )


def _upgrade(db: sqlite3.Connection, version: int) -> int:
    """Bring a database to the next version, and return which one it has."""
    with transaction(db):
        found = number_of(db, "PRAGMA user_version")  # again: another program may have been faster
        if found == version:
            for statement in UPGRADES[version].split(";"):
                db.execute(statement)
            db.execute(f"PRAGMA user_version = {version + 1}")
    return max(found, version + 1)


@contextlib.contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")
