"""Random operations on the store, in any order, with crashes at any time.

The machine appends to streams and closes them. It makes commits succeed, fail, or report an error
after succeeding, makes waiters raise exceptions, and delays a compaction's rows. It reloads lost
streams, and copies the files as a crash would leave them. Every entry that was reported as durable
must then be on disk exactly once and in its place.

It also writes guests at low priority, and entries that refer to them. A crash may lose a guest who
waits for a batch. The disk must never refer to a missing guest or contain a guest twice. No guest
waits longer than the store's limit while the disk works.

On other copies the machine changes rows of the journal and truncates the write-ahead log. Damaged
streams must be reported, or the database refused. No stream may silently be shorter than the
entries reported as durable.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from kibitz_server.storage import group_commit
from kibitz_server.storage.errors import CommitsMissing, NotStored, StoreError
from kibitz_server.storage.group_commit import GroupCommit
from kibitz_server.storage.interface import UNHURRIED_S
from kibitz_server.storage.sqlite import compaction, journal, streams
from kibitz_server.storage.sqlite.compaction import Compaction, Share
from kibitz_server.storage.sqlite.connection import connect
from kibitz_server.storage.sqlite.store import SQLiteStore
from kibitz_server.storage.sqlite.watermark import MarkFile
from kibitz_server.storage.sqlite.writer import SQLiteWriter
from kibitz_server.storage.streams import Stored, Stream
from tests.tools.transcripts import transcript
from tests.tools.virtual_time import Scheduler, VirtualLoop

SUFFIXES = ("", "-wal", "-mark")
FULL = sqlite3.OperationalError("database or disk is full")
GUEST_TABLE = "CREATE TABLE IF NOT EXISTS guest (number INTEGER)"
"""A table without a key, so that a row written twice is stored twice."""
INSERT_GUEST = "INSERT INTO guest (number) VALUES (?)"


class FailingConnection:
    """A connection with statements that fail before or after their execution."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self.fails: dict[str, int] = {}

    @property
    def in_transaction(self) -> bool:
        return self._db.in_transaction

    def close(self) -> None:
        self._db.close()

    def execute(self, sql: str, values: Sequence[Any] = ()) -> sqlite3.Cursor:
        for word, times in self.fails.items():
            if sql.startswith(word) and times:
                self.fails[word] -= 1
                raise FULL
        return self._db.execute(sql, values)


class StepStore(SQLiteStore):
    """A store whose commits and reads happen when the machine says so."""

    def __init__(self, path: Path, loop: VirtualLoop) -> None:
        super().__init__(path, loop.loop, retries=(0.05,), journal_bytes=1500)
        writer = cast(Any, self._writer)
        writer._commits.put(False)
        writer._thread.join()
        writer.db.execute("PRAGMA synchronous = OFF")
        self.faulty = FailingConnection(writer.db)
        self._failed = writer._failed
        writer._commits, writer.db, writer._failed = self, self.faulty, self.fail
        cast(Any, self._compaction)._read_journal = self.read_journal
        self.waiting: Share | None = None
        """The compaction's part of the batch to be committed."""
        self.committed = False
        """Whether the commit has happened but is not reported yet."""
        self.readings: list[tuple[object, Future[journal.JournalContents]]] = []
        self.trims = 0

    def put(self, begun: bool) -> None:
        self.waiting = self._writer._share
        self.trims += self.waiting.trim_to is not None
        self.committed = False

    def commit(self) -> None:
        self._writer._commit()
        self.committed = True

    def settle(self, error: sqlite3.Error | None) -> None:
        self.waiting = None
        self._writer._succeeded() if error is None else self._writer._failed(error)

    def fail(self, error: Exception) -> None:
        if not isinstance(error, sqlite3.Error):  # only disk errors are planted
            raise AssertionError("a batch cannot be written") from error
        self._failed(error)

    def read_journal(self, reading: object) -> None:
        weight = self._compaction._weight
        done = self._readers.submit(lambda db: journal.read(db, weight=weight))
        wait([done])
        self.readings.append((reading, done))

    def crash(self) -> None:
        self._readers.close()
        self._writer.db.close()
        self._writer.mark.close()
        self._lock.release()


@dataclass
class Model:
    """A stream from its writer's perspective."""

    key: str
    stream: Stream
    lines: list[bytes] = field(default_factory=list)
    """All appended entries."""
    told: int = -1
    """The last entry reported as durable."""
    lost: bool = False
    finished: bool = False
    closed: bool = False
    """Whether the stream's end was reported as durable."""
    raises: bool = False
    wrongs: list[str] = field(default_factory=list)
    """Wrong reports to a waiter, stored because the store would catch an exception."""

    def check(self, found: Sequence[bytes], where: str) -> None:
        """Require that the disk has all acknowledged entries and a prefix of the appended ones."""
        told = max(0, self.told)
        assert list(found[:told]) == self.lines[:told], f"{where}: {self.key} lost entries"
        assert list(found) == self.lines[: len(found)], f"{where}: {self.key} has other entries"


class RecordingWaiter:
    """The waiter of a stream."""

    def __init__(self, model: Model) -> None:
        self.model = model

    def durable(self, seq: int) -> None:
        model = self.model
        if seq != model.told + 1 or model.lost:
            model.wrongs.append(f"{model.key} was told {seq} after {model.told}")
        model.told = seq
        if model.raises:
            raise ValueError("a waiter that raises")

    def lost(self, error: StoreError) -> None:
        self.model.lost = True
        if self.model.raises:
            raise ValueError("a waiter that raises")


class Closing:
    """The waiter of a stream's end."""

    def __init__(self, model: Model) -> None:
        self.model = model

    def durable(self, seq: int) -> None:
        model = self.model
        if not seq == len(model.lines) == model.told:
            model.wrongs.append(f"{model.key} was closed at {seq} after {model.told}")
        model.closed = True

    def lost(self, error: StoreError) -> None:
        self.model.lost = True


class Statement:
    """The waiter of a row in another table."""

    def __init__(self, number: int, told: set[int]) -> None:
        self.number = number
        self._told = told

    def durable(self, seq: int) -> None:
        self._told.add(self.number)

    def lost(self, error: StoreError) -> None:
        pass


class Guest:
    """A guest after hello: the waiter of a low-priority row, as in `Accounts`.

    A guest that `returns` is rewritten with a new number if its row is lost.
    """

    def __init__(self, machine: StoreMachine, *, returns: bool) -> None:
        self._machine = machine
        self._returns = returns
        self.told = 0
        """How often its row was reported as durable."""
        self.write()

    def write(self) -> None:
        machine = self._machine
        self.number = next(machine.numbers)
        self.since = machine.agenda.now
        machine.guests[self.number] = self
        written = group_commit.Statement(INSERT_GUEST, (self.number,))
        machine.it.commits.execute_unhurried(written, waiter=self)

    def durable(self, seq: int) -> None:
        self.told += 1

    def lost(self, error: StoreError) -> None:
        del self._machine.guests[self.number]
        self._machine.lost_guests.add(self.number)
        if self._returns:
            self.write()


class FlushWaiter:
    """A fake of the future that `SQLiteStore.flush` awaits."""

    def __init__(self) -> None:
        self.is_done = False

    def done(self) -> bool:
        return self.is_done

    def set_result(self, result: None) -> None:
        self.is_done = True

    def __await__(self) -> Iterator[FlushWaiter]:
        yield self


class StoreMachine(RuleBasedStateMachine):
    """One database, its streams, and all kinds of failures."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory(prefix="kibitz-store-")
        self.path = Path(self.folder.name) / "kibitz.db"
        self.numbers = itertools.count(1)
        self.models: dict[str, Model] = {}
        self.rows: set[int] = set()
        self.guests: dict[int, Guest] = {}
        """Guests whose row is waiting or was reported as durable, by number."""
        self.lost_guests: set[int] = set()
        """Rows reported as lost; a commit in doubt may still have happened."""
        self.named_guests: dict[int, int] = {}
        """The guest that an entry or a row refers to, by its number."""
        self.quiet = 0
        """The number of operations since the last crash."""
        self.store: StepStore | None = None

    def teardown(self) -> None:
        if self.store is not None:
            self.store.crash()
        self.folder.cleanup()

    @initialize()
    def begin(self) -> None:
        self.open()
        for raises in (False, False, True):
            self.create(raises)

    def open(self) -> None:
        self.agenda = Scheduler()
        self.loop = VirtualLoop(self.agenda)
        cast(Any, self.loop).create_future = FlushWaiter
        self.store = StepStore(self.path, self.loop)
        self.store._writer.db.execute(GUEST_TABLE)

    @property
    def it(self) -> StepStore:
        assert self.store is not None
        return self.store

    def run_due(self, seconds: float = 0.0) -> None:
        self.agenda.run_until(self.agenda.now + seconds)

    def writable(self) -> list[Model]:
        return [m for m in self.models.values() if not (m.lost or m.finished)]

    # --- operations -------------------------------------------------------------------------

    @rule(raises=st.booleans())
    def create(self, raises: bool) -> None:
        key = f"m{next(self.numbers)}"
        model = Model(key, Stream(0, key, "match"), raises=raises)
        head = b'{"key":"%s"}' % key.encode()
        self.it.create(model.stream, head, owner=None, waiter=RecordingWaiter(model))
        self.models[key] = model

    @rule(pick=st.integers(0, 9), count=st.integers(1, 6))
    @precondition(lambda self: self.writable())
    def append(self, pick: int, count: int) -> None:
        model = self.writable()[pick % len(self.writable())]
        self.quiet += 1
        for _ in range(count):
            line = b'{"n":%d}' % next(self.numbers)
            model.lines.append(line)
            self.it.append(model.stream, len(model.lines), line, RecordingWaiter(model))

    @rule(pick=st.integers(0, 9))
    @precondition(lambda self: self.writable())
    def finish(self, pick: int) -> None:
        model = self.writable()[pick % len(self.writable())]
        model.finished = True
        self.it.finish(model.stream, b"footer", b"summary", Closing(model))

    @rule()
    def execute(self) -> None:
        number = next(self.numbers)
        sql = "INSERT INTO ledger (place, match, line) VALUES (?, ?, x'')"
        written = group_commit.Statement(sql, (number, f"r{number}"))
        self.it.commits.execute(written, waiter=Statement(number, self.rows))

    @rule(returns=st.booleans())
    def greet(self, returns: bool) -> None:
        self.quiet += 1
        Guest(self, returns=returns)

    @rule(pick=st.integers(0, 9), guest=st.integers(0, 9))
    @precondition(lambda self: self.guests and self.writable())
    def append_what_names_a_guest(self, pick: int, guest: int) -> None:
        self.named_guests[self.next_number()] = self.pick_guest(guest)
        self.append(pick, 1)

    @rule(guest=st.integers(0, 9))
    @precondition(lambda self: self.guests)
    def execute_what_names_a_guest(self, guest: int) -> None:
        self.named_guests[self.next_number()] = self.pick_guest(guest)
        self.execute()

    @rule(guest=st.integers(0, 9), raises=st.booleans())
    @precondition(lambda self: self.guests)
    def create_for_a_guest(self, guest: int, raises: bool) -> None:
        self.named_guests[self.next_number()] = self.pick_guest(guest)
        self.create(raises)

    def next_number(self) -> int:
        """Return the next number."""
        number = next(self.numbers)
        self.numbers = itertools.count(number)
        return number

    def pick_guest(self, pick: int) -> int:
        """Return one of the newest guests."""
        newest = list(self.guests)[-4:]
        return newest[pick % len(newest)]

    @rule(seconds=st.sampled_from([0.0, 0.06, UNHURRIED_S, 5.0]))
    def let_time_pass(self, seconds: float) -> None:
        self.run_due(seconds)

    @rule(word=st.sampled_from(["BEGIN", "INSERT INTO stretch", "INSERT INTO journal", "DELETE"]))
    def statements_fail(self, word: str) -> None:
        self.it.faulty.fails[word] = 1

    @rule(times=st.integers(1, 3))
    def questions_fail(self, times: int) -> None:
        self.it.faulty.fails["SELECT checks"] = times

    @rule()
    @precondition(lambda self: self.it.waiting is not None and not self.it.committed)
    def commit_happens(self) -> None:
        self.it.commit()

    @rule(fails=st.sampled_from([False, False, False, True]))
    @precondition(lambda self: self.it.waiting is not None)
    def commit_is_told(self, fails: bool) -> None:
        self.quiet += 1
        if not fails and not self.it.committed:
            self.it.commit()
        self.it.settle(FULL if fails else None)
        self.run_due()

    @rule(happens=st.booleans(), doubtful=st.booleans())
    @precondition(lambda self: self.it.waiting is not None)
    def batch_is_given_up(self, happens: bool, doubtful: bool) -> None:
        """The disk is full, or reports so, for longer than the store retries."""
        if doubtful:
            self.it.faulty.fails["SELECT checks"] = 9
        if happens and not self.it.committed:
            self.it.commit()
        for _ in range(3):
            if self.it.waiting is not None:
                self.it.settle(FULL)
            self.run_due(0.06)
        self.it.faulty.fails.clear()

    @rule(count=st.integers(1, 12))
    def all_goes_well(self, count: int) -> None:
        """A period without failures, so that compactions complete."""
        self.it.faulty.fails.clear()
        for _ in range(count):
            if self.writable():
                self.append(count, 2)
            self.run_due(0.06)
            if self.it.waiting is not None:
                self.commit_is_told(fails=False)
            if self.it.readings:
                self.rows_arrive()

    def flush(self) -> bool:
        """Flush on a working disk; return whether it completed."""
        self.it.faulty.fails.clear()
        flushing = cast(Any, self.it.flush())
        try:
            waiter: FlushWaiter = flushing.send(None)
        except StopIteration:
            return True
        for _ in range(8):
            self.run_due(0.06)
            if self.it.waiting is not None:
                self.commit_is_told(fails=False)
        flushing.close()
        return waiter.is_done

    @rule(happens=st.booleans())
    @precondition(lambda self: self.writable())
    def compaction_is_cut_off(self, happens: bool) -> None:
        """Give up a batch that contains a part of a compaction."""
        self.it.faulty.fails.clear()
        for turn in range(16):
            if self.writable():
                self.append(turn, 1)
            self.run_due(0.06)
            if self.it.readings:
                self.rows_arrive()
            if self.it.waiting is not None and self.it.waiting.segments:
                self.batch_is_given_up(happens=happens, doubtful=False)
                return
            if self.it.waiting is not None:
                self.commit_is_told(fails=False)

    @rule()
    @precondition(lambda self: self.it.readings)
    def rows_arrive(self) -> None:
        self.it._compaction._journal_read(*self.it.readings.pop(0))

    @rule()
    @precondition(lambda self: any(m.lost for m in self.models.values()))
    def reload(self) -> None:
        lost = {key: model for key, model in self.models.items() if model.lost}
        work = self.it.reload(list(lost))
        try:
            cast(Any, work).send(None)
        except StopIteration as done:
            found = done.value
        for key, model in lost.items():
            stored = found[key]
            if isinstance(stored, NotStored):
                assert model.told == -1, f"nothing of {key} is on the disk"
                del self.models[key]
                continue
            assert isinstance(stored, Stored), stored
            model.check(stored.lines, "reloaded")
            self.take_up(model, stored)

    def take_up(self, model: Model, stored: Stored) -> None:
        model.stream = stored.stream
        model.lines = list(stored.lines)
        model.told = stored.stream.durable
        model.lost = False
        model.finished = model.closed = stored.stream.closed
        assert stored.stream.tail == stored.stream.durable == len(stored.lines)

    # --- shutdowns and crashes --------------------------------------------------------------

    @rule()
    @precondition(lambda self: self.quiet > 4)
    def end_in_good_order(self) -> None:
        """Write the rest, as after SIGTERM, and continue with the resulting files."""
        waiting = {number for number, guest in self.guests.items() if not guest.told}
        assert self.flush(), "a flush waits for nothing"
        assert all(self.guests[number].told for number in waiting), "it was not flushed"
        self.crash()
        assert waiting <= self.guests.keys()

    def copied(self, name: str, suffixes: Sequence[str] = SUFFIXES) -> Path:
        target = Path(self.folder.name) / name
        for suffix in SUFFIXES:
            Path(f"{target}{suffix}").unlink(missing_ok=True)
        for suffix in suffixes:
            with contextlib.suppress(FileNotFoundError):
                shutil.copy(f"{self.path}{suffix}", f"{target}{suffix}")
        return target

    @rule()
    @precondition(lambda self: self.quiet > 4)
    def crash(self) -> None:
        """Continue with the files that a crash would leave."""
        self.quiet = 0
        copy = self.copied("copy.db")
        self.loop.stop()
        self.it.crash()
        self.store = None
        for suffix in (*SUFFIXES, "-shm"):
            Path(f"{self.path}{suffix}").unlink(missing_ok=True)
        for suffix in SUFFIXES:
            with contextlib.suppress(FileNotFoundError):
                Path(f"{copy}{suffix}").rename(f"{self.path}{suffix}")
        self.open()
        self.judge_all()

    def judge_all(self) -> None:
        assert self.it.damaged() == []
        there = {stored.stream.key: stored for stored in self.it.load("match")}
        for key, model in list(self.models.items()):
            closed = self.it.ending(key)[0] is not None
            if key in there:
                assert not model.closed, f"{key} was closed"
                model.check(there[key].lines, "after a crash")
                self.take_up(model, there[key])
            elif closed:
                assert model.finished
                model.check(self.transcript(key), "closed, after a crash")
                assert len(self.transcript(key)) == len(model.lines)
                model.lost = False
                model.told, model.closed = len(model.lines), True
            else:
                assert model.told == -1, f"{key} is gone"
                del self.models[key]
        written = [row[0] for row in self.it._readers.rows("SELECT place FROM ledger", ())]
        assert self.rows <= set(written)
        self.judge_guests({cast(int, place) for place in written})

    def judge_guests(self, places: set[int]) -> None:
        """Require that each acknowledged or referenced guest is stored once; forget the others."""
        found = [cast(int, row[0]) for row in self.it._readers.rows("SELECT number FROM guest", ())]
        there = set(found)
        assert len(found) == len(there), "a guest was written twice"
        assert there <= self.guests.keys() | self.lost_guests
        told = {number for number, guest in self.guests.items() if guest.told}
        assert told <= there, "a guest is lost who was on the disk"
        self.judge_names(there, places)
        self.guests = {number: self.guests[number] for number in self.guests if number in there}
        for guest in self.guests.values():
            guest.told = 1

    def judge_names(self, guests: set[int], places: set[int]) -> None:
        """Require that entries on disk refer only to stored guests."""
        for thing in self.durable_numbers(places):
            named = self.named_guests.get(thing)
            assert named is None or named in guests, "a stranger is named"

    def durable_numbers(self, places: set[int]) -> Iterator[int]:
        """Yield the numbers of the rows, the streams and the entries reported as durable."""
        yield from places
        for model in self.models.values():
            if model.told >= 0:
                yield int(model.key[1:])
            yield from (int(line[5:-1]) for line in model.lines[: max(0, model.told)])

    def transcript(self, key: str) -> list[bytes]:
        try:
            cast(Any, transcript(self.it, key)).send(None)
        except StopIteration as done:
            return list(done.value.lines)
        raise AssertionError("it waited")

    # --- damage -----------------------------------------------------------------------------

    @rule(pick=st.integers(0, 99), place=st.integers(0, 9999), how=st.sampled_from("dfcs"))
    @precondition(lambda self: self.quiet > 4)
    def damage(self, pick: int, place: int, how: str) -> None:
        """Change one row of the journal in a copy: no stream may end early without an error."""
        copy = self.copied("damaged.db")
        db = connect(copy)
        first = journal.trimmed(db)
        rows = db.execute(
            "SELECT batch, lines FROM journal WHERE batch > ? ORDER BY batch", (first,)
        ).fetchall()
        if rows:
            batch, text = rows[pick % len(rows)]
            inside = journal.row_at(db, batch)
            assert inside is not None
            suspects = self.change(db, batch, bytearray(text), place, how, inside)
            db.close()
            self.judge_damaged(copy, suspects)
        else:
            db.close()

    def change(
        self,
        db: sqlite3.Connection,
        batch: int,
        text: bytearray,
        place: int,
        how: str,
        row: journal.Row,
    ) -> set[int] | None:
        """Damage a row; return the streams that may be affected, None for any of them."""
        contents = row.last_entries
        assert contents is not None
        if how == "d":
            db.execute("DELETE FROM journal WHERE batch = ?", (batch,))
            return None
        if how == "s":
            db.execute("UPDATE journal SET checks = '' WHERE batch = ?", (batch,))
            return None
        if not text:
            return set()
        place %= len(text)
        if how == "f":
            text[place] ^= 1 + place % 255
        else:
            del text[place:]
        db.execute("UPDATE journal SET lines = ? WHERE batch = ?", (bytes(text), batch))
        return set(contents)

    def judge_damaged(self, copy: Path, suspects: set[int] | None) -> None:
        logging.disable(logging.CRITICAL)
        try:
            store = StepStore(copy, VirtualLoop(Scheduler()))
        except CommitsMissing:
            return
        finally:
            logging.disable(logging.NOTSET)
        try:
            there = {stored.stream.key: stored for stored in store.load("match")}
            reported = {each.key: each for each in store.damaged()}
            for key, model in self.models.items():
                if key in there:
                    model.check(there[key].lines, "damaged")
                elif key in reported:
                    assert suspects is None or model.stream.number in suspects
                    assert reported[key].sound <= len(model.lines)
                else:
                    gone = model.told == -1 or store.ending(key)[0] is not None
                    assert gone, f"{key} vanished"
        finally:
            store.crash()

    @rule(left=st.floats(0, 1), whole=st.booleans())
    @precondition(lambda self: self.quiet > 4)
    def cut(self, left: float, whole: bool) -> None:
        """Truncate the write-ahead log of a copy: it is refused or lost no acknowledged entry."""
        copy = self.copied("cut.db")
        wal = Path(f"{copy}-wal")
        if wal.exists():
            text = wal.read_bytes()
            wal.unlink() if whole else wal.write_bytes(text[: int(len(text) * left)])
        self.judge_damaged(copy, set())

    # --- invariants -------------------------------------------------------------------------

    @invariant()
    def it_lives(self) -> None:
        if self.store is None:
            return
        assert self.store.failure is None
        assert (
            self.store.commits._begin_scheduled
            or not self.store.commits.gathering.waiting
            or (self.store.commits._writing is not None)
        ), "entries wait for nothing"

    @invariant()
    def guests_wait_for_the_disk_only(self) -> None:
        """Guests older than a quarter second are in a batch; each is acknowledged at most once."""
        if self.store is None:
            return
        commits = self.store.commits
        busy = commits._begin_scheduled or commits._writing is not None
        for guest in self.guests.values():
            assert guest.told <= 1, "a guest was told twice"
            young = self.agenda.now < guest.since + UNHURRIED_S
            assert guest.told or young or busy, "a guest waits for nothing"

    @invariant()
    def what_is_named_is_there(self) -> None:
        if self.store is not None and self.named_guests:
            rows = self.store._readers.rows("SELECT number FROM guest", ())
            self.judge_names({cast(int, row[0]) for row in rows}, self.rows)

    @invariant()
    def waiters_are_told_in_order_and_once(self) -> None:
        assert [wrong for model in self.models.values() for wrong in model.wrongs] == []

    @invariant()
    def memory_has_what_no_segment_has(self) -> None:
        if self.store is None:
            return
        for stream in self.store._compaction._with_recent.values():
            end = journal.segment_end(self.store._readers._db, stream.number)
            assert stream.first_recent <= (end[0] if end else 0) + 1


def check(
    machine: type[StoreMachine], examples: int, steps: int, phases: Sequence[Phase] = tuple(Phase)
) -> None:
    logging.getLogger("kibitz.store").setLevel(logging.CRITICAL + 1)
    try:
        with (
            patch.object(compaction, "SEGMENTS_PER_BATCH", 2),
            patch.object(compaction, "TRIM_BYTES_PER_BATCH", 400),
            patch.object(journal, "SEGMENT_BYTES", 40),
        ):
            run_state_machine_as_test(
                machine,
                settings=settings(
                    max_examples=examples,
                    stateful_step_count=steps,
                    deadline=None,
                    phases=phases,
                    suppress_health_check=list(HealthCheck),
                ),
            )
    finally:
        logging.getLogger("kibitz.store").setLevel(logging.NOTSET)


def test_a_store_loses_nothing() -> None:
    check(StoreMachine, 15, 40)


def test_the_machine_reaches_what_it_is_about() -> None:
    """Require that commits, losses, reloads, deleting compactions, guests and crashes occurred."""
    machine = StoreMachine()
    machine.begin()
    try:
        for guest in range(12):
            machine.greet(returns=True)
            machine.append_what_names_a_guest(guest, guest)
            machine.all_goes_well(12)
        assert machine.it.trims, "no compaction has come to its end"
        assert all(model.told == len(model.lines) > 0 for model in machine.models.values())
        assert {guest.told for guest in machine.guests.values()} == {1}
        machine.append(0, 2)
        machine.greet(returns=False)
        machine.run_due(UNHURRIED_S)
        machine.batch_is_given_up(happens=False, doubtful=False)
        assert any(model.lost for model in machine.models.values())
        assert len(machine.lost_guests) == 1
        machine.reload()
        machine.append(0, 2)
        machine.append(1, 2)
        machine.crash()
        assert len(machine.models) == 3
        assert len(machine.guests) == 12
    finally:
        machine.teardown()


@pytest.mark.slow
@pytest.mark.parametrize("part", range(40))
def test_a_store_loses_nothing_for_long(part: int) -> None:
    """20,000 examples, split so that no part reaches the test timeout."""

    class Part(StoreMachine):
        """A separate test case with its own seed."""

    check(seed(part)(Part), 500, 50)


# --- tests of the machine: it must detect the fault in each of these stores --------------------


def _tells_before_the_commit(right: Any, commits: GroupCommit, batch: Any) -> None:
    waiters, batch.waiting = batch.waiting, []
    for stream, seq, waiter in waiters:
        if stream is not None:
            stream.durable = seq
        if waiter is not None:
            with contextlib.suppress(ValueError):
                waiter.durable(seq)
    right(commits, batch)


def _goes_on_with_a_compaction(right: Any, compaction: Compaction) -> None:
    compaction._reading = None


def _lets_a_waiter_raise(right: Any, commits: GroupCommit, batch: Any) -> None:
    waiters, batch.waiting = batch.waiting, []
    right(commits, batch)
    commits._begin_scheduled = True  # as after an exception
    for stream, seq, waiter in waiters:
        if stream is not None:
            stream.durable = seq
        if waiter is not None:
            try:
                waiter.durable(seq)
            except ValueError:
                return
    commits._begin_scheduled = False


def _does_not_ask_where_segments_end(
    right: Any, db: sqlite3.Connection, segment: journal.Segment
) -> None:
    db.execute(
        "INSERT OR REPLACE INTO stretch (stream, first, last, chain, lines) VALUES (?, ?, ?, ?, ?)",
        (
            segment.number,
            segment.first,
            segment.last,
            segment.link,
            b"\n".join(segment.lines),
        ),
    )


def _trims_a_row_too_many(right: Any, db: sqlite3.Connection, last: int) -> None:
    right(db, last + 1)


def _trims_without_segments(right: Any, compaction: Compaction, weight: int) -> Share:
    share: Share = right(compaction, weight)
    share.segments.clear()
    return share


def _drops_more_than_is_segmented(right: Any, stream: Stream, last: int) -> None:
    right(stream, last + 1)


def _reloads_without_the_journal(right: Any, stored: Stored, tail: journal.Tail) -> Stored:
    return stored


def _never_settles_a_doubt(right: Any, writer: SQLiteWriter, batch: Any) -> None:
    writer._doubtful_checks = None


def _overlooks_holes(right: Any, reading: journal.JournalContents, only: Any) -> None:
    reading.missing.clear()


def _writes_no_mark(right: Any, mark: MarkFile, row: journal.Row | None) -> None:
    pass


def _leaves_guests_behind(right: Any, commits: GroupCommit) -> None:
    waiting, commits._unhurried = commits._unhurried, []
    right(commits)
    commits._unhurried = waiting


def _writes_guests_twice(right: Any, commits: GroupCommit) -> None:
    waiting = list(commits._unhurried)
    right(commits)
    for statements, _ in waiting:
        commits.execute(*statements)


def _gives_guests_up_in_silence(
    right: Any, commits: GroupCommit, batch: Any, error: StoreError
) -> None:
    commits._unhurried.clear()
    right(commits, batch, error)


def _tells_nobody_who_is_lost(
    right: Any, commits: GroupCommit, batch: Any, error: StoreError
) -> None:
    batch.waiting = [each for each in batch.waiting if each[0] is not None]
    right(commits, batch, error)


async def _flushes_no_guests(right: Any, commits: GroupCommit) -> None:
    waiting, commits._unhurried = commits._unhurried, []
    flushing = right(commits)
    try:
        await flushing
    finally:
        commits._unhurried = waiting + commits._unhurried


WRONG: list[tuple[object, str, Any]] = [
    (GroupCommit, "_attempt", _tells_before_the_commit),
    (Compaction, "cancel", _goes_on_with_a_compaction),
    (GroupCommit, "_succeeded", _lets_a_waiter_raise),
    (journal, "write_segment", _does_not_ask_where_segments_end),
    (journal, "trim", _trims_a_row_too_many),
    (Compaction, "share", _trims_without_segments),
    (Stream, "drop_recent", _drops_more_than_is_segmented),
    (streams, "_continued", _reloads_without_the_journal),
    (SQLiteWriter, "_resolve_doubt", _never_settles_a_doubt),
    (journal, "_find_lost_ends", _overlooks_holes),
    (MarkFile, "note", _writes_no_mark),
    (GroupCommit, "_begin", _leaves_guests_behind),
    (GroupCommit, "_gather_unhurried", _writes_guests_twice),
    (GroupCommit, "_give_up", _gives_guests_up_in_silence),
    (GroupCommit, "_lose", _tells_nobody_who_is_lost),
    (GroupCommit, "flush", _flushes_no_guests),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "name", "wrong"), WRONG, ids=[wrong.__name__.strip("_") for *_, wrong in WRONG]
)
def test_a_store_that_is_wrong_is_found_out(kind: object, name: str, wrong: Any) -> None:
    right = getattr(kind, name)

    class Wrong(StoreMachine):
        """Runs the machine on a store with one fault."""

    def planted(*given: Any) -> Any:
        return wrong(right, *given)

    def look() -> None:
        for number in range(1, 7):  # some faults appear in one of a thousand runs
            check(seed(number)(Wrong), 500, 50, [Phase.generate])

    with (
        patch.object(kind, name, planted),
        pytest.raises((AssertionError, StoreError, sqlite3.Error, ExceptionGroup)),
    ):
        look()
