"""Writes batches to PostgreSQL: the engine's part of the group commit (`storage/group_commit.py`).

A batch takes two round trips on a dedicated connection, whatever its size. After an error the
outcome of a sent commit is unknown. Before the server writes or rereads anything,
`ownership.Ownership.settle` looks up the commit. If it has not happened, `settle` makes sure that
it cannot happen later.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping

import psycopg

from kibitz_server.storage.errors import DatabaseInUse, TakenOver, WriteFailed
from kibitz_server.storage.group_commit import Batch, Done
from kibitz_server.storage.location import NodeIdentity, PostgresURL
from kibitz_server.storage.postgres.connection import (
    Connection,
    LastingConnection,
    StartConnection,
    SyncConnection,
    connect_async,
    describe,
    translate_errors,
)
from kibitz_server.storage.postgres.lobbies import Lobbies
from kibitz_server.storage.postgres.ownership import LobbiesElsewhere, Ownership, Transaction
from kibitz_server.storage.postgres.schema import NODE_LOCKS, SERVER_LOCK

LOG = logging.getLogger("kibitz.store")
WRITE_TIMEOUT_S = 5.0
"""Timeout of an attempt to write a batch, in seconds."""


def wait_for_lock(
    db: SyncConnection, url: PostgresURL, node: NodeIdentity | None, attempts: int
) -> None:
    """Take the server's lock, which makes a second server fail at once."""
    for _ in range(attempts):
        row = db.execute(*_lock(node)).fetchone()
        if row is not None and row[0]:
            return
        db.execute("SELECT pg_advisory_unlock_all()")
        time.sleep(0.05)
    if node is None:
        raise DatabaseInUse(f"another server has {str(url)!r} open")
    raise DatabaseInUse(
        f"{str(url)!r} is open in a server without a name, or in another node named {node.name!r}"
    )


def _lock(node: NodeIdentity | None) -> tuple[str, tuple[str | int, ...]]:
    """Return the lock query: for a node's name, or for a single server."""
    if node is None:
        return "SELECT pg_try_advisory_lock(%s)", (SERVER_LOCK,)
    both = "pg_try_advisory_lock_shared(%s) AND pg_try_advisory_lock(%s, hashtext(%s))"
    return f"SELECT {both}", (SERVER_LOCK, NODE_LOCKS, node.name)


class PostgresWriter:
    """The only connection that writes."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        url: PostgresURL,
        node: NodeIdentity | None,
        start: StartConnection,
        ownership: Ownership,
        lobbies: Lobbies,
    ) -> None:
        self._loop = loop
        self._url = url
        self._node = node
        self._start = start
        self._ownership = ownership
        self._lobbies = lobbies
        self.step_down: Callable[[Mapping[str, str | None], Batch], None] | None = None
        """A callback that removes the entries and rows of other nodes' lobbies from a batch."""
        self._transaction: Transaction | None = None
        """The last batch passed to `write`, which may be in progress, written or abandoned."""
        self._attempting: asyncio.Task[None] | None = None
        self._connection = LastingConnection(self._connect, WRITE_TIMEOUT_S)

    def write(self, batch: Batch, done: Done) -> None:
        """Start an attempt to write a batch, as `GroupCommit` requires."""
        transaction = self._transaction
        if transaction is None or transaction.batch is not batch:
            transaction = self._transaction = Transaction(batch)
        self._attempting = self._loop.create_task(self._write(transaction, done))

    async def _write(self, transaction: Transaction, done: Done) -> None:
        error: WriteFailed | None = None
        try:
            await self._connection.use(lambda db: self._attempt(db, transaction))
            transaction.apply()
            for stream in transaction.batch.closing:
                self._lobbies.closed(stream)
        except TakenOver as taken:
            error = taken
        except Exception as failed:
            if not isinstance(failed, psycopg.Error | OSError):
                LOG.exception("cannot write a batch")
            error = WriteFailed(describe(self._url, failed))
            if transaction.batch.attempts == 0:
                LOG.error("%s; will retry", error)
        done(error)

    async def _attempt(self, db: Connection, transaction: Transaction) -> None:
        ownership = self._ownership
        if ownership.in_doubt and await ownership.settle(db) == transaction.name:
            return
        while True:
            transaction.lobbies = self._lobbies.of_batch(transaction.batch)
            try:
                await ownership.write(db, transaction)
            except LobbiesElsewhere as elsewhere:
                if self.step_down is None:
                    raise AssertionError(
                        "a server without a name cannot lose lobbies to other nodes"
                    ) from None
                self.step_down(elsewhere.owners, transaction.batch)
            else:
                return

    async def settle_doubt(self) -> None:
        """If a commit is in doubt, make sure that it either has happened or never will."""
        if not self._ownership.in_doubt:
            return
        with translate_errors(self._url):
            await self._connection.use(self._ownership.settle)

    async def _connect(self) -> Connection:
        """Connect and take the lock, which the startup connection releases here.

        The lock makes a second server fail early; only `Ownership` actually excludes it.
        """
        self._start.close()
        db = await connect_async(self._url, patient=self._node is None)
        await db.execute(*_lock(self._node))
        return db

    async def close(self) -> None:
        """Abandon the attempt in progress, and release the database."""
        if self._attempting is not None:
            self._attempting.cancel()
            await asyncio.gather(self._attempting, return_exceptions=True)
        await self._connection.close()
