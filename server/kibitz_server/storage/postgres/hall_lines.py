"""Lines that nodes write about their lobbies and matches, for the others to read.

A line is a text that is stored under a key. A node writes its lines in one transaction after
another and numbers them from a sequence. So a reader only needs the lines with numbers above the
last one it has read from that node. A deleted line remains as a row without text for `KEPT_S`. A
node that has read nothing for longer, or that had an error, reads all lines again.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from typing import Final

from kibitz_server.storage.interface import HallExchange, OtherNode
from kibitz_server.storage.postgres.connection import Connection

KEPT_S: Final = 300
LONG_AGO_S: Final = 60.0
"""Seconds after which the next exchange must read and write all lines; well below `KEPT_S`."""
_WRITE: Final = """
INSERT INTO hall_line (key, node, change, line, written)
SELECT given.key, %(name)s, number.change, given.line, clock_timestamp()
FROM unnest(%(keys)s::text[], %(lines)s::bytea[]) AS given(key, line),
    (SELECT nextval('hall_change') AS change) AS number
WHERE given.line IS NULL OR given.key LIKE 'node %%'
    OR EXISTS (SELECT FROM stream WHERE stream.key = given.key AND stream.node = %(name)s)
ON CONFLICT (key) DO UPDATE SET node = excluded.node, change = excluded.change,
    line = excluded.line, written = excluded.written
WHERE excluded.line IS NOT NULL OR hall_line.node = excluded.node"""
_END_OTHERS: Final = """
UPDATE hall_line SET line = NULL, change = number.change, written = clock_timestamp()
FROM (SELECT nextval('hall_change') AS change) AS number
WHERE node = %(name)s AND line IS NOT NULL AND key <> ALL(%(keys)s)"""
_PURGE: Final = """
DELETE FROM hall_line WHERE node = %(name)s AND line IS NULL
    AND written < clock_timestamp() - make_interval(secs => %(kept_s)s)"""
_READ: Final = """
SELECT hall_line.key, hall_line.node, hall_line.change, hall_line.line
FROM hall_line LEFT JOIN unnest(%(nodes)s::text[], %(changes)s::bigint[]) AS seen(node, change)
    ON seen.node = hall_line.node
WHERE hall_line.node <> %(name)s AND hall_line.change > coalesce(seen.change, 0)
ORDER BY hall_line.change"""
_OTHERS: Final = """
SELECT name, url, owner,
    NOT leaving AND beat >= clock_timestamp() - make_interval(secs => %(expires_s)s)
FROM node WHERE name <> %(name)s AND url IS NOT NULL ORDER BY name"""
_SETTLED: Final = """
SELECT NOT EXISTS (
    SELECT FROM stream AS lobby LEFT JOIN node ON node.name = lobby.node
        LEFT JOIN hall_line ON hall_line.key = lobby.key AND hall_line.node = lobby.node
    WHERE lobby.key IN (SELECT coalesce(owner, key) FROM stream WHERE state = 'open')
        AND lobby.kind = 'lobby' AND lobby.node IS DISTINCT FROM %(name)s
        AND (node.name IS NULL OR node.leaving OR hall_line.line IS NULL
             OR node.beat < clock_timestamp() - make_interval(secs => %(expires_s)s))),
    (extract(epoch FROM clock_timestamp()) * 1000)::bigint,
    (SELECT key FROM ticket_key)"""

_MISSING: Final = """
SELECT lobby.key FROM stream AS lobby
    LEFT JOIN hall_line ON hall_line.key = lobby.key AND hall_line.node = lobby.node
WHERE lobby.node = %(name)s AND lobby.kind = 'lobby' AND lobby.state = 'open'
    AND hall_line.line IS NULL"""


class HallLines:
    """The lines of one node, and its reading position in the other nodes' lines."""

    def __init__(self, name: str, owner: str, expires_s: float) -> None:
        self._name = name
        self._owner = owner
        self._expires_s = expires_s
        self._seen: dict[str, int] = {}
        """The last change read, by node."""
        self._exchanged_at: float | None = None
        """When the last exchange ended; None before the first, and after a failed one."""

    @property
    def needs_all(self) -> bool:
        """See `interface.Nodes`."""
        at = self._exchanged_at
        return at is None or time.monotonic() > at + LONG_AGO_S

    def expire(self) -> None:
        """See `interface.Nodes.expire_lines`."""
        self._exchanged_at = None

    async def exchange(self, db: Connection, lines: Mapping[str, bytes | None]) -> HallExchange:
        """See `interface.Nodes`; raises `psycopg.Error`."""
        whole, self._exchanged_at = self.needs_all, None
        seen = {} if whole else self._seen
        if lines or whole:
            async with db.transaction():
                await self._write(db, lines, whole=whole)
        async with db.transaction():
            await db.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            found = await self._read(db, seen, whole=whole)
        self._exchanged_at = time.monotonic()
        return found

    async def _write(
        self, db: Connection, lines: Mapping[str, bytes | None], *, whole: bool
    ) -> None:
        keys = list(lines)
        values = {"name": self._name, "keys": keys, "lines": list(lines.values())}
        if whole:
            await db.execute(_END_OTHERS, {"name": self._name, "keys": keys})
        if lines:
            await db.execute(_PURGE, {"name": self._name, "kept_s": KEPT_S})
            await db.execute(_WRITE, values)

    async def _read(self, db: Connection, seen: dict[str, int], *, whole: bool) -> HallExchange:
        mine = {"name": self._name, "expires_s": self._expires_s}
        rows = await (await db.execute(_OTHERS, mine)).fetchall()
        nodes = tuple(OtherNode(name, url, alive, _life(owner)) for name, url, owner, alive in rows)
        after = {"name": self._name, "nodes": list(seen), "changes": list(seen.values())}
        lines = await (await db.execute(_READ, after)).fetchall()
        missing = await (await db.execute(_MISSING, mine)).fetchall()
        row = await (await db.execute(_SETTLED, mine)).fetchone()
        if row is None:
            raise AssertionError("a query without tables returns a row")
        settled, now_ms, key = row
        self._seen = seen | {node: change for _, node, change, _ in lines}
        return HallExchange(
            nodes,
            tuple((key, node, line) for key, node, _, line in lines if not whole or line),
            whole,
            settled,
            frozenset(key for (key,) in missing),
            _life(self._owner),
            bytes(key),
            now_ms,
        )


def _life(owner: str) -> str:
    """Return an identifier for a run of a node, without revealing its fencing token."""
    return hashlib.sha256(owner.encode()).hexdigest()[:16]
