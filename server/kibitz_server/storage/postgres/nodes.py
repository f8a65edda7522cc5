"""A node: a server that shares its database with others and owns some of its lobbies.

A node has a row in `node`, with a heartbeat by the database's clock, and each lobby's row names its
owner. If a node sends no heartbeat for `EXPIRES_S`, or its row is marked as leaving, another node
may take over its lobbies (`take`). It skips lobbies with locked rows. A take-over changes the
lobby's row and appends an entry to its stream in one transaction.

Nodes with the same public URL are standbys for each other: the one that has been alive longest
serves (`first`). If a node missed its heartbeats, it counts as alive only since it resumed. So it
moves to the end of the order and releases its lobbies. Nodes with different URLs serve at the same
time. Each of them takes over lobbies of dead nodes that have no standby.

If a process is suspended or its connection hangs in the middle of a batch, the batch keeps its
lobbies locked. No database timeout ends it, because an unfinished pipeline is not an idle
transaction. So when a node finds nothing to take over, it terminates unfinished transactions of
dead nodes. It finds their sessions by the advisory lock on the dead node's name.

Heartbeats only decide which node may take over which lobbies, and when. `ownership.Ownership` keeps
former owners from writing, however late they resume.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias, TypeVar

from kibitz_protocol.wire.recordfile import chain_hash
from kibitz_server.storage.errors import (
    OwnedElsewhere,
    StoreError,
    TakenOver,
    UnusableDatabase,
    WriteFailed,
)
from kibitz_server.storage.group_commit import Batch, GroupCommit, tell_lost
from kibitz_server.storage.interface import (
    HallExchange,
    MatchHead,
    NewEntries,
    NodeEntry,
    TakenLobby,
    TakeOverEntry,
)
from kibitz_server.storage.location import SINGLE_SERVER, NodeIdentity, PostgresURL
from kibitz_server.storage.postgres import followed_streams
from kibitz_server.storage.postgres.connection import (
    IDLE_TRANSACTION_MS,
    Connection,
    LastingConnection,
    Readers,
    SyncConnection,
    connect,
    connect_async,
    translate_errors,
)
from kibitz_server.storage.postgres.hall_lines import HallLines
from kibitz_server.storage.postgres.lobbies import Lobbies
from kibitz_server.storage.postgres.ownership import LOCK_OWNERS, Ownership
from kibitz_server.storage.postgres.schema import NODE_LOCKS, SCHEMA_LOCK, ensure_schema
from kibitz_server.storage.streams import Stream

LOG = logging.getLogger("kibitz.store")
_T = TypeVar("_T")
HEARTBEAT_S: Final = 2.0
EXPIRES_S: Final = 8.0
"""Seconds after its last heartbeat at which a node counts as dead."""
_Taken: TypeAlias = tuple[TakenLobby, int, dict[str, int]]
"""A lobby, its stream's number, and its matches' numbers by key, including closed ones."""
BEAT_TIMEOUT_S: Final = 4.0
"""Timeout of a node's queries, in seconds."""
BLOCK: Final = 4096
"""Stream numbers that a node reserves at a time; the increment of `stream_block`."""
_BEAT: Final = """
UPDATE node SET beat = clock_timestamp(), since = CASE
    WHEN beat < clock_timestamp() - make_interval(secs => %s) THEN clock_timestamp() ELSE since END
WHERE name = %s AND owner = %s AND NOT leaving"""
_FIRST: Final = """
SELECT NOT EXISTS (
    SELECT FROM node AS other WHERE other.name <> me.name AND other.url = me.url
        AND NOT other.leaving
        AND other.beat >= clock_timestamp() - make_interval(secs => %s)
        AND (other.since, other.name) < (me.since, me.name))
FROM node AS me WHERE me.name = %s AND NOT me.leaving"""
_NODES: Final = """
SELECT name, url, leaving, extract(epoch FROM clock_timestamp() - beat),
    (SELECT count(*) FROM stream WHERE kind = 'lobby' AND state = 'open' AND node = name),
    (SELECT count(*) FROM stream JOIN stream AS lobby ON lobby.key = stream.owner
     WHERE stream.state = 'open' AND lobby.node = name)
FROM node WHERE name <> %s ORDER BY since, name"""
_LET_GO: Final = """
UPDATE stream SET node = NULL WHERE node = %s
    AND key IN (SELECT coalesce(owner, key) FROM stream WHERE state = 'open')"""
_ORPHANS: Final = """
SELECT lobby.number, lobby.key, lobby.node, lobby.link, lobby.state = 'open'
FROM stream AS lobby LEFT JOIN node ON node.name = lobby.node
WHERE lobby.key IN (SELECT coalesce(owner, key) FROM stream WHERE state = 'open')
    AND lobby.kind = 'lobby' AND lobby.node IS DISTINCT FROM %(name)s
    AND (node.name IS NULL OR node.leaving
         OR node.beat < clock_timestamp() - make_interval(secs => %(expires_s)s))
    AND (node.name IS NULL OR node.url = (SELECT url FROM node WHERE name = %(name)s)
         OR NOT EXISTS (
            SELECT FROM node AS mate WHERE mate.url = node.url AND mate.name <> node.name
                AND NOT mate.leaving
                AND mate.beat >= clock_timestamp() - make_interval(secs => %(expires_s)s)))
ORDER BY lobby.number LIMIT %(most)s FOR UPDATE OF lobby SKIP LOCKED"""

_END_TRANSACTIONS: Final = """
SELECT pg_terminate_backend(held.pid)
FROM node JOIN pg_locks AS held ON held.objid = (hashtext(node.name)::bigint & 4294967295)::oid
    JOIN pg_stat_activity AS session ON session.pid = held.pid
WHERE node.name <> %s AND node.beat < clock_timestamp() - make_interval(secs => %s)
    AND held.locktype = 'advisory' AND held.classid = %s AND held.objsubid = 2
    AND held.database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND session.xact_start < clock_timestamp() - make_interval(secs => %s)
    AND pg_has_role(session.usesysid, 'USAGE')"""
_HAS_ALL: Final = """
SELECT NOT EXISTS (
    SELECT FROM stream AS lobby LEFT JOIN node ON node.name = lobby.node
    WHERE lobby.key IN (SELECT coalesce(owner, key) FROM stream WHERE state = 'open')
        AND lobby.kind = 'lobby' AND lobby.node IS DISTINCT FROM %(name)s
        AND (node.name IS NULL OR node.leaving
             OR node.url = (SELECT url FROM node WHERE name = %(name)s)
             OR node.beat < clock_timestamp() - make_interval(secs => %(expires_s)s)))"""
_OWNER: Final = """
SELECT lobby.key, lobby.node FROM stream
    JOIN stream AS lobby ON lobby.key = coalesce(stream.owner, stream.key)
WHERE stream.key = %s AND stream.state = 'open'"""


def enter(db: SyncConnection, node: NodeIdentity | None) -> Ownership:
    """Write a starting server's row, so that earlier servers of its name can no longer write.

    A server without a name does not share its database: it removes the rows of nodes, which then
    can no longer write. A node, in turn, removes the row of a server without a name. It blocks.
    """
    name = SINGLE_SERVER if node is None else node.name
    owner, last = secrets.token_hex(8), secrets.token_hex(8)
    with db.transaction():
        db.execute("SELECT pg_advisory_xact_lock(%s)", (SCHEMA_LOCK,))
        if node is None:
            db.execute("DELETE FROM node WHERE name <> %s", (name,))
            db.execute("UPDATE stream SET node = NULL WHERE node IS NOT NULL")
        else:
            _leave_single(db)
        db.execute(
            "INSERT INTO node (name, owner, last, url, beat, since)"
            " VALUES (%s, %s, %s, %s, clock_timestamp(), clock_timestamp())"
            " ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, last = excluded.last,"
            " url = excluded.url, beat = excluded.beat, since = excluded.since, leaving = false",
            (name, owner, last, None if node is None else node.url),
        )
    return Ownership(owner, last, name)


def _leave_single(db: SyncConnection) -> None:
    """Switch from a single server to nodes: start their number blocks after its last number."""
    gone = db.execute("DELETE FROM node WHERE name = %s", (SINGLE_SERVER,)).rowcount
    [[nodes]] = db.execute("SELECT count(*) FROM node")
    if gone or not nodes:
        db.execute(
            "SELECT setval('stream_block', greatest((SELECT last_value FROM stream_block),"
            " (SELECT coalesce(max(number), 0) + 1 FROM stream)))"
        )


def read_nodes(url: PostgresURL) -> list[NodeEntry]:
    """Return the nodes, longest alive first. It blocks, and raises `StoreError`."""
    with translate_errors(url), connect(url) as db:
        ensure_schema(db, url)
        rows = db.execute(_NODES, (SINGLE_SERVER,)).fetchall()
    found: list[NodeEntry] = []
    for name, address, leaving, beat_s, lobbies, matches in rows:
        served = any(each.state == "serving" and each.url == address for each in found)
        alive: Literal["serving", "standby"] = "standby" if served else "serving"
        state = "leaving" if leaving else "dead" if beat_s > EXPIRES_S else alive
        found.append(NodeEntry(name, address or "", state, float(beat_s), lobbies, matches))
    return found


class StreamNumbers:
    """Numbers for new streams, from blocks reserved for this node."""

    def __init__(self, db: SyncConnection) -> None:
        """Reserve two blocks. It blocks."""
        self._blocks: deque[range] = deque()
        for _ in range(2):
            [[first]] = db.execute("SELECT nextval('stream_block')")
            self.add(first)

    @property
    def short(self) -> bool:
        """Whether it is time to reserve another block."""
        return len(self._blocks) < 2

    def add(self, first: int) -> None:
        self._blocks.append(range(first, first + BLOCK))

    def take(self) -> int:
        """Return a number. Raises `WriteFailed` if none is free until the next heartbeat."""
        while self._blocks and not self._blocks[0]:
            self._blocks.popleft()
        if not self._blocks:
            raise WriteFailed("no stream numbers left until the next heartbeat")
        number, self._blocks[0] = self._blocks[0][0], self._blocks[0][1:]
        return number


class PostgresNodes:
    """This node, and what it reads about the others (`interface.Nodes`)."""

    def __init__(
        self,
        commits: GroupCommit,
        lobbies: Lobbies,
        url: PostgresURL,
        identity: NodeIdentity,
        ownership: Ownership,
        db: SyncConnection,
        *,
        expires_s: float = EXPIRES_S,
    ) -> None:
        self.on_lost: Callable[[Mapping[str, str | None]], None] | None = None
        self.name, self.url = identity.name, identity.url
        self._turn = False
        """Whether this node was the one to serve, as of the last heartbeat."""
        self._beat_at = 0.0
        """When the last acknowledged heartbeat was sent, by this machine's clock."""
        self.numbers = StreamNumbers(db)
        self._commits = commits
        self._lobbies = lobbies
        self._database = url
        self._owner = ownership.owner
        self._expires_s = expires_s
        self._lines = HallLines(identity.name, ownership.owner, expires_s)
        self._connection = LastingConnection(
            lambda: connect_async(url, patient=False), BEAT_TIMEOUT_S
        )
        """The connection for heartbeats and take-overs, which never waits for a batch."""
        self._readers = Readers(url)
        """Connections for reading other nodes' logs, so that heartbeats and pages do not wait."""

    @property
    def first(self) -> bool:
        return self._turn and self._alive

    @property
    def _alive(self) -> bool:
        """Whether the last heartbeat is still valid, so that no other node may take over lobbies.

        It expires earlier here than in the database, where it arrived later than it was sent.
        """
        return time.monotonic() < self._beat_at + self._expires_s

    async def run(self) -> None:
        """Send heartbeats and check for lost lobbies, until canceled."""
        while True:
            try:
                await self.beat()
            except TakenOver as error:
                self._commits.fail(error)
                return
            except UnusableDatabase as error:
                LOG.warning("node %s could not send a heartbeat: %s", self.name, error)
            except Exception:
                LOG.exception("node %s could not send a heartbeat", self.name)
            await asyncio.sleep(HEARTBEAT_S)

    async def beat(self) -> None:
        """Write a heartbeat; raises `TakenOver` if another server has this node's name."""
        sent = time.monotonic()
        self._turn, owners = await self._ask(self._beat)
        self._beat_at = sent
        if owners:
            self.step_down(owners)

    async def _beat(self, db: Connection) -> tuple[bool, dict[str, str | None]]:
        """Return whether this node is the one to serve, and the lobbies that it has lost."""
        done = await db.execute(_BEAT, (self._expires_s, self.name, self._owner))
        if done.rowcount != 1:
            await self._require_row(db)
        row = await (await db.execute(_FIRST, (self._expires_s, self.name))).fetchone()
        turn = row is not None and bool(row[0])
        if not turn:
            await db.execute(_LET_GO, (self.name,))
        if self.numbers.short:
            row = await (await db.execute("SELECT nextval('stream_block')")).fetchone()
            self.numbers.add(0 if row is None else int(row[0]))
        return turn, await self._lost(db)

    async def _lost(self, db: Connection) -> dict[str, str | None]:
        """Return the lobbies that this node has lost without noticing yet, and their owners."""
        owned = sorted(self._lobbies.owned)
        if self._alive:
            sql = "SELECT key, node FROM stream WHERE key = ANY(%s) AND node IS DISTINCT FROM %s"
            return dict(await (await db.execute(sql, (owned, self.name))).fetchall())
        # A take-over may be in progress, even if the heartbeat succeeded; locking waits for its
        # end.
        rows = await (await db.execute(LOCK_OWNERS, (owned,))).fetchall()
        return {key: node for key, node in rows if node != self.name}

    def step_down(self, owners: Mapping[str, str | None], *batches: Batch) -> None:
        """Stop writing to lobbies that other nodes own, and notify the waiters.

        Their entries and rows are removed from the next batch and from `batches`.
        """
        owners = self._lobbies.lost(owners)
        lost = self._lobbies.drop_lost([*batches, self._commits.gathering])
        for key, node in owners.items():
            LOG.warning("%s: this node no longer owns it", OwnedElsewhere(key, node))
        if owners:
            self._turn = False  # until the next heartbeat
        if owners and self.on_lost is not None:
            try:
                self.on_lost(owners)
            except Exception:
                LOG.exception("on_lost raised an exception")
        for error, waiting in lost:
            tell_lost(waiting, error)

    async def _require_row(self, db: Connection) -> None:
        sql = "SELECT FROM node WHERE name = %s AND owner = %s"
        if await (await db.execute(sql, (self.name, self._owner))).fetchone() is None:
            raise TakenOver

    async def take(self, entry: TakeOverEntry, most: int) -> list[TakenLobby]:
        async def query(db: Connection) -> list[_Taken]:
            async with db.transaction():
                sql = "SELECT FROM node WHERE name = %s AND owner = %s AND NOT leaving FOR SHARE"
                if await (await db.execute(sql, (self.name, self._owner))).fetchone() is None:
                    return []
                values = {"name": self.name, "expires_s": self._expires_s, "most": most}
                found = await db.execute(_ORPHANS, values)
                taken = [await self._take(db, row, entry) for row in await found.fetchall()]
                taken += await self._unheard(db, {lobby.key for lobby, _, _ in taken})
            if not taken:  # locked lobbies can be taken over next time
                limits = (self._expires_s, NODE_LOCKS, IDLE_TRANSACTION_MS / 1000)
                await db.execute(_END_TRANSACTIONS, (self.name, *limits))
            return taken

        taken = await self._ask(query)
        # If this node lost a lobby and regained it without noticing, its copy in memory is current.
        owned = self._lobbies.owned
        stale = {lobby.key: lobby.former for lobby, _, _ in taken if lobby.key in owned}
        if stale:
            self.step_down(stale)
        for lobby, number, matches in taken:
            self._lobbies.taken(lobby.key, number, matches)
        return [lobby for lobby, _, _ in taken]

    async def has_all(self) -> bool:
        async def query(db: Connection) -> bool:
            values = {"name": self.name, "expires_s": self._expires_s}
            row = await (await db.execute(_HAS_ALL, values)).fetchone()
            return row is not None and bool(row[0])

        return await self._ask(query)

    async def owner(self, key: str) -> tuple[str, str | None] | None:
        async def query(db: Connection) -> tuple[str, str | None] | None:
            row = await (await db.execute(_OWNER, (key,))).fetchone()
            return None if row is None else (row[0], row[1])

        return await self._ask(query)

    def owned(self) -> Collection[str]:
        return self._lobbies.owned

    @property
    def needs_all(self) -> bool:
        return self._lines.needs_all

    def expire_lines(self) -> None:
        self._lines.expire()

    async def exchange(self, lines: Mapping[str, bytes | None]) -> HallExchange:
        return await self._ask(lambda db: self._lines.exchange(db, lines))

    async def match_heads(self, keys: Sequence[str]) -> dict[str, MatchHead | StoreError]:
        return await self._readers.read(lambda db: followed_streams.heads(db, keys))

    async def new_entries(self, streams: Sequence[Stream]) -> dict[str, NewEntries | StoreError]:
        return await self._readers.read(lambda db: followed_streams.new_entries(db, streams))

    async def _take(self, db: Connection, row: tuple[Any, ...], entry: TakeOverEntry) -> _Taken:
        number, key, former, link, is_open = row
        await db.execute("UPDATE stream SET node = %s WHERE number = %s", (self.name, number))
        if not is_open:
            return await self._with_matches(db, number, key, former, is_open=False)
        last = "SELECT seq, encode(link, 'hex') FROM entry WHERE stream = %s"
        tail = await (await db.execute(f"{last} ORDER BY seq DESC LIMIT 1", (number,))).fetchone()
        seq, link = tail or (0, link)
        line = entry(seq + 1, former)
        after = bytes.fromhex(chain_hash(link, line))
        sql = "INSERT INTO entry (stream, seq, link, line) VALUES (%s, %s, %s, %s)"
        await db.execute(sql, (number, seq + 1, after, line))
        return await self._with_matches(db, number, key, former, is_open=True)

    async def _unheard(self, db: Connection, taken: Collection[str]) -> list[_Taken]:
        """Return lobbies that this node owns without knowing it: a take-over's result was lost."""
        known = [*self._lobbies.owned, *taken]
        sql = (
            "SELECT number, key FROM stream WHERE node = %s AND kind = 'lobby' AND state = 'open'"
            " AND key <> ALL(%s) ORDER BY number"
        )
        rows = await (await db.execute(sql, (self.name, known))).fetchall()
        return [
            await self._with_matches(db, number, key, None, is_open=True) for number, key in rows
        ]

    async def _with_matches(
        self, db: Connection, number: int, key: str, former: str | None, *, is_open: bool
    ) -> _Taken:
        sql = "SELECT key, number, state FROM stream WHERE owner = %s ORDER BY number"
        matches = await (await db.execute(sql, (key,))).fetchall()
        still_open = tuple(str(match) for match, _, state in matches if state == "open")
        numbers = {str(match): int(each) for match, each, _ in matches}
        return TakenLobby(key, former, still_open, is_open), number, numbers

    async def leave(self) -> None:
        async def query(db: Connection) -> None:
            sql = "UPDATE node SET leaving = true WHERE name = %s AND owner = %s"
            await db.execute(sql, (self.name, self._owner))

        await self._ask(query)

    async def close(self) -> None:
        await self._readers.close()
        await self._connection.close()

    async def _ask(self, query: Callable[[Connection], Awaitable[_T]]) -> _T:
        """Run a query on this node's connection."""
        with translate_errors(self._database):
            return await self._connection.use(query)
