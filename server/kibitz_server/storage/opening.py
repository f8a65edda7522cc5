"""Opens databases. Only this module knows which adapter a location needs."""

from __future__ import annotations

import asyncio
import importlib.util
from collections.abc import Callable

from kibitz_server.storage.errors import UnusableDatabase
from kibitz_server.storage.interface import NodeEntry, Store
from kibitz_server.storage.location import Database, NodeIdentity, PostgresURL
from kibitz_server.storage.sqlite.store import SQLiteStore
from kibitz_server.storage.sqlite.tokens import SQLiteTokenRegister
from kibitz_server.storage.token_register import TokenRegister


def open_store(
    db: Database,
    loop: asyncio.AbstractEventLoop,
    *,
    observe: Callable[[int, float], None] | None = None,
    node: NodeIdentity | None = None,
) -> Store:
    """Open or create a server's database.

    It blocks, and raises `StoreError`. A `node` shares the database with other nodes, which only
    PostgreSQL supports. `observe(entries, seconds)` is called after each commit.
    """
    if isinstance(db, PostgresURL):
        _require_psycopg(db)
        from kibitz_server.storage.postgres.store import PostgresStore

        return PostgresStore(db, loop, observe=observe, node=node)
    if node is not None:
        raise UnusableDatabase(
            f"{str(db)!r} cannot be shared between nodes: nodes need a PostgreSQL database"
        )
    return SQLiteStore(db, loop, observe=observe)


def open_register(db: Database) -> TokenRegister:
    """Open a database's accounts, even while a server is running. Raises `StoreError`."""
    if isinstance(db, PostgresURL):
        _require_psycopg(db)
        from kibitz_server.storage.postgres.tokens import PostgresTokenRegister

        return PostgresTokenRegister(db)
    return SQLiteTokenRegister(db)


def list_nodes(db: Database) -> list[NodeEntry]:
    """Return a database's nodes, longest alive first. It blocks, and raises `StoreError`."""
    if not isinstance(db, PostgresURL):
        raise UnusableDatabase(
            f"{str(db)!r} cannot be shared between nodes: nodes need a PostgreSQL database"
        )
    _require_psycopg(db)
    from kibitz_server.storage.postgres.nodes import read_nodes

    return read_nodes(db)


def _require_psycopg(db: PostgresURL) -> None:
    if importlib.util.find_spec("psycopg") is None:
        raise UnusableDatabase(
            f"{str(db)!r} needs the PostgreSQL driver: pip install 'kibitz[postgres]'"
        )
