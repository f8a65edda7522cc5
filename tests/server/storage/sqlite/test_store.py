"""The log on disk: batches, segments, recovery, and failed writes."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import threading
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from kibitz_protocol.wire.recordfile import chain_hash
from kibitz_server.storage.errors import (
    DatabaseInUse,
    ForeignDatabase,
    NotStored,
    StoreError,
    WriteFailed,
)
from kibitz_server.storage.group_commit import Statement
from kibitz_server.storage.interface import UNHURRIED_S
from kibitz_server.storage.sqlite import journal
from kibitz_server.storage.sqlite.schema import connect_admin
from kibitz_server.storage.sqlite.store import SQLiteStore
from kibitz_server.storage.streams import Stored, Stream
from tests.tools.transcripts import transcript


class RecordingWaiter:
    """A waiter that stores its reports."""

    def __init__(self) -> None:
        self.told: list[int] = []
        self.errors: list[StoreError] = []

    def durable(self, seq: int) -> None:
        self.told.append(seq)

    def lost(self, error: StoreError) -> None:
        self.errors.append(error)


def opened(path: Path, retries: Sequence[float] = (), **options: Any) -> SQLiteStore:
    return SQLiteStore(path, asyncio.get_running_loop(), retries=retries, **options)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "kibitz.db"


@pytest.fixture
async def store(path: Path) -> AsyncIterator[SQLiteStore]:
    store = opened(path)
    yield store
    await store.close()


def written(
    store: SQLiteStore, key: str = "m1", count: int = 0, ear: RecordingWaiter | None = None
) -> Stream:
    stream = Stream(0, key, "match")
    store.create(stream, b'{"head":1}', owner=None, waiter=ear)
    for seq in range(1, count + 1):
        store.append(stream, seq, b'{"seq":%d}' % seq, ear)
    return stream


def lines(first: int, last: int) -> list[bytes]:
    return [b'{"seq":%d}' % seq for seq in range(first, last + 1)]


async def reopened(store: SQLiteStore, path: Path) -> SQLiteStore:
    await store.close()
    return opened(path)


async def reloaded(store: SQLiteStore, key: str) -> Stored:
    found = (await store.reload([key]))[key]
    assert isinstance(found, Stored)
    return found


def shorten(path: Path, cut: int) -> None:
    path.write_bytes(path.read_bytes()[:-cut])


def exists(path: str) -> bool:
    return Path(path).exists()


def overwrite_page(path: Path) -> None:
    path.unlink()
    path.write_bytes(b"not a database at all, but long enough to be one" * 100)


def crashed(path: Path, copy: Path) -> Path:
    """Copy the database with its write-ahead log, as after a crash."""
    for suffix in ("", "-wal"):
        Path(f"{copy}{suffix}").write_bytes(Path(f"{path}{suffix}").read_bytes())
    return copy


def take_over_database(db: sqlite3.Connection) -> None:
    """Write the next batch like another server."""
    last = journal.last_batch(db)
    db.execute(journal.INSERT_ROW, journal.seal_row(last + 1, "another", {}, b""))


# --- writing ----------------------------------------------------------------------------------


async def test_nothing_is_durable_before_the_commit(store: SQLiteStore) -> None:
    ear = RecordingWaiter()
    stream = written(store, count=3, ear=ear)
    assert (ear.told, stream.durable) == ([], -1)
    await store.flush()
    assert (ear.told, stream.durable) == ([0, 1, 2, 3], 3)


async def test_what_is_told_is_on_the_disk(store: SQLiteStore, path: Path) -> None:
    beside = sqlite3.connect(path)
    found: list[int] = []

    class Look(RecordingWaiter):
        def durable(self, seq: int) -> None:
            rows = beside.execute(
                "SELECT count(*) FROM journal WHERE instr(lines, CAST('seq' AS BLOB))"
            )
            found.append(rows.fetchone()[0])

    written(store, count=1, ear=Look())
    await store.flush()
    beside.close()
    assert found == [1, 1]


async def test_all_of_a_turn_of_the_loop_shares_a_commit(path: Path) -> None:
    batches: list[int] = []
    store = SQLiteStore(
        path, asyncio.get_running_loop(), observe=lambda count, seconds: batches.append(count)
    )
    for number in range(50):
        written(store, f"m{number}", 2)
    await store.flush()
    await store.close()
    assert batches == [100]


async def test_what_comes_during_a_commit_is_the_next_batch(path: Path) -> None:
    batches: list[int] = []
    store = SQLiteStore(
        path, asyncio.get_running_loop(), observe=lambda count, seconds: batches.append(count)
    )
    stream = written(store)

    class Go(RecordingWaiter):
        def durable(self, seq: int) -> None:
            if seq < 5:
                store.append(stream, seq + 1, b"{}", self)

    store.append(stream, 1, b"{}", Go())
    await store.flush()
    await store.close()
    assert batches == [1, 1, 1, 1, 1]


async def test_entries_have_no_gaps(store: SQLiteStore) -> None:
    stream = written(store, count=2)
    for seq in (2, 4):
        with pytest.raises(WriteFailed):
            store.append(stream, seq, b"{}", None)


async def test_a_waiter_is_told_in_order_across_streams(store: SQLiteStore) -> None:
    order: list[tuple[str, int]] = []

    class Named(RecordingWaiter):
        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

        def durable(self, seq: int) -> None:
            order.append((self.name, seq))

    streams = {name: written(store, name) for name in "ab"}
    ears = {name: Named(name) for name in "ab"}
    for seq in range(1, 4):
        for name in "ab":
            store.append(streams[name], seq, b"{}", ears[name])
    await store.flush()
    assert order == [(name, seq) for seq in range(1, 4) for name in "ab"]


# --- reading ----------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [0, 1, 31, 32, 33, 64, 100, 1000])
async def test_an_open_stream_is_found_again(path: Path, count: int) -> None:
    store = opened(path)
    stream = written(store, count=count)
    store = await reopened(store, path)
    [found] = store.load("match")
    assert found.head == b'{"head":1}'
    assert found.lines == lines(1, count)
    assert (found.stream.tail, found.stream.durable) == (count, count)
    assert found.stream.chain == stream.chain
    await store.close()


async def test_streams_that_grow_in_turn_are_found_again(path: Path, tmp_path: Path) -> None:
    store = opened(path)
    streams = [written(store, f"m{number}") for number in range(20)]
    for seq in range(1, 101):
        for stream in streams:
            store.append(stream, seq, b'{"seq":%d}' % seq, None)
        if seq % 7 == 0:
            await store.flush()
    await store.flush()
    copy = crashed(path, tmp_path / "copy.db")
    for one in (await reopened(store, path), opened(copy)):
        assert [found.lines for found in one.load("match")] == [lines(1, 100)] * 20
        await one.close()


async def test_the_chain_is_the_record_files(store: SQLiteStore) -> None:
    stream = written(store, count=40)
    hashed = chain_hash("", b'{"head":1}')
    for line in lines(1, 40):
        hashed = chain_hash(hashed, line)
    assert stream.chain == hashed


async def test_a_finished_stream_is_a_transcript_and_not_restored(path: Path) -> None:
    store = opened(path)
    for number, count in enumerate((0, 5, 32, 50)):
        stream = written(store, f"m{number}", count)
        if number % 2:
            await store.flush()
        store.finish(stream, b'{"kind":"end"}', b'{"n":%d}' % number)
    await store.flush()
    for _ in range(2):
        for number, count in enumerate((0, 5, 32, 50)):
            found = await transcript(store, f"m{number}")
            assert found is not None
            assert (found.lines, found.footer) == (lines(1, count), b'{"kind":"end"}')
        assert store.summaries("match", 2) == [b'{"n":3}', b'{"n":2}']
        assert store.ending("m1")[0] == b'{"n":1}'
        store = await reopened(store, path)
        assert store.load("match") == []
    await store.close()


async def test_an_open_stream_has_no_transcript(store: SQLiteStore) -> None:
    written(store, count=3)
    await store.flush()
    assert await transcript(store, "m1") is None
    assert await transcript(store, "other") is None
    assert store.ending("m1")[0] is None
    assert store.exists("m1")
    assert not store.exists("other")


@pytest.mark.parametrize(("first", "last"), [(1, 100), (1, 10), (30, 70), (95, 200), (101, 102)])
async def test_entries_of_a_running_match(store: SQLiteStore, first: int, last: int) -> None:
    stream = written(store)
    for seq in range(1, 101):
        store.append(stream, seq, b'{"seq":%d}' % seq, None)
        if seq % 9 == 0:
            await store.flush()
    await store.flush()
    assert await store.lines(stream, first, last) == lines(first, min(last, 100))


async def test_entries_that_are_not_durable_are_not_read(store: SQLiteStore) -> None:
    stream = written(store, count=3)
    await store.flush()
    store.append(stream, 4, b'{"seq":4}', None)
    assert await store.lines(stream, 1, 9) == lines(1, 3)


async def test_the_journal_does_not_grow_for_ever(path: Path) -> None:
    store = opened(path, journal_bytes=20_000)
    idle = written(store, "idle", 3)
    busy = written(store, "busy")
    for seq in range(1, 1001):
        store.append(busy, seq, b'{"seq":%d}' % seq, None)
        if seq % 5 == 0:
            await store.flush()
            await asyncio.sleep(0.001)
    rows = store._readers.row("SELECT count(*), min(batch) FROM journal", ())
    assert rows is not None
    assert isinstance(rows[0], int)
    assert rows[0] <= 150
    assert idle.recent == []
    assert len(busy.recent) < 700
    store = await reopened(store, path)
    assert {found.stream.key: len(found.lines) for found in store.load("match")} == {
        "idle": 3,
        "busy": 1000,
    }
    await store.close()


async def test_a_reading_passes_over_rows_whose_streams_are_all_closed(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It neither reads their lines nor keeps those that share a row with others."""
    store = opened(path)
    over, running = written(store, "over"), written(store, "running")
    for seq in range(1, 21):
        store.append(over, seq, b'{"seq":%d}' % seq, None)
        if seq > 15:
            store.append(running, seq - 15, b'{"seq":%d}' % (seq - 15), None)
        await store.flush()
    store.finish(over, b"{}", b"{}")
    await store.flush()
    looked_at: list[int] = []
    tail_of = journal._tail

    def counted(reading: journal.JournalContents, number: int) -> journal.Tail | None:
        looked_at.append(number)
        return tail_of(reading, number)

    monkeypatch.setattr(journal, "_tail", counted)
    found = store._readers.submit(journal.read).result()
    assert looked_at.count(over.number) == 5  # for the end of each shared row
    assert {number: tail.last for number, tail in found.tails.items()} == {running.number: 5}
    assert found.weight >= 20 * journal.ROW_BYTES
    await store.close()


async def test_what_the_sockets_hold_when_a_commit_is_done_shares_the_next_one(
    path: Path,
) -> None:
    store = opened(path)
    loop = asyncio.get_running_loop()
    stream = written(store)
    await store.flush()
    before = store._readers.row("SELECT count(*) FROM journal", ())

    class Reader(RecordingWaiter):
        def durable(self, seq: int) -> None:
            if seq == 1:  # as if read from a socket in the next turn
                loop.call_soon(store.append, stream, 3, b"three", None)

    store.append(stream, 1, b"one", Reader())
    loop.call_soon(lambda: loop.call_soon(store.append, stream, 2, b"two", None))
    await store.flush()
    after = store._readers.row("SELECT count(*) FROM journal", ())
    assert before is not None
    assert after is not None
    assert (stream.durable, int(str(after[0])) - int(str(before[0]))) == (3, 2)
    await store.close()


# --- a crash ----------------------------------------------------------------------------------


async def test_a_crash_loses_nothing_that_was_told(path: Path, tmp_path: Path) -> None:
    store = opened(path)
    ear = RecordingWaiter()
    stream = written(store, count=70, ear=ear)
    await store.flush()
    copy = crashed(path, tmp_path / "copy.db")
    store.append(stream, 71, b"{}", ear)
    await store.close()
    again = opened(copy)
    [found] = again.load("match")
    assert found.lines == lines(1, 70)
    again.append(found.stream, 71, b'{"seq":71}', ear)
    await again.close()
    last = opened(copy)
    assert last.load("match")[0].lines == lines(1, 71)
    await last.close()


@pytest.mark.parametrize("cut", [1, 2000, 4120, 10_000, 50_000])
async def test_a_torn_write_ahead_log_loses_only_its_end(
    path: Path, tmp_path: Path, cut: int
) -> None:
    store = opened(path)
    stream = written(store)
    for seq in range(1, 31):
        store.append(stream, seq, b'{"seq":%d}' % seq, None)
        await store.flush()
    copy = crashed(path, tmp_path / "copy.db")
    await store.close()
    shorten(Path(f"{copy}-wal"), cut)
    again = opened(copy)
    [found] = again.load("match")
    assert 15 < len(found.lines) < 30
    assert found.lines == lines(1, len(found.lines))
    await again.close()


async def test_a_damaged_segment_is_reported_and_the_others_go_on(path: Path) -> None:
    store = opened(path)
    for key in ("m1", "m2"):
        written(store, key, 40)
    store = await reopened(store, path)
    await store.close()
    with sqlite3.connect(path) as db:
        db.execute(
            "UPDATE stretch SET lines = CAST(replace(lines, '7', '8') AS BLOB) WHERE stream = 1"
        )
    db.close()
    for _ in range(2):
        store = opened(path)
        assert [found.stream.key for found in store.load("match")] == ["m2"]
        assert [(each.key, each.sound) for each in store.damaged()] == [("m1", 0)]
        await store.close()


# --- failures ---------------------------------------------------------------------------------


class FailingConnection:
    """A connection whose statements fail a few times."""

    def __init__(self, db: sqlite3.Connection, word: str, times: int, *, after: bool) -> None:
        self._db = db
        self._word = word
        self.times = times
        self._after = after

    @property
    def in_transaction(self) -> bool:
        return self._db.in_transaction

    def close(self) -> None:
        self._db.close()

    def execute(self, sql: str, values: Sequence[object] = ()) -> sqlite3.Cursor:
        fails = self._word in sql and self.times > 0
        if fails:
            self.times -= 1
            if not self._after:
                raise sqlite3.OperationalError("database or disk is full")
        cursor = self._db.execute(sql, values)
        if fails:
            raise sqlite3.OperationalError("disk I/O error")
        return cursor


def failing_connection(
    store: SQLiteStore, word: str, times: int, *, after: bool = False
) -> FailingConnection:
    db = FailingConnection(store._writer.db, word, times, after=after)
    store._writer.db = db  # type: ignore[assignment]
    return db


@pytest.mark.parametrize("word", ["BEGIN", "INSERT", "COMMIT"])
async def test_a_batch_is_tried_again(path: Path, word: str) -> None:
    store = opened(path, retries=(0.0, 0.0, 0.0))
    failing_connection(store, word, 3)
    ear = RecordingWaiter()
    written(store, count=40, ear=ear)
    await store.flush()
    assert ear.told == list(range(41))
    assert store.healthy
    store = await reopened(store, path)
    assert store.load("match")[0].lines == lines(1, 40)
    await store.close()


async def test_a_commit_in_doubt_that_happened_is_not_repeated(path: Path) -> None:
    store = opened(path)
    failing_connection(store, "COMMIT", 1, after=True)
    ear = RecordingWaiter()
    written(store, count=3, ear=ear)
    await store.flush()
    assert (ear.told, ear.errors) == ([0, 1, 2, 3], [])
    store = await reopened(store, path)
    assert store.load("match")[0].lines == lines(1, 3)
    await store.close()


async def test_what_cannot_be_written_is_lost_and_said(path: Path) -> None:
    store = opened(path, retries=(0.0,))
    ear, other = RecordingWaiter(), RecordingWaiter()
    stream = written(store, count=2, ear=ear)
    await store.flush()
    failing_connection(store, "COMMIT", 2)
    store.append(stream, 3, b"{}", ear)
    await asyncio.sleep(0)
    store.append(stream, 4, b"{}", ear)
    written(store, "m2", 1, other)
    await store.flush()
    assert ear.told == [0, 1, 2]
    assert len(ear.errors) == len(other.errors) == 1
    assert stream.failed
    with pytest.raises(WriteFailed):
        store.append(stream, 5, b"{}", ear)
    again = await reloaded(store, "m1")
    assert again.lines == lines(1, 2)
    store.append(again.stream, 3, b'{"seq":3}', ear)
    await store.flush()
    assert ear.told == [0, 1, 2, 3]
    store = await reopened(store, path)
    assert [found.lines for found in store.load("match")] == [lines(1, 3)]
    await store.close()


async def test_reloading_a_long_stream_goes_on_with_its_chain(path: Path) -> None:
    store = opened(path)
    stream = written(store, count=50)
    await store.flush()
    again = await reloaded(store, "m1")
    assert (again.lines, again.stream.chain) == (lines(1, 50), stream.chain)
    found = await store.reload(["m9"])
    assert isinstance(found["m9"], NotStored)
    await store.close()


async def test_an_owner_that_was_replaced_stops_writing(path: Path) -> None:
    store = opened(path)
    ear = RecordingWaiter()
    stream = written(store, count=1, ear=ear)
    await store.flush()
    other = connect_admin(path)
    take_over_database(other)
    other.close()
    store.append(stream, 2, b"{}", ear)
    await store.flush()
    assert store.failure is not None
    assert [str(error) for error in ear.errors] == ["another server has taken over this database"]
    fresh = written(store, "m2", 0, ear)
    await store.flush()
    assert fresh.failed
    await store.close()


async def test_nothing_is_lost_when_a_batch_was_given_up_before(path: Path, tmp_path: Path) -> None:
    """Entries that are durable before a failure remain so, however the journal is emptied."""
    for more in (0, 1):
        store = opened(path.with_name(f"{more}.db"), journal_bytes=20_000)
        ear = RecordingWaiter()
        first, other = written(store, "m1", 3, ear), written(store, "m2")
        await store.flush()
        for seq in range(1, 200):
            store.append(other, seq, b'{"seq":%d}' % seq, None)
            await store.flush()
        db = failing_connection(store, "COMMIT", 1)
        store.append(first, 4, b"{}", ear)
        await store.flush()
        assert db.times == 0
        assert len(ear.errors) == 1
        again = (await reloaded(store, "m1")).stream
        for seq in range(4, 4 + more):
            store.append(again, seq, b'{"seq":%d}' % seq, ear)
        for seq in range(200, 700):
            store.append(other, seq, b'{"seq":%d}' % seq, None)
            await store.flush()
            await asyncio.sleep(0)
        assert store._readers.row("SELECT value > 250 FROM setting", ()) == (1,)
        copy = opened(crashed(path.with_name(f"{more}.db"), tmp_path / f"copy{more}.db"))
        found = {stored.stream.key: stored.lines for stored in copy.load("match")}
        assert found == {"m1": lines(1, 3 + more), "m2": lines(1, 699)}
        await copy.close()
        await store.close()


@pytest.mark.parametrize("word", ["durable", "lost"])
async def test_a_waiter_that_raises_harms_nobody(
    path: Path, caplog: pytest.LogCaptureFixture, word: str
) -> None:
    class Bad(RecordingWaiter):
        def durable(self, seq: int) -> None:
            if word == "durable":
                raise ValueError("a waiter that raises")

        def lost(self, error: StoreError) -> None:
            raise ValueError("a waiter that raises")

    store = opened(path)
    ear = RecordingWaiter()
    written(store, "bad", 1, Bad())
    good = written(store, "good", 1, ear)
    if word == "lost":
        failing_connection(store, "COMMIT", 1)
    await asyncio.wait_for(store.flush(), 5)
    assert (ear.told, len(ear.errors)) == (([0, 1], 0) if word == "durable" else ([], 1))
    assert "match bad" in caplog.text
    assert "a waiter that raises" in caplog.text
    later = RecordingWaiter()
    store.commits.execute(Statement("DELETE FROM player", ()), waiter=Bad())
    if word == "durable":
        store.append(good, 2, b"{}", later)
    else:
        written(store, "later", 1, later)
    await asyncio.wait_for(store.flush(), 5)
    assert later.told[-1] == (2 if word == "durable" else 1)
    await asyncio.wait_for(store.close(), 5)


async def test_lobbies_are_told_of_a_commit_when_its_moves_were_written(path: Path) -> None:
    """A batch's matches send their messages of this turn before lobbies are notified."""
    store = opened(path)
    loop = asyncio.get_running_loop()
    heard: list[str] = []

    class Ear(RecordingWaiter):
        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

        def durable(self, seq: int) -> None:
            heard.append(f"{self.name} {seq}")
            if self.name == "match":
                loop.call_soon(heard.append, "written")
            elif seq == 1:
                raise ValueError("a lobby that raises")

    lobby, match = Stream(0, "l1", "lobby"), Stream(0, "m1", "match")
    of_lobby, of_match = Ear("lobby"), Ear("match")
    store.create(lobby, b"{}", owner=None, waiter=of_lobby)
    store.append(lobby, 1, b'{"seq":1}', of_lobby)
    store.create(match, b"{}", owner=None, waiter=None)
    store.append(lobby, 2, b'{"seq":2}', of_lobby)
    store.append(match, 1, b'{"seq":1}', of_match)
    await asyncio.wait_for(store.flush(), 5)  # which also waits for the lobbies
    assert heard == ["match 1", "written", "lobby 0", "lobby 1", "lobby 2"]
    assert (lobby.durable, match.durable) == (2, 1)
    store.append(lobby, 3, b'{"seq":3}', of_lobby)
    await asyncio.wait_for(store.close(), 5)
    assert heard[-1] == "lobby 3"


async def test_after_another_owner_has_written_everything_is_lost_at_once(path: Path) -> None:
    store = opened(path)
    ear = RecordingWaiter()
    failures: list[StoreError] = []
    store.on_failure = failures.append
    stream = written(store, count=1, ear=ear)
    await store.flush()
    other = connect_admin(path)
    take_over_database(other)
    other.close()

    class Again(RecordingWaiter):
        """Appends whenever a loss is reported, like a running match."""

        def lost(self, error: StoreError) -> None:
            super().lost(error)
            if len(self.errors) < 2000:
                written(store, f"again{len(self.errors)}", 1, self)

    again = Again()
    store.append(stream, 2, b"{}", again)
    await asyncio.wait_for(store.flush(), 30)
    assert len(again.errors) == 2000
    assert len(failures) == 1
    assert not store.healthy
    store.commits.execute(Statement("DELETE FROM player", ()), waiter=ear)
    await asyncio.wait_for(store.flush(), 5)
    assert len(ear.errors) == 1
    await asyncio.wait_for(store.close(), 5)
    with sqlite3.connect(path) as db:
        assert db.execute("SELECT count(*) FROM stream").fetchone() == (1,)
    db.close()


@pytest.mark.parametrize("where", ["writer", "reader"])
async def test_a_disk_that_never_answers_is_left(
    path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    store = opened(path)
    written(store, count=3)
    await store.flush()
    stuck = threading.Event()
    if where == "writer":
        monkeypatch.setattr(store._writer, "_commit", stuck.wait)
        written(store, "m2", 1)
    else:
        reading = asyncio.ensure_future(store._readers.read(lambda db: stuck.wait()))
    await asyncio.wait_for(store.close(patience_s=0.2), 5)
    with pytest.raises(DatabaseInUse):
        opened(path)
    stuck.set()
    if where == "reader":
        await reading
    for thread in threading.enumerate():
        if thread.name.startswith("kibitz-closing"):
            thread.join()
    store._lock.release()


async def test_a_disk_that_is_well_again_is_noticed(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kibitz_server.storage.group_commit.PROBE_AFTER_S", 0.01)
    store = opened(path)
    db = failing_connection(store, "COMMIT", 3)
    written(store)
    await store.flush()
    assert not store.healthy
    for _ in range(500):
        await asyncio.sleep(0.01)
        if store.healthy:
            break
    assert store.healthy
    assert db.times == 0
    await store.close()


async def test_a_given_up_batch_that_was_written_all_the_same_is_taken_as_it_is(
    path: Path,
) -> None:
    """The commit succeeds but reports an error, and the disk cannot be queried."""
    store = opened(path)
    ear = RecordingWaiter()
    written(store, count=2, ear=ear)
    failing_connection(store, "COMMIT", 1, after=True)
    asked = failing_connection(store, "SELECT checks", 1)
    await store.flush()
    assert asked.times == 0
    assert (ear.told, len(ear.errors)) == ([], 1)
    found = await reloaded(store, "m1")
    assert found.lines == lines(1, 2)
    store.append(found.stream, 3, b'{"seq":3}', ear)
    await store.flush()
    assert (ear.told, store.failure) == ([3], None)
    store = await reopened(store, path)
    assert store.load("match")[0].lines == lines(1, 3)
    await store.close()


async def test_many_streams_are_reloaded_in_one_pass(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = opened(path)
    for number in range(200):
        written(store, f"m{number}", 5)
    await store.flush()
    reads: list[str] = []
    original = store._readers._query

    def query(work: Any) -> Any:
        def counted(db: sqlite3.Connection) -> Any:
            db.set_trace_callback(reads.append)
            return work(db)

        return original(counted)

    monkeypatch.setattr(store._readers, "_query", query)
    found = await store.reload([f"m{number}" for number in range(0, 200, 2)])
    assert len(found) == 100
    assert all(isinstance(each, Stored) and each.lines == lines(1, 5) for each in found.values())
    passes = [sql for sql in reads if "FROM journal" in sql and "LIMIT 1" not in sql]
    assert len(passes) == 1
    await store.close()


async def test_a_reloaded_stream_is_compacted_and_closed_like_any_other(path: Path) -> None:
    store = opened(path, journal_bytes=5_000)
    other = written(store, "m2")
    stream = written(store, count=5)
    await store.flush()
    tail = 0
    for seq in range(6, 60):
        if seq % 9 == 0:
            failing_connection(store, "COMMIT", 1)
            store.append(stream, seq, b"lost", None)
            await store.flush()
            stream = (await reloaded(store, "m1")).stream
        store.append(stream, seq, b'{"seq":%d}' % seq, None)
        for _ in range(3):
            if not other.failed:
                tail += 1
                store.append(other, tail, b'{"seq":%d}' % tail, None)
            await store.flush()
            await asyncio.sleep(0.001)
    store.finish(stream, b"{}", b"{}")
    await store.flush()
    found = await transcript(store, "m1")
    assert found is not None
    assert found.lines == lines(1, 59)
    assert store._readers.row("SELECT value > 0 FROM setting", ()) == (1,)
    store = await reopened(store, path)
    assert store.load("match")[0].lines == lines(1, tail)
    await store.close()


async def test_a_busy_database_is_waited_for(path: Path) -> None:
    store = opened(path, retries=(0.01,) * 50)
    other = connect_admin(path)
    other.execute("BEGIN IMMEDIATE")
    ear = RecordingWaiter()
    written(store, ear=ear)
    await asyncio.sleep(0.1)
    assert not store.healthy
    other.execute("COMMIT")
    other.close()
    await store.flush()
    assert (ear.told, store.healthy) == ([0], True)
    await store.close()


# --- opening ----------------------------------------------------------------------------------


async def test_two_servers_cannot_share_a_database(store: SQLiteStore, path: Path) -> None:
    with pytest.raises(DatabaseInUse, match=r"another server has .* open"):
        opened(path)


async def test_a_foreign_file_is_refused(path: Path) -> None:
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE recipe (name TEXT)")
    db.close()
    with pytest.raises(ForeignDatabase, match="another program's database"):
        opened(path)
    overwrite_page(path)
    with pytest.raises(ForeignDatabase):
        opened(path)


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        (3, "schema version 3 from before kibitz 0.1, but this server needs 4"),
        (99, "schema version 99, but this server needs 4"),
    ],
)
async def test_another_version_is_refused(path: Path, version: int, expected: str) -> None:
    await opened(path).close()
    with sqlite3.connect(path) as db:
        db.execute(f"PRAGMA user_version = {version}")
    db.close()
    with pytest.raises(ForeignDatabase, match=expected):
        opened(path)
    with pytest.raises(ForeignDatabase, match=expected):
        connect_admin(path)


async def test_the_file_is_synced_at_every_commit(store: SQLiteStore) -> None:
    assert store._writer.db.execute("PRAGMA synchronous").fetchone()[0] == 2
    assert store._writer.db.execute("PRAGMA journal_mode").fetchone()[0] == "wal"


async def test_closing_leaves_no_thread_and_no_lock(path: Path) -> None:
    before = threading.active_count()
    store = opened(path)
    stream = written(store, count=3)
    await store.entries(stream.number, 1, 3)
    await store.close()
    assert threading.active_count() == before
    assert not exists(f"{path}-wal")
    await opened(path).close()


async def test_who_reads_after_the_closing_is_told(path: Path) -> None:
    store = opened(path)
    stream = written(store, count=3)
    await store.flush()
    await store.close()
    with pytest.raises(StoreError, match="the database is closed"):
        await store.reload([stream.key])
    with pytest.raises(StoreError, match="the database is closed"):
        await store.entries(stream.number, 1, 3)


async def test_what_a_checkpoint_has_replaced_is_not_read(path: Path) -> None:
    store = opened(path)
    stream = written(store, count=40)
    store.write_checkpoint(stream, b"as it is now")
    for seq in range(41, 45):
        store.append(stream, seq, b'{"seq":%d}' % seq, None)
    link = stream.chain
    store = await reopened(store, path)
    [found] = store.load("match")
    assert found.checkpoint is not None
    assert (found.checkpoint.seq, found.checkpoint.data) == (40, b"as it is now")
    assert (found.lines, found.stream.tail, found.stream.chain) == (lines(41, 44), 44, link)
    assert await store.lines(found.stream, 1, 44) == lines(1, 44)
    whole = store.load_from_head(found)
    assert (whole.lines, whole.checkpoint, whole.stream.chain) == (lines(1, 44), None, link)
    store.append(found.stream, 45, b'{"seq":45}', None)
    store = await reopened(store, path)
    assert [each.lines for each in store.load("match")] == [lines(41, 45)]
    await store.close()


@pytest.mark.parametrize("change", ["link = 'x'", "seq = 39", "seq = 41", "seq = 45", "seq = 0"])
async def test_a_checkpoint_that_the_chain_does_not_go_on_from_is_not_used(
    path: Path, change: str
) -> None:
    store = opened(path)
    stream = written(store, count=40)
    store.write_checkpoint(stream, b"as it is now")
    store.append(stream, 41, b'{"seq":41}', None)
    await store.close()
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute(f"UPDATE checkpoint SET {change}")
    store = opened(path)
    [found] = store.load("match")
    assert (found.lines, found.checkpoint) == (lines(1, 41), None)
    await store.close()


async def test_the_end_of_a_stream_takes_its_checkpoint_with_it(path: Path) -> None:
    store = opened(path)
    stream = written(store, count=5)
    store.write_checkpoint(stream, b"as it is now")
    store.finish(stream, b"{}", b"{}")
    await store.flush()
    assert store._readers.rows("SELECT * FROM checkpoint", ()) == []
    await store.close()


# --- low-priority rows --------------------------------------------------------------------------

ROW = (
    "INSERT INTO player (key, name, skeleton, kind, account, created)"
    " VALUES (?, 'x', ?, 'bot', 0, 0)"
)


class AwaitedWaiter(RecordingWaiter):
    """A waiter that can be awaited."""

    def __init__(self) -> None:
        super().__init__()
        self.is_told = asyncio.Event()

    def durable(self, seq: int) -> None:
        super().durable(seq)
        self.is_told.set()


async def test_a_row_that_is_in_no_hurry_goes_with_what_comes_after_it(
    store: SQLiteStore, path: Path
) -> None:
    first, ear = RecordingWaiter(), AwaitedWaiter()
    store.commits.execute_unhurried(Statement(ROW, ("g1", "g1")), waiter=first)
    await asyncio.sleep(0.02)
    assert first.told == []
    written(store, count=1, ear=ear)
    await asyncio.wait_for(ear.is_told.wait(), 5)
    assert first.told == [0]
    with connect_admin(path) as db:
        assert db.execute("SELECT key FROM player").fetchall() == [("g1",)]


async def test_a_row_that_is_in_no_hurry_waits_for_nobody_for_ever(store: SQLiteStore) -> None:
    ear = AwaitedWaiter()
    store.commits.execute_unhurried(Statement(ROW, ("g1", "g1")), waiter=ear)
    await asyncio.wait_for(ear.is_told.wait(), UNHURRIED_S + 5)


async def test_rows_keep_their_order_whether_they_are_in_a_hurry_or_not(
    store: SQLiteStore, path: Path
) -> None:
    store.commits.execute_unhurried(Statement(ROW, ("g1", "ada")))
    store.commits.execute(Statement("DELETE FROM player WHERE key = 'g1'", ()))
    store.commits.execute_unhurried(Statement(ROW, ("g2", "ada")))
    await store.flush()
    with connect_admin(path) as db:
        assert db.execute("SELECT key FROM player").fetchall() == [("g2",)]


async def test_a_row_that_is_in_no_hurry_hears_when_it_is_lost(path: Path) -> None:
    store, ear = opened(path), RecordingWaiter()
    store.commits.execute_unhurried(Statement("INSERT INTO nowhere VALUES (1)", ()), waiter=ear)
    await store.flush()
    assert len(ear.errors) == 1
    await store.close()
