"""Reads streams from SQLite, and checks them against the hash chain."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from kibitz_protocol.wire.recordfile import EMPTY_CHAIN, chain_hash
from kibitz_server.storage.errors import DamagedStream, NotStored, StoreError
from kibitz_server.storage.sqlite import journal
from kibitz_server.storage.sqlite.connection import blob
from kibitz_server.storage.streams import Kind, Stored, StoredCheckpoint, Stream


def load(
    db: sqlite3.Connection,
    number: int,
    key: str,
    kind: Kind,
    head: bytes,
    kept: StoredCheckpoint | None = None,
) -> Stored:
    """Read a stream from its segments and check the hashes that were stored with them.

    Raises `StoreError` if it is corrupt. If a checkpoint is passed as `kept` and the chain
    continues from its link, only the entries after it are read.
    """
    head = blob(head)
    hashed = chain_hash(EMPTY_CHAIN, head)
    [link] = db.execute("SELECT link FROM stream WHERE number = ?", (number,)).fetchone()
    if link not in (hashed, None):  # None: the stream was closed before heads had links
        raise DamagedStream(0, "its head is damaged")
    rest = None if kept is None else _after_checkpoint(db, number, kept)
    if kept is not None and rest is not None:
        tail, hashed = kept.seq + len(rest[0]), rest[1]
        stream = Stream(number, key, kind, tail=tail, durable=tail, chain=hashed)
        return Stored(stream, head, rest[0], kept)
    lines: list[bytes] = []
    rows = db.execute(
        "SELECT first, last, chain, lines FROM stretch WHERE stream = ? ORDER BY first", (number,)
    )
    for first, last, expected, text in rows:
        part = blob(text).split(b"\n")
        for line in part:
            hashed = chain_hash(hashed, line)
        if first != len(lines) + 1 or last != first + len(part) - 1 or hashed != expected:
            raise DamagedStream(len(lines), f"the segment from {first} to {last} is damaged")
        lines += part
    tail = len(lines)
    return Stored(Stream(number, key, kind, tail=tail, durable=tail, chain=hashed), head, lines)


def _after_checkpoint(
    db: sqlite3.Connection, number: int, kept: StoredCheckpoint
) -> tuple[list[bytes], str] | None:
    """Return the entries after a checkpoint, and the chain's link after them.

    Returns None if the segments lack the last entry before the checkpoint, or the chain does not
    continue from its link.
    """
    found: list[bytes] = []
    last, link = 0, kept.link
    rows = db.execute(
        "SELECT first, last, chain, lines FROM stretch WHERE stream = ? AND first >="
        " (SELECT max(first) FROM stretch WHERE stream = ? AND first <= ?) ORDER BY first",
        (number, number, kept.seq),
    )
    for first, until, expected, text in rows:
        part = blob(text).split(b"\n")
        if first > (last or kept.seq) + 1 or until != first + len(part) - 1 or until < kept.seq:
            return None
        following = part[max(0, kept.seq + 1 - first) :]
        for line in following:
            link = chain_hash(link, line)
        if link != expected:
            return None
        found += following
        last = until
    return (found, link) if last else None


def reload(
    db: sqlite3.Connection, keys: Sequence[str]
) -> tuple[dict[str, Stored | StoreError], journal.Row | None]:
    """Return streams and the newest journal row, from one database snapshot."""
    db.execute("BEGIN")
    try:
        found: dict[str, Stored | StoreError] = {}
        for key in keys:
            try:
                found[key] = _stored(db, key)
            except StoreError as error:
                found[key] = error
        streams = [each for each in found.values() if isinstance(each, Stored)]
        reading = journal.read(db, only={stored.stream.number for stored in streams})
        for stored in streams:
            tail = reading.tails.get(stored.stream.number)
            if tail is not None:
                found[stored.stream.key] = _continued(stored, tail)
        return found, journal.last_row(db)
    finally:
        db.execute("COMMIT")


def _stored(db: sqlite3.Connection, key: str) -> Stored:
    row = db.execute(
        "SELECT state, number, key, kind, head FROM stream WHERE key = ?", (key,)
    ).fetchone()
    if row is None:
        raise NotStored(f"{key!r} is not on disk")
    stored = load(db, *row[1:])
    stored.stream.closed = row[0] != "open"
    return stored


def _continued(stored: Stored, tail: journal.Tail) -> Stored | StoreError:
    """Extend a stream from the segments by its entries in the journal."""
    stream = stored.stream
    if tail.fault:
        return StoreError(f"stream {stream.key!r} is damaged: {tail.fault}")
    stream.tail = stream.durable = tail.last
    stream.chain = tail.link
    stream.recent = tail.lines.copy()
    return Stored(stream, stored.head, stored.lines + tail.lines)


def segment_entries(
    db: sqlite3.Connection, number: int, first: int, last: int, edge: int
) -> list[bytes]:
    """Return the entries from `first` to `last`, but only those before `edge`."""
    rows = db.execute(
        "SELECT first, lines FROM stretch WHERE stream = ? AND last >= ? AND first <= ?"
        " ORDER BY first",
        (number, first, last),
    )
    found: list[bytes] = []
    for start, text in rows:
        for seq, line in enumerate(blob(text).split(b"\n"), start):
            if first <= seq <= last and seq < edge:
                found.append(line)
    return found


def entries(
    db: sqlite3.Connection,
    number: int,
    first: int,
    last: int | None = None,
    *,
    size: int | None = None,
) -> list[bytes]:
    """Return entries of a closed stream from `first` up to `last`, or up to about `size` bytes.

    Returns at least one entry, if there is one. Checks the segments that it reads; raises
    `StoreError` if one does not continue the chain.
    """
    rows = db.execute(
        "SELECT first, last, chain, lines FROM stretch WHERE stream = ? AND last >= ?"
        " ORDER BY first",
        (number, first),
    )
    found: list[bytes] = []
    link: str | None = None
    for start, end, expected, text in rows:
        if (last is not None and start > last) or (size is not None and size <= 0):
            break
        lines = blob(text).split(b"\n")
        link = _link_before(db, number, start) if link is None else link
        for line in lines:
            link = chain_hash(link, line)
        if link != expected or end != start + len(lines) - 1:
            raise DamagedStream(start - 1, f"the segment from {start} to {end} is damaged")
        for seq, line in enumerate(lines, start):
            if seq >= first and (last is None or seq <= last) and (size is None or size > 0):
                found.append(line)
                size = None if size is None else size - len(line)
    return found


def _link_before(db: sqlite3.Connection, number: int, first: int) -> str:
    """Return the chain's link before entry `first`, which must be the first of a segment."""
    if first > 1:
        sql = "SELECT chain FROM stretch WHERE stream = ? AND last = ?"
        row = db.execute(sql, (number, first - 1)).fetchone()
    else:
        row = db.execute("SELECT link FROM stream WHERE number = ?", (number,)).fetchone()
    if row is None:
        raise DamagedStream(first - 1, f"entries before {first} are missing")
    return str(row[0])
