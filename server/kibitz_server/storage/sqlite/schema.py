"""The tables of a database file: players, tokens, streams with their entries, ratings.

This module creates them in an empty file, and refuses files of other programs or versions.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from kibitz_server.storage.errors import ForeignDatabase, UnusableDatabase
from kibitz_server.storage.sqlite.connection import (
    connect,
    create_file,
    read_int,
    resolve_path,
    transaction,
    translate_errors,
)

SCHEMA_VERSION = 4
APPLICATION = 0x6B69627A
"""`PRAGMA application_id`: "kibz"."""
TABLES = """
CREATE TABLE journal (
    batch INTEGER PRIMARY KEY, owner TEXT NOT NULL, ends TEXT NOT NULL, lines BLOB NOT NULL,
    checks TEXT NOT NULL
);
CREATE TABLE journal_damaged (
    place INTEGER PRIMARY KEY, batch INTEGER, owner TEXT, ends TEXT, lines BLOB, checks TEXT
);
CREATE TABLE setting (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE stream (
    number INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, owner TEXT,
    state TEXT NOT NULL DEFAULT 'open', opened INTEGER NOT NULL, head BLOB NOT NULL,
    footer BLOB, summary BLOB, link TEXT, sound INTEGER, reason TEXT, noticed INTEGER
);
CREATE INDEX stream_by_state ON stream (state, kind, number);
CREATE TABLE stretch (
    stream INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,
    chain TEXT NOT NULL, lines BLOB NOT NULL
);
CREATE UNIQUE INDEX stretch_by_stream ON stretch (stream, first);
CREATE TABLE checkpoint (
    stream INTEGER PRIMARY KEY, seq INTEGER NOT NULL, link TEXT NOT NULL, data BLOB NOT NULL
);
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
"""The tables of a database. `stretch` contains the segments of streams."""


def connect_admin(path: Path) -> sqlite3.Connection:
    """Open the database for a short administrative change while a server may be running.

    Such a connection never checkpoints; only the server's writer does.
    """
    path = resolve_path(path)
    create_file(path)
    with translate_errors(path):
        db = connect(path)
        try:
            db.execute("PRAGMA busy_timeout = 5000")
            db.execute("PRAGMA wal_autocheckpoint = 0")
            ensure_schema(db, path)
        except BaseException:
            db.close()
            raise
    return db


def require_schema(db: sqlite3.Connection, path: Path) -> None:
    """Raise `ForeignDatabase` unless this program and version created the database."""
    if read_int(db, "PRAGMA application_id") != APPLICATION:
        raise ForeignDatabase(f"{str(path)!r} is not a kibitz database")
    _require_version(db, path)


def ensure_schema(db: sqlite3.Connection, path: Path) -> None:
    """Create the tables in an empty file; refuse other programs' files."""
    application = read_int(db, "PRAGMA application_id")
    tables = read_int(db, "SELECT count(*) FROM sqlite_master")
    if tables == 0 and application == 0:
        _create(db, path)
        application = read_int(db, "PRAGMA application_id")
    if application != APPLICATION:
        raise ForeignDatabase(f"{str(path)!r} is another program's database")
    _require_version(db, path)
    db.execute("PRAGMA journal_mode = WAL")


def _require_version(db: sqlite3.Connection, path: Path) -> None:
    version = read_int(db, "PRAGMA user_version")
    if version != SCHEMA_VERSION:
        age = " from before kibitz 0.1" if version < SCHEMA_VERSION else ""
        raise ForeignDatabase(
            f"{str(path)!r} has schema version {version}{age}, but this server needs"
            f" {SCHEMA_VERSION}; start it with another database or with the version that wrote"
            " this one"
        )


def _create(db: sqlite3.Connection, path: Path) -> None:
    """Create the tables in the main file, before a write-ahead log exists.

    So a database that is in WAL mode but has no tables has lost its log, and is not treated as new.
    """
    if db.execute("PRAGMA journal_mode").fetchone()[0] == "wal":
        raise UnusableDatabase(
            f"{str(path)!r} has no tables: its write-ahead log ({path.name}-wal) is missing or"
            " damaged; restore a backup, or remove the file to start a new database"
        )
    with transaction(db):
        if read_int(db, "SELECT count(*) FROM sqlite_master") == 0:
            for statement in TABLES.split(";"):
                db.execute(statement)
            db.execute("INSERT INTO setting VALUES ('trimmed', 0)")
            db.execute(f"PRAGMA application_id = {APPLICATION}")
            db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
