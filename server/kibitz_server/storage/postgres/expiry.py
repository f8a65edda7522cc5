"""The queries and deletions for retention in PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

from kibitz_server.storage.group_commit import GroupCommit, Statement
from kibitz_server.storage.interface import OldStream, Remains
from kibitz_server.storage.postgres.connection import Connection, Readers
from kibitz_server.storage.postgres.players import IN_ORDER
from kibitz_server.storage.streams import Kind, Waiter

_DELETE_GUEST: Final = "DELETE FROM player WHERE key = %s AND NOT account AND created < %s"
_DELETE_GUEST_FOR_ALL: Final = f"""
WITH gone AS ({_DELETE_GUEST} RETURNING key)
INSERT INTO deleted_guest (key, change) SELECT key, nextval('change') FROM gone"""
_FORGET_DELETED: Final = """
DELETE FROM deleted_guest WHERE deleted < now() - make_interval(days => %s)"""
DELETED_FOR_DAYS: Final = 7
"""Days for which a deleted guest remains listed for other nodes. They usually read it within a
second; a node that has read nothing for days must be restarted anyway.
"""
PORTION: Final = 256
"""The number of entries that one statement deletes."""
_REMAINS: Final = """
SELECT number, (SELECT min(seq) FROM entry WHERE entry.stream = number)
FROM stream WHERE state = 'deleted' ORDER BY number LIMIT %s"""
_OLD_MATCHES: Final = """
SELECT number, key, opened,
    (SELECT line FROM entry WHERE entry.stream = number ORDER BY seq DESC LIMIT 1)
FROM stream WHERE state = 'closed' AND kind = 'match' AND opened < %s AND number > %s
ORDER BY number LIMIT %s"""
_OLD_LOBBIES: Final = """
SELECT number, key, 0, NULL FROM stream WHERE state = 'closed' AND kind = 'lobby' AND opened < %s
    AND number > %s AND NOT EXISTS (SELECT FROM stream AS match WHERE match.owner = stream.key)
ORDER BY number LIMIT %s"""


class PostgresExpiry:
    """Retention for a running server (`interface.Expiry`)."""

    def __init__(
        self,
        commits: GroupCommit,
        readers: Readers,
        forget: Callable[[str], None],
        *,
        shared: bool = False,
    ) -> None:
        """`forget` is called with each deleted guest; `shared` if nodes share the database."""
        self._shared = shared
        self._commits = commits
        self._readers = readers
        self._forget = forget

    async def remains(self, count: int) -> list[Remains]:
        return [(number, first) for number, first in await self._rows(_REMAINS, count)]

    def delete_remains(self, remains: Sequence[Remains], waiter: Waiter) -> None:
        gone = "DELETE FROM stream WHERE number = %s AND state = 'deleted'"
        entries = "DELETE FROM entry WHERE stream = %s AND seq >= %s AND seq < %s"
        written = [
            Statement(gone, (number,))
            if first is None
            else Statement(entries, (number, first, first + PORTION))
            for number, first in remains
        ]
        self._commits.execute(*written, waiter=waiter)

    async def closed_streams(
        self, kind: Kind, opened_before: int, after: int, count: int
    ) -> list[OldStream]:
        sql = _OLD_MATCHES if kind == "match" else _OLD_LOBBIES
        return [OldStream(*row) for row in await self._rows(sql, opened_before, after, count)]

    async def pinned(self) -> set[int]:
        return set()  # no journal refers to streams

    def mark_deleted(self, numbers: Sequence[int], waiter: Waiter) -> None:
        sql = "UPDATE stream SET state = 'deleted' WHERE number = ANY(%s) AND state = 'closed'"
        self._commits.execute(Statement(sql, (list(numbers),)), waiter=waiter)

    async def nth_newest_guest(self, most: int) -> int | None:
        sql = "SELECT created FROM player WHERE NOT account ORDER BY created DESC LIMIT 1 OFFSET %s"
        rows = await self._rows(sql, most)
        return int(rows[0][0]) if rows else None

    async def idle_guests(self, before: int, count: int) -> list[str]:
        sql = "SELECT key FROM player WHERE NOT account AND created < %s ORDER BY created LIMIT %s"
        return [str(key) for (key,) in await self._rows(sql, before, count)]

    def delete_guests(self, keys: Sequence[str], before: int, waiter: Waiter) -> None:
        sql = _DELETE_GUEST_FOR_ALL if self._shared else _DELETE_GUEST
        written = [Statement(sql, (key, before), partial(self._deleted, key)) for key in keys]
        if self._shared:
            old = Statement(_FORGET_DELETED, (DELETED_FOR_DAYS,))
            written = [IN_ORDER, old, *written]
        self._commits.execute(*written, waiter=waiter)

    def _deleted(self, key: str, changed: int) -> None:
        if changed:
            self._forget(key)

    async def _rows(self, sql: str, *values: int) -> list[tuple[Any, ...]]:
        async def query(db: Connection) -> list[tuple[Any, ...]]:
            return await (await db.execute(sql, values)).fetchall()

        return await self._readers.read(query)
