"""The write-ahead log grows ahead of its use, and SQLite reads it as before."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from kibitz_server.storage.sqlite.log_file import FULL_BYTES, GROW_AFTER, STEP_BYTES, LogFile
from kibitz_server.storage.sqlite.store import SQLiteStore
from kibitz_server.storage.streams import Stored, Stream

STEPS = -(-FULL_BYTES // STEP_BYTES)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "kibitz.db"


async def commit_each(store: SQLiteStore, stream: Stream, first: int, last: int) -> None:
    """Write entries, each in a commit of its own."""
    for seq in range(first, last + 1):
        store.append(stream, seq, b'{"seq":%d}' % seq, None)
        await store.flush()


async def begun(path: Path) -> tuple[SQLiteStore, Stream]:
    """Open a store and create a stream, in the first commit."""
    store = SQLiteStore(path, asyncio.get_running_loop(), retries=())
    stream = Stream(0, "m1", "match")
    store.create(stream, b'{"head":1}', owner=None, waiter=None)
    await store.flush()
    return store, stream


def crashed(path: Path, copy: Path) -> Path:
    """Copy the database with its other files, as after a crash."""
    for suffix in ("", "-wal", "-mark"):
        Path(f"{copy}{suffix}").write_bytes(Path(f"{path}{suffix}").read_bytes())
    return copy


def log_size(path: Path) -> int:
    return Path(f"{path}-wal").stat().st_size


async def test_a_log_grows_in_steps_to_its_full_size_and_no_further(path: Path) -> None:
    store, stream = await begun(path)
    await commit_each(store, stream, 1, GROW_AFTER - 1)
    before = log_size(path)
    assert before < STEP_BYTES * 4
    await commit_each(store, stream, GROW_AFTER, GROW_AFTER)
    assert log_size(path) >= before + STEP_BYTES
    await commit_each(store, stream, GROW_AFTER + 1, GROW_AFTER + STEPS + 20)
    assert log_size(path) == FULL_BYTES
    await store.close()


@pytest.mark.parametrize("commits", [GROW_AFTER, GROW_AFTER + STEPS // 2, GROW_AFTER + STEPS + 20])
async def test_a_crash_with_zeros_in_the_log_loses_nothing(
    path: Path, tmp_path: Path, commits: int
) -> None:
    store, stream = await begun(path)
    await commit_each(store, stream, 1, commits)
    copy = crashed(path, tmp_path / "copy.db")
    await store.close()
    again = SQLiteStore(copy, asyncio.get_running_loop(), retries=())
    stored = (await again.reload(["m1"]))["m1"]
    assert isinstance(stored, Stored)
    assert list(stored.lines) == [b'{"seq":%d}' % seq for seq in range(1, commits + 1)]
    await again.close()


async def test_a_log_that_cannot_grow_harms_no_commit(
    path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    calls: list[LogFile] = []

    def refuse(log: LogFile) -> None:
        calls.append(log)
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(LogFile, "_grow", refuse)
    store, stream = await begun(path)
    await commit_each(store, stream, 1, GROW_AFTER + 5)
    assert stream.durable == GROW_AFTER + 5
    assert len(calls) == 1
    assert caplog.text.count("ahead of its use") == 1
    await store.close()
