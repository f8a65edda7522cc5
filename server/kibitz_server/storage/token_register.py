"""Accounts and tokens, for the operator's commands, while a server is running or not.

The engines' subclasses open and lock the database; all statements are here, in SQLite's style.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Self

from kibitz_server.storage.interface import PlayerRow


@dataclass(frozen=True, slots=True)
class TokenEntry:
    """A token, as listed for the operator; times are in seconds since the epoch."""

    id: int
    player: PlayerRow
    created: int
    expires: int | None
    revoked: int | None


class TokenRegister(ABC):
    """The accounts and tokens of a database. All methods block."""

    def __init__(self, db: Any) -> None:
        self._db = db
        """A connection of the engine's driver."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._db.close()

    @abstractmethod
    def transaction(self) -> AbstractContextManager[None]:
        """Return a context manager for a transaction, which excludes other changes."""

    def execute(self, sql: str, *values: object) -> Any:
        """Execute a statement, and return the driver's cursor."""
        return self._db.execute(sql, values)

    @abstractmethod
    def number(self, table: str, column: str, value: object) -> None:
        """Number the change of a row, if servers read changes by their numbers."""

    # --- changes: within a transaction ------------------------------------------------------

    def by_skeleton(self, skeleton: str) -> PlayerRow | None:
        sql = "SELECT key, name, kind, account, skeleton, created FROM player WHERE skeleton = ?"
        row = self.execute(sql, skeleton).fetchone()
        return None if row is None else player_of(row)

    def clear_skeleton(self, key: str) -> None:
        """Take a name from its guest, so that an account can use it."""
        self.execute("UPDATE player SET skeleton = NULL WHERE key = ?", key)
        self.number("player", "key", key)

    def add_account(self, account: PlayerRow) -> None:
        self.execute(
            "INSERT INTO player (key, name, skeleton, kind, account, secret, created)"
            " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            *values_of(account, None),
        )
        self.number("player", "key", account.key)

    def add_token(self, digest: bytes, player: str, created: int, expires: int | None) -> int:
        """Write a token and return its number."""
        sql = "INSERT INTO token (hash, player, created, expires) VALUES (?, ?, ?, ?)"
        self.execute(sql, digest, player, created, expires)
        self.number("token", "hash", digest)
        return int(self.execute("SELECT id FROM token WHERE hash = ?", digest).fetchone()[0])

    def revoke(self, id: int, now: int) -> bool:
        """Revoke a token in a transaction; return False if it is unknown or already revoked."""
        sql = "UPDATE token SET revoked = ? WHERE id = ? AND revoked IS NULL"
        with self.transaction():
            revoked: bool = self.execute(sql, now, id).rowcount > 0
            if revoked:
                self.number("token", "id", id)
        return revoked

    # --- queries ----------------------------------------------------------------------------

    def tokens(self) -> list[TokenEntry]:
        """Return all tokens, oldest first."""
        rows = self.execute(
            "SELECT token.id, token.created, expires, revoked,"
            " key, name, kind, account, skeleton, player.created"
            " FROM token JOIN player ON player.key = token.player ORDER BY token.id"
        )
        return [
            TokenEntry(id, player_of(player), created, expires, revoked)
            for id, created, expires, revoked, *player in rows
        ]


def player_of(row: Any) -> PlayerRow:
    """Return a player's row from the columns in the order of `PlayerRow`."""
    key, name, kind, account, skeleton, created = row
    seen = created if isinstance(created, int) else 0
    return PlayerRow(key, name, kind, bool(account), skeleton, seen)


def values_of(player: PlayerRow, secret: bytes | None) -> tuple[Any, ...]:
    """Return the values of a row to insert."""
    return (
        player.key,
        player.name,
        player.skeleton,
        player.kind,
        player.account,
        secret,
        player.created,
    )
