"""What retention finds and deletes in SQLite.

A stream that the journal still has entries of is pinned: a start reads the journal, and has to
find the streams that it speaks of.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from kibitz_server.storage.interface import OldStream, Remains
from kibitz_server.storage.sqlite.connection import Value
from kibitz_server.storage.sqlite.statements import Statements
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
"""The key of a match begins with that of its lobby and a dash; a dot is the sign after a dash."""
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
    """Finds and deletes what is old in the database of a running server (`interface.Expiry`)."""

    def __init__(self, statements: Statements) -> None:
        self._statements = statements

    async def remains(self, count: int) -> list[Remains]:
        for sql in (_SEGMENTS, _EMPTY_STREAMS):
            rows = await self._statements.find(sql, (count,))
            if rows:
                return [(number, first) for number, first in rows]  # type: ignore[misc]
        return []

    def delete_remains(self, remains: Sequence[Remains], waiter: Waiter) -> None:
        self._write(
            [
                ("DELETE FROM stream WHERE number = ? AND state = 'deleted'", (number,))
                if first is None
                else ("DELETE FROM stretch WHERE stream = ? AND first = ?", (number, first))
                for number, first in remains
            ],
            waiter,
        )

    async def closed_streams(
        self, kind: Kind, opened_before: int, after: int, count: int
    ) -> list[OldStream]:
        sql = _OLD_MATCHES if kind == "match" else _OLD_LOBBIES
        rows = await self._statements.find(sql, (opened_before, after, count))
        return [_old_stream(*row) for row in rows]

    async def pinned(self) -> set[int]:
        return await self._statements.journalled()

    def mark_deleted(self, numbers: Sequence[int], waiter: Waiter) -> None:
        sql = "UPDATE stream SET state = 'deleted' WHERE number = ? AND state = 'closed'"
        self._write([(sql, (number,)) for number in numbers], waiter)

    async def nth_newest_guest(self, most: int) -> int | None:
        rows = await self._statements.find(_EXCESS_GUESTS, (most,))
        return rows[0][0] if rows and isinstance(rows[0][0], int) else None

    async def idle_guests(self, before: int, count: int) -> list[str]:
        return [str(key) for (key,) in await self._statements.find(_IDLE_GUESTS, (before, count))]

    def delete_guests(self, keys: Sequence[str], before: int, waiter: Waiter) -> None:
        sql = "DELETE FROM player WHERE key = ? AND account = 0 AND created < ?"
        self._write([(sql, (key, before)) for key in keys], waiter)

    def _write(self, statements: Sequence[tuple[str, Sequence[Value]]], waiter: Waiter) -> None:
        """Write with the next batch; the waiter is told with the last of them."""
        for sql, values in statements[:-1]:
            self._statements.execute(sql, values, None)
        self._statements.execute(*statements[-1], waiter)


def _old_stream(number: Value, key: Value, opened: Value, lines: Value) -> OldStream:
    if not isinstance(number, int):
        raise AssertionError("the number of a stream is its primary key")
    last = lines.rpartition(b"\n")[2] if isinstance(lines, bytes) else None
    return OldStream(number, str(key), opened if isinstance(opened, int) else 0, last)
