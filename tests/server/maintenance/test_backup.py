"""Backups: a consistent snapshot of a database in use, created completely or not at all."""

from __future__ import annotations

import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from kibitz_server.maintenance import backup
from kibitz_server.maintenance.backup import back_up
from kibitz_server.maintenance.check import check_database
from kibitz_server.storage.errors import StoreError, UnusableDatabase
from tests.tools.used_server import UsedServer, flip_bit, play_plies, used_server, where_stream


@pytest.fixture
def world(tmp_path: Path) -> Iterator[UsedServer]:
    with used_server(tmp_path) as world:
        yield world


@pytest.fixture
def target(tmp_path: Path) -> Path:
    (tmp_path / "backups").mkdir()
    return tmp_path / "backups" / "monday.db"


def names(target: Path) -> list[str]:
    return sorted(each.name for each in target.parent.iterdir())


def test_a_backup_beside_a_server_that_goes_on(
    world: UsedServer, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The copy reflects its start time, regardless of later writes."""
    before = check_database(world.server.path)
    monkeypatch.setattr(backup, "PAGES", 4)
    steps: list[int] = []

    def move(seconds: float) -> None:
        steps.append(1)
        players = world.guests["ada"], world.guests["bob"]
        play_plies(world.server, world.damaged, 1, *players)

    monkeypatch.setattr("time.sleep", move)
    found = back_up(world.server.path, target)
    assert len(steps) > 3
    assert found == check_database(target, marked=False)
    assert (found.sound, found.entries, found.file) == (True, before.entries, str(target))
    assert check_database(world.server.path).entries == before.entries + len(steps)
    assert names(target) == ["monday.db"]
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


def test_a_server_starts_with_a_backup_that_was_put_in_place(
    world: UsedServer, target: Path
) -> None:
    at = world.running(world.damaged), world.running(world.intact)
    back_up(world.server.path, target)
    play_plies(world.server, world.damaged, 3, world.guests["ada"], world.guests["bob"])

    def restore(path: Path) -> None:
        for suffix in ("-wal", "-shm", "-mark"):
            Path(f"{path}{suffix}").unlink(missing_ok=True)
        path.write_bytes(target.read_bytes())

    world.restart(restore)
    assert (world.running(world.damaged), world.running(world.intact)) == at
    assert check_database(world.server.path).sound


def test_the_log_of_the_database_is_left_alone(world: UsedServer, target: Path) -> None:
    wal = Path(f"{world.server.path}-wal")
    before = wal.read_bytes()
    assert before
    back_up(world.server.path, target)
    assert wal.read_bytes() == before


@pytest.mark.parametrize("suffix", ["", "-wal", "-mark"])
def test_a_backup_replaces_nothing(world: UsedServer, target: Path, suffix: str) -> None:
    there = Path(f"{target}{suffix}")
    there.write_bytes(b"last week's")
    with pytest.raises(StoreError, match="exists; a backup never replaces a file"):
        back_up(world.server.path, target)
    assert there.read_bytes() == b"last week's"
    assert names(target) == [there.name]


def test_a_damaged_database_gives_no_backup(world: UsedServer, target: Path) -> None:
    world.restart(lambda path: None)
    world.server.close()
    flip_bit(world.server.path, "stretch", "lines", where_stream(world.finished))
    with pytest.raises(UnusableDatabase, match=f"would be damaged .match {world.finished}: "):
        back_up(world.server.path, target)
    assert names(target) == []


def test_a_backup_that_cannot_be_written_leaves_nothing(
    world: UsedServer, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(StoreError, match=r"cannot write '.*nowhere/monday.db': no such file"):
        back_up(world.server.path, target.parent / "nowhere" / "monday.db")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(backup, "sync", full)
    with pytest.raises(StoreError, match="no space left on device"):
        back_up(world.server.path, target)
    assert names(target) == []


def test_a_full_disk_while_copying_leaves_nothing(
    world: UsedServer, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        error = sqlite3.OperationalError("database or disk is full")
        error.sqlite_errorcode = sqlite3.SQLITE_FULL
        raise error

    monkeypatch.setattr(backup, "_pause", full)
    with pytest.raises(StoreError, match="the disk is full"):
        back_up(world.server.path, target)
    assert names(target) == []


def test_a_backup_is_a_database_like_any_other(world: UsedServer, target: Path) -> None:
    back_up(world.server.path, target)
    with closing(sqlite3.connect(target)) as db:
        assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert db.execute("SELECT count(*) FROM token").fetchone() == (2,)
