"""The queries and deletions for retention in SQLite.

A stream with entries left in the journal cannot be deleted yet: the next startup reads the journal,
and must find the stream of each entry.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from kibitz_server.storage.group_commit import GroupCommit, Statement
from kibitz_server.storage.interface import OldStream, Remains
from kibitz_server.storage.sqlite import journal
from kibitz_server.storage.sqlite.connection import Readers, Value
from kibitz_server.storage.streams import Kind, Waiter

_OLD_MATCHES: Final = """
SELECT number, key, opened,
    (SELECT lines FROM stretch WHERE stretch.stream = stream.number ORDER BY first DESC LIMIT 1)
FROM stream WHERE state = 'closed' AND kind = 'match' AND opened < ? AND number > ?
ORDER BY number LIMIT ?"""
_OLD_LOBBIES: Final = """
SELECT number, key, 0, NULL FROM stream WHERE state = 'closed' AND kind = 'lobby' AND opened < ?
    AND number > ? AND NOT EXISTS (SELECT 1 FROM stream AS match
        WHERE match.key > stream.key || '-' AND match.key < stream.key || '.')
ORDER BY number LIMIT ?"""
"""A match's key is its lobby's key, a dash and a suffix; in ASCII, a dot follows the dash."""
_SEGMENTS: Final = """
SELECT stretch.stream, stretch.first FROM stream JOIN stretch ON stretch.stream = stream.number
WHERE stream.state = 'deleted' ORDER BY stretch.stream, stretch.first LIMIT ?"""
_EMPTY_STREAMS: Final = """
SELECT number, NULL FROM stream WHERE state = 'deleted'
    AND NOT EXISTS (SELECT 1 FROM stretch WHERE stretch.stream = stream.number) LIMIT ?"""
_IDLE_GUESTS: Final = (
    "SELECT key FROM player WHERE account = 0 AND created < ? ORDER BY created LIMIT ?"
)
_EXCESS_GUESTS: Final = """
SELECT created FROM player WHERE account = 0 ORDER BY created DESC LIMIT 1 OFFSET ?"""


class SQLiteExpiry:
    """Retention for a running server (`interface.Expiry`)."""

    def __init__(self, commits: GroupCommit, readers: Readers) -> None:
        self._commits = commits
        self._readers = readers

    async def remains(self, count: int) -> list[Remains]:
        for sql in (_SEGMENTS, _EMPTY_STREAMS):
            rows = await self._readers.find(sql, (count,))
            if rows:
                return [(number, first) for number, first in rows]  # type: ignore[misc]
        return []

    def delete_remains(self, remains: Sequence[Remains], waiter: Waiter) -> None:
        stream = "DELETE FROM stream WHERE number = ? AND state = 'deleted'"
        segment = "DELETE FROM stretch WHERE stream = ? AND first = ?"
        written = [
            Statement(stream, (number,)) if first is None else Statement(segment, (number, first))
            for number, first in remains
        ]
        self._commits.execute(*written, waiter=waiter)

    async def closed_streams(
        self, kind: Kind, opened_before: int, after: int, count: int
    ) -> list[OldStream]:
        sql = _OLD_MATCHES if kind == "match" else _OLD_LOBBIES
        rows = await self._readers.find(sql, (opened_before, after, count))
        return [_old_stream(*row) for row in rows]

    async def pinned(self) -> set[int]:
        return await self._readers.read(journal.streams_in_journal)

    def mark_deleted(self, numbers: Sequence[int], waiter: Waiter) -> None:
        sql = "UPDATE stream SET state = 'deleted' WHERE number = ? AND state = 'closed'"
        self._commits.execute(*(Statement(sql, (each,)) for each in numbers), waiter=waiter)

    async def nth_newest_guest(self, most: int) -> int | None:
        rows = await self._readers.find(_EXCESS_GUESTS, (most,))
        return rows[0][0] if rows and isinstance(rows[0][0], int) else None

    async def idle_guests(self, before: int, count: int) -> list[str]:
        return [str(key) for (key,) in await self._readers.find(_IDLE_GUESTS, (before, count))]

    def delete_guests(self, keys: Sequence[str], before: int, waiter: Waiter) -> None:
        sql = "DELETE FROM player WHERE key = ? AND account = 0 AND created < ?"
        self._commits.execute(*(Statement(sql, (key, before)) for key in keys), waiter=waiter)


def _old_stream(number: Value, key: Value, opened: Value, lines: Value) -> OldStream:
    if not isinstance(number, int):
        raise AssertionError("the number of a stream is its primary key")
    last = lines.rpartition(b"\n")[2] if isinstance(lines, bytes) else None
    return OldStream(number, str(key), opened if isinstance(opened, int) else 0, last)
