"""The watermark next to the database: missing commits at its end are detected."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from kibitz_server.storage.errors import CommitsMissing, UnusableDatabase
from kibitz_server.storage.sqlite import watermark
from kibitz_server.storage.sqlite.connection import connect
from kibitz_server.storage.sqlite.journal import Row
from kibitz_server.storage.sqlite.store import SQLiteStore
from kibitz_server.storage.sqlite.watermark import MARK_BYTES, MarkFile, Watermark, watermark_path
from kibitz_server.storage.streams import Stream

SUFFIXES = ("", "-wal", "-mark")


def opened(path: Path) -> SQLiteStore:
    return SQLiteStore(path, asyncio.get_running_loop(), retries=())


def copied(path: Path, target: Path, suffixes: tuple[str, ...] = SUFFIXES) -> Path:
    for suffix in suffixes:
        Path(f"{target}{suffix}").write_bytes(Path(f"{path}{suffix}").read_bytes())
    return target


def cut(path: Path, left: int) -> None:
    path.write_bytes(path.read_bytes()[:left])


def remove(path: Path) -> None:
    path.unlink()


async def write(store: SQLiteStore, key: str, count: int) -> None:
    stream = Stream(0, key, "match")
    store.create(stream, b"{}", owner=None, waiter=None)
    for seq in range(1, count + 1):
        store.append(stream, seq, b'{"seq":%d}' % seq, None)
        await store.flush()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "kibitz.db"


@pytest.mark.parametrize("left", [0, 1, 4096, 20_000, 50_000, -4152, -1])
async def test_a_cut_write_ahead_log_is_found(path: Path, tmp_path: Path, left: int) -> None:
    store = opened(path)
    await write(store, "m1", 30)
    copy = copied(path, tmp_path / "copy.db")
    await store.close()
    cut(Path(f"{copy}-wal"), left)
    for _ in range(2):
        with pytest.raises(CommitsMissing, match="but batch 30 was written"):
            opened(copy)
    remove(watermark_path(copy))
    await opened(copy).close()


async def test_a_removed_write_ahead_log_is_found(path: Path, tmp_path: Path) -> None:
    store = opened(path)
    await write(store, "m1", 3)
    await store.close()
    store = opened(path)
    await write(store, "m2", 3)
    copy = copied(path, tmp_path / "copy.db", ("", "-mark"))
    await store.close()
    with pytest.raises(CommitsMissing, match="ends with batch 3, but batch 6 was written"):
        opened(copy)


async def test_a_whole_copy_and_a_copy_without_mark_are_opened(path: Path, tmp_path: Path) -> None:
    store = opened(path)
    await write(store, "m1", 5)
    for number, suffixes in enumerate([SUFFIXES, SUFFIXES[:2]]):
        again = opened(copied(path, tmp_path / f"copy{number}.db", suffixes))
        assert len(again.load("match")[0].lines) == 5
        await write(again, "m2", 1)
        await again.close()
        await opened(tmp_path / f"copy{number}.db").close()
    await store.close()


async def test_an_older_mark_is_no_trouble(path: Path) -> None:
    """The watermark is not synced: after a power failure it may be outdated."""
    store = opened(path)
    await write(store, "m1", 2)
    older = watermark_path(path).read_bytes()
    await write(store, "m2", 5)
    await store.close()
    watermark_path(path).write_bytes(older)
    await opened(path).close()


@pytest.mark.parametrize("text", [b"", b"\0" * 64, b"7 abc", b"999 abc 12345678\n", b"\xff" * 9])
async def test_a_torn_mark_is_none(path: Path, text: bytes) -> None:
    store = opened(path)
    await write(store, "m1", 2)
    await store.close()
    watermark_path(path).write_bytes(text)
    assert watermark.read(path) is None
    store = opened(path)
    await write(store, "m2", 1)
    await store.close()
    found = watermark.read(path)
    assert found is not None
    assert found.batch == 3


async def test_a_backup_counts_when_somebody_says_so(path: Path, tmp_path: Path) -> None:
    store = opened(path)
    await write(store, "m1", 2)
    await store.close()
    backup = copied(path, tmp_path / "backup.db", ("",))
    store = opened(path)
    await write(store, "m2", 4)
    await store.close()
    copied(backup, path, ("",))
    with pytest.raises(CommitsMissing, match="ends with batch 2, but batch 6 was written"):
        opened(path)
    db = connect(path)
    watermark.accept_loss(db, path)
    db.close()
    store = opened(path)
    assert [found.stream.key for found in store.load("match")] == ["m1"]
    await write(store, "m3", 1)
    await store.close()
    await opened(path).close()


async def test_another_history_is_not_taken_for_this_one(path: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    for each in (path, other):
        store = opened(each)
        await write(store, "m1", 3)
        await store.close()
    copied(other, path, ("",))
    with pytest.raises(CommitsMissing, match="not the database that was last written here"):
        opened(path)


async def test_a_database_that_is_gone_is_not_begun_anew(path: Path) -> None:
    store = opened(path)
    await write(store, "m1", 3)
    await store.close()
    remove(path)
    with pytest.raises(UnusableDatabase, match=r"is missing, but 'kibitz\.db-mark' beside it"):
        opened(path)


def test_a_mark_is_overwritten_in_place(path: Path) -> None:
    for batch in (10**15, 7, 123456):
        mark = MarkFile(path)
        row = Row(batch, "me", "", b"", "0123456789abcdef" * 2)
        mark.note(row)
        mark.close()
        assert watermark.read(path) == Watermark(batch, "0123456789abcdef" * 2)
        assert watermark_path(path).stat().st_size == MARK_BYTES
    assert watermark_path(path).stat().st_mode & 0o777 == 0o600
