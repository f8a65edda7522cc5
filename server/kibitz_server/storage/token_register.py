"""Accounts and tokens, for the operator's commands, while a server is running or not.

The engines' subclasses open and lock the database; all statements are here, in SQLite's style.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

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

    change_column = change_value = change_assigned = ""
    """The SQL that numbers a change of a row, where servers read changes by their numbers: in an
    insert's columns and values, and in an update."""

    def __init__(self, db: Any) -> None:
        self._db = db
        """A connection of the engine's driver."""

    def close(self) -> None:
        self._db.close()

    @abstractmethod
    def transaction(self) -> AbstractContextManager[None]:
        """Return a context manager for a transaction, which excludes other changes."""

    def execute(self, sql: str, *values: object) -> Any:
        """Execute a statement, and return the driver's cursor."""
        return self._db.execute(sql, values)

    # --- changes: within a transaction ------------------------------------------------------

    def by_skeleton(self, skeleton: str) -> PlayerRow | None:
        sql = "SELECT key, name, kind, account, skeleton, created FROM player WHERE skeleton = ?"
        row = self.execute(sql, skeleton).fetchone()
        return None if row is None else player_of(row)

    def clear_skeleton(self, key: str) -> None:
        """Take a name from its guest, so that an account can use it."""
        sql = f"UPDATE player SET skeleton = NULL{self.change_assigned} WHERE key = ?"
        self.execute(sql, key)

    def add_account(self, account: PlayerRow) -> None:
        self.execute(
            f"INSERT INTO player (key, name, skeleton, kind, account, secret, created"
            f"{self.change_column}) VALUES (?, ?, ?, ?, ?, ?, ?{self.change_value})"
            " ON CONFLICT DO NOTHING",
            *values_of(account, None),
        )

    def add_token(self, digest: bytes, player: str, created: int, expires: int | None) -> int:
        """Write a token and return its number."""
        sql = (
            f"INSERT INTO token (hash, player, created, expires{self.change_column})"
            f" VALUES (?, ?, ?, ?{self.change_value}) RETURNING id"
        )
        return int(self.execute(sql, digest, player, created, expires).fetchone()[0])

    def revoke(self, id: int, now: int) -> bool:
        """Revoke a token in a transaction; return False if it is unknown or already revoked."""
        sql = f"UPDATE token SET revoked = ?{self.change_assigned} WHERE id = ? AND revoked IS NULL"
        with self.transaction():
            revoked: bool = self.execute(sql, now, id).rowcount > 0
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
