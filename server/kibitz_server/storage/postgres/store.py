"""The log in PostgreSQL: streams of entries, with fencing between servers.

Only the coroutines, the constructor, and the methods for startup wait for the database. The
constructor and the methods for startup use a separate connection. While the database is
unreachable, all writes and reads wait, and `healthy` is false. Entries that cannot be written
within the delays of `retries` are lost, as with SQLite, and their streams are reloaded when the
database is reachable again.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import time
from collections.abc import Callable, Sequence

import psycopg

from kibitz_protocol.wire.recordfile import EMPTY_CHAIN, chain_hash
from kibitz_server.storage.errors import DamagedStream, NotStored, StoreError
from kibitz_server.storage.group_commit import (
    RETRY_DELAYS_S,
    CommittingStore,
    GroupCommit,
    Statement,
)
from kibitz_server.storage.interface import CLOSE_TIMEOUT_S
from kibitz_server.storage.location import NodeIdentity, PostgresURL
from kibitz_server.storage.postgres import streams
from kibitz_server.storage.postgres.connection import (
    Connection,
    Readers,
    StartConnection,
    translate_errors,
)
from kibitz_server.storage.postgres.expiry import PostgresExpiry
from kibitz_server.storage.postgres.lobbies import Lobbies
from kibitz_server.storage.postgres.nodes import PostgresNodes, enter
from kibitz_server.storage.postgres.players import IN_ORDER, PostgresPlayers
from kibitz_server.storage.postgres.schema import ensure_schema
from kibitz_server.storage.postgres.writer import PostgresWriter, wait_for_lock
from kibitz_server.storage.streams import (
    Closed,
    Damaged,
    Kind,
    Stored,
    StoredCheckpoint,
    Stream,
    Waiter,
)

LOCK_ATTEMPTS = 100
"""Attempts to get the lock, one every 50 ms. The session of a killed server may still hold it."""


class PostgresStore(CommittingStore):
    """The PostgreSQL database of one server (`interface.Store`)."""

    remembers_closed = False

    def __init__(
        self,
        url: PostgresURL,
        loop: asyncio.AbstractEventLoop,
        *,
        observe: Callable[[int, float], None] | None = None,
        retries: Sequence[float] = RETRY_DELAYS_S,
        lock_attempts: int = LOCK_ATTEMPTS,
        node: NodeIdentity | None = None,
    ) -> None:
        """Connect, create missing tables and take ownership of them.

        It blocks. A `node` owns only its lobbies, and shares the tables with other nodes.
        `observe(entries, seconds)` is called after each commit. Raises `StoreError`.
        """
        self._loop = loop
        self._url = url
        self._identity = node
        self.nodes: PostgresNodes | None = None
        self._aside: dict[str, str] = {}
        """The reasons why streams were set aside, by key."""
        self._start = StartConnection(url)
        try:
            with translate_errors(self._url):
                self._open(retries, observe, lock_attempts)
        except BaseException:
            self._start.close()
            raise
        self._readers = Readers(url)
        self.expiry = PostgresExpiry(
            self.commits, self._readers, self.players.deleted, shared=node is not None
        )
        self._watch = [loop.create_task(self.players.watch(url))]
        if self.nodes is not None:
            self._watch.append(loop.create_task(self.nodes.run()))

    def _open(
        self,
        retries: Sequence[float],
        observe: Callable[[int, float], None] | None,
        lock_attempts: int,
    ) -> None:
        db, url, node = self._start.db, self._url, self._identity
        wait_for_lock(db, url, node, lock_attempts)
        ensure_schema(db, url)
        ownership = enter(db, node)
        self._lobbies = Lobbies(db, None if node is None else node.name)
        self._writer = PostgresWriter(self._loop, url, node, self._start, ownership, self._lobbies)
        self.commits = GroupCommit(self._loop, self._writer.write, retries=retries, observe=observe)
        if node is not None:
            self.nodes = PostgresNodes(self.commits, self._lobbies, url, node, ownership, db)
            self._writer.step_down = self.nodes.step_down
            self._take_number = self.nodes.numbers.take
        else:
            [[last]] = db.execute("SELECT coalesce(max(number), 0) FROM stream")
            self._take_number = itertools.count(last + 1).__next__
        rows = db.execute("SELECT key, reason FROM stream WHERE state IN ('damaged', 'lost')")
        self._aside.update((str(key), str(reason)) for key, reason in rows)
        self.players = PostgresPlayers(self.commits, db, shared=node is not None)

    # --- writing --------------------------------------------------------------------------

    def create(
        self, stream: Stream, head: bytes, *, owner: str | None, waiter: Waiter | None
    ) -> None:
        self._lobbies.require_owned(owner or stream.key)
        stream.number = self._take_number()
        stream.chain = chain_hash(EMPTY_CHAIN, head)
        self._lobbies.created(stream, owner)
        node = None if owner else self._lobbies.node
        self.commits.gathering.statements.append(
            Statement(
                "INSERT INTO stream (number, key, kind, owner, opened, head, link, node)"
                " VALUES (%s, %s, %s, %s, %s, %s, %s, %s)",
                (
                    stream.number,
                    stream.key,
                    stream.kind,
                    owner,
                    int(time.time()),
                    head,
                    stream.chain,
                    node,
                ),
                lobby=self._lobbies.by_number.get(stream.number),
            )
        )
        self.commits.wait(stream, 0, waiter)

    def append(self, stream: Stream, seq: int, line: bytes, waiter: Waiter | None) -> None:
        self._lobbies.require_owned(self._lobbies.by_number.get(stream.number))
        self.commits.append(stream, seq, line, waiter)

    def finish(
        self, stream: Stream, footer: bytes | None, summary: bytes, waiter: Waiter | None = None
    ) -> None:
        sql = (
            "UPDATE stream SET state = 'closed', footer = %s, summary = %s, tail = %s"
            " WHERE number = %s"
        )
        lobby = self._lobbies.by_number.get(stream.number)
        self._lobbies.require_owned(lobby)
        values = (footer, summary, stream.tail, stream.number)
        checkpoint = "DELETE FROM checkpoint WHERE stream = %s"
        self.commits.gathering.statements += (
            Statement(sql, values, lobby=lobby),
            Statement(checkpoint, (stream.number,), lobby=lobby),
        )
        self.commits.end(stream, waiter)

    def write_checkpoint(self, stream: Stream, data: bytes) -> None:
        self.commits.execute(
            Statement(
                "INSERT INTO checkpoint (stream, seq, link, data) VALUES (%s, %s, %s, %s)"
                " ON CONFLICT (stream) DO UPDATE SET seq = excluded.seq, link = excluded.link,"
                " data = excluded.data",
                (stream.number, stream.tail, stream.chain, data),
                lobby=self._lobbies.by_number.get(stream.number),
            )
        )

    def set_aside(self, key: str, reason: str, noticed: int) -> None:
        self._aside[key] = reason
        sql = "UPDATE stream SET state = 'damaged', reason = %s, noticed = %s WHERE key = %s"
        values = (reason, noticed, key)
        self.commits.execute(Statement(sql, values, lobby=self._lobbies.by_key.get(key)))

    def rate(self, match: str, line: bytes) -> None:
        sql = "INSERT INTO ledger (match, line) VALUES (%s, %s) ON CONFLICT DO NOTHING"
        written = Statement(sql, (match, line), lobby=self._lobbies.by_key.get(match))
        # Other nodes read the ledger from the last row number that they know.
        in_order = () if self.nodes is None else (IN_ORDER,)
        self.commits.execute(*in_order, written)

    async def close(self, patience_s: float = CLOSE_TIMEOUT_S) -> None:
        await self.commits.close(patience_s / 2)
        for task in self._watch:
            task.cancel()
        with contextlib.suppress(TimeoutError, psycopg.Error):
            async with asyncio.timeout(patience_s / 2):
                await asyncio.gather(*self._watch, return_exceptions=True)
                await self._readers.close()
                if self.nodes is not None:
                    await self.nodes.close()
                await self._writer.close()
        self._start.close()

    # --- startup: these methods block -----------------------------------------------------

    def load(self, kind: Kind) -> list[Stored]:
        node, owned = self._lobbies.node, ""
        if node is not None:
            owned = "AND coalesce(owner, key) IN (SELECT key FROM stream WHERE node = %s)"
        rows = self._start.rows(
            "SELECT number, key, kind, head, stream.link, tail, state,"
            " checkpoint.seq, checkpoint.link, data"
            " FROM stream LEFT JOIN checkpoint ON checkpoint.stream = number"
            f" WHERE state = 'open' AND kind = %s {owned} ORDER BY number",
            *filter(None, [kind, node]),
        )
        found: list[Stored] = []
        for *row, seq, link, data in rows:
            kept = None if seq is None else StoredCheckpoint(seq, link, data)
            try:
                with translate_errors(self._url):
                    found.append(streams.load(self._start.db, tuple(row), kept))
            except DamagedStream as error:
                sql = "UPDATE stream SET state = 'damaged', sound = %s, reason = %s WHERE key = %s"
                self._start.db.execute(sql, (error.sound, str(error), row[1]))
                self._aside[row[1]] = str(error)
        return found

    def load_from_head(self, stored: Stored) -> Stored:
        sql = "SELECT number, key, kind, head, link, tail, state FROM stream WHERE number = %s"
        [row] = self._start.rows(sql, stored.stream.number)
        with translate_errors(self._url):
            return streams.load(self._start.db, row, None)

    def damaged(self) -> list[Damaged]:
        sql = "SELECT key, kind, coalesce(sound, 0), reason FROM stream"
        rows = self._start.rows(f"{sql} WHERE state = 'damaged' ORDER BY number")
        return [Damaged(*row) for row in rows]

    def summaries(self, kind: Kind, count: int) -> list[bytes]:
        sql = "SELECT summary FROM stream WHERE state = 'closed' AND kind = %s"
        rows = self._start.rows(f"{sql} ORDER BY number DESC LIMIT %s", kind, count)
        return [row[0] for row in rows if row[0] is not None]

    def lobby_head(self, key: str) -> bytes | None:
        rows = self._start.rows("SELECT head FROM stream WHERE key = %s AND kind = 'lobby'", key)
        return rows[0][0] if rows else None

    # --- reading ----------------------------------------------------------------------------

    def exists(self, key: str) -> bool:
        return self._lobbies.exists(key)

    def ending(self, key: str) -> tuple[bytes | None, bytes | None]:
        if not self._start.open:
            return self._lobbies.endings.get(key, (None, None))
        sql = "SELECT summary, footer FROM stream WHERE key = %s AND state = 'closed'"
        rows = self._start.rows(sql, key)
        return (rows[0][0], rows[0][1]) if rows else (None, None)

    def set_aside_reason(self, key: str) -> str | None:
        return self._aside.get(key)

    async def reload(self, keys: Sequence[str]) -> dict[str, Stored | StoreError]:
        async def query(db: Connection) -> dict[str, Stored | StoreError]:
            sql = (
                "SELECT key, summary, footer FROM stream WHERE owner = ANY(%s) AND state = 'closed'"
            )
            async for key, summary, footer in await db.execute(sql, (list(keys),)):
                self._lobbies.endings[key] = summary, footer
            return await streams.reload(db, keys)

        if self._start.open:
            # A node that was a standby until now switches to the connections for serving.
            self.commits.wait(None, 0, None)
            await self.flush()
        await self._writer.settle_doubt()
        found = await self._readers.read(query)
        self._lobbies.missing({key for key, each in found.items() if isinstance(each, NotStored)})
        return found

    async def closed(self, key: str) -> Closed | None:
        return await self._readers.read(lambda db: streams.closed(db, key))

    async def entries(self, number: int, first: int, last: int) -> list[bytes]:
        return await self._readers.read(lambda db: streams.entries(db, number, first, last))

    async def entries_of_size(self, number: int, first: int, size: int) -> list[bytes]:
        return await self._readers.read(lambda db: streams.entries_of_size(db, number, first, size))

    async def lines(self, stream: Stream, first: int, last: int) -> list[bytes]:
        last = min(last, stream.durable)
        return await self._readers.read(lambda db: streams.lines(db, stream.number, first, last))

    async def ledger(self, after: int, count: int) -> list[tuple[int, bytes]]:
        async def query(db: Connection) -> list[tuple[int, bytes]]:
            sql = "SELECT place, line FROM ledger WHERE place > %s ORDER BY place LIMIT %s"
            return [(row[0], row[1]) async for row in await db.execute(sql, (after, count))]

        return await self._readers.read(query)
