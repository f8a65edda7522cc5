"""The data that retention deletes, and the data that it keeps."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kibitz_protocol.wire.messages import Hello
from kibitz_server.accounts.sign_in import Accounts, Admission, Denied
from kibitz_server.accounts.token_admin import TokenAdmin
from kibitz_server.maintenance.retention import DAY_S, Retention, RetentionPolicy
from kibitz_server.rating.log import RatingLog
from kibitz_server.storage.errors import UnusableDatabase, WriteFailed
from kibitz_server.storage.group_commit import Statement
from kibitz_server.storage.sqlite.journal import streams_in_journal
from kibitz_server.storage.sqlite.store import SQLiteStore
from kibitz_server.storage.streams import Stream, Waiter
from tests.server.rating.test_log import counted
from tests.tools.transcripts import transcript

DAYS = 90


class RetentionScenario:
    """A store with a time offset."""

    def __init__(self, path: Path, **keeping: float) -> None:
        self.path = path
        self.store = SQLiteStore(path, asyncio.get_running_loop())
        self.busy: set[str] = set()
        self.forgotten: set[str] = set()
        self.later = 0.0
        self.accounts = Accounts(self.store, "anyone", self.busy.__contains__)
        usual = {"days": DAYS, "pause_s": 0.0, "rows": 3, "streams": 3}
        self.retention = Retention(
            self.store.expiry,
            RetentionPolicy(**{**usual, **keeping}),  # type: ignore[arg-type]
            is_busy=self.busy.__contains__,
            on_deleted=self.forgotten.update,
            now=lambda: time.time() + self.later * DAY_S,
        )

    async def stream(self, key: str, entries: int = 1, *, closed: bool = True, ms: int = 0) -> None:
        stream = Stream(0, key, "match" if "-" in key else "lobby")
        self.store.create(stream, b"head", owner=None, waiter=None)
        for seq in range(1, entries + 1):
            self.store.append(stream, seq, b'{"seq":%d,"at_ms":%d}' % (seq, ms), None)
        if closed:
            self.store.finish(stream, b"footer", b"summary")
        await self.store.flush()

    async def settle(self) -> None:
        """Restart, which leaves only the last batch in the journal."""
        self.store.commits.execute(Statement("DELETE FROM token WHERE id = -1", ()))
        await self.reopen()

    async def reopen(self) -> None:
        await self.store.close()
        self.store = SQLiteStore(self.path, asyncio.get_running_loop())
        self.accounts = Accounts(self.store, "anyone", self.busy.__contains__)
        self.retention._expiry = self.store.expiry

    async def keys(self) -> list[str]:
        return [str(key) for (key,) in await self.store._readers.find("SELECT key FROM stream", ())]

    async def count(self, table: str) -> int:
        [(count,)] = await self.store._readers.find(f"SELECT count(*) FROM {table}", ())
        assert isinstance(count, int)
        return count

    async def guest(self, name: str) -> Admission:
        admission = self.accounts.identify(Hello(id=1, versions=[1], name=name), None, local=True)
        self.accounts.save(admission)
        await self.store.flush()
        return admission


@pytest.fixture
async def past(tmp_path: Path) -> AsyncIterator[RetentionScenario]:
    past = RetentionScenario(tmp_path / "k.db")
    yield past
    await past.store.close()


async def test_what_is_old_is_deleted_and_nothing_else(past: RetentionScenario) -> None:
    for number in range(7):
        await past.stream(f"old-1-{number}", 64)
    await past.stream("old")
    await past.stream("open-1-1", closed=False)
    await past.stream("open", closed=False)
    await past.stream("long-1-1", ms=round(10 * DAY_S * 1000))
    await past.stream("long")
    await past.settle()
    past.later = DAYS - 1
    await past.retention.delete_due()
    assert len(await past.keys()) == 12
    past.later = DAYS + 5
    await past.retention.delete_due()
    assert sorted(await past.keys()) == ["long", "long-1-1", "open", "open-1-1"]
    assert past.forgotten == {"old", *(f"old-1-{number}" for number in range(7))}
    past.later = DAYS + 11
    await past.retention.delete_due()
    assert sorted(await past.keys()) == ["open", "open-1-1"]


async def test_a_portion_is_small_and_what_is_marked_is_not_found(past: RetentionScenario) -> None:
    await past.stream("old-1-1", 0)
    past.store.create(Stream(0, "old-1-2", "match"), b"head", owner=None, waiter=None)
    for seq in range(1, 11):
        await past.reopen()  # which moves the journal into a segment
        [stored] = past.store.load("match")
        stream = stored.stream
        past.store.append(stream, seq, b'{"at_ms":0}', None)
    past.store.finish(stream, b"footer", b"summary")
    await past.store.flush()
    await past.settle()
    before = await past.count("stretch")
    assert before > 6
    past.later = DAYS + 1
    assert await past.retention.delete_some()
    assert await past.store.closed("old-1-2") is None
    assert await transcript(past.store, "old-1-2") is None
    assert past.store.exists("old-1-2")
    for _ in range(2):
        assert await past.retention.delete_some()
        assert before - await past.count("stretch") <= 3 * 2
    await past.retention.delete_due()
    assert (await past.keys(), await past.count("stretch")) == ([], 0)


async def test_what_the_journal_still_has_is_left_and_a_start_finds_all(
    past: RetentionScenario,
) -> None:
    await past.stream("old-1-1", 3)
    past.later = DAYS + 1
    assert await past.store._readers.read(streams_in_journal)
    await past.retention.delete_due()
    assert await past.keys() == ["old-1-1"]
    await past.reopen()  # reads the journal
    await past.settle()
    await past.retention.delete_due()
    assert await past.keys() == []


async def test_a_server_that_stops_in_the_middle_goes_on_with_it(past: RetentionScenario) -> None:
    await past.stream("old-1-1", 96)
    await past.settle()
    past.later = DAYS + 1
    assert await past.retention.delete_some()
    assert await past.count("stretch")
    await past.reopen()
    assert past.store.load("match") == []
    await past.retention.delete_due()
    assert (await past.keys(), await past.count("stretch")) == ([], 0)


async def test_what_may_not_go_yet_holds_up_nothing_behind_it(past: RetentionScenario) -> None:
    for number in range(7):
        await past.stream(f"long-1-{number}", ms=round(10 * DAY_S * 1000))
    await past.stream("old-1-1")
    await past.settle()
    past.later = DAYS + 1
    await past.retention.delete_due()
    assert len(await past.keys()) == 7
    assert past.forgotten == {"old-1-1"}


async def test_without_an_age_everything_is_kept(tmp_path: Path) -> None:
    past = RetentionScenario(tmp_path / "k.db", days=None)  # type: ignore[arg-type]
    await past.stream("old-1-1")
    await past.settle()
    past.later = 10_000
    await past.retention.delete_due()
    assert await past.keys() == ["old-1-1"]
    await past.store.close()


async def test_the_ladder_is_the_same_without_its_matches(past: RetentionScenario) -> None:
    log = RatingLog(past.store)
    for number in range(3):
        await past.stream(f"old-1-{number}")
        log.append(counted(number))
    await past.settle()
    before = (await RatingLog(past.store).rating_list()).lines("toy")
    past.later = DAYS + 1
    await past.retention.delete_due()
    assert await past.keys() == []
    assert (await RatingLog(past.store).rating_list()).lines("toy") == before
    assert before


async def test_guests_who_do_not_come_back_are_forgotten_and_accounts_never(
    past: RetentionScenario,
) -> None:
    with TokenAdmin(past.path) as register:
        token = register.issue("deep", "bot").token
    gone, back, busy = [await past.guest(name) for name in ("ada", "bob", "cyd")]
    past.busy.add(busy.identity.key)
    past.later = 20
    await past.retention.delete_due()
    assert await past.count("player") == 4
    past.store.commits.execute(
        Statement("UPDATE player SET created = created - ?", (int(20 * DAY_S),))
    )
    await past.store.flush()
    past.accounts.identify(Hello(id=1, versions=[1], resume=back.resume), None, local=True)
    await past.store.flush()
    past.later = 29
    await past.retention.delete_due()
    assert await past.count("player") == 3
    with pytest.raises(Denied, match="unknown resume secret"):
        past.accounts.identify(Hello(id=1, versions=[1], resume=gone.resume), None, local=True)
    for said in ({"resume": back.resume}, {"resume": busy.resume}, {"token": token}):
        hello = Hello.model_validate({"id": 1, "versions": [1], **said})
        past.accounts.identify(hello, None, local=True)


async def test_a_crowd_of_guests_is_cut_to_what_is_kept(tmp_path: Path) -> None:
    past = RetentionScenario(tmp_path / "k.db", guests=5)
    for number in range(12):
        await past.guest(f"guest {number:02}")
        past.store.commits.execute(Statement("UPDATE player SET created = created - 1", ()))
    await past.retention.delete_due()
    rows = await past.store._readers.find("SELECT name FROM player ORDER BY name", ())
    assert [name for (name,) in rows] == [f"guest {number:02}" for number in range(6, 12)]
    await past.store.close()


async def test_a_disk_that_is_full_stops_it_and_nothing_else(
    past: RetentionScenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    await past.stream("old-1-1")
    await past.settle()
    past.later = DAYS + 1

    def lost(*statements: Statement, waiter: Waiter) -> None:
        waiter.lost(WriteFailed("the disk is full"))

    monkeypatch.setattr(past.store.commits, "execute", lost)
    assert not await past.retention.delete_some()
    monkeypatch.undo()
    await past.retention.delete_due()
    assert await past.keys() == []


async def test_a_database_that_is_away_is_a_line_in_the_log_and_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    past = RetentionScenario(tmp_path / "k.db", every_s=0.001)
    await past.stream("old-1-1")
    await past.settle()
    past.later = DAYS + 1

    async def away(count: int) -> list[object]:
        raise UnusableDatabase("it does not answer")

    with monkeypatch.context() as planted:
        planted.setattr(past.store.expiry, "remains", away)
        running = asyncio.create_task(past.retention.run())
        while len(caplog.records) < 2:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
    assert {(line.levelname, line.getMessage(), line.exc_info) for line in caplog.records} == {
        ("WARNING", "cannot delete old data, will retry: it does not answer", None)
    }
    while await past.keys():  # noqa: ASYNC110
        await asyncio.sleep(0.001)
    running.cancel()
    await past.store.close()
