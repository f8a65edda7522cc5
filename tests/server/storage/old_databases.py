"""Databases of older versions, as those versions made them."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from kibitz_server.storage.database import APPLICATION

SCHEMA_1 = """
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
"""
LEDGER = """
CREATE TABLE ledger (place INTEGER PRIMARY KEY, match TEXT NOT NULL UNIQUE, line BLOB NOT NULL);
"""


def make_database(path: Path, version: int) -> None:
    """Make an empty database of version 1 or 2."""
    db = sqlite3.connect(path)
    db.execute("PRAGMA journal_mode = WAL")
    db.executescript(SCHEMA_1 + (LEDGER if version == 2 else ""))
    db.execute(f"PRAGMA application_id = {APPLICATION}")
    db.execute(f"PRAGMA user_version = {version}")
    db.close()
