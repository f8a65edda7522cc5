"""Players and tokens in PostgreSQL.

The server must answer a hello without waiting for the database, so it keeps all players and tokens
in memory, at about half a kilobyte each. After each commit it updates them with its own writes. The
operator's changes (`tokens.py`) are made under a lock and numbered in the column `change`, in
commit order. Twice a second the server reads the changes since the last one it saw (`watch`). If
nodes share the database, they number their own writes and deletions of guests in the same way, so
that the other nodes read them.
"""

from __future__ import annotations

import asyncio
import dataclasses
import logging
from collections.abc import Collection, Iterable
from typing import Any, Final

import psycopg

from kibitz_server.storage.group_commit import GroupCommit, Statement
from kibitz_server.storage.interface import PlayerRow, TokenRow
from kibitz_server.storage.location import PostgresURL
from kibitz_server.storage.postgres.connection import (
    READ_TIMEOUT_S,
    Connection,
    LastingConnection,
    SyncConnection,
    connect_async,
)
from kibitz_server.storage.postgres.schema import ACCOUNTS_LOCK
from kibitz_server.storage.streams import Waiter
from kibitz_server.storage.token_register import values_of

LOG = logging.getLogger("kibitz.store")
POLL_S: Final = 0.5
"""Seconds between reads of the accounts."""
_PLAYERS = "SELECT key, name, kind, account, skeleton, created, secret, change FROM player"
_DELETED = "SELECT key, change FROM deleted_guest WHERE change > %s"
_TOKENS = "SELECT hash, player, expires, revoked, change FROM token"
_INSERT = (
    "INSERT INTO player (key, name, skeleton, kind, account, secret, created)"
    " VALUES (%s, %s, %s, %s, %s, %s, %s)"
)
_NUMBERED_INSERT = (
    "INSERT INTO player (key, name, skeleton, kind, account, secret, created, change)"
    " VALUES (%s, %s, %s, %s, %s, %s, %s, nextval('change'))"
)
IN_ORDER: Final = Statement("SELECT pg_advisory_xact_lock(%s)", (ACCOUNTS_LOCK,))
"""Locks out other writers, so that the numbers taken from the sequence follow commit order."""
READS: Final = 5
"""The most attempts to read changes while commits of this server keep intervening."""


class PostgresPlayers:
    """The players of a running server (`interface.Players`)."""

    def __init__(self, commits: GroupCommit, db: SyncConnection, *, shared: bool = False) -> None:
        """Read all players and tokens.

        It blocks. Pass `shared` if other nodes read this server's writes.
        """
        self._commits = commits
        self._shared = shared
        self._insert = _NUMBERED_INSERT if shared else _INSERT
        self._in_order = (IN_ORDER,) if shared else ()
        self._by_key: dict[str, PlayerRow] = {}
        self._by_skeleton: dict[str, str] = {}
        self._by_secret: dict[bytes, str] = {}
        self._secrets: dict[str, bytes] = {}
        self._tokens: dict[bytes, TokenRow] = {}
        self._seen = 0
        """The last change read."""
        self._own_writes = 0
        """The number of this server's writes on disk. Data read before the latest may be stale."""
        with db.transaction():
            db.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            self._read(db.execute(_PLAYERS), db.execute(_TOKENS))

    def by_key(self, key: str) -> PlayerRow | None:
        return self._by_key.get(key)

    def by_skeleton(self, skeleton: str) -> PlayerRow | None:
        return self._by_key.get(self._by_skeleton.get(skeleton, ""))

    def by_secret(self, digest: bytes) -> PlayerRow | None:
        return self._by_key.get(self._by_secret.get(digest, ""))

    def token(self, digest: bytes) -> TokenRow | None:
        return self._tokens.get(digest)

    def void_tokens(self, digests: Collection[bytes], now: int) -> set[bytes]:
        known = (self._tokens.get(digest) for digest in digests)
        return {each.digest for each in known if each is not None and _is_void(each, now)}

    # --- writing ----------------------------------------------------------------------------

    def add_guest(self, guest: PlayerRow, secret: bytes, waiter: Waiter) -> None:
        free = "DELETE FROM player WHERE skeleton = %s AND key <> %s AND NOT account"
        put = f"{self._insert} ON CONFLICT DO NOTHING"
        self._commits.execute_unhurried(
            *self._in_order,
            Statement(free, (guest.skeleton, guest.key)),
            Statement(
                put,
                values_of(guest, secret),
                lambda changed: self._put_own(guest, secret) if changed else None,
            ),
            waiter=waiter,
        )

    def put_house_bot(self, bot: PlayerRow, secret: bytes, waiter: Waiter) -> None:
        change = ", change = excluded.change" if self._shared else ""
        self._commits.execute(
            *self._in_order,
            Statement(
                f"{self._insert} ON CONFLICT (key) DO UPDATE SET secret = excluded.secret{change}",
                values_of(bot, secret),
                lambda changed: self._put_own(bot, secret),
            ),
            waiter=waiter,
        )

    def note_seen(self, key: str, now: int) -> None:
        sql = "UPDATE player SET created = %s WHERE key = %s AND NOT account"

        def applied(changed: int) -> None:
            self._own_writes += 1
            row = self._by_key.get(key)
            if changed and row is not None:
                self._by_key[key] = dataclasses.replace(row, created=now)

        self._commits.execute(Statement(sql, (now, key), applied))

    def forget(self, key: str) -> None:
        """Drop a guest whose row was deleted."""
        row = self._by_key.pop(key, None)
        if row is None:
            return
        if row.skeleton is not None and self._by_skeleton.get(row.skeleton) == key:
            del self._by_skeleton[row.skeleton]
        self._by_secret.pop(self._secrets.pop(key, b""), None)

    def deleted(self, key: str) -> None:
        """Drop a guest that this server has deleted."""
        self._own_writes += 1
        self.forget(key)

    def _put_own(self, row: PlayerRow, secret: bytes) -> None:
        self._own_writes += 1
        self._put(row, secret)

    def _put(self, row: PlayerRow, secret: bytes | None) -> None:
        """Store a row that is on disk, replacing the one with the same key or name."""
        self.forget(row.key)
        former = self.by_skeleton(row.skeleton) if row.skeleton is not None else None
        if former is not None and not former.account:
            self.forget(former.key)
        self._by_key[row.key] = row
        if row.skeleton is not None:
            self._by_skeleton[row.skeleton] = row.key
        if secret is not None:
            self._by_secret[secret] = row.key
            self._secrets[row.key] = secret

    # --- the operator's changes -------------------------------------------------------------

    async def watch(self, url: PostgresURL) -> None:
        """Read other programs' changes regularly, on a connection of its own, until canceled."""
        connection = LastingConnection(lambda: connect_async(url), READ_TIMEOUT_S)
        try:
            while True:
                try:
                    await connection.use(self.take_up)
                except (psycopg.Error, OSError) as error:
                    LOG.warning("cannot read changed accounts, will retry: %s", error)
                await asyncio.sleep(POLL_S)
        finally:
            await connection.close()

    async def take_up(self, db: Connection) -> None:
        """Read the changes since the last call.

        If this server writes a row in the meantime, the row is read again, at the latest by the
        next call.
        """
        newer = " WHERE change > %s"
        after = (self._seen,)
        for _ in range(READS):
            before = self._own_writes
            async with db.transaction():
                await db.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
                rows = await (await db.execute(_PLAYERS + newer, after)).fetchall()
                tokens = await (await db.execute(_TOKENS + newer, after)).fetchall()
                deleted = await (await db.execute(_DELETED, after)).fetchall()
            if before == self._own_writes:
                self._read(rows, tokens)
                self._forget_deleted(deleted)
                return

    def _read(self, players: Iterable[Any], tokens: Iterable[Any]) -> None:
        for *row, secret, change in players:
            self._put(PlayerRow(*row), secret)
            self._seen = max(self._seen, change)
        for *token, change in tokens:
            self._tokens[token[0]] = TokenRow(*token)
            self._seen = max(self._seen, change)

    def _forget_deleted(self, deleted: Iterable[Any]) -> None:
        """Drop guests that other nodes have deleted; keys are never reused."""
        for key, change in deleted:
            self.forget(key)
            self._seen = max(self._seen, change)


def _is_void(token: TokenRow, now: int) -> bool:
    return token.revoked is not None or (token.expires is not None and token.expires <= now)
