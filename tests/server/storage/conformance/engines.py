"""The databases under test in the conformance suite, and the faults planted in them."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, Protocol, TypeAlias

import psycopg

from kibitz_server.storage.errors import StoreError
from kibitz_server.storage.interface import Nodes, Store
from kibitz_server.storage.location import Database, NodeIdentity, PostgresURL
from kibitz_server.storage.postgres.connection import Connection
from kibitz_server.storage.postgres.nodes import EXPIRES_S, PostgresNodes
from kibitz_server.storage.postgres.ownership import Ownership
from kibitz_server.storage.postgres.store import PostgresStore
from kibitz_server.storage.sqlite import journal
from kibitz_server.storage.sqlite.store import SQLiteStore
from kibitz_server.storage.streams import Stream
from tests.tools.fake_database import FakeDatabase, FakeLink, Fate
from tests.tools.fake_nodes import FakeNodes
from tests.tools.fake_store import FakeNodeStore

Fault: TypeAlias = Literal["absent", "doubtful"]
"""A failed commit, and a successful one that reported an error."""
Observer: TypeAlias = Callable[[int, float], None]
NODE = NodeIdentity("a", "ws://a.example.org")
SHARED_URL = "ws://games.example.org"


class Engine(Protocol):
    """A database on which stores are opened one after the other."""

    def open(self, *, retries: Sequence[float] = (), observe: Observer | None = None) -> Store: ...

    def fail_commits(self, store: Store, fault: Fault, times: int) -> None:
        """Make the next commits fail."""

    def take_over(self) -> None:
        """Write like another server that has taken over the database."""


class FullEngine(Engine, Protocol):
    """A database with accounts and retention that detects damage."""

    @property
    def db(self) -> Database: ...

    def damage(self, key: str, seq: int) -> None:
        """Change an entry of a stream behind the server's back; 0 is the head."""


class NodeEngine(Protocol):
    """A database shared by nodes."""

    def node(self, name: str, url: str = SHARED_URL) -> Store:
        """Start a node that sends heartbeats only when the test says so."""

    def expire(self, name: str) -> None:
        """Backdate a node's last heartbeat, as if it had been suspended."""

    def end_lease(self, store: Store) -> None:
        """Backdate a node's last heartbeat by its own clock."""

    def take_over(self) -> None:
        """Write like another server that uses the names of all nodes."""

    def give(self, lobby: str, node: str | None) -> None:
        """Assign a lobby to another node, which may not exist."""


class SQLiteEngine:
    """An SQLite file."""

    def __init__(self, path: Path) -> None:
        self.db = path

    def open(self, *, retries: Sequence[float] = (), observe: Observer | None = None) -> Store:
        loop = asyncio.get_running_loop()
        return SQLiteStore(self.db, loop, retries=retries, observe=observe)

    def fail_commits(self, store: Store, fault: Fault, times: int) -> None:
        assert isinstance(store, SQLiteStore)
        commit, left = store._writer._commit, iter(range(times))

        def failing() -> None:
            if next(left, None) is None:
                return commit()
            if fault == "doubtful":
                commit()
            raise sqlite3.OperationalError("disk I/O error")

        store._writer._commit = failing  # type: ignore[method-assign]

    def take_over(self) -> None:
        with contextlib.closing(sqlite3.connect(self.db, isolation_level=None)) as db:
            last = journal.last_batch(db)
            db.execute(journal.INSERT_ROW, journal.seal_row(last + 1, "another", {}, b""))

    def damage(self, key: str, seq: int) -> None:
        with contextlib.closing(sqlite3.connect(self.db, isolation_level=None)) as db:
            if seq == 0:
                db.execute("UPDATE stream SET head = CAST('x' AS BLOB) WHERE key = ?", (key,))
                return
            sql = "SELECT stretch.rowid, first, lines FROM stretch JOIN stream ON stream = number"
            rows = db.execute(f"{sql} WHERE key = ? AND first <= ?", (key, seq)).fetchall()
            rowid, first, text = rows[-1]
            lines = text.split(b"\n")
            lines[seq - first] = b"changed"
            sql = "UPDATE stretch SET lines = ? WHERE rowid = ?"
            db.execute(sql, (b"\n".join(lines), rowid))


class PostgresEngine:
    """A database on a PostgreSQL server."""

    def __init__(self, url: PostgresURL, node: NodeIdentity | None = None) -> None:
        self.db = url
        self._node = node

    def open(self, *, retries: Sequence[float] = (), observe: Observer | None = None) -> Store:
        loop = asyncio.get_running_loop()
        return PostgresStore(
            self.db, loop, retries=retries, observe=observe, lock_attempts=40, node=self._node
        )

    def fail_commits(self, store: Store, fault: Fault, times: int) -> None:
        assert isinstance(store, PostgresStore)
        ownership, left = store._writer._ownership, iter(range(times))

        async def failing(db: Connection) -> None:
            if next(left, None) is None:
                return await Ownership._commit(ownership, db)
            if fault == "doubtful":
                await Ownership._commit(ownership, db)
            raise psycopg.OperationalError("server closed the connection unexpectedly")

        ownership._commit = failing  # type: ignore[method-assign]

    def take_over(self) -> None:
        self.execute("UPDATE node SET owner = 'another'")

    def damage(self, key: str, seq: int) -> None:
        if seq == 0:
            self.execute("UPDATE stream SET head = 'x' WHERE key = %s", key)
            return
        self.execute(
            "UPDATE entry SET line = 'changed' FROM stream"
            " WHERE number = stream AND key = %s AND seq = %s",
            key,
            seq,
        )

    # --- nodes ---

    def node(self, name: str, url: str = SHARED_URL) -> PostgresStore:
        loop = asyncio.get_running_loop()
        store = PostgresStore(self.db, loop, node=NodeIdentity(name, url), lock_attempts=2)
        store._watch.pop().cancel()
        return store

    def expire(self, name: str) -> None:
        self.execute("UPDATE node SET beat = beat - interval '1 minute' WHERE name = %s", name)

    def end_lease(self, store: Store) -> None:
        assert isinstance(store.nodes, PostgresNodes)
        store.nodes._beat_at -= EXPIRES_S

    def give(self, lobby: str, node: str | None) -> None:
        self.execute("UPDATE stream SET node = %s WHERE key = %s", node, lobby)

    def execute(self, sql: str, *values: object) -> None:
        options = "-c search_path=kibitz"
        with psycopg.connect(self.db.url, autocommit=True, options=options) as db:
            db.execute(sql, values)


class FakeEngine:
    """An in-memory database for one or more nodes."""

    def __init__(self) -> None:
        self._database = FakeDatabase(lambda: asyncio.get_running_loop().time())

    def open(self, *, retries: Sequence[float] = (), observe: Observer | None = None) -> Store:
        link, loop = FakeLink(self._database), asyncio.get_running_loop()
        return FakeNodeStore(link, NODE, loop, retries=retries, observe=observe)

    def fail_commits(self, store: Store, fault: Fault, times: int) -> None:
        assert isinstance(store, FakeNodeStore)
        fate: Fate = "before" if fault == "absent" else "after"
        fates = iter([fate] * times)
        store.link.breaks = lambda: next(fates, "")

    def take_over(self) -> None:
        for row in self._database.nodes.values():
            row.life = 0

    def node(self, name: str, url: str = SHARED_URL) -> Store:
        link, loop = FakeLink(self._database), asyncio.get_running_loop()
        store = FakeNodeStore(link, NodeIdentity(name, url), loop)
        store.tasks.pop().cancel()
        return store

    def expire(self, name: str) -> None:
        self._database.nodes[name].beat -= 60.0

    def end_lease(self, store: Store) -> None:
        assert isinstance(store.nodes, FakeNodes)
        store.nodes._beat_at -= EXPIRES_S

    def give(self, lobby: str, node: str | None) -> None:
        row = self._database.find(lobby)
        assert row is not None
        row.node = node


class RecordingWaiter:
    """A waiter that stores its reports."""

    def __init__(self) -> None:
        self.told: list[int] = []
        self.errors: list[StoreError] = []

    def durable(self, seq: int) -> None:
        self.told.append(seq)

    def lost(self, error: StoreError) -> None:
        self.errors.append(error)


def written(
    store: Store,
    key: str = "m1",
    count: int = 0,
    waiter: RecordingWaiter | None = None,
    *,
    owner: str | None = None,
) -> Stream:
    """Start a stream and append some entries."""
    stream = Stream(0, key, "match" if "m" in key else "lobby")
    store.create(stream, b"head of " + key.encode(), owner=owner, waiter=waiter)
    appended(store, stream, count, waiter)
    return stream


def appended(
    store: Store, stream: Stream, count: int, waiter: RecordingWaiter | None = None
) -> None:
    for seq in range(stream.tail + 1, stream.tail + 1 + count):
        store.append(stream, seq, line(seq), waiter)


def line(seq: int) -> bytes:
    return b'{"seq":%d}' % seq


def lines(first: int, last: int) -> list[bytes]:
    return [line(seq) for seq in range(first, last + 1)]


def nodes_of(store: Store) -> Nodes:
    assert store.nodes is not None
    return store.nodes
