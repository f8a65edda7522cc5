"""The journal's rows: recovering entries from altered rows."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kibitz_protocol.wire.recordfile import EMPTY_CHAIN, chain_hash
from kibitz_server.storage.sqlite import journal
from kibitz_server.storage.sqlite.connection import connect
from kibitz_server.storage.sqlite.schema import ensure_schema


@pytest.fixture
def db(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    path = tmp_path / "kibitz.db"
    db = connect(path)
    ensure_schema(db, path)
    yield db
    db.close()


class Writer:
    """Writes streams like the store, with one row per call of `write`."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db
        self.batch = 0
        self.streams: dict[int, tuple[int, str]] = {}

    def create(self, count: int) -> None:
        for number in range(1, count + 1):
            link = chain_hash(EMPTY_CHAIN, b"head %d" % number)
            self.streams[number] = (0, link)
            self.db.execute(
                "INSERT INTO stream (number, key, kind, opened, head, link)"
                " VALUES (?, ?, 'match', 0, ?, ?)",
                (number, f"m{number}", b"head %d" % number, link),
            )

    def write(self, *numbers: int) -> None:
        """Write a row with the next entry of each of these streams."""
        self.batch += 1
        lines, ends = [], {}
        for number in numbers:
            seq, link = self.streams[number]
            text = b'{"stream":%d,"seq":%d}' % (number, seq + 1)
            self.streams[number] = (seq + 1, chain_hash(link, text))
            seq, link = self.streams[number]
            lines.append(journal.ENTRY % (number, seq, link[: journal.LINK].encode(), text))
            ends[number] = seq
        row = journal.seal_row(self.batch, "me", ends, b"\n".join(lines))
        self.db.execute(journal.INSERT_ROW, row)


@pytest.fixture
def writer(db: sqlite3.Connection) -> Writer:
    """Three streams and six rows; stream 3 ends in the third of them."""
    writer = Writer(db)
    writer.create(3)
    for numbers in [(1, 2, 3), (1, 2), (2, 3), (1, 1, 2), (2,), (1, 2)]:
        writer.write(*numbers)
    return writer


def lines(number: int, last: int) -> list[bytes]:
    return [b'{"stream":%d,"seq":%d}' % (number, seq) for seq in range(1, last + 1)]


def found(db: sqlite3.Connection) -> dict[int, tuple[int, bool]]:
    """Return the end of each stream and whether it is sound there."""
    reading = journal.read(db)
    for tail in reading.tails.values():
        assert tail.lines == lines(tail.number, tail.last)[tail.segmented :]
    return {n: (tail.last, tail.fault is None) for n, tail in sorted(reading.tails.items())}


SOUND = {1: (5, True), 2: (6, True), 3: (2, True)}


def test_a_journal_is_read_as_it_was_written(db: sqlite3.Connection, writer: Writer) -> None:
    assert found(db) == SOUND


def edit(db: sqlite3.Connection, batch: int, change: Callable[[bytes], bytes]) -> None:
    [(text,)] = db.execute("SELECT lines FROM journal WHERE batch = ?", (batch,)).fetchall()
    changed = change(text)
    assert changed != text
    db.execute("UPDATE journal SET lines = ? WHERE batch = ?", (changed, batch))


def sealed(db: sqlite3.Connection, batch: int, change: Callable[[bytes], bytes]) -> None:
    """Change a row with valid checks."""
    edit(db, batch, change)
    row = journal.row_at(db, batch)
    assert row is not None
    contents = row.last_entries
    assert contents is not None
    again = journal.seal_row(batch, row.owner, contents, row.lines)
    db.execute("UPDATE journal SET checks = ? WHERE batch = ?", (again.checks, batch))


def swapped(text: bytes) -> bytes:
    first, second, *more = text.split(b"\n")
    return b"\n".join([second, first, *more])


@pytest.mark.parametrize("write", [edit, sealed])
@pytest.mark.parametrize(
    ("batch", "change", "expected"),
    [
        (2, lambda text: text.replace(b'1,"seq":2', b'1,"seq":9'), {1: (1, False)}),
        (2, lambda text: text.replace(b"1 2 ", b"1 3 ", 1), {1: (1, False)}),
        (4, lambda text: text.replace(b"1 4 ", b"1 7 ", 1), {1: (3, False)}),
        (4, swapped, {1: (3, False)}),
        (6, lambda text: text[: len(text) // 2], {2: (5, False)}),
        (6, lambda text: text.split(b"\n")[0], {2: (5, False)}),
        (6, lambda text: b"", {1: (4, False), 2: (5, False)}),
        (3, lambda text: text.replace(b"\n", b" "), {2: (2, False), 3: (1, False)}),
        (3, lambda text: text.replace(b"3 2 ", b"1 2 "), {3: (1, False)}),
    ],
)
def test_a_changed_entry_is_found_and_is_its_streams(
    db: sqlite3.Connection,
    writer: Writer,
    write: Callable[..., None],
    batch: int,
    change: Callable[[bytes], bytes],
    expected: dict[int, tuple[int, bool]],
) -> None:
    write(db, batch, change)
    after = found(db)
    for number, (last, sound) in expected.items():
        # A row that claims to be intact is not searched for salvageable entries.
        assert after[number] in {(last, sound), (last - (write is sealed), sound)}
    if write is edit:
        untouched = SOUND.keys() - expected.keys()
        assert {n: after[n] for n in untouched} == {n: SOUND[n] for n in untouched}


@pytest.mark.parametrize("batch", range(1, 7))
def test_every_byte_of_every_row_counts(db: sqlite3.Connection, writer: Writer, batch: int) -> None:
    """A changed byte affects only streams in its row, and no stream ends early without an error."""
    row = journal.row_at(db, batch)
    assert row is not None
    inside = row.last_entries
    assert inside is not None
    for place in range(len(row.lines)):
        text = bytearray(row.lines)
        text[place] ^= 0x15
        db.execute("UPDATE journal SET lines = ? WHERE batch = ?", (bytes(text), batch))
        for number, (last, sound) in found(db).items():
            assert sound == (last == SOUND[number][0])
            assert sound or number in inside
        assert journal.read(db).faults
    db.execute("UPDATE journal SET lines = ? WHERE batch = ?", (row.lines, batch))
    assert found(db) == SOUND


@pytest.mark.parametrize("column", ["ends", "owner", "checks"])
@pytest.mark.parametrize("batch", range(1, 7))
def test_damage_beside_the_lines_loses_nothing(
    db: sqlite3.Connection, writer: Writer, column: str, batch: int
) -> None:
    db.execute(f"UPDATE journal SET {column} = 'x' WHERE batch = ?", (batch,))
    after = found(db)
    for number, (last, _) in SOUND.items():
        assert after[number][0] == last or column == "checks"
        assert after[number][1] or column == "checks"


@pytest.mark.parametrize("batch", range(1, 6))
def test_a_missing_row_is_found_by_the_streams_that_may_end_there(
    db: sqlite3.Connection, writer: Writer, batch: int
) -> None:
    rows = {1: {1, 2, 3}, 2: {1, 2}, 3: {2, 3}, 4: {1, 2}, 5: {2}, 6: {1, 2}}
    db.execute("DELETE FROM journal WHERE batch = ?", (batch,))
    after = found(db) | {}
    for number in SOUND:
        later = any(number in rows[other] for other in range(batch + 1, 7))
        assert after[number][1] == (later and number not in rows[batch])


def test_rows_that_change_places_are_found(db: sqlite3.Connection, writer: Writer) -> None:
    for one, other in ((2, 12), (5, 2), (12, 5)):
        db.execute("UPDATE journal SET batch = ? WHERE batch = ?", (other, one))
    assert not found(db)[2][1]


def test_recovery_keeps_what_is_sound_and_the_rows_that_are_not(
    db: sqlite3.Connection, writer: Writer
) -> None:
    edit(db, 4, lambda text: text.replace(b'1,"seq":3', b'1,"seq":8'))
    journal.recover(db)
    assert db.execute("SELECT number, state, sound, reason FROM stream").fetchall() == [
        (1, "damaged", 2, "entry 3 in batch 4 is damaged"),
        (2, "open", None, None),
        (3, "open", None, None),
    ]
    ends = {number: journal.segment_end(db, number) for number in SOUND}
    assert {n: end and end[0] for n, end in ends.items()} == {1: 2, 2: 6, 3: 2}
    kept = db.execute("SELECT batch FROM journal_damaged ORDER BY place").fetchall()
    assert kept == [(1,), (2,), (4,), (6,)]
    again = journal.recover(db)
    assert (again.rows, again.faults, journal.last_batch(db)) == ([], [], 6)


def test_recovery_goes_on_where_a_compaction_was_cut_off(
    db: sqlite3.Connection, writer: Writer
) -> None:
    """The remaining segments are added exactly once, whichever segments exist."""
    reading = journal.read(db, weight=1100)
    assert 1 < reading.last < 6
    for tail in list(reading.tails.values())[:2]:
        for segment in tail.segments():
            journal.write_segment(db, segment)
    journal.recover(db)
    for number, (last, _) in SOUND.items():
        parts = db.execute(
            "SELECT lines FROM stretch WHERE stream = ? ORDER BY first", (number,)
        ).fetchall()
        assert b"\n".join(part for (part,) in parts).split(b"\n") == lines(number, last)


def test_a_long_tail_becomes_several_segments(
    db: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "SEGMENT_BYTES", 100)
    writer = Writer(db)
    writer.create(1)
    for _ in range(20):
        writer.write(1, 1)
    journal.recover(db)
    rows = db.execute("SELECT first, last, chain FROM stretch ORDER BY first").fetchall()
    assert [(first, last) for first, last, _ in rows] == [(n, n + 4) for n in range(1, 41, 5)]
    assert rows[-1][2] == writer.streams[1][1]
