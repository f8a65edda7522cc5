"""Writes, reads and checks the journal's rows, and moves them into segments.

A batch is one row. It contains entries of many streams, each with its link in its stream's chain:

    batch   its number; the rows of a journal have consecutive numbers
    owner   a random word that identifies the server that wrote it
    ends    "12:40 13:7": per stream, its number and its last entry in the row
    lines   "12 40 0f3a... {...}": per entry, its stream, number, link and line
    checks  two digests: one over batch, owner and ends, one over batch and lines

The *link* is the beginning of the chain's hash over the stream's head and all its entries up to
this one (`recordfile.chain`). So an entry is valid if it is its stream's next entry and continues
the chain, even if its neighbors are damaged. Reading detects the following faults:

* A changed, duplicate, missing or misplaced entry: its link or number does not match. The stream is
  sound up to the previous entry.
* A removed or unreadable entry: `ends` has the number of each stream's last entry in the row.
* A missing row, or a row with an unreadable `ends`. A stream has lost nothing if one of its entries
  in a later row continues the chain. Any other open stream may have lost its last entries, and is
  reported.
* Rows missing at the beginning: `setting.trimmed` is the last row that may be missing.
  `storage/sqlite/watermark.py` detects rows missing at the end.

Only `trim` advances `trimmed`. Before that, `read` has read the rows from disk, and `write_segment`
has written all their entries into segments, in the same transaction or an earlier one. Recovery
does this for the whole journal at once, the running store for the oldest part, a few segments per
batch. A crash or an error may interrupt either at any point, because `read` skips entries that are
already in a segment.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from kibitz_protocol.wire.recordfile import chain_hash
from kibitz_server.storage.errors import ForeignDatabase
from kibitz_server.storage.sqlite.connection import read_int, transaction

LINK = 16
"""A journal entry contains this many of the first characters of its link."""
SEGMENT_BYTES = 64 * 1024
"""A segment ends once it has at least this many bytes of lines."""
ROW_BYTES = 256
"""The approximate size of a row without its lines."""
ENTRY = b"%d %d %b %b"
"""The format of an entry in a row: stream, number, `LINK` characters of its link, line."""
INSERT_ROW = "INSERT INTO journal (batch, owner, ends, lines, checks) VALUES (?, ?, ?, ?, ?)"
"""Inserts a `Row`."""


class Row(NamedTuple):
    """A row of the journal, in the order of the table's columns."""

    batch: int
    owner: str
    ends: str
    lines: bytes
    checks: str

    @property
    def last_entries(self) -> dict[int, int] | None:
        """The last entry of each stream in the row; None if `ends` is corrupt."""
        if self.checks[:LINK] != _digest(f"{self.batch} {self.owner} {self.ends}".encode()):
            return None
        pairs = (pair.split(":") for pair in self.ends.split())
        return {int(number): int(last) for number, last in pairs}

    @property
    def intact(self) -> bool:
        """Whether `lines` are intact according to their digest."""
        return self.checks[LINK:] == _digest(b"%d " % self.batch, self.lines)

    @property
    def weight(self) -> int:
        """The approximate size of the row in bytes, both on disk and in memory."""
        return len(self.lines) + ROW_BYTES


@dataclass(frozen=True, slots=True)
class Segment:
    """Consecutive entries of a stream; `link` is the chain's link at the last one."""

    number: int
    first: int
    lines: Sequence[bytes]
    link: str

    @property
    def last(self) -> int:
        return self.first + len(self.lines) - 1


@dataclass(slots=True)
class Tail:
    """The part of a stream that is in the journal but not in segments."""

    number: int
    segmented: int
    """The last entry in a segment."""
    link: str
    """The chain's link at the end of `lines`."""
    lines: list[bytes] = field(default_factory=list)
    batch: int = 0
    """The last row with a valid entry of the stream."""
    fault: str | None = None
    """The first fault found in the entries after `lines`."""
    _segment_ends: list[tuple[int, str]] = field(default_factory=list)
    _bytes: int = 0

    @property
    def last(self) -> int:
        return self.segmented + len(self.lines)

    def add(self, batch: int, seq: int, link: bytes, line: bytes) -> str | None:
        """Add the next entry; return its fault, or None."""
        if seq != self.segmented + len(self.lines) + 1:
            return f"batch {batch} has entry {seq} instead of {self.last + 1}"
        hashed = chain_hash(self.link, line)
        if hashed[:LINK].encode() != link:
            return f"entry {seq} in batch {batch} does not continue the chain"
        self.link = hashed
        self.lines.append(line)
        self.batch = batch
        self._bytes += len(line)
        if self._bytes >= SEGMENT_BYTES:
            self._segment_ends.append((len(self.lines), hashed))
            self._bytes = 0
        return None

    def segments(self) -> Iterator[Segment]:
        start = 0
        for end, link in [*self._segment_ends, (len(self.lines), self.link)]:
            if end > start:
                yield Segment(self.number, self.segmented + start + 1, self.lines[start:end], link)
            start = end


@dataclass(slots=True)
class JournalContents:
    """Rows of the journal, read in order from the row after `trimmed`."""

    last: int
    """The last row read."""
    tails: dict[int, Tail] = field(default_factory=dict)
    """The entries of each open stream in the rows."""
    rows: list[tuple[int, int]] = field(default_factory=list)
    """The number and weight of each row."""
    missing: list[int] = field(default_factory=list)
    """Rows that are missing, or so corrupt that their streams are unknown."""
    damaged: list[int] = field(default_factory=list)
    """Corrupt rows."""
    open: Mapping[int, tuple[int, str]] = field(default_factory=dict)
    """For each open stream, the last entry in a segment and the chain's link there."""

    @property
    def weight(self) -> int:
        return sum(weight for _, weight in self.rows)

    @property
    def faults(self) -> list[Tail]:
        """The damaged streams."""
        return [tail for tail in self.tails.values() if tail.fault]

    @property
    def sound(self) -> bool:
        return not self.missing and not self.faults


def seal_row(batch: int, owner: str, last: Mapping[int, int], lines: bytes) -> Row:
    """Return a row for entries, which are one line each; `last` maps streams to last entries."""
    ends = " ".join([f"{number}:{seq}" for number, seq in last.items()])
    checks = _digest(f"{batch} {owner} {ends}".encode()) + _digest(b"%d " % batch, lines)
    return Row(batch, owner, ends, lines, checks)


def last_row(db: sqlite3.Connection) -> Row | None:
    """Return the newest row, which always exists after the first batch."""
    found = db.execute(f"{_ROWS} ORDER BY batch DESC LIMIT 1").fetchone()
    return None if found is None else _row(found)


def row_at(db: sqlite3.Connection, batch: int) -> Row | None:
    found = db.execute(f"{_ROWS} WHERE batch = ?", (batch,)).fetchone()
    return None if found is None else _row(found)


def streams_in_journal(db: sqlite3.Connection) -> set[int]:
    """Return the streams with entries in the journal. Raises `StoreError` if it is damaged."""
    found: set[int] = set()
    for row in db.execute(_ROWS):
        contents = _row(row).last_entries
        if contents is None:
            raise ForeignDatabase("a journal row is damaged")
        found.update(contents)
    return found


def last_batch(db: sqlite3.Connection) -> int:
    return max(trimmed(db), read_int(db, "SELECT max(batch) FROM journal"))


def trimmed(db: sqlite3.Connection) -> int:
    """Return the last row whose entries are all in segments."""
    found = db.execute("SELECT value FROM setting WHERE name = 'trimmed'").fetchone()
    if found is None or not isinstance(found[0], int):
        raise ForeignDatabase("the setting 'trimmed' is missing: the file is damaged")
    return found[0]


# --- reading ----------------------------------------------------------------------------------


def read(
    db: sqlite3.Connection, *, weight: int | None = None, only: Container[int] | None = None
) -> JournalContents:
    """Read the untrimmed part of the journal from one database snapshot.

    With `weight`, stop once the rows reach that weight; with `only`, read only those streams'
    entries.
    """
    if db.in_transaction:
        return _read(db, weight, only)
    db.execute("BEGIN")
    try:
        return _read(db, weight, only)
    finally:
        db.execute("COMMIT")


def _read(
    db: sqlite3.Connection, weight: int | None, only: Container[int] | None
) -> JournalContents:
    reading = JournalContents(trimmed(db), open=_open_streams(db))
    left = weight
    for found in db.execute(f"{_ROWS} WHERE batch > ? ORDER BY batch", (reading.last,)):
        row = _row(found)
        reading.missing += range(reading.last + 1, row.batch)
        reading.last = row.batch
        reading.rows.append((row.batch, row.weight))
        _take_row(reading, row, only)
        if left is not None:
            left -= row.weight
            if left <= 0:
                break
    _find_lost_ends(reading, only)
    return reading


def _open_streams(db: sqlite3.Connection) -> dict[int, tuple[int, str]]:
    """Return, for each open stream, the last entry in a segment and the link there.

    The query returns a single row, because Python's `sqlite3` releases the GIL for each row. On a
    busy server a thread waits milliseconds to reacquire it.
    """
    [found] = db.execute(
        "SELECT group_concat(number || ' ' || hex(link) || ' ' || coalesce("
        " (SELECT CAST(last AS INTEGER) || ' ' || hex(chain) FROM stretch WHERE stream = number"
        "  ORDER BY first DESC LIMIT 1), ''))"
        " FROM stream WHERE state = 'open'"
    ).fetchone()
    opened: dict[int, tuple[int, str]] = {}
    for text in found.split(",") if found else ():
        number, link, *segment = text.split(" ")
        last, chain = segment if segment[0] else (0, link)
        opened[int(number)] = int(last), bytes.fromhex(chain).decode(errors="replace")
    return opened


def _take_row(reading: JournalContents, row: Row, only: Container[int] | None) -> None:
    contents = row.last_entries
    if contents is not None and only is not None and not any(n in only for n in contents):
        return
    intact = row.intact
    if not intact or contents is None:
        reading.damaged.append(row.batch)
        if not intact and contents is None:
            reading.missing.append(row.batch)
    elif contents is not None and reading.open.keys().isdisjoint(contents):
        return  # all its entries are in segments: no need to read its lines
    opened, tails = reading.open, reading.tails
    for text in row.lines.split(b"\n"):
        try:
            first, second, link, line = text.split(b" ", 3)
            number = int(first)
            if number not in opened or (only is not None and number not in only):
                continue
            seq = int(second)
        except ValueError:
            continue  # an empty row, or a corrupt entry
        tail = tails.get(number) or _tail(reading, number)
        if tail is None or tail.fault is not None:
            continue
        if seq <= tail.segmented:
            tail.batch = row.batch if intact else tail.batch
            continue
        wrong = tail.add(row.batch, seq, link, line)
        # If a row is corrupt, even the stream's number may be wrong.
        if wrong is not None and intact:
            tail.fault = wrong
    for number, last in (contents or {}).items():
        tail = _tail(reading, number) if only is None or number in only else None
        if tail is not None and tail.fault is None and tail.last < last:
            tail.fault = f"entry {tail.last + 1} in batch {row.batch} is damaged"


def _find_lost_ends(reading: JournalContents, only: Container[int] | None) -> None:
    """Find the streams without an entry after a missing row: their last entries may be lost."""
    if not reading.missing:
        return
    hole = reading.missing[-1]
    for number in reading.open:
        tail = _tail(reading, number) if only is None or number in only else None
        if tail is not None and tail.fault is None and tail.batch < hole:
            tail.fault = f"batch {hole} is missing, and may have had entries after {tail.last}"


def _tail(reading: JournalContents, number: int) -> Tail | None:
    """Return the entries of a stream read so far, or None if it is not open."""
    tail = reading.tails.get(number)
    if tail is None and (segmented := reading.open.get(number)) is not None:
        tail = reading.tails[number] = Tail(number, *segmented)
    return tail


# --- segments --------------------------------------------------------------------------------


def segment_end(db: sqlite3.Connection, number: int) -> tuple[int, str] | None:
    """Return the number and link of a stream's last entry in a segment."""
    row = db.execute(
        "SELECT last, chain FROM stretch WHERE stream = ? ORDER BY first DESC LIMIT 1", (number,)
    ).fetchone()
    return None if row is None else (row[0], row[1])


def write_segment(db: sqlite3.Connection, segment: Segment) -> None:
    """Write the entries that are not in a segment yet, in the open transaction."""
    ended = (segment_end(db, segment.number) or (0, ""))[0]
    if ended >= segment.last:
        return
    if ended + 1 < segment.first:
        raise ForeignDatabase(
            f"the segments of stream {segment.number} end at {ended}, before {segment.first}"
        )
    lines = segment.lines[ended + 1 - segment.first :]
    db.execute(
        "INSERT INTO stretch (stream, first, last, chain, lines) VALUES (?, ?, ?, ?, ?)",
        (segment.number, ended + 1, segment.last, segment.link, b"\n".join(lines)),
    )


def trim(db: sqlite3.Connection, last: int) -> None:
    """Delete the rows before `last`, once all entries up to `last` are in segments.

    Row `last` itself remains, so that there is always a newest row; `read` skips it.
    """
    db.execute("UPDATE setting SET value = ? WHERE name = 'trimmed'", (last,))
    db.execute("DELETE FROM journal WHERE batch < ?", (last,))


def recover(db: sqlite3.Connection) -> JournalContents:
    """Move the whole journal into segments, as at every startup, and return its contents.

    A damaged stream gets its sound entries and the state 'damaged'. The journal rows that an
    operator needs to investigate or repair it are kept in the table `journal_damaged`.
    """
    with transaction(db):
        reading = read(db)
        for tail in reading.tails.values():
            for segment in tail.segments():
                write_segment(db, segment)
        broken = {number: tail for number, tail in reading.tails.items() if tail.fault}
        for number, tail in broken.items():
            mark_damaged(db, number, tail.last, str(tail.fault))
        _keep_damaged_rows(db, reading, broken)
        trim(db, reading.last)
    return reading


def mark_damaged(db: sqlite3.Connection, number: int, sound: int, reason: str) -> None:
    """Mark a stream as damaged after entry `sound`, so that it is not read or appended to."""
    db.execute(
        "UPDATE stream SET state = 'damaged', sound = ?, reason = ?,"
        " noticed = CAST(strftime('%s', 'now') AS INTEGER) WHERE number = ?",
        (sound, reason, number),
    )


def _keep_damaged_rows(
    db: sqlite3.Connection, reading: JournalContents, broken: Container[int]
) -> None:
    for batch, _ in reading.rows:
        row = _row(db.execute(f"{_ROWS} WHERE batch = ?", (batch,)).fetchone())
        contents = row.last_entries or {}
        if batch in reading.damaged or any(number in broken for number in contents):
            db.execute(
                "INSERT INTO journal_damaged (batch, owner, ends, lines, checks)"
                " VALUES (?, ?, ?, ?, ?)",
                row,
            )


# --- rows -------------------------------------------------------------------------------------

_ROWS = "SELECT batch, owner, ends, lines, checks FROM journal"


def _row(found: tuple[object, ...]) -> Row:
    """Return a row. A value of the wrong type is replaced by one that fails the checks."""
    batch, owner, ends, lines, checks = found
    if not isinstance(batch, int):
        raise AssertionError("the primary key is an integer")
    text = lines if isinstance(lines, bytes) else str(lines).encode()
    return Row(batch, str(owner), str(ends), text, str(checks))


def _digest(*parts: bytes) -> str:
    hashed = hashlib.sha256()
    for part in parts:
        hashed.update(part)
    return hashed.hexdigest()[:LINK]
