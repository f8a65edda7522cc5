"""The PostgreSQL tables, all in the schema `kibitz`, and their creation.

Entries are keyed by stream and number, so no server can write a second entry with the same number.
`node` has a row for each server on the database: `owner` is chosen at random at each start, and
`last` names the last committed transaction. `hall_line` has the lines that nodes exchange about
their lobbies; losing them does no harm. `deleted_guest` lists deleted guests for the other nodes.
"""

from __future__ import annotations

from kibitz_server.storage.errors import ForeignDatabase
from kibitz_server.storage.location import PostgresURL
from kibitz_server.storage.postgres.connection import SyncConnection, translate_errors

SCHEMA_LOCK = 0x6B69627A01
"""Advisory locks for creating tables, for serving, and for changing accounts."""
SERVER_LOCK = 0x6B69627A02
ACCOUNTS_LOCK = 0x6B69627A03
NODE_LOCKS = 0x6B69627A
"""The first half of the lock on a node's name; the second half is a hash of the name."""
SCHEMA_VERSION = 5
TABLES = """
CREATE TABLE node (
    name text PRIMARY KEY, owner text NOT NULL, last text NOT NULL, url text, beat timestamptz,
    since timestamptz, leaving boolean NOT NULL DEFAULT false
);
CREATE TABLE stream (
    number bigint PRIMARY KEY, key text NOT NULL UNIQUE, kind text NOT NULL, owner text,
    state text NOT NULL DEFAULT 'open', opened bigint NOT NULL, head bytea NOT NULL,
    link text NOT NULL, tail integer, footer bytea, summary bytea, sound integer, reason text,
    noticed bigint, node text
);
CREATE INDEX stream_by_state ON stream (state, kind, number);
CREATE INDEX stream_by_owner ON stream (owner, number);
CREATE INDEX stream_by_node ON stream (node) WHERE node IS NOT NULL;
CREATE SEQUENCE stream_block INCREMENT 4096;
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
CREATE TABLE hall_line (
    key text PRIMARY KEY, node text NOT NULL, change bigint NOT NULL, line bytea,
    written timestamptz NOT NULL
);
CREATE INDEX hall_line_by_change ON hall_line (node, change);
CREATE INDEX hall_line_gone ON hall_line (node, written) WHERE line IS NULL;
CREATE SEQUENCE hall_change;
CREATE TABLE ticket_key (key bytea NOT NULL);
INSERT INTO ticket_key
    SELECT sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8'));
CREATE TABLE deleted_guest (
    key text PRIMARY KEY, change bigint NOT NULL, deleted timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX deleted_guest_by_change ON deleted_guest (change);
CREATE INDEX deleted_guest_by_age ON deleted_guest (deleted)
"""


def ensure_schema(db: SyncConnection, url: PostgresURL) -> None:
    """Create missing tables; raise `StoreError` if their version is unsupported.

    This is one transaction under an advisory lock, so two programs that start together create them
    only once.
    """
    with translate_errors(url), db.transaction():
        db.execute("SELECT pg_advisory_xact_lock(%s)", (SCHEMA_LOCK,))
        version = _version(db)
        if version is None:
            _create(db)
        elif version != SCHEMA_VERSION:
            age = " from before kibitz 0.1" if version < SCHEMA_VERSION else ""
            raise ForeignDatabase(
                f"{str(url)!r} has schema version {version}{age}, but this server needs"
                f" {SCHEMA_VERSION}; start it with another database or with the version that"
                " wrote this one"
            )


def _version(db: SyncConnection) -> int | None:
    """Return the version of the tables, or None if they do not exist yet."""
    found = db.execute("SELECT to_regclass('kibitz.version') IS NOT NULL").fetchone()
    if found is None or not found[0]:
        return None
    row = db.execute("SELECT number FROM version").fetchone()
    return None if row is None else int(row[0])


def _create(db: SyncConnection) -> None:
    db.execute("CREATE SCHEMA IF NOT EXISTS kibitz")
    for statement in TABLES.split(";"):
        db.execute(statement)
    db.execute("CREATE TABLE version (number integer NOT NULL)")
    db.execute("INSERT INTO version VALUES (%s)", (SCHEMA_VERSION,))
