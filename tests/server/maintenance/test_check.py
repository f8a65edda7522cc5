"""The database check finds all damage and reports no false positives."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from kibitz_server.maintenance.check import check_database
from kibitz_server.storage.errors import ForeignDatabase, UnusableDatabase
from kibitz_server.storage.sqlite import journal
from tests.tools.used_server import UsedServer, flip_bit, play_plies, used_server, where_stream

Damage = Callable[[Path, UsedServer], None]


@pytest.fixture
def world(tmp_path: Path) -> Iterator[UsedServer]:
    with used_server(tmp_path) as world:
        yield world


def stopped(world: UsedServer) -> Path:
    """End the server, after a start has moved the journal into segments; return the file."""
    world.restart(lambda path: None)
    world.server.close()
    return world.server.path


def execute(path: Path, sql: str, *values: object) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute(sql, values)


def files(path: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in sorted(path.parent.glob(f"{path.name}*"))}


# --- sound databases --------------------------------------------------------------------------


def test_a_database_is_sound_beside_its_server_and_after_it(world: UsedServer) -> None:
    path = world.server.path
    beside = check_database(path)
    assert beside.problems == []
    assert (beside.matches, beside.matches_open) == (3, 2)
    assert (beside.lobbies, beside.lobbies_open, beside.rated) == (3, 3, 1)
    play_plies(world.server, world.damaged, 2, world.guests["ada"], world.guests["bob"])
    assert check_database(path).entries == beside.entries + 2
    world.server.close()
    assert check_database(path).problems == []
    world.restart(lambda path: None)
    assert check_database(path).problems == []


def test_looking_changes_nothing(world: UsedServer) -> None:
    path = world.server.path
    copy = path.with_name("crashed.db")
    for suffix in ("", "-wal", "-mark"):
        Path(f"{copy}{suffix}").write_bytes(Path(f"{path}{suffix}").read_bytes())
    before = files(copy)
    assert before["crashed.db-wal"]
    assert check_database(copy).sound
    after = files(copy)
    assert {name: after[name] for name in before} == before
    path = stopped(world)
    before = files(path)
    assert check_database(path).sound
    assert files(path) == before


# --- damaged databases ------------------------------------------------------------------------


def _head(path: Path, world: UsedServer) -> None:
    flip_bit(path, "stream", "head", f"key = '{world.damaged}'")


def _entry(path: Path, world: UsedServer) -> None:
    flip_bit(path, "stretch", "lines", where_stream(world.damaged), 0.3)


def _link(path: Path, world: UsedServer) -> None:
    execute(path, f"UPDATE stretch SET chain = 'x' WHERE {where_stream(world.damaged)}")


def _gap(path: Path, world: UsedServer) -> None:
    execute(path, f"UPDATE stretch SET first = 2 WHERE {where_stream(world.damaged)} AND first = 1")


def _past_entry(path: Path, world: UsedServer) -> None:
    flip_bit(path, "stretch", "lines", where_stream(world.finished))


def _footer(path: Path, world: UsedServer) -> None:
    flip_bit(path, "stream", "footer", f"key = '{world.finished}'", 0.97)


def _no_footer(path: Path, world: UsedServer) -> None:
    execute(path, "UPDATE stream SET footer = NULL WHERE key = ?", world.finished)


def _summary(path: Path, world: UsedServer) -> None:
    flip_bit(path, "stream", "summary", f"key = '{world.finished}'", 0.0)


def _other_summary(path: Path, world: UsedServer) -> None:
    execute(
        path,
        "UPDATE stream SET summary ="
        " CAST(replace(CAST(summary AS TEXT), '\"rank\":1', '\"rank\":2') AS BLOB) WHERE key = ?",
        world.finished,
    )


def _ledger(path: Path, world: UsedServer) -> None:
    flip_bit(path, "ledger", "line", f"match = '{world.finished}'", 0.0)


def _other_ranks(path: Path, world: UsedServer) -> None:
    execute(
        path,
        "UPDATE ledger SET line ="
        " CAST(replace(CAST(line AS TEXT), '\"ranks\":[', '\"ranks\":[3,') AS BLOB)",
    )


def _lobby(path: Path, world: UsedServer) -> None:
    flip_bit(path, "stretch", "lines", where_stream(world.lobby))


def _lobby_head(path: Path, world: UsedServer) -> None:
    execute(path, "UPDATE stream SET head = 'text' WHERE key = ?", world.lobby)


DAMAGES: dict[str, tuple[Damage, str]] = {
    "head": (_head, "match {hurt}: its head differs from the one that was written"),
    "entry": (_entry, "match {hurt}: an entry between 1 and "),
    "link": (_link, "match {hurt}: an entry between 1 and "),
    "gap": (_gap, "match {hurt}: entries 1 to 1 are missing"),
    "an entry of the past": (_past_entry, "match {past}: an entry between 1 and 7 is corrupt"),
    "footer": (_footer, "match {past}: its end "),
    "no footer": (_no_footer, "match {past}: its end is damaged"),
    "summary": (_summary, "match {past}: its summary is damaged"),
    "another summary": (_other_summary, "match {past}: its summary does not match its result"),
    "ledger": (_ledger, "ledger 1: the line of match {past} is damaged"),
    "other ranks": (_other_ranks, "ledger 1: the line does not match the result of {past}"),
    "lobby": (_lobby, "lobby {lobby}: an entry between 1 and "),
    "a lobby's head": (_lobby_head, "lobby {lobby}: its head is damaged"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_every_damage_is_found_and_named(world: UsedServer, name: str) -> None:
    damage, expected = DAMAGES[name]
    path = stopped(world)
    damage(path, world)
    expected = expected.format(hurt=world.damaged, past=world.finished, lobby=world.lobby)
    found = [str(problem) for problem in check_database(path).problems]
    assert len(found) == 1, found
    assert found[0].startswith(expected)


def test_a_damaged_journal_is_found_and_what_it_hurts(world: UsedServer) -> None:
    number = world.server.backend.registry.matches[world.damaged].stream.number
    world.server.close()
    path = world.server.path
    flip_bit(path, "journal", "lines", f"ends GLOB '{number}:*'")
    found = check_database(path).problems
    assert [problem.about for problem in found] == ["journal", "match"]
    assert (found[1].name, "is damaged" in found[1].text) == (world.damaged, True)


def test_rows_of_the_journal_that_are_missing_are_found(world: UsedServer) -> None:
    world.server.close()
    path = world.server.path
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        last = journal.last_batch(db)
        db.execute("DELETE FROM journal WHERE batch = ?", (last - 1,))
    found = [str(problem) for problem in check_database(path).problems]
    assert f"journal batch {last - 1}: is missing" in found


def test_what_was_set_aside_is_named_until_it_is_accepted(world: UsedServer) -> None:
    world.restart(lambda path: None)
    world.restart(lambda path: _head(path, world))
    [problem] = check_database(world.server.path).problems
    assert (problem.about, problem.name) == ("match", world.damaged)
    assert problem.text.startswith("set aside 20")
    assert problem.text.endswith(": its head is damaged")


def test_commits_that_are_missing_are_found(world: UsedServer) -> None:
    path = stopped(world)
    before = path.read_bytes()
    world.server._start()
    ada, bob = world.reconnect("ada", "bob")
    for player in (ada, bob):
        player.ask("rejoin", match=world.damaged)
    play_plies(world.server, world.damaged, 2, ada, bob)
    world.server.close()
    path.write_bytes(before)
    [problem] = check_database(path).problems
    assert problem.about == "mark"
    assert "are missing" in problem.text
    assert check_database(path, marked=False).sound


def test_a_file_whose_structure_is_damaged_is_found(world: UsedServer) -> None:
    path = stopped(world)
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        [root] = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'player'").fetchone()
        size = db.execute("PRAGMA page_size").fetchone()[0]
    data = bytearray(path.read_bytes())
    at = (root - 1) * size
    data[at : at + 16] = os.urandom(16)
    path.write_bytes(data)
    assert "file" in {problem.about for problem in check_database(path).problems}


# --- other files ------------------------------------------------------------------------------


def test_what_cannot_be_examined_is_said_in_a_sentence(world: UsedServer, tmp_path: Path) -> None:
    with pytest.raises(UnusableDatabase, match="there is no database"):
        check_database(tmp_path / "nowhere.db")
    other = tmp_path / "other.db"
    other.write_bytes(b"something else entirely, and long enough to be read" * 100)
    with pytest.raises(ForeignDatabase, match="is not an SQLite database"):
        check_database(other)
    path = stopped(world)
    execute(path, "PRAGMA user_version = 2")
    with pytest.raises(ForeignDatabase, match=r"schema version 2 from before kibitz 0\.1"):
        check_database(path)
    execute(path, "PRAGMA user_version = 99")
    with pytest.raises(ForeignDatabase, match="schema version 99"):
        check_database(path)
    execute(path, "PRAGMA application_id = 1")
    with pytest.raises(ForeignDatabase, match="is not a kibitz database"):
        check_database(path)
