"""The tables in PostgreSQL, all in the schema `kibitz`, and how they come to the present version.

Entries are keyed by stream and number, so a second entry of one number cannot be written, by
whatever server. `node` has a row for the server that owns the database: its `owner` is drawn at
each start, and `last` names the transaction that was committed last. `hall_line` has what nodes
tell each other of their lobbies; nothing depends on it that must not be lost. `deleted_guest` tells
them which guests are no more.
"""

from __future__ import annotations

import psycopg

from kibitz_server.storage.errors import ForeignDatabase, UnusableDatabase
from kibitz_server.storage.location import PostgresURL
from kibitz_server.storage.postgres.connection import SyncConnection, describe

MIGRATION_LOCK = 0x6B69627A01
"""Advisory locks: who changes the tables; who serves; who changes accounts beside a server."""
SERVER_LOCK = 0x6B69627A02
ACCOUNTS_LOCK = 0x6B69627A03
NODE_LOCKS = 0x6B69627A
"""The first half of the lock of a node's name; the second is a hash of the name."""
_FIRST = """
CREATE TABLE node (name text PRIMARY KEY, owner text NOT NULL, last text NOT NULL);
CREATE TABLE stream (
    number bigint PRIMARY KEY, key text NOT NULL UNIQUE, kind text NOT NULL, owner text,
    state text NOT NULL DEFAULT 'open', opened bigint NOT NULL, head bytea NOT NULL,
    link text NOT NULL, tail integer, footer bytea, summary bytea, sound integer, reason text,
    noticed bigint
);
CREATE INDEX stream_by_state ON stream (state, kind, number);
CREATE INDEX stream_by_owner ON stream (owner, number);
CREATE TABLE entry (
    stream bigint NOT NULL, seq integer NOT NULL, link bytea NOT NULL, line bytea NOT NULL,
    PRIMARY KEY (stream, seq)
);
CREATE TABLE checkpoint (
    stream bigint PRIMARY KEY, seq integer NOT NULL, link text NOT NULL, data bytea NOT NULL
);
CREATE SEQUENCE change;
CREATE TABLE player (
    key text PRIMARY KEY, name text NOT NULL, skeleton text UNIQUE, kind text NOT NULL,
    account boolean NOT NULL, secret bytea UNIQUE, created bigint NOT NULL,
    change bigint NOT NULL DEFAULT 0
);
CREATE INDEX player_by_age ON player (created) WHERE NOT account;
CREATE INDEX player_by_change ON player (change) WHERE change > 0;
CREATE TABLE token (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, hash bytea NOT NULL UNIQUE,
    player text NOT NULL REFERENCES player, created bigint NOT NULL, expires bigint,
    revoked bigint, change bigint NOT NULL
);
CREATE INDEX token_by_change ON token (change);
CREATE TABLE ledger (
    place bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, match text NOT NULL UNIQUE,
    line bytea NOT NULL
);
"""
_NODES = """
ALTER TABLE node ADD COLUMN url text;
ALTER TABLE node ADD COLUMN beat timestamptz;
ALTER TABLE node ADD COLUMN since timestamptz;
ALTER TABLE node ADD COLUMN leaving boolean NOT NULL DEFAULT false;
ALTER TABLE stream ADD COLUMN node text;
CREATE INDEX stream_by_node ON stream (node) WHERE node IS NOT NULL;
CREATE SEQUENCE stream_block INCREMENT 4096
"""
_SEVERAL_SERVE = """
CREATE TABLE hall_line (
    key text PRIMARY KEY, node text NOT NULL, change bigint NOT NULL, line bytea,
    written timestamptz NOT NULL
);
CREATE INDEX hall_line_by_change ON hall_line (node, change);
CREATE INDEX hall_line_gone ON hall_line (node, written) WHERE line IS NULL;
CREATE SEQUENCE hall_change;
CREATE TABLE ticket_key (key bytea NOT NULL);
INSERT INTO ticket_key
    SELECT sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8'))
"""
_DELETED_GUESTS = """
CREATE TABLE deleted_guest (
    key text PRIMARY KEY, change bigint NOT NULL, deleted timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX deleted_guest_by_change ON deleted_guest (change);
CREATE INDEX deleted_guest_by_age ON deleted_guest (deleted)
"""
MIGRATIONS = (_FIRST, _NODES, _SEVERAL_SERVE, _DELETED_GUESTS)
"""What brings the tables from each version to the next; the first makes them."""
SCHEMA_VERSION = len(MIGRATIONS)


def migrate(db: SyncConnection, url: PostgresURL) -> None:
    """Make the tables, or bring them to the present version; raises `StoreError`.

    One transaction under an advisory lock: two programs that start at once do it once.
    """
    try:
        with db.transaction():
            db.execute("SELECT pg_advisory_xact_lock(%s)", (MIGRATION_LOCK,))
            version = _version(db)
            if version > SCHEMA_VERSION:
                raise ForeignDatabase(
                    f"{str(url)!r} has schema version {version}, this server reads"
                    f" {SCHEMA_VERSION}; start it with the release that wrote this one"
                )
            for statements in MIGRATIONS[version:]:
                for statement in filter(str.strip, statements.split(";")):
                    db.execute(statement)
            db.execute("UPDATE version SET number = %s", (SCHEMA_VERSION,))
    except psycopg.Error as error:
        raise UnusableDatabase(describe(url, error)) from error


def _version(db: SyncConnection) -> int:
    """Return the version of the tables; 0 where there are none yet."""
    found = db.execute("SELECT to_regclass('kibitz.version') IS NOT NULL").fetchone()
    if found is None or not found[0]:
        db.execute("CREATE SCHEMA IF NOT EXISTS kibitz")
        db.execute("CREATE TABLE version (number integer NOT NULL)")
        db.execute("INSERT INTO version VALUES (0)")
    row = db.execute("SELECT number FROM version").fetchone()
    return 0 if row is None else int(row[0])
