"""Follows logs that other nodes write (`interface.Nodes`).

One statement fetches the new entries of all followed logs, with one index lookup per log. Nodes do
not notify each other of new entries: every batch would have to, and PostgreSQL serializes commits
that notify.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from kibitz_server.storage.errors import DamagedStream, StoreError
from kibitz_server.storage.interface import MatchHead, NewEntries
from kibitz_server.storage.postgres.connection import Connection
from kibitz_server.storage.postgres.streams import Row, check_entries, check_head
from kibitz_server.storage.streams import Stream

STREAM_PIECE: Final = 64
"""The most entries to read from one stream at a time."""
PIECE: Final = 1024
"""The most entries to read from all streams together, taken from them in turn."""
_HEADS: Final = """
SELECT stream.number, stream.key, stream.head, stream.link, stream.state, lobby.head
FROM stream LEFT JOIN stream AS lobby ON lobby.key = stream.owner
WHERE stream.key = ANY(%(keys)s) AND stream.kind = 'match'"""
_NEW_ENTRIES: Final = """
SELECT known.number, stream.state, stream.tail, entry.seq, entry.link, entry.line
FROM unnest(%(numbers)s::bigint[], %(tails)s::integer[]) AS known(number, tail)
    LEFT JOIN stream ON stream.number = known.number
    LEFT JOIN LATERAL (
        SELECT seq, link, line FROM entry
        WHERE entry.stream = known.number AND entry.seq > known.tail
        ORDER BY seq LIMIT %(stream_piece)s
    ) AS entry ON true
WHERE entry.seq IS NOT NULL OR stream.state IS DISTINCT FROM 'open'
ORDER BY entry.seq - known.tail, known.number LIMIT %(piece)s"""


async def heads(db: Connection, keys: Sequence[str]) -> dict[str, MatchHead | StoreError]:
    """Return the heads of matches' logs, or their errors; raises `psycopg.Error`."""
    rows = await (await db.execute(_HEADS, {"keys": list(keys)})).fetchall()
    return {str(row[1]): _head(*row) for row in rows}


def _head(
    number: int, key: str, head: bytes, link: str, state: str, lobby_head: bytes | None
) -> MatchHead | StoreError:
    if state not in ("open", "closed"):
        return DamagedStream(0, f"the log of {key!r} was set aside as {state}")
    try:
        chain = check_head(head, link)
    except StoreError as error:
        return error
    stream = Stream(number, key, "match", durable=0, chain=chain)
    return MatchHead(stream, bytes(head), None if lobby_head is None else bytes(lobby_head))


async def new_entries(
    db: Connection, streams: Sequence[Stream]
) -> dict[str, NewEntries | StoreError]:
    """Return the new entries of each stream that has any; raises `psycopg.Error`."""
    values = {
        "numbers": [stream.number for stream in streams],
        "tails": [stream.tail for stream in streams],
        "stream_piece": STREAM_PIECE,
        "piece": PIECE,
    }
    # A stream may have grown since: check its rows against its state at the time of the query.
    asked = {stream.number: (stream.key, stream.tail, stream.chain) for stream in streams}
    rows = await (await db.execute(_NEW_ENTRIES, values)).fetchall()
    found: dict[str, NewEntries | StoreError] = {}
    for number, those in _by_stream(rows):
        key, tail, chain = asked[number]
        try:
            found[key] = _checked(those, tail, chain, whole=len(rows) < PIECE)
        except StoreError as error:
            found[key] = error
    return found


def _by_stream(rows: list[Row]) -> Iterator[tuple[int, list[Row]]]:
    """Yield the rows of each stream, in order."""
    for number, those in groupby(sorted(rows, key=lambda row: row[0]), key=lambda row: row[0]):
        yield number, list(those)


def _checked(rows: list[Row], tail: int, chain: str, *, whole: bool) -> NewEntries:
    """Return the entries in one stream's rows; raises `DamagedStream`."""
    state, last = rows[0][1], rows[0][2]
    if state not in ("open", "closed"):
        raise DamagedStream(tail, f"the log is {'gone' if state is None else 'set aside'}")
    entries = [row[3:] for row in rows if row[3] is not None]
    lines, link = check_entries(entries, tail, chain)
    end = tail + len(lines)
    closed = state == "closed" and end >= (last or 0)
    more = not closed and (not whole or len(lines) == STREAM_PIECE)
    if state == "closed" and not closed and not more:
        raise DamagedStream(end, f"entries after {end} are missing")
    return NewEntries(lines, link, more, closed)
