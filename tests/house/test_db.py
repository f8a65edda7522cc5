"""`kibitz db`: what it prints, with which status, beside a server and without one."""

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
from kibitz_server.database import lock
from tests.tools.lived import World, flip, lived, of_stream


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with lived(tmp_path) as world:
        yield world


def run(*words: object) -> Result:
    done = CliRunner().invoke(kibitz, ["db", *map(str, words)])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


def damaged(world: World) -> Path:
    world.restart(lambda path: None)
    world.parlour.close()
    flip(world.parlour.path, "stretch", "lines", of_stream(world.past))
    flip(world.parlour.path, "ledger", "line", f"match = '{world.past}'", 0.0)
    return world.parlour.path


def test_a_sound_database(world: World) -> None:
    done = run("check", world.parlour.path)
    assert done.exit_code == 0
    first, last = done.output.splitlines()
    assert first.startswith(f"{world.parlour.path}: 3 matches (2 open), 3 lobbies (3 open), ")
    assert first.endswith(" entries, 1 rated")
    assert last == "sound: everything is there, as it was written"


def test_a_damaged_database(world: World) -> None:
    path = damaged(world)
    done = run("check", path)
    assert done.exit_code == 1
    _, match, ledger, last = done.output.splitlines()
    assert match.startswith(f"match {world.past}: an entry between 1 and 3 is not")
    assert ledger == f"ledger 1: the line of match {world.past} is damaged"
    assert last.startswith("2 problems; ")
    assert "--accept" in last


def test_as_json(world: World) -> None:
    sound = json.loads(run("check", world.parlour.path, "--json").output)
    assert (sound["sound"], sound["matches"], sound["problems"]) == (True, 3, [])
    found = json.loads(run("check", damaged(world), "--json").output)
    assert found["sound"] is False
    assert [each["about"] for each in found["problems"]] == ["match", "ledger"]


def test_what_is_lost_is_accepted_once_for_all(world: World) -> None:
    path = damaged(world)
    flip(path, "stream", "head", f"key = '{world.hurt}'")
    Path(f"{path}-mark").write_bytes(_ahead(path))
    assert run("check", path).exit_code == 1
    done = run("check", path, "--accept")
    assert done.exit_code == 0, done.output
    assert "2 accepted as lost" in done.output
    assert run("check", path).exit_code == 0
    world.restart(lambda path: None)
    assert world.running(world.well) is not None
    assert world.running(world.hurt) is None
    assert world.parlour.hall.gauges()["damaged"] == 0
    [ada] = world.come("ada")
    assert ada.ask("rejoin", match=world.hurt)["code"] == "damaged"
    world.parlour.wait(0.1)
    assert run("check", path).exit_code == 0


def _ahead(path: Path) -> bytes:
    """Return a mark of a commit that the database lacks."""
    body = f"999999 {'0' * 32}"
    return f"{body} {zlib.crc32(body.encode()):08x}\n".encode()


def test_nothing_is_accepted_beside_a_server(world: World) -> None:
    world.restart(lambda path: flip(path, "stream", "head", f"key = '{world.hurt}'"))
    done = run("check", world.parlour.path, "--accept")
    assert done.exit_code == 1
    assert "another server has" in done.output


def test_a_journal_that_misses_rows_is_accepted(world: World) -> None:
    path = world.parlour.path
    world.parlour.close()
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        last = db.execute("SELECT max(batch) FROM journal").fetchone()[0]
        db.execute("DELETE FROM journal WHERE batch = ?", (last - 1,))
    assert run("check", path).exit_code == 1
    done = run("check", path, "--accept")
    assert (done.exit_code, "accepted as lost" in done.output) == (0, True), done.output


def test_a_sound_database_has_nothing_to_accept(world: World) -> None:
    assert run("check", world.parlour.path, "--accept").exit_code == 0


def test_a_backup(world: World, tmp_path: Path) -> None:
    target = tmp_path / "monday.db"
    done = run("backup", target, "--db", world.parlour.path)
    assert done.exit_code == 0, done.output
    assert done.output.startswith(f"{target}: 3 matches (2 open)")
    assert run("check", target).exit_code == 0
    again = run("backup", target, "--db", world.parlour.path)
    assert (again.exit_code, "replaces nothing" in again.output) == (1, True)
    other = tmp_path / "tuesday.db"
    found = json.loads(run("backup", other, "--db", world.parlour.path, "--json").output)
    assert (found["file"], found["sound"]) == (str(other), True)


@pytest.mark.parametrize("command", [("check",), ("backup", "x.db", "--db")])
def test_a_database_that_is_not_there(command: tuple[str, ...], tmp_path: Path) -> None:
    done = run(*command, tmp_path / "nowhere.db")
    assert done.exit_code == 1
    assert "there is no database" in done.output
    assert list(tmp_path.iterdir()) == []


def test_a_lock_is_no_hindrance_to_looking(world: World) -> None:
    world.parlour.close()
    with lock(world.parlour.path):
        assert run("check", world.parlour.path).exit_code == 0
