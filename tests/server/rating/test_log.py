"""The log of rated matches: a match is on disk if and only if its result is, and counts once."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kibitz_server.rating.log import FOLD_BATCH, RatingLog
from kibitz_server.rating.rating_list import RatedMatch, RatedPlayer
from kibitz_server.storage.sqlite.store import SQLiteStore
from kibitz_server.storage.streams import Stream


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SQLiteStore]:
    opened = SQLiteStore(tmp_path / "kibitz.db", asyncio.get_running_loop())
    yield opened
    await opened.close()


def counted(number: int, *, winner: str = "ada") -> RatedMatch:
    names = ["ada", "bob"]
    return RatedMatch(
        match=f"m{number}",
        game="toy",
        entrants=[RatedPlayer(key=name, name=name, kind="bot") for name in names],
        ranks=[1 if name == winner else 2 for name in names],
        ended=number,
    )


def end(store: SQLiteStore, log: RatingLog, number: int) -> None:
    """Close a match's log and count it in one turn of the loop, like a runner."""
    stream = Stream(0, f"m{number}", "match")
    store.create(stream, b"head", owner=None, waiter=None)
    store.append(stream, 1, b"entry", None)
    store.finish(stream, b"footer", b"summary")
    log.append(counted(number))


async def test_the_rating_list_is_what_is_on_the_disk(store: SQLiteStore) -> None:
    log = RatingLog(store)
    end(store, log, 1)
    await store.flush()
    assert (await log.rating_list()).matches("toy") == 1
    assert (await log.rating_list()).matches("toy") == 1
    end(store, log, 2)
    await store.flush()
    assert (await log.rating_list()).matches("toy") == 2


async def test_a_match_that_is_entered_twice_counts_once(store: SQLiteStore) -> None:
    log = RatingLog(store)
    log.append(counted(1))
    await store.flush()
    log.append(counted(1, winner="bob"))
    await store.flush()
    rating_list = await log.rating_list()
    assert rating_list.matches("toy") == 1
    assert rating_list.lines("toy")[0].key == "ada"


async def test_a_restart_folds_the_same_rating_list(store: SQLiteStore) -> None:
    before = RatingLog(store)
    for number in range(FOLD_BATCH + 20):
        before.append(counted(number, winner="bob" if number % 3 else "ada"))
        if number % 100 == 0:
            await store.flush()
            await before.rating_list()
    await store.flush()
    after = RatingLog(store)
    assert (await after.rating_list()).lines("toy") == (await before.rating_list()).lines("toy")
    assert (await after.rating_list()).matches("toy") == FOLD_BATCH + 20


async def test_many_may_ask_at_the_same_time(store: SQLiteStore) -> None:
    log = RatingLog(store)
    for number in range(FOLD_BATCH + 1):
        log.append(counted(number))
    await store.flush()
    rating_lists = await asyncio.gather(*(log.rating_list() for _ in range(5)))
    assert {rating_list.matches("toy") for rating_list in rating_lists} == {FOLD_BATCH + 1}


async def test_result_and_ledger_are_one_transaction(tmp_path: Path) -> None:
    """A copy of the database always has both or neither, whenever the server dies."""
    path = tmp_path / "kibitz.db"
    seen: list[tuple[int, int]] = []

    def copied() -> tuple[int, int]:
        dead = tmp_path / "dead"
        shutil.rmtree(dead, ignore_errors=True)
        dead.mkdir()
        for part in tmp_path.glob("kibitz.db*"):
            shutil.copy(part, dead / part.name)
        with sqlite3.connect(dead / "kibitz.db") as db:
            ended = db.execute("SELECT count(*) FROM stream WHERE state = 'closed'").fetchone()[0]
            rated = db.execute("SELECT count(*) FROM ledger").fetchone()[0]
        db.close()
        return ended, rated

    store = SQLiteStore(
        path,
        asyncio.get_running_loop(),
        observe=lambda entries, seconds: seen.append(copied()),
    )
    log = RatingLog(store)
    for number in range(12):
        end(store, log, number)
        seen.append(copied())
        if number % 2:
            await asyncio.sleep(0)
    await store.close()
    assert seen[-1] == (12, 12)
    assert len(set(seen)) > 2
    assert all(ended == rated for ended, rated in seen)


@pytest.mark.parametrize("line", [b"{}", b"\xff", b"no JSON"])
async def test_a_damaged_line_counts_for_nobody_and_the_others_count(
    store: SQLiteStore, line: bytes
) -> None:
    log = RatingLog(store)
    log.append(counted(1))
    store.rate("m2", line)
    uneven = counted(3).model_copy(update={"ranks": [1]})
    store.rate("m3", uneven.model_dump_json().encode())
    log.append(counted(4, winner="bob"))
    await store.flush()
    rating_list = await log.rating_list()
    assert rating_list.matches("toy") == 2
    assert [each.matches for each in rating_list.lines("toy")] == [2, 2]
