"""A batch: what was given in one moment, and the transaction that writes it.

The row of the server in `node` is both fence and receipt. A batch begins with a compare-and-set
of that row: it must still have this server's `owner` and the `last` that this server wrote, and
gets the batch's own name. So of two servers that believe they are the same one writes, and
what became of a commit whose answer is missing stands in that row.

Where several nodes share a database the batch also locks the rows of the lobbies that it is about
(FOR SHARE), and is rolled back where one of them is another node's. Whoever takes a lobby changes
its row and appends the entry of the take-over in one transaction, so a batch of the former owner
comes before all of that, or fails: by the row, or by the key of its entry.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus

from kibitz_server.storage.errors import WriteFailed
from kibitz_server.storage.location import SINGLE_SERVER
from kibitz_server.storage.postgres.connection import Connection
from kibitz_server.storage.telling import Waiting

_CLAIM = "UPDATE node SET last = %s WHERE name = %s AND owner = %s AND last = %s"
_OWNERS = "SELECT key, node FROM stream WHERE key = ANY(%s) ORDER BY key"
LOCK_OWNERS = f"{_OWNERS} FOR SHARE"
"""Who owns some lobbies, after any take-over that is under way, and until the transaction ends."""
_ENTRIES = (
    "INSERT INTO entry (stream, seq, link, line)"
    " SELECT * FROM unnest(%b::bigint[], %b::integer[], %b::bytea[], %b::bytea[])"
)


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement of a batch, and who is told after the commit how many rows it changed."""

    sql: str
    values: Sequence[Any]
    applied: Callable[[int], None] | None = None
    lobby: str | None = None
    """The lobby that it is about, None where it is about none."""


@dataclass(slots=True)
class Batch:
    """What is written together."""

    entries: list[tuple[int, int, str, bytes]] = field(default_factory=list)
    """Stream, number of the entry, the chain's link at it, its line."""
    lobbies: set[str] = field(default_factory=set)
    """The lobbies whose streams it changes, where they have owners."""
    statements: list[Statement] = field(default_factory=list)
    waiting: list[Waiting] = field(default_factory=list)
    name: str = field(default_factory=lambda: secrets.token_hex(8))
    changed: list[int] = field(default_factory=list)
    """How many rows each statement changed."""

    def apply(self) -> None:
        """Tell the statements what they changed; the batch is on the disk."""
        for statement, changed in zip(self.statements, self.changed, strict=False):
            if statement.applied is not None:
                statement.applied(changed)

    def drop(self, lobbies: Collection[str], streams: Mapping[int, str]) -> list[Waiting]:
        """Take out all that is about some lobbies, and return who waits for it.

        `streams` has the lobby of each stream by its number.
        """

        def stays(waiting: Waiting) -> bool:
            stream = waiting[0]
            return stream is None or streams.get(stream.number) not in lobbies

        dropped = [each for each in self.waiting if not stays(each)]
        self.waiting = [each for each in self.waiting if stays(each)]
        self.entries = [each for each in self.entries if streams.get(each[0]) not in lobbies]
        self.statements = [each for each in self.statements if each.lobby not in lobbies]
        self.lobbies -= set(lobbies)
        return dropped


class TakenOver(WriteFailed):
    """Another server owns the database."""

    def __init__(self) -> None:
        super().__init__("another server has taken this database over")


class LobbiesElsewhere(Exception):
    """The transaction was rolled back, for it is about lobbies that are not this node's."""

    def __init__(self, owners: Mapping[str, str | None]) -> None:
        super().__init__(f"owned elsewhere: {', '.join(owners)}")
        self.owners = owners


class Ownership:
    """This server's row in `node`, by which its batches exclude those of every other."""

    def __init__(self, owner: str, last: str, name: str = SINGLE_SERVER) -> None:
        self.name = name
        self.owner = owner
        self._last = last
        self._doubtful: str | None = None
        """The batch whose commit may have happened."""

    @property
    def in_doubt(self) -> bool:
        """Whether a commit was sent whose answer is missing: `settle` comes first."""
        return self._doubtful is not None

    async def write(self, db: Connection, batch: Batch) -> None:
        """Write a batch as one transaction, within two round trips.

        Raises `psycopg.Error`, `TakenOver`, `LobbiesElsewhere`.
        """
        try:
            await self._prepare(db, batch)
        except psycopg.Error:
            if not db.closed:
                await self._require_owned(db)
                rows = await (await db.execute(_OWNERS, (sorted(batch.lobbies),))).fetchall()
                self._require_lobbies(rows)
            raise
        self._doubtful = batch.name
        await self._commit(db)
        self._last, self._doubtful = batch.name, None

    async def _prepare(self, db: Connection, batch: Batch) -> None:
        held = None
        async with db.pipeline():
            await db.execute("BEGIN")
            claim = await db.execute(_CLAIM, (batch.name, self.name, self.owner, self._last))
            if batch.lobbies:
                held = await db.execute(LOCK_OWNERS, (sorted(batch.lobbies),))
            if batch.entries:
                numbers, seqs, links, lines = zip(*batch.entries, strict=True)
                raw = [bytes.fromhex(link) for link in links]
                await db.execute(_ENTRIES, (list(numbers), list(seqs), raw, list(lines)))
            done = [await db.execute(each.sql, each.values) for each in batch.statements]
        if claim.rowcount != 1:
            await self._require_owned(db)
            raise WriteFailed("the row of this server is not as it was written")
        if held is not None:
            try:
                self._require_lobbies(await held.fetchall())
            except LobbiesElsewhere:
                await db.execute("ROLLBACK")
                raise
        batch.changed = [each.rowcount for each in done]

    async def _require_owned(self, db: Connection) -> None:
        """End a transaction that failed; raise `TakenOver` where that is another server's doing.

        Its entries may collide with ours before the row of `node` is looked at.
        """
        if db.info.transaction_status is not TransactionStatus.IDLE:
            await db.execute("ROLLBACK")
        sql = "SELECT owner FROM node WHERE name = %s"
        row = await (await db.execute(sql, (self.name,))).fetchone()
        if row is None or row[0] != self.owner:
            raise TakenOver

    def _require_lobbies(self, rows: Sequence[Sequence[Any]]) -> None:
        elsewhere = {str(key): node for key, node in rows if node != self.name}
        if elsewhere:
            raise LobbiesElsewhere(elsewhere)

    async def _commit(self, db: Connection) -> None:
        await db.execute("COMMIT")

    async def settle(self, db: Connection) -> str | None:
        """Find out what became of the doubtful batch: return its name if it was written.

        If it was not it never will be: the row is locked, and changed so that a commit which is
        still under way somewhere finds another one.
        """
        async with db.transaction():
            sql = "SELECT owner, last FROM node WHERE name = %s FOR UPDATE"
            row = await (await db.execute(sql, (self.name,))).fetchone()
            if row is None or row[0] != self.owner:
                raise TakenOver
            last = str(row[1])
            written = last if last == self._doubtful else None
            if written is None:
                last = secrets.token_hex(8)
                await db.execute("UPDATE node SET last = %s WHERE name = %s", (last, self.name))
        self._last, self._doubtful = last, None
        return written
