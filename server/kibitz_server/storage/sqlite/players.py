"""Players and tokens in SQLite."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from kibitz_server.storage.group_commit import GroupCommit, Statement
from kibitz_server.storage.interface import PlayerRow, TokenRow
from kibitz_server.storage.sqlite.connection import Readers, Value
from kibitz_server.storage.streams import Waiter
from kibitz_server.storage.token_register import player_of, values_of

TOKENS_A_QUERY = 500
_COLUMNS = (
    "player (key, name, skeleton, kind, account, secret, created) VALUES (?, ?, ?, ?, ?, ?, ?)"
)
_PUT_GUEST = (
    f"INSERT OR IGNORE INTO {_COLUMNS} ON CONFLICT (skeleton) DO UPDATE SET key = excluded.key,"
    " name = excluded.name, kind = excluded.kind, secret = excluded.secret,"
    " created = excluded.created WHERE account = 0"
)
"""Writes a guest and deletes the previous guest of the same name, in one statement. If the operator
has just created an account of that name, the statement does nothing, so that the batch does not
fail.
"""
_PUT_HOUSE_BOT = f"INSERT INTO {_COLUMNS} ON CONFLICT (key) DO UPDATE SET secret = excluded.secret"
_SELECT_PLAYER = "SELECT key, name, kind, account, skeleton, created FROM player"
_BY_KEY = f"{_SELECT_PLAYER} WHERE key = ?"
_BY_SKELETON = f"{_SELECT_PLAYER} WHERE skeleton = ?"
_BY_SECRET = f"{_SELECT_PLAYER} WHERE secret = ?"


class SQLitePlayers:
    """The players of a running server (`interface.Players`)."""

    def __init__(self, commits: GroupCommit, readers: Readers) -> None:
        self._commits = commits
        self._readers = readers

    def by_key(self, key: str) -> PlayerRow | None:
        return self._find(_BY_KEY, key)

    def by_skeleton(self, skeleton: str) -> PlayerRow | None:
        return self._find(_BY_SKELETON, skeleton)

    def by_secret(self, digest: bytes) -> PlayerRow | None:
        return self._find(_BY_SECRET, digest)

    def token(self, digest: bytes) -> TokenRow | None:
        row: Any = self._readers.row(
            "SELECT hash, player, expires, revoked FROM token WHERE hash = ?", (digest,)
        )
        return None if row is None else TokenRow(*row)

    def void_tokens(self, digests: Collection[bytes], now: int) -> set[bytes]:
        asked = list(digests)
        void: set[bytes] = set()
        for start in range(0, len(asked), TOKENS_A_QUERY):
            part = asked[start : start + TOKENS_A_QUERY]
            marks = ",".join("?" * len(part))
            rows = self._readers.rows(
                f"SELECT hash FROM token WHERE hash IN ({marks})"
                " AND (revoked IS NOT NULL OR expires <= ?)",
                (*part, now),
            )
            void |= {row[0] for row in rows if isinstance(row[0], bytes)}
        return void

    def add_guest(self, guest: PlayerRow, secret: bytes, waiter: Waiter) -> None:
        put = Statement(_PUT_GUEST, values_of(guest, secret))
        self._commits.execute_unhurried(put, waiter=waiter)

    def put_house_bot(self, bot: PlayerRow, secret: bytes, waiter: Waiter) -> None:
        put = Statement(_PUT_HOUSE_BOT, values_of(bot, secret))
        self._commits.execute(put, waiter=waiter)

    def note_seen(self, key: str, now: int) -> None:
        sql = "UPDATE player SET created = ? WHERE key = ? AND account = 0"
        self._commits.execute(Statement(sql, (now, key)))

    def _find(self, query: str, value: Value) -> PlayerRow | None:
        row = self._readers.row(query, (value,))
        return None if row is None else player_of(row)
