"""The files of a database: which are opened, which are refused, and the messages."""

from __future__ import annotations

import logging
import os
import sqlite3
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from kibitz_server.storage import errors
from kibitz_server.storage.errors import DatabaseInUse, UnusableDatabase
from kibitz_server.storage.sqlite import connection, schema
from kibitz_server.storage.sqlite.connection import connect_writer, known_faults, lock, resolve_path
from kibitz_server.storage.sqlite.schema import connect_admin

SIDES = ("", "-wal", "-shm", ".lock")


def opened(path: Path) -> None:
    """Lock and open a database like a server, and release it."""
    path = resolve_path(path)
    with lock(path):
        prepared(path).close()


def prepared(path: Path) -> sqlite3.Connection:
    db = connect_writer(path)
    try:
        with connection.translate_errors(path):
            schema.ensure_schema(db, path)
    except BaseException:
        db.close()
        raise
    return db


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "kibitz.db"


def side(path: Path, suffix: str) -> Path:
    return Path(f"{path}{suffix}")


# --- no new database next to another one's log ------------------------------------------------


@pytest.mark.parametrize("suffix", ["-wal", "-shm", "-mark"])
@pytest.mark.parametrize("how", ["missing", "empty"])
@pytest.mark.parametrize("entry", [opened, connect_admin])
def test_no_new_database_is_made_beside_the_log_of_another(
    path: Path, suffix: str, how: str, entry: Callable[[Path], object]
) -> None:
    side(path, suffix).write_bytes(b"commits that the database has not")
    if how == "empty":
        path.touch()
    with pytest.raises(UnusableDatabase, match=f"{how}, but 'kibitz.db{suffix}' beside it"):
        entry(path)
    assert side(path, suffix).read_bytes() == b"commits that the database has not"
    assert path.exists() is (how == "empty")


def test_a_database_that_has_lost_its_log_is_not_taken_for_a_new_one(path: Path) -> None:
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("CREATE TABLE journal (batch INTEGER PRIMARY KEY)")
    page = path.read_bytes()  # all pages except the first are still in the log
    db.close()
    for suffix in SIDES:
        side(path, suffix).unlink(missing_ok=True)
    path.write_bytes(page)
    with pytest.raises(UnusableDatabase, match=r"no tables: its write-ahead log \(kibitz.db-wal\)"):
        opened(path)


def test_the_log_of_the_writer_grows_longer_than_that_of_others(path: Path) -> None:
    writer = connection.connect_writer(path)
    schema.ensure_schema(writer, path)
    reader = connection.connect_reader(path)
    assert connection.read_int(writer, "PRAGMA wal_autocheckpoint") == connection.WAL_PAGES
    assert connection.read_int(reader, "PRAGMA wal_autocheckpoint") == 0, "it never checkpoints"
    for each in (writer, reader):
        each.close()


def test_the_tables_are_in_the_file_itself_before_there_is_a_log(path: Path) -> None:
    db = prepared(path)
    page = path.read_bytes()
    db.close()
    for suffix in SIDES:
        side(path, suffix).unlink(missing_ok=True)
    path.write_bytes(page)
    with sqlite3.connect(path) as alone:
        assert alone.execute("SELECT count(*) FROM stream").fetchone() == (0,)
    alone.close()


def test_a_start_that_was_cut_off_is_made_again(path: Path) -> None:
    path.touch()
    opened(path)
    opened(path)


# --- file permissions -------------------------------------------------------------------------


def test_the_files_are_for_their_owner_alone(path: Path) -> None:
    before = os.umask(0)
    try:
        held = lock(resolve_path(path))
        db = prepared(path)
        db.execute("INSERT INTO ledger (match, line) VALUES ('m', 'l')")
        modes = {s: stat.S_IMODE(side(path, s).stat().st_mode) for s in SIDES}
        db.close()
        held.release()
    finally:
        os.umask(before)
    assert modes == dict.fromkeys(SIDES, 0o600)


def test_a_file_that_others_can_read_is_warned_about(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    opened(path)
    assert caplog.messages == []
    path.chmod(0o644)
    with caplog.at_level(logging.WARNING):
        opened(path)
    assert caplog.messages == [
        f"{path} is readable by users other than its owner (mode 644): run chmod 600 on its files"
    ]


# --- one file, one owner ----------------------------------------------------------------------


def test_the_lock_is_the_same_under_every_name(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened(path)
    (tmp_path / "links").mkdir()
    link = tmp_path / "links" / "other.db"
    link.symlink_to(path)
    held = lock(resolve_path(path))
    monkeypatch.chdir(tmp_path)
    for name in (link, Path("kibitz.db"), Path("links/../kibitz.db")):
        with pytest.raises(DatabaseInUse, match=r"another server has '.*/kibitz.db' open"):
            lock(resolve_path(name))
    held.release()


def test_a_link_to_a_new_database_makes_it_where_the_link_leads(path: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.db"
    link.symlink_to(path)
    opened(link)
    assert path.is_file()
    assert sorted(entry.name for entry in tmp_path.iterdir()) == [
        "kibitz.db",
        "kibitz.db.lock",
        "link.db",
    ]


def test_a_file_with_a_second_hard_link_is_refused(path: Path, tmp_path: Path) -> None:
    opened(path)
    os.link(path, tmp_path / "second.db")
    for name in (path, tmp_path / "second.db"):
        with pytest.raises(UnusableDatabase, match="has 2 hard links"):
            resolve_path(name)
    (tmp_path / "second.db").unlink()
    opened(path)


# --- other files ------------------------------------------------------------------------------


def _directory(path: Path) -> None:
    path.mkdir()


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _loop(path: Path) -> None:
    path.symlink_to(path)


def _text(path: Path) -> None:
    path.write_bytes(b"something else entirely, and long enough to be read" * 100)


def _short(path: Path) -> None:
    path.write_bytes(b"SQLite")


def _cut(path: Path) -> None:
    opened(path)
    path.write_bytes(path.read_bytes()[:20_000])


def _foreign(path: Path) -> None:
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE recipe (name TEXT)")
    db.close()


UNUSABLE = {
    "a directory": (_directory, "is a directory; a database must be a file"),
    "a pipe": (_pipe, "is not a regular file"),
    "a loop of links": (_loop, "too many levels of symbolic links"),
    "a text": (_text, "is not an SQLite database"),
    "a few bytes": (_short, "is not an SQLite database"),
    "cut off": (_cut, "is damaged or truncated"),
    "of another program": (_foreign, "is another program's database"),
}


@pytest.mark.parametrize("name", UNUSABLE)
@pytest.mark.parametrize("entry", [opened, connect_admin])
def test_what_is_no_database_is_refused_in_one_sentence(
    path: Path, name: str, entry: Callable[[Path], object]
) -> None:
    make, expected = UNUSABLE[name]
    make(path)
    with pytest.raises(errors.StoreError) as caught:
        entry(path)
    assert expected in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_disk_without_files_is_not_said_to_be_in_use() -> None:
    with pytest.raises(UnusableDatabase, match=r"cannot create the file '/proc/kibitz\.db\.lock'"):
        opened(Path("/proc/kibitz.db"))


def test_a_file_of_another_user_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened(path)
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(UnusableDatabase, match="is not readable and writable by this user"):
        opened(path)


def test_a_read_only_disk_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> int:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(UnusableDatabase, match=r"kibitz.db': read-only file system"):
        connect_admin(path)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (sqlite3.SQLITE_READONLY_DBMOVED, "is read-only"),
        (sqlite3.SQLITE_FULL, "the disk is full"),
        (sqlite3.SQLITE_IOERR_WRITE, "disk I/O error"),
        (sqlite3.SQLITE_BUSY_SNAPSHOT, "is locked"),
        (sqlite3.SQLITE_CANTOPEN, "cannot be opened"),
        (sqlite3.SQLITE_MISUSE, "cannot be used: so it says"),
    ],
)
def test_what_sqlite_reports_is_explained(path: Path, code: int, expected: str) -> None:
    error = sqlite3.OperationalError("so it says")
    error.sqlite_errorcode = code
    with pytest.raises(UnusableDatabase, match=expected), connection.translate_errors(path):
        raise error


# --- faults of SQLite -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("version", "known"),
    [
        ((3, 6, 23), 0),
        ((3, 7, 0), 1),
        ((3, 40, 1), 1),
        ((3, 44, 5), 1),
        ((3, 44, 6), 0),
        ((3, 45, 0), 1),
        ((3, 50, 6), 1),
        ((3, 50, 7), 0),
        ((3, 51, 2), 1),
        ((3, 51, 3), 0),
        ((3, 53, 0), 0),
    ],
)
def test_the_releases_with_a_known_fault(version: tuple[int, int, int], known: int) -> None:
    told = known_faults(version)
    assert len(told) == known
    for sentence in told:
        assert sentence.startswith(f"SQLite {'.'.join(map(str, version))} may damage a database")
