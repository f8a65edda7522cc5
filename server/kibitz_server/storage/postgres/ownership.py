"""Writes a batch as a PostgreSQL transaction, with fencing against other servers.

A batch begins with a compare-and-set on the server's row in `node`. The row must still have this
server's `owner`, and as `last` the name of this server's previous batch. Then `last` is set to the
new batch's name. So only one of two servers with the same row can write. If the result of a commit
is lost, `last` shows whether it happened.

If several nodes share a database, the batch also locks the rows of its lobbies (FOR SHARE), and is
rolled back if another node owns one of them. A take-over changes the lobby's row and appends its
entry in one transaction. So a batch by the former owner either commits before the take-over, or
fails because the lobby's row names another owner or because an entry key already exists.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus

from kibitz_server.storage.errors import TakenOver, WriteFailed
from kibitz_server.storage.group_commit import Batch
from kibitz_server.storage.location import SINGLE_SERVER
from kibitz_server.storage.postgres.connection import Connection

_CLAIM = "UPDATE node SET last = %s WHERE name = %s AND owner = %s AND last = %s"
_OWNERS = "SELECT key, node FROM stream WHERE key = ANY(%s) ORDER BY key"
LOCK_OWNERS = f"{_OWNERS} FOR SHARE"
"""Reads lobbies' owners and locks their rows, after waiting for any take-over in progress."""
_ENTRIES = (
    "INSERT INTO entry (stream, seq, link, line)"
    " SELECT * FROM unnest(%b::bigint[], %b::integer[], %b::bytea[], %b::bytea[])"
)


@dataclass(slots=True)
class Transaction:
    """A batch that is being written to the database."""

    batch: Batch
    name: str = field(default_factory=lambda: secrets.token_hex(8))
    lobbies: set[str] = field(default_factory=set)
    """The lobbies whose streams it changes, if lobbies have owners."""
    changed: list[int] = field(default_factory=list)
    """The number of rows that each statement changed."""

    def apply(self) -> None:
        """Call each statement's `applied` with its number of changed rows, after the commit."""
        for statement, changed in zip(self.batch.statements, self.changed, strict=False):
            if statement.applied is not None:
                statement.applied(changed)


class LobbiesElsewhere(Exception):
    """The transaction was rolled back because other nodes own some of its lobbies."""

    def __init__(self, owners: Mapping[str, str | None]) -> None:
        super().__init__(f"owned elsewhere: {', '.join(owners)}")
        self.owners = owners


class Ownership:
    """Writes batches only while this server's row in `node` is unchanged (fencing)."""

    def __init__(self, owner: str, last: str, name: str = SINGLE_SERVER) -> None:
        self.name = name
        self.owner = owner
        self._last = last
        self._doubtful: str | None = None
        """The batch whose commit may or may not have happened."""

    @property
    def in_doubt(self) -> bool:
        """Whether a commit's outcome is unknown, so that `settle` must be called first."""
        return self._doubtful is not None

    async def write(self, db: Connection, transaction: Transaction) -> None:
        """Write a batch in two round trips.

        Raises `psycopg.Error`, `TakenOver`, `LobbiesElsewhere`.
        """
        try:
            await self._prepare(db, transaction)
        except psycopg.Error:
            if not db.closed:
                await self._require_owned(db)
                rows = await (await db.execute(_OWNERS, (sorted(transaction.lobbies),))).fetchall()
                self._require_lobbies(rows)
            raise
        self._doubtful = transaction.name
        await self._commit(db)
        self._last, self._doubtful = transaction.name, None

    async def _prepare(self, db: Connection, transaction: Transaction) -> None:
        batch, held = transaction.batch, None
        async with db.pipeline():
            await db.execute("BEGIN")
            claim = await db.execute(_CLAIM, (transaction.name, self.name, self.owner, self._last))
            if transaction.lobbies:
                held = await db.execute(LOCK_OWNERS, (sorted(transaction.lobbies),))
            if batch.entries:
                numbers, seqs, links, lines = zip(*batch.entries, strict=True)
                raw = [bytes.fromhex(link) for link in links]
                await db.execute(_ENTRIES, (list(numbers), list(seqs), raw, list(lines)))
            done = [await db.execute(each.sql, each.values) for each in batch.statements]
        if claim.rowcount != 1:
            await self._require_owned(db)
            raise WriteFailed("this server's row was changed by somebody else")
        if held is not None:
            try:
                self._require_lobbies(await held.fetchall())
            except LobbiesElsewhere:
                await db.execute("ROLLBACK")
                raise
        transaction.changed = [each.rowcount for each in done]

    async def _require_owned(self, db: Connection) -> None:
        """End a failed transaction; raise `TakenOver` if another server caused the failure.

        The other server's entries may cause a key conflict before the row in `node` is checked.
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
        """Find out whether the doubtful batch was written; return its name if so.

        If it was not, this prevents a later commit: it changes the row, which then no longer
        matches the batch's compare-and-set.
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
