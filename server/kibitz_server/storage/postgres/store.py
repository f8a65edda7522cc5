"""The log in PostgreSQL: streams of entries, group commit, and the fence between servers.

Everything that is given while a transaction is under way is the next one: one task writes, and a
batch costs two round trips whatever is in it. No method waits for the database but the
coroutines, and the constructor with the methods for the start, which use a connection of
their own.

After an error nothing is known of a commit that was sent. Before anything else is written, or a
stream is read again, `batch.Ownership.settle` looks the commit up, and makes sure that it cannot
happen later. While the database is away everything waits (`healthy` is false); what could not be
written within the delays of `retries` is lost, as with SQLite, and reloaded when it is back.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from functools import partial
from typing import TypeVar

import psycopg

from kibitz_protocol.wire.recordfile import EMPTY_CHAIN, chain_hash
from kibitz_server.storage.errors import (
    DamagedStream,
    DatabaseInUse,
    NotStored,
    OwnedElsewhere,
    StoreError,
    UnusableDatabase,
    WriteFailed,
)
from kibitz_server.storage.interface import CLOSE_TIMEOUT_S, UNHURRIED_S
from kibitz_server.storage.location import NodeIdentity, PostgresURL
from kibitz_server.storage.postgres import streams
from kibitz_server.storage.postgres.batch import (
    Batch,
    LobbiesElsewhere,
    Statement,
    TakenOver,
)
from kibitz_server.storage.postgres.connection import (
    Connection,
    Readers,
    SyncConnection,
    connect,
    connect_async,
    describe,
)
from kibitz_server.storage.postgres.expiry import PostgresExpiry
from kibitz_server.storage.postgres.nodes import PostgresNodes, enter
from kibitz_server.storage.postgres.notifications import watch
from kibitz_server.storage.postgres.players import IN_ORDER, PostgresPlayers
from kibitz_server.storage.postgres.schema import NODE_LOCKS, SERVER_LOCK, ensure_schema
from kibitz_server.storage.streams import (
    Closed,
    Damaged,
    Kind,
    Stored,
    StoredCheckpoint,
    Stream,
    Transcript,
    Waiter,
)
from kibitz_server.storage.telling import Waiting, tell_durable, tell_lost

LOG = logging.getLogger("kibitz.store")
_T = TypeVar("_T")
RETRY_DELAYS_S = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
"""Seconds before each new attempt at a batch that failed."""
PROBE_AFTER_S = 1.0
"""Seconds after a batch was given up until an empty one is tried, to see how the database is."""
WRITE_TIMEOUT_S = 5.0
"""Seconds after which an attempt at a batch counts as failed."""
LOCK_ATTEMPTS = 100
"""How often the lock is asked for, every 50 ms: a server that was killed may still have it."""


class PostgresStore:
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
        """Connect, bring the tables to the present version and own them. It blocks.

        As a `node` it owns what is that node's, and shares the tables with others.
        `observe(entries, seconds)` is called after each commit. Raises `StoreError`.
        """
        self._loop = loop
        self._url = url
        self._observe = observe
        self._retries = tuple(retries)
        self._identity = node
        self.nodes: PostgresNodes | None = None
        self._lobbies: dict[int, str] = {}
        """The lobby of each stream that a node has, or had, by the stream's number ..."""
        self._lobbies_by_key: dict[str, str] = {}
        """... and by its key."""
        self._owned: set[str] = set()
        """The open lobbies that a node owns, or believes that it does."""
        self._keys: dict[str, set[str]] = {}
        """The streams of each open lobby by their keys, its own among them: with the lobby they
        are forgotten, since only an open one asks which matches it has had."""
        self._elsewhere: dict[str, str | None] = {}
        """The owners of lobbies that were this node's."""
        self.on_failure: Callable[[StoreError], None] | None = None
        self.healthy = True
        self.failure: StoreError | None = None
        self._gathering = Batch()
        self._unhurried: list[tuple[Statement, Waiter | None]] = []
        self._unhurried_timer: asyncio.TimerHandle | None = None
        self._writer: asyncio.Task[None] | None = None
        """Writes batches, as long as there are any."""
        self._db: Connection | None = None
        """The connection that writes."""
        self._writing = asyncio.Lock()
        """Who uses that connection."""
        self._aside: dict[str, str] = {}
        """Why streams were set aside."""
        self._endings: dict[str, tuple[bytes | None, bytes | None]] = {}
        """Summaries and footers of closed matches of the lobbies that were loaded again."""
        self._start: SyncConnection | None = connect(url)
        """The connection of the start, until the first batch is written."""
        try:
            self._open(self._start, lock_attempts)
        except BaseException as error:
            self._start.close()
            if isinstance(error, psycopg.Error):
                raise UnusableDatabase(describe(url, error)) from error
            raise
        self._readers = Readers(url)
        self.expiry = PostgresExpiry(
            self, self._readers, self.players.deleted, shared=node is not None
        )
        lines_written = None if self.nodes is None else self.nodes.lines_written
        self._watch = [loop.create_task(watch(url, self.players.take_up, lines_written))]
        if self.nodes is not None:
            self._watch.append(loop.create_task(self.nodes.run()))

    def _open(self, db: SyncConnection, lock_attempts: int) -> None:
        self._wait_for_lock(db, lock_attempts)
        ensure_schema(db, self._url)
        self._ownership = enter(db, self._identity)
        if self._identity is not None:
            self.nodes = PostgresNodes(self, self._url, self._identity, self._ownership, db)
        if self._identity is not None:
            self._read_owned(db)
        row = db.execute("SELECT coalesce(max(number), 0) FROM stream").fetchone()
        self._next_stream = 1 + (0 if row is None else int(row[0]))
        """The number of the next stream, where a server has the database for itself."""
        for key, owner in db.execute(
            "SELECT key, owner FROM stream WHERE (kind = 'lobby' AND state = 'open') OR owner IN"
            " (SELECT key FROM stream WHERE kind = 'lobby' AND state = 'open')"
        ):
            self._note_key(str(key), owner)
        rows = db.execute("SELECT key, reason FROM stream WHERE state IN ('damaged', 'lost')")
        self._aside.update((str(key), str(reason)) for key, reason in rows)
        self.players = PostgresPlayers(self, db, shared=self._identity is not None)

    def _wait_for_lock(self, db: SyncConnection, attempts: int) -> None:
        """Take the lock of the server, which tells a second one at once that it is one."""
        for _ in range(attempts):
            row = db.execute(*self._lock()).fetchone()
            if row is not None and row[0]:
                return
            db.execute("SELECT pg_advisory_unlock_all()")
            time.sleep(0.05)
        if self._identity is None:
            raise DatabaseInUse(f"another server has {str(self._url)!r} open")
        raise DatabaseInUse(
            f"{str(self._url)!r} has a server open that has no name, or another node that is"
            f" called {self._identity.name!r}"
        )

    def _lock(self) -> tuple[str, tuple[str | int, ...]]:
        """Return what asks for the lock: a node has one of its name, beside other nodes."""
        if self._identity is None:
            return "SELECT pg_try_advisory_lock(%s)", (SERVER_LOCK,)
        both = "pg_try_advisory_lock_shared(%s) AND pg_try_advisory_lock(%s, hashtext(%s))"
        return f"SELECT {both}", (SERVER_LOCK, NODE_LOCKS, self._identity.name)

    # --- what a node owns (nodes.OwningStore) -------------------------------------------------

    def _node_name(self) -> str | None:
        return None if self._identity is None else self._identity.name

    def _read_owned(self, db: SyncConnection) -> None:
        """Find out which open streams are of lobbies that this node owns. It blocks."""
        rows = db.execute(
            "SELECT stream.number, stream.key, lobby.key"
            " FROM stream JOIN stream AS lobby ON lobby.key = coalesce(stream.owner, stream.key)"
            " WHERE stream.state = 'open' AND lobby.node = %s",
            (self._node_name(),),
        )
        for number, key, lobby in rows:
            self._lobbies[number] = self._lobbies_by_key[key] = lobby
            self._owned.add(lobby)

    def _next_number(self) -> int:
        if self.nodes is not None:
            return self.nodes.numbers.take()
        self._next_stream += 1
        return self._next_stream - 1

    def _note_lobby(self, stream: Stream, lobby: str | None) -> None:
        """Note the lobby of a new stream, whose row every batch about it looks at."""
        if self._identity is not None and lobby is not None:
            self._lobbies[stream.number] = self._lobbies_by_key[stream.key] = lobby
            self._owned.add(lobby)

    def _require_owned(self, lobby: str | None) -> None:
        if lobby is not None and lobby in self._elsewhere:
            raise OwnedElsewhere(lobby, self._elsewhere[lobby])

    def _finished(self, stream: Stream, changed: int) -> None:
        """The end of a stream is on the disk: no batch is about it any more."""
        self._lobbies.pop(stream.number, None)
        self._lobbies_by_key.pop(stream.key, None)
        self._owned.discard(stream.key)
        self._forget_lobby(stream.key)

    def _note_key(self, key: str, owner: str | None) -> None:
        """Note that there is a stream: a lobby, or a match of lobby `owner`."""
        self._keys.setdefault(owner or key, set()).add(key)

    def _forget_lobby(self, key: str) -> None:
        """Forget the streams of a lobby, if it is one, that nobody asks about any more."""
        for each in self._keys.pop(key, ()):
            self._endings.pop(each, None)

    def owned_lobbies(self) -> Collection[str]:
        return self._owned

    def lobby_taken(self, key: str, number: int, matches: Mapping[str, int]) -> None:
        """Note what a node has taken: `matches` are the numbers of its matches by their keys."""
        self._elsewhere.pop(key, None)
        self._owned.add(key)
        for each in (key, *matches):
            self._note_key(each, key)
        self._lobbies.update(dict.fromkeys((number, *matches.values()), key))
        self._lobbies_by_key.update(dict.fromkeys((key, *matches), key))

    def lobbies_lost(self, owners: Mapping[str, str | None]) -> None:
        """Let nothing be written of lobbies that are another node's, and tell who waits for it."""
        self._step_down(owners, Batch())

    def _step_down(self, owners: Mapping[str, str | None], batch: Batch) -> None:
        """Take all that is about some lobbies out of a batch, and out of what gathers."""
        owners = {key: node for key, node in owners.items() if key not in self._elsewhere}
        self._elsewhere.update(owners)
        self._owned.difference_update(owners)
        for key in owners:
            self._forget_lobby(key)
        waiting = batch.drop(self._elsewhere, self._lobbies)
        waiting += self._gathering.drop(self._elsewhere, self._lobbies)
        for key, node in owners.items():
            LOG.warning("%s: this node steps down from it", OwnedElsewhere(key, node))
        if owners and self.nodes is not None and self.nodes.on_lost is not None:
            self.nodes.stepped_down()
            try:
                self.nodes.on_lost(owners)
            except Exception:
                LOG.exception("the news that lobbies are owned elsewhere")
        lost: dict[str, list[Waiting]] = {}
        for each in waiting:
            if each[0] is not None:
                lost.setdefault(self._lobbies[each[0].number], []).append(each)
        for key, those in lost.items():
            tell_lost(those, OwnedElsewhere(key, self._elsewhere[key]))

    def fenced(self, error: TakenOver) -> None:
        """Another server has this node's name: go down, as after a batch that finds it out."""
        if self.failure is None:
            self._fail_for_good(Batch(), error)

    # --- writing --------------------------------------------------------------------------

    def create(
        self, stream: Stream, head: bytes, *, owner: str | None, waiter: Waiter | None
    ) -> None:
        lobby = owner or stream.key  # a match without a lobby is owned like one
        self._require_owned(lobby)
        stream.number = self._next_number()
        stream.chain = chain_hash(EMPTY_CHAIN, head)
        self._note_key(stream.key, owner)
        self._note_lobby(stream, lobby)
        node = None if owner else self._node_name()
        self._gathering.statements.append(
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
                lobby=self._lobbies.get(stream.number),
            )
        )
        self._wait(stream, 0, waiter)

    def append(self, stream: Stream, seq: int, line: bytes, waiter: Waiter | None) -> None:
        if seq != stream.tail + 1 or stream.failed or stream.closed:
            raise WriteFailed(f"stream {stream.key!r} ends at {stream.tail}, cannot add {seq}")
        self._require_owned(self._lobbies.get(stream.number))
        stream.tail = seq
        stream.chain = chain_hash(stream.chain, line)
        self._gathering.entries.append((stream.number, seq, stream.chain, line))
        self._wait(stream, seq, waiter)

    def finish(
        self, stream: Stream, footer: bytes | None, summary: bytes, waiter: Waiter | None = None
    ) -> None:
        sql = (
            "UPDATE stream SET state = 'closed', footer = %s, summary = %s, tail = %s"
            " WHERE number = %s"
        )
        lobby = self._lobbies.get(stream.number)
        self._require_owned(lobby)
        values = (footer, summary, stream.tail, stream.number)
        checkpoint = "DELETE FROM checkpoint WHERE stream = %s"
        self._gathering.statements += [
            Statement(sql, values, partial(self._finished, stream), lobby),
            Statement(checkpoint, (stream.number,), None, lobby),
        ]
        stream.closed = True
        self._wait(stream, stream.tail, waiter)

    def write_checkpoint(self, stream: Stream, data: bytes) -> None:
        self.execute(
            Statement(
                "INSERT INTO checkpoint (stream, seq, link, data) VALUES (%s, %s, %s, %s)"
                " ON CONFLICT (stream) DO UPDATE SET seq = excluded.seq, link = excluded.link,"
                " data = excluded.data",
                (stream.number, stream.tail, stream.chain, data),
                lobby=self._lobbies.get(stream.number),
            )
        )

    def set_aside(self, key: str, reason: str, noticed: int) -> None:
        self._aside[key] = reason
        sql = "UPDATE stream SET state = 'damaged', reason = %s, noticed = %s WHERE key = %s"
        self.execute(Statement(sql, (reason, noticed, key), lobby=self._lobbies_by_key.get(key)))

    def rate(self, match: str, line: bytes) -> None:
        sql = "INSERT INTO ledger (match, line) VALUES (%s, %s) ON CONFLICT DO NOTHING"
        if self.nodes is not None:  # other nodes read on from the last place that they saw
            self.execute(IN_ORDER)
        self.execute(Statement(sql, (match, line), lobby=self._lobbies_by_key.get(match)))

    def execute(self, statement: Statement, waiter: Waiter | None = None) -> None:
        """Write a row of another table with the next batch."""
        self._gather_unhurried()
        self._gathering.statements.append(statement)
        self._wait(None, 0, waiter)

    def execute_unhurried(self, statement: Statement, waiter: Waiter | None = None) -> None:
        """Write a row with the next batch, for which none has to begin within `UNHURRIED_S`."""
        if not self._unhurried:
            self._unhurried_timer = self._loop.call_later(UNHURRIED_S, self._gather_unhurried)
        self._unhurried.append((statement, waiter))

    def _gather_unhurried(self) -> None:
        if not self._unhurried:
            return
        if self._unhurried_timer is not None:
            self._unhurried_timer.cancel()
        rows, self._unhurried = self._unhurried, []
        for statement, waiter in rows:
            self._gathering.statements.append(statement)
            self._wait(None, 0, waiter)

    async def flush(self) -> None:
        self._gather_unhurried()
        while self._writer is not None:
            await asyncio.shield(self._writer)

    async def close(self, patience_s: float = CLOSE_TIMEOUT_S) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.flush(), patience_s / 2)
        self.failure = self.failure or WriteFailed("the database is closed")
        tasks = [*self._watch, *filter(None, [self._writer])]
        for task in tasks:
            task.cancel()
        with contextlib.suppress(TimeoutError, psycopg.Error):
            async with asyncio.timeout(patience_s / 2):
                await asyncio.gather(*tasks, return_exceptions=True)
                await self._readers.close()
                if self.nodes is not None:
                    await self.nodes.close()
                if self._db is not None:
                    await self._db.close()
        self._end_start()

    # --- the start: these block -------------------------------------------------------------

    def load(self, kind: Kind) -> list[Stored]:
        rows = self._ask(
            "SELECT number, key, kind, head, stream.link, tail, state,"
            " checkpoint.seq, checkpoint.link, data"
            " FROM stream LEFT JOIN checkpoint ON checkpoint.stream = number"
            f" WHERE state = 'open' AND kind = %s {self._only_owned()} ORDER BY number",
            kind,
            *filter(None, [self._node_name()]),
        )
        found: list[Stored] = []
        for *row, seq, link, data in rows:
            kept = None if seq is None else StoredCheckpoint(seq, link, data)
            try:
                found.append(self._load(tuple(row), kept))
            except DamagedStream as error:
                self._mark_damaged(row[1], error)
        return found

    def _only_owned(self) -> str:
        """Return the condition that a stream is of a lobby that this node owns."""
        if self._identity is None:
            return ""
        return "AND coalesce(owner, key) IN (SELECT key FROM stream WHERE node = %s)"

    def _load(self, row: streams.Row, kept: StoredCheckpoint | None) -> Stored:
        try:
            return streams.load(self._starting(), row, kept)
        except psycopg.Error as error:
            raise UnusableDatabase(describe(self._url, error)) from error

    def _mark_damaged(self, key: str, error: DamagedStream) -> None:
        sql = "UPDATE stream SET state = 'damaged', sound = %s, reason = %s WHERE key = %s"
        self._starting().execute(sql, (error.sound, str(error), key))
        self._aside[key] = str(error)

    def load_from_head(self, stored: Stored) -> Stored:
        sql = "SELECT number, key, kind, head, link, tail, state FROM stream WHERE number = %s"
        [row] = self._ask(sql, stored.stream.number)
        return self._load(row, None)

    def damaged(self) -> list[Damaged]:
        sql = "SELECT key, kind, owner, coalesce(sound, 0), reason FROM stream"
        rows = self._ask(f"{sql} WHERE state = 'damaged' ORDER BY number")
        return [Damaged(*row) for row in rows]

    def summaries(self, kind: Kind, count: int) -> list[bytes]:
        sql = "SELECT summary FROM stream WHERE state = 'closed' AND kind = %s"
        rows = self._ask(f"{sql} ORDER BY number DESC LIMIT %s", kind, count)
        return [row[0] for row in rows if row[0] is not None]

    def lobby_head(self, key: str) -> bytes | None:
        rows = self._ask("SELECT head FROM stream WHERE key = %s AND kind = 'lobby'", key)
        return rows[0][0] if rows else None

    def _starting(self) -> SyncConnection:
        if self._start is None:
            raise AssertionError("only the start may wait for the database")
        return self._start

    def _ask(self, sql: str, *values: str | int) -> list[streams.Row]:
        try:
            return self._starting().execute(sql, values).fetchall()
        except psycopg.Error as error:
            raise UnusableDatabase(describe(self._url, error)) from error

    def _end_start(self) -> None:
        if self._start is not None:
            self._start.close()
            self._start = None

    # --- reading ----------------------------------------------------------------------------

    def exists(self, key: str) -> bool:
        return any(key in keys for keys in self._keys.values())

    def summary(self, key: str) -> bytes | None:
        return self._ending(key)[0]

    def footer(self, key: str) -> bytes | None:
        return self._ending(key)[1]

    def _ending(self, key: str) -> tuple[bytes | None, bytes | None]:
        if self._start is None:
            return self._endings.get(key, (None, None))
        sql = "SELECT summary, footer FROM stream WHERE key = %s AND state = 'closed'"
        rows = self._ask(sql, key)
        return (rows[0][0], rows[0][1]) if rows else (None, None)

    def set_aside_reason(self, key: str) -> str | None:
        return self._aside.get(key)

    async def reload(self, keys: Sequence[str]) -> dict[str, Stored | StoreError]:
        async def query(db: Connection) -> dict[str, Stored | StoreError]:
            sql = (
                "SELECT key, summary, footer FROM stream WHERE owner = ANY(%s) AND state = 'closed'"
            )
            async for key, summary, footer in await db.execute(sql, (list(keys),)):
                self._endings[key] = (summary, footer)
            return await streams.reload(db, keys)

        if self._start is not None:
            # A node that stood by since its start goes over to the connections that serve.
            self._wait(None, 0, None)
            await self.flush()
        await self._settle_doubt()
        found = await self._readers.read(query)
        missing = {key for key, each in found.items() if isinstance(each, NotStored)}
        for known in self._keys.values():
            known -= missing
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

    async def transcript(self, key: str, kind: Kind = "match") -> Transcript | None:
        return await self._readers.read(lambda db: streams.transcript(db, key, kind))

    async def ledger(self, after: int, count: int) -> list[tuple[int, bytes]]:
        async def query(db: Connection) -> list[tuple[int, bytes]]:
            sql = "SELECT place, line FROM ledger WHERE place > %s ORDER BY place LIMIT %s"
            return [(row[0], row[1]) async for row in await db.execute(sql, (after, count))]

        return await self._readers.read(query)

    # --- the group commit -----------------------------------------------------------------

    def _wait(self, stream: Stream | None, seq: int, waiter: Waiter | None) -> None:
        self._gathering.waiting.append((stream, seq, waiter))
        if self._writer is None:
            # The task begins with the next turn of the loop: all of this turn shares a batch.
            self._writer = self._loop.create_task(self._write_gathered())

    async def _write_gathered(self) -> None:
        try:
            while self._gathering.waiting:
                self._gather_unhurried()
                batch, self._gathering = self._gathering, Batch()
                await self._write(batch)
        finally:
            self._writer = None

    async def _write(self, batch: Batch) -> None:
        """Write a batch, try again where it fails, and tell everybody what became of it."""
        started = time.perf_counter()
        error: Exception = WriteFailed("not tried")
        for delay in (0.0, *self._retries):
            if self.failure is not None:
                self._give_up(batch, self.failure)
                return
            if delay:
                await asyncio.sleep(delay)
            try:
                await self._with_writer(lambda db: self._attempt(db, batch))
            except TakenOver as taken:
                self._fail_for_good(batch, taken)
                return
            except (psycopg.Error, OSError) as failed:
                self._note_trouble(failed)
                error = failed
            except Exception as failed:
                LOG.exception("a batch cannot be written")
                self.healthy = False
                error = failed
            else:
                self._succeeded(batch, started)
                return
        self._give_up(batch, WriteFailed(describe(self._url, error)))
        self._loop.call_later(PROBE_AFTER_S, self._probe)

    async def _attempt(self, db: Connection, batch: Batch) -> None:
        if self._ownership.in_doubt and await self._ownership.settle(db) == batch.name:
            return
        while True:
            batch.lobbies = self._lobbies_of(batch)
            try:
                await self._ownership.write(db, batch)
            except LobbiesElsewhere as elsewhere:
                self._step_down(elsewhere.owners, batch)
            else:
                return

    def _lobbies_of(self, batch: Batch) -> set[str]:
        """Return the lobbies that a batch is about, as far as they have owners."""
        found = {self._lobbies[each[0]] for each in batch.entries if each[0] in self._lobbies}
        return found | {each.lobby for each in batch.statements if each.lobby is not None}

    async def _settle_doubt(self) -> None:
        """See to it that what a commit in doubt may have written is there, or never will be."""
        if not self._ownership.in_doubt:
            return
        try:
            await self._with_writer(self._ownership.settle)
        except TakenOver:
            raise
        except Exception as error:
            raise UnusableDatabase(describe(self._url, error)) from error

    async def _with_writer(self, use: Callable[[Connection], Awaitable[_T]]) -> _T:
        """Use the connection that writes, which is made again after an error."""
        async with self._writing, asyncio.timeout(WRITE_TIMEOUT_S):
            if self._db is None or self._db.closed or self._db.broken:
                self._db = await self._connect_writer()
            try:
                return await use(self._db)
            except BaseException:
                db, self._db = self._db, None
                await db.close()
                raise

    async def _connect_writer(self) -> Connection:
        """Connect, and take the lock over from the start, or again after an error.

        The lock tells a second server that it is one; what excludes it is `Ownership`.
        """
        self._end_start()
        db = await connect_async(self._url, patient=self._identity is None)
        await db.execute(*self._lock())
        return db

    def _note_trouble(self, error: Exception) -> None:
        if self.healthy:
            LOG.error("%s; it is tried again", describe(self._url, error))
        self.healthy = False

    def _succeeded(self, batch: Batch, started: float) -> None:
        self.healthy = True
        batch.apply()
        tell_durable(batch.waiting)
        if self._observe is not None:
            try:
                self._observe(len(batch.entries), time.perf_counter() - started)
            except Exception:
                LOG.exception("the figures of a commit")

    # --- trouble --------------------------------------------------------------------------

    def _give_up(self, batch: Batch, error: StoreError) -> None:
        """Lose a batch, and everything that was given after it."""
        lost, self._gathering = self._gathering, Batch()
        LOG.error("%s; %d entries are lost", error, len(batch.entries) + len(lost.entries))
        tell_lost([*batch.waiting, *lost.waiting], error)

    def _probe(self) -> None:
        """Write an empty batch where nobody else would find out that the database is back."""
        if not self.healthy and self.failure is None:
            self._wait(None, 0, None)

    def _fail_for_good(self, batch: Batch, error: StoreError) -> None:
        """Another server has taken the database over: never write again.

        A batch and a heartbeat may find that out at the same time; it is told once.
        """
        self.healthy = False
        if self.failure is None:
            self.failure = error
            LOG.critical("%s", error)
            self._tell_failure(error)
        self._give_up(batch, error)

    def _tell_failure(self, error: StoreError) -> None:
        if self.on_failure is None:
            return
        try:
            self.on_failure(error)
        except Exception:
            LOG.exception("the news that nothing can be written")
