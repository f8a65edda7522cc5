"""Reads streams from PostgreSQL, and checks them against the hash chain.

Each entry is stored with its link in the chain, so reading a stream detects changed entries and
gaps.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any, TypeAlias

from kibitz_protocol.wire.recordfile import EMPTY_CHAIN, chain_hash
from kibitz_server.storage.errors import DamagedStream, NotStored, StoreError
from kibitz_server.storage.postgres.connection import Connection, SyncConnection
from kibitz_server.storage.streams import (
    Closed,
    Stored,
    StoredCheckpoint,
    Stream,
)

Row: TypeAlias = tuple[Any, ...]
PIECE = 256
"""The number of entries that a query for an amount of bytes reads at a time."""
_ENTRIES = "SELECT seq, link, line FROM entry WHERE stream = %s AND seq >= %s ORDER BY seq"
_STREAM = "SELECT number, key, kind, head, link, tail, state FROM stream WHERE key = %s"


def check_entries(rows: Iterable[Row], after: int, link: str) -> tuple[list[bytes], str]:
    """Return the entries after number `after`, which has the chain's `link`, and the last link.

    Raises `DamagedStream` at the first missing or corrupt entry.
    """
    lines: list[bytes] = []
    for seq, (found, stored, line) in enumerate(rows, after + 1):
        link = chain_hash(link, line)
        if found != seq or link != bytes(stored).hex():
            raise DamagedStream(seq - 1, f"entry {seq} is missing or damaged")
        lines.append(bytes(line))
    return lines, link


def check_head(head: bytes, link: str) -> str:
    """Check a head, and return its link in the chain."""
    if chain_hash(EMPTY_CHAIN, head) != link:
        raise DamagedStream(0, "its head is damaged")
    return link


def load(db: SyncConnection, row: Row, kept: StoredCheckpoint | None) -> Stored:
    """Return a stream, from its checkpoint if the chain continues from there. It blocks."""
    number, _, _, head, link, _, _ = row
    link = check_head(head, link)
    if kept is not None:
        rows = db.execute(_ENTRIES, (number, kept.seq)).fetchall()
        if rows and rows[0][0] == kept.seq and bytes(rows[0][1]).hex() == kept.link:
            lines, end = check_entries(rows[1:], kept.seq, kept.link)
            return _stored(row, lines, end, kept)
    lines, end = check_entries(db.execute(_ENTRIES, (number, 1)).fetchall(), 0, link)
    return _stored(row, lines, end)


async def reload(db: Connection, keys: Iterable[str]) -> dict[str, Stored | StoreError]:
    """Return streams, or their errors, by key, from one database snapshot."""
    found: dict[str, Stored | StoreError] = {}
    async with db.transaction():
        await db.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        for key in keys:
            try:
                found[key] = await _whole(db, key)
            except StoreError as error:
                found[key] = error
    return found


async def _whole(db: Connection, key: str) -> Stored:
    row = await _one(db, _STREAM, (key,))
    if row is None:
        raise NotStored(f"{key!r} is not on disk")
    rows = await (await db.execute(_ENTRIES, (row[0], 1))).fetchall()
    lines, end = check_entries(rows, 0, check_head(row[3], row[4]))
    stored = _stored(row, lines, end)
    stored.stream.closed = row[6] != "open"
    return stored


def _stored(row: Row, lines: list[bytes], end: str, kept: StoredCheckpoint | None = None) -> Stored:
    tail = len(lines) + (0 if kept is None else kept.seq)
    stream = Stream(row[0], row[1], row[2], tail=tail, durable=tail, chain=end)
    return Stored(stream, bytes(row[3]), lines, kept)


async def closed(db: Connection, key: str) -> Closed | None:
    row = await _one(
        db,
        "SELECT number, kind, head, footer, summary, coalesce(tail, 0), link FROM stream"
        " WHERE key = %s AND state = 'closed'",
        (key,),
    )
    if row is None:
        return None
    check_head(row[2], row[6])
    return Closed(*row[:6])


async def entries(db: Connection, number: int, first: int, last: int) -> list[bytes]:
    """Return entries of a closed stream; raises `DamagedStream` if they are corrupt."""
    stream = await _one(db, "SELECT link, tail, head FROM stream WHERE number = %s", (number,))
    if stream is None:
        return []
    sql = "SELECT seq, link, line FROM entry WHERE stream = %s AND seq BETWEEN %s AND %s"
    first, last = max(1, first), min(last, stream[1] or 0)
    rows = await (await db.execute(f"{sql} ORDER BY seq", (number, first - 1, last))).fetchall()
    if first == 1:
        link = check_head(stream[2], stream[0])
    elif rows and rows[0][0] == first - 1:
        link = bytes(rows[0][1]).hex()
        rows = rows[1:]
    else:
        raise DamagedStream(first - 2, f"entry {first - 1} is missing")
    lines, _ = check_entries(rows, first - 1, link)
    if len(lines) < last - first + 1:
        raise DamagedStream(
            first + len(lines) - 1, f"entries after {first + len(lines) - 1} are missing"
        )
    return lines


async def entries_of_size(db: Connection, number: int, first: int, size: int) -> list[bytes]:
    """Return about `size` bytes of entries of a closed stream, at least one entry."""
    found: list[bytes] = []
    while size > 0:
        piece = await entries(db, number, first, first + PIECE - 1)
        sizes = itertools.accumulate(map(len, piece), initial=0)
        taken = [line for line, before in zip(piece, sizes, strict=False) if before < size]
        found += taken
        if len(taken) < PIECE:
            break
        first, size = first + PIECE, size - sum(map(len, taken))
    return found


async def lines(db: Connection, number: int, first: int, last: int) -> list[bytes]:
    """Return entries of a stream, which may be open."""
    sql = "SELECT line FROM entry WHERE stream = %s AND seq BETWEEN %s AND %s ORDER BY seq"
    return [bytes(row[0]) async for row in await db.execute(sql, (number, first, last))]


async def _one(db: Connection, sql: str, values: tuple[Any, ...]) -> Row | None:
    return await (await db.execute(sql, values)).fetchone()
