"""A database of schema 2, whose journal has no links, is upgraded."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import pytest

from kibitz_protocol.wire.recordfile import EMPTY_CHAIN, chain_hash
from kibitz_server.storage.database import connect_admin, lock
from kibitz_server.storage.errors import DatabaseInUse
from kibitz_server.storage.store import SQLiteStore
from tests.server.storage import old_databases


def lines(first: int, last: int) -> list[bytes]:
    return [b'{"seq":%d}' % seq for seq in range(first, last + 1)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Two open matches, one of which misses entry 3, and a closed one."""
    path = tmp_path / "kibitz.db"
    old_databases.make_database(path, 2)
    db = sqlite3.connect(path)
    for number, state in enumerate(("open", "open", "closed"), start=1):
        db.execute(
            "INSERT INTO stream (number, key, kind, state, opened, head, footer)"
            " VALUES (?, ?, 'match', ?, 0, ?, ?)",
            (number, f"m{number}", state, b"head", b"footer" if state == "closed" else None),
        )
    hashed = chain_hash(EMPTY_CHAIN, b"head")
    for line in lines(1, 2):
        hashed = chain_hash(hashed, line)
    for number in (1, 3):
        db.execute(
            "INSERT INTO stretch VALUES (?, 1, 2, ?, ?)", (number, hashed, b"\n".join(lines(1, 2)))
        )
    for batch, entries in (
        (4, [(1, 2), (3, 2), (2, 1)]),
        (5, [(1, 3), (2, 2)]),
        (6, [(2, 4), (1, 4)]),
    ):
        text = b"\n".join(b'%d %d {"seq":%d}' % (number, seq, seq) for number, seq in entries)
        db.execute("INSERT INTO journal VALUES (?, ?)", (batch, text))
    db.commit()
    db.close()
    return path


async def test_a_database_of_schema_2_is_taken_up(path: Path) -> None:
    store = SQLiteStore(path, asyncio.get_running_loop())
    [found] = store.load("match")
    assert (found.stream.key, found.lines) == ("m1", lines(1, 4))
    [damaged] = store.damaged()
    assert (damaged.key, damaged.sound) == ("m2", 2)
    closed = await store.transcript("m3")
    assert closed is not None
    assert closed.lines == lines(1, 2)
    store.append(found.stream, 5, lines(5, 5)[0], None)
    await store.close()
    store = SQLiteStore(path, asyncio.get_running_loop())
    assert store.load("match")[0].lines == lines(1, 5)
    rows = store.rows("SELECT batch FROM journal_damaged ORDER BY batch", ())
    assert rows == [(4,), (5,), (6,)]
    assert store.row("SELECT max(batch) FROM journal", ()) == (7,)
    await store.close()


async def test_a_token_command_upgrades_only_where_no_server_runs(path: Path) -> None:
    held = lock(path)
    with pytest.raises(DatabaseInUse):
        connect_admin(path)
    held.release()
    connect_admin(path).close()
    store = SQLiteStore(path, asyncio.get_running_loop())
    assert [found.stream.key for found in store.load("match")] == ["m1"]
    connect_admin(path).close()
    await store.close()
