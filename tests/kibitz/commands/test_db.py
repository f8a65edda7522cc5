"""`kibitz db`: output and exit status, with and without a running server."""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from kibitz.cli import kibitz
from kibitz_server.storage.sqlite.connection import lock
from tests.tools.used_server import UsedServer, flip_bit, used_server, where_stream


@pytest.fixture
def world(tmp_path: Path) -> Iterator[UsedServer]:
    with used_server(tmp_path) as world:
        yield world


def run(*words: object) -> Result:
    done = CliRunner().invoke(kibitz, ["db", *map(str, words)])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


def damaged(world: UsedServer) -> Path:
    world.restart(lambda path: None)
    world.server.close()
    flip_bit(world.server.path, "stretch", "lines", where_stream(world.finished))
    flip_bit(world.server.path, "ledger", "line", f"match = '{world.finished}'", 0.0)
    return world.server.path


def test_a_sound_database(world: UsedServer) -> None:
    done = run("check", world.server.path)
    assert done.exit_code == 0
    first, last = done.output.splitlines()
    assert first.startswith(f"{world.server.path}: 3 matches (2 open), 3 lobbies (3 open), ")
    assert first.endswith(" entries, 1 rated")
    assert last == "sound: complete and unchanged"


def test_a_damaged_database(world: UsedServer) -> None:
    path = damaged(world)
    done = run("check", path)
    assert done.exit_code == 1
    _, match, ledger, last = done.output.splitlines()
    assert match.startswith(f"match {world.finished}: an entry between 1 and 7 is corrupt")
    assert ledger == f"ledger 1: the line of match {world.finished} is damaged"
    assert last.startswith("2 problems; ")
    assert "--accept" in last


def test_as_json(world: UsedServer) -> None:
    sound = json.loads(run("check", world.server.path, "--json").output)
    assert (sound["sound"], sound["matches"], sound["problems"]) == (True, 3, [])
    found = json.loads(run("check", damaged(world), "--json").output)
    assert found["sound"] is False
    assert [each["about"] for each in found["problems"]] == ["match", "ledger"]


def test_what_is_lost_is_accepted_once_for_all(world: UsedServer) -> None:
    path = damaged(world)
    flip_bit(path, "stream", "head", f"key = '{world.damaged}'")
    Path(f"{path}-mark").write_bytes(_ahead(path))
    assert run("check", path).exit_code == 1
    done = run("check", path, "--accept")
    assert done.exit_code == 0, done.output
    assert "2 accepted as lost" in done.output
    assert run("check", path).exit_code == 0
    world.restart(lambda path: None)
    assert world.running(world.intact) is not None
    assert world.running(world.damaged) is None
    assert world.server.backend.gauges()["damaged"] == 0
    [ada] = world.reconnect("ada")
    assert ada.ask("rejoin", match=world.damaged)["code"] == "damaged"
    world.server.advance(0.1)
    assert run("check", path).exit_code == 0


def _ahead(path: Path) -> bytes:
    """Return a watermark for a commit that is not in the database."""
    body = f"999999 {'0' * 32}"
    return f"{body} {zlib.crc32(body.encode()):08x}\n".encode()


def test_nothing_is_accepted_beside_a_server(world: UsedServer) -> None:
    world.restart(lambda path: flip_bit(path, "stream", "head", f"key = '{world.damaged}'"))
    done = run("check", world.server.path, "--accept")
    assert done.exit_code == 1
    assert "another server has" in done.output


def test_a_journal_that_misses_rows_is_accepted(world: UsedServer) -> None:
    path = world.server.path
    world.server.close()
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        last = db.execute("SELECT max(batch) FROM journal").fetchone()[0]
        db.execute("DELETE FROM journal WHERE batch = ?", (last - 1,))
    assert run("check", path).exit_code == 1
    done = run("check", path, "--accept")
    assert (done.exit_code, "accepted as lost" in done.output) == (0, True), done.output


def test_a_sound_database_has_nothing_to_accept(world: UsedServer) -> None:
    assert run("check", world.server.path, "--accept").exit_code == 0


def test_a_backup(world: UsedServer, tmp_path: Path) -> None:
    target = tmp_path / "monday.db"
    done = run("backup", target, "--db", world.server.path)
    assert done.exit_code == 0, done.output
    assert done.output.startswith(f"{target}: 3 matches (2 open)")
    assert run("check", target).exit_code == 0
    again = run("backup", target, "--db", world.server.path)
    assert (again.exit_code, "never replaces a file" in again.output) == (1, True)
    other = tmp_path / "tuesday.db"
    found = json.loads(run("backup", other, "--db", world.server.path, "--json").output)
    assert (found["file"], found["sound"]) == (str(other), True)


@pytest.mark.parametrize("command", [("check",), ("backup", "x.db", "--db")])
def test_a_database_that_is_not_there(command: tuple[str, ...], tmp_path: Path) -> None:
    done = run(*command, tmp_path / "nowhere.db")
    assert done.exit_code == 2
    assert "not found" in done.output
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", [("check",), ("check", "--accept")])
def test_the_check_does_not_refer_to_itself(command: tuple[str, ...], world: UsedServer) -> None:
    world.server.close()
    for at in (0, 100, 5000):
        with world.server.path.open("r+b") as file:
            file.seek(at)
            file.write(b"\xff" * 64)
        done = run(*command, world.server.path)
        assert done.exit_code == 1
        assert "see `kibitz db check`" not in done.output
    world.server.path.write_bytes(world.server.path.read_bytes()[:5000])
    assert "see `kibitz db check`" not in run(*command, world.server.path).output


def test_a_lock_is_no_hindrance_to_looking(world: UsedServer) -> None:
    world.server.close()
    with lock(world.server.path):
        assert run("check", world.server.path).exit_code == 0


@pytest.mark.parametrize("words", [("check", "URL"), ("backup", "copy.db", "--db", "URL")])
def test_what_is_for_sqlite_files_says_so(words: tuple[str, ...]) -> None:
    url = "postgresql://ada:s3cret@127.0.0.1:1/games"
    done = run(*(url if word == "URL" else word for word in words))
    assert done.exit_code == 1
    assert "'postgresql://ada@127.0.0.1:1/games' is not a SQLite file" in done.output
    assert "pg_" in done.output
    assert "s3cret" not in done.output


def test_known_faults_of_sqlite_are_named_where_the_file_is_damaged(
    world: UsedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 40, 1))
    world.restart(lambda path: None)
    world.server.close()
    assert "note: " not in run("check", world.server.path).output
    pages = bytearray(world.server.path.read_bytes())
    pages[-4096:] = bytes(4096)
    world.server.path.write_bytes(pages)
    assert "note: SQLite 3.40.1 may damage a database" in run("check", world.server.path).output
