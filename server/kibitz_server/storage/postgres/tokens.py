"""Accounts and tokens in PostgreSQL, for `kibitz token`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

from kibitz_server.storage.interface import PlayerRow, Registration, TokenEntry
from kibitz_server.storage.location import PostgresURL
from kibitz_server.storage.postgres.connection import SyncConnection, connect, translate_errors
from kibitz_server.storage.postgres.players import PLAYER, values_of
from kibitz_server.storage.postgres.schema import ACCOUNTS_LOCK, ensure_schema


class PostgresTokenRegister:
    """Accounts and tokens, whether or not a server is running (`interface.TokenRegister`)."""

    def __init__(self, url: PostgresURL) -> None:
        self._url = url
        self._db = connect(url)
        try:
            ensure_schema(self._db, url)
        except BaseException:
            self._db.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._db.close()

    def transaction(self, change: Callable[[Registration], int]) -> int:
        with translate_errors(self._url), self._db.transaction():
            self._db.execute("SELECT pg_advisory_xact_lock(%s)", (ACCOUNTS_LOCK,))
            return change(_PostgresRegistration(self._db))

    def tokens(self) -> list[TokenEntry]:
        rows = self._db.execute(
            "SELECT key, name, kind, account, skeleton, player.created,"
            " token.id, token.created, expires, revoked"
            " FROM token JOIN player ON player.key = token.player ORDER BY token.id"
        )
        return [
            TokenEntry(id, PlayerRow(*player), created, expires, revoked)
            for *player, id, created, expires, revoked in rows
        ]

    def revoke(self, id: int, now: int) -> bool:
        def change(_: Registration) -> int:
            sql = (
                "UPDATE token SET revoked = %s, change = nextval('change')"
                " WHERE id = %s AND revoked IS NULL"
            )
            return self._db.execute(sql, (now, id)).rowcount

        return self.transaction(change) > 0


class _PostgresRegistration:
    """An open transaction (`interface.Registration`)."""

    def __init__(self, db: SyncConnection) -> None:
        self._db = db

    def by_skeleton(self, skeleton: str) -> PlayerRow | None:
        row = self._db.execute(f"{PLAYER} WHERE skeleton = %s", (skeleton,)).fetchone()
        return None if row is None else PlayerRow(*row)

    def clear_skeleton(self, key: str) -> None:
        sql = "UPDATE player SET skeleton = NULL, change = nextval('change') WHERE key = %s"
        self._db.execute(sql, (key,))

    def add_account(self, account: PlayerRow) -> None:
        self._db.execute(
            "INSERT INTO player (key, name, skeleton, kind, account, secret, created, change)"
            " VALUES (%s, %s, %s, %s, %s, %s, %s, nextval('change')) ON CONFLICT DO NOTHING",
            values_of(account, None),
        )

    def add_token(self, digest: bytes, player: str, created: int, expires: int | None) -> int:
        row = self._db.execute(
            "INSERT INTO token (hash, player, created, expires, change)"
            " VALUES (%s, %s, %s, %s, nextval('change')) RETURNING id",
            (digest, player, created, expires),
        ).fetchone()
        return 0 if row is None else int(row[0])
