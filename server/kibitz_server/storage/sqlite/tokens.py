"""Accounts and tokens in SQLite, for `kibitz token`."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Self

from kibitz_server.storage.interface import PlayerRow, Registration, TokenEntry
from kibitz_server.storage.sqlite.players import BY_SKELETON, INSERT_ACCOUNT, player_of, values_of
from kibitz_server.storage.sqlite.schema import connect_admin


class SQLiteTokenRegister:
    """Accounts and tokens, whether or not a server is running (`interface.TokenRegister`)."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._db = connect_admin(path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._db.close()

    def transaction(self, change: Callable[[Registration], int]) -> int:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            made = change(_SQLiteRegistration(self._db))
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")
        return made

    def tokens(self) -> list[TokenEntry]:
        rows = self._db.execute(
            "SELECT key, name, kind, account, skeleton, player.created,"
            " token.id, token.created, expires, revoked"
            " FROM token JOIN player ON player.key = token.player ORDER BY token.id"
        )
        return [
            TokenEntry(id, player_of(tuple(player)), created, expires, revoked)
            for *player, id, created, expires, revoked in rows
        ]

    def revoke(self, id: int, now: int) -> bool:
        cursor = self._db.execute(
            "UPDATE token SET revoked = ? WHERE id = ? AND revoked IS NULL", (now, id)
        )
        return cursor.rowcount > 0


class _SQLiteRegistration:
    """An open transaction (`interface.Registration`)."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def by_skeleton(self, skeleton: str) -> PlayerRow | None:
        row = self._db.execute(BY_SKELETON, (skeleton,)).fetchone()
        return None if row is None else player_of(row)

    def clear_skeleton(self, key: str) -> None:
        self._db.execute("UPDATE player SET skeleton = NULL WHERE key = ?", (key,))

    def add_account(self, account: PlayerRow) -> None:
        self._db.execute(INSERT_ACCOUNT, values_of(account, None))

    def add_token(self, digest: bytes, player: str, created: int, expires: int | None) -> int:
        cursor = self._db.execute(
            "INSERT INTO token (hash, player, created, expires) VALUES (?, ?, ?, ?)",
            (digest, player, created, expires),
        )
        return cursor.lastrowid or 0
