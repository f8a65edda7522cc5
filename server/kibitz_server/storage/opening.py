"""Opens a database: the one place that knows which adapter a database takes."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from kibitz_server.storage.database import known_faults
from kibitz_server.storage.players import SQLiteTokenRegister
from kibitz_server.storage.port import Store, TokenRegister
from kibitz_server.storage.store import SQLiteStore

Database: TypeAlias = Path
"""Where a database is."""


def open_store(
    db: Database,
    loop: asyncio.AbstractEventLoop,
    *,
    observe: Callable[[int, float], None] | None = None,
) -> Store:
    """Open or create a server's database. It blocks, and raises `StoreError`.

    `observe(entries, seconds)` is called after each commit.
    """
    return SQLiteStore(db, loop, observe=observe)


def open_register(db: Database) -> TokenRegister:
    """Open the accounts of a database, beside a running server. Raises `StoreError`."""
    return SQLiteTokenRegister(db)


def warnings_of(db: Database) -> list[str]:
    """Return a sentence for each known fault of the engine that keeps a database."""
    return known_faults(sqlite3.sqlite_version_info)
