"""Damaged databases: what is damaged is set aside and said so, and all else goes on as it was."""

from __future__ import annotations

import contextlib
import json
import random
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from kibitz_protocol.recordfile import chain
from kibitz_server import journal
from kibitz_server.database import StoreError, WriteFailed
from kibitz_server.examine import examine
from kibitz_server.lobby import Begin
from kibitz_server.store import Store
from tests.tools.lived import PLIES, World, flip, lived, of_stream, play
from tests.tools.parlour import Guest, Parlour


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with lived(tmp_path) as world:
        yield world


# --- kinds of damage --------------------------------------------------------------------------


def in_head(world: World) -> Callable[[Path], None]:
    return lambda path: flip(path, "stream", "head", f"key = '{world.hurt}'")


def in_stretch(world: World) -> Callable[[Path], None]:
    return lambda path: flip(path, "stretch", "lines", of_stream(world.hurt), 0.95)


def in_link(world: World) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            db.execute(f"UPDATE stretch SET chain = 'x' WHERE {of_stream(world.hurt)}")

    return damage


def without_stretch(world: World) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            db.execute(f"DELETE FROM checkpoint WHERE {of_stream(world.hurt)}")
            db.execute(f"DELETE FROM stretch WHERE {of_stream(world.hurt)} AND first = 1")

    return damage


def in_head_as_text(world: World) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            db.execute("UPDATE stream SET head = 'text' WHERE key = ?", (world.hurt,))

    return damage


def as_another(changes: dict[str, Any]) -> Callable[[World], Callable[[Path], None]]:
    """Write a setup that is valid, links and all, but not one that this server can play."""

    def of(world: World) -> Callable[[Path], None]:
        def damage(path: Path) -> None:
            with closing(sqlite3.connect(path, isolation_level=None)) as db:
                [head] = db.execute(
                    "SELECT head FROM stream WHERE key = ?", (world.hurt,)
                ).fetchone()
                fields = json.loads(head) | changes
                rewrite(db, world.hurt, json.dumps(fields).encode())

        return damage

    return of


def rewrite(db: sqlite3.Connection, key: str, head: bytes) -> None:
    """Give a stream another head, and all its entries links that follow from it."""
    journal.recover(db)
    link = chain("", head)
    db.execute("UPDATE stream SET head = ?, link = ? WHERE key = ?", (head, link, key))
    rows = db.execute(
        f"SELECT rowid, lines FROM stretch WHERE {of_stream(key)} ORDER BY first"
    ).fetchall()
    for rowid, lines in rows:
        for line in lines.split(b"\n"):
            link = chain(link, line)
        db.execute("UPDATE stretch SET chain = ? WHERE rowid = ?", (link, rowid))
    db.execute(f"DELETE FROM checkpoint WHERE {of_stream(key)}")


def broken_log(world: World) -> Callable[[Path], None]:
    """Write entries whose links fit and that are no match."""

    def damage(path: Path) -> None:
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            journal.recover(db)
            rowid, lines = db.execute(
                f"SELECT rowid, lines FROM stretch WHERE {of_stream(world.hurt)} AND first = 1"
            ).fetchone()
            wrong = lines.replace(b'"ply":9', b'"ply":8')
            assert wrong != lines
            db.execute("UPDATE stretch SET lines = ? WHERE rowid = ?", (wrong, rowid))
            [head] = db.execute("SELECT head FROM stream WHERE key = ?", (world.hurt,)).fetchone()
            rewrite(db, world.hurt, head)

    return damage


MATCHES = {
    "a byte of the head": (in_head, "its head is damaged"),
    "a head of another type": (in_head_as_text, "expected bytes"),
    "a byte of an entry": (in_stretch, "is damaged"),
    "a link": (in_link, "is damaged"),
    "a stretch that is gone": (without_stretch, ""),
    "a game that is not here": (as_another({"game": "toy-chess"}), "has no game 'toy-chess'"),
    "other rules": (as_another({"rules_version": 7}), "rules version 7"),
    "the setup of another match": (as_another({"match": "m"}), "is that of match 'm'"),
    "options that cannot be": (as_another({"options": {"columns": -1}}), "columns"),
    "a log that does not fold": (broken_log, "is not the turn"),
}


@pytest.mark.parametrize("name", MATCHES)
def test_a_damaged_match_is_set_aside_and_the_others_go_on(
    world: World, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    damage, expected = MATCHES[name]
    world.restart(lambda path: None)
    well, past = world.running(world.well), world.parlour.page(f"/records/{world.past}.jsonl")
    caplog.clear()
    world.restart(damage(world))
    assert world.running(world.well) == well
    assert world.parlour.page(f"/records/{world.past}.jsonl") == past
    assert world.running(world.hurt) is None
    told = [line for line in caplog.messages if world.hurt in line]
    assert len(told) == 1
    assert f"match {world.hurt} is set aside, its log is damaged: " in told[0]
    assert expected in told[0]
    _require_refusals(world)
    _require_the_match_again(world)
    _require_no_traceback(caplog)
    assert world.parlour.hall.gauges()["damaged"] == 1
    caplog.clear()
    world.restart(lambda path: None)
    assert [line for line in caplog.messages if world.hurt in line and "set aside" in line]
    assert world.running(world.hurt) is None
    assert world.parlour.hall.gauges()["damaged"] == 1


def _require_refusals(world: World) -> None:
    """Whoever asks for the match is told that it is damaged, and nothing of what is in it."""
    ada, _ = world.come("ada", "bob")
    asked = (
        ada.ask("rejoin", match=world.hurt),
        ada.ask("move", match=world.hurt, ply=PLIES, action={"x": 0, "y": 0}),
        ada.ask("history", match=world.hurt),
        ada.ask("report", match=world.hurt),
        ada.ask("watch", match=world.hurt),
        ada.ask("resign", match=world.hurt),
    )
    for answer in asked:
        assert (answer["type"], answer["code"]) == ("refused", "damaged"), answer
        assert answer["message"] == f"the log of {world.hurt!r} is damaged: it does not go on"


def _require_the_match_again(world: World) -> None:
    """Its lobby plays it once more, under another name, and rates nothing."""
    world.parlour.wait(1)
    again = world.running(f"{world.hurt}b")
    assert again is not None
    assert again[1] == 0
    play(world.parlour, f"{world.hurt}b", 2, world.guests["ada"], world.guests["bob"])


def _require_no_traceback(caplog: pytest.LogCaptureFixture) -> None:
    raised = [record for record in caplog.records if record.exc_info]
    assert not raised, [record.getMessage() for record in raised]


def test_a_match_that_has_lost_entries_before_its_checkpoint_goes_on(world: World) -> None:
    """What a checkpoint has replaced is not read at a start; the check finds it."""
    world.restart(lambda path: None)
    hurt = world.running(world.hurt)
    world.restart(lambda path: flip(path, "stretch", "lines", of_stream(world.hurt), 0.02))
    assert world.running(world.hurt) == hurt
    ada, bob = world.come("ada", "bob")
    ada.ask("rejoin", match=world.hurt)
    bob.ask("rejoin", match=world.hurt)
    play(world.parlour, world.hurt, 2, ada, bob)
    found = examine(world.parlour.path)
    assert [str(problem) for problem in found.problems if problem.name == world.hurt]


def test_a_damaged_checkpoint_costs_time_and_nothing_else(world: World) -> None:
    world.restart(lambda path: None)
    before = world.running(world.hurt), world.running(world.well)
    for column in ("data", "link"):
        world.restart(_text_or_bytes(column, world))
        assert (world.running(world.hurt), world.running(world.well)) == before
    world.restart(lambda path: _execute(path, "UPDATE checkpoint SET seq = seq - 1"))
    assert (world.running(world.hurt), world.running(world.well)) == before
    world.restart(lambda path: _execute(path, "UPDATE checkpoint SET seq = 999"))
    assert (world.running(world.hurt), world.running(world.well)) == before
    world.restart(lambda path: _execute(path, "DELETE FROM checkpoint"))
    assert (world.running(world.hurt), world.running(world.well)) == before
    assert world.parlour.hall.gauges()["damaged"] == 0


def _text_or_bytes(column: str, world: World) -> Callable[[Path], None]:
    if column == "data":
        return lambda path: flip(path, "checkpoint", "data", of_stream(world.hurt))
    return lambda path: _execute(path, "UPDATE checkpoint SET link = '0' || substr(link, 2)")


def _execute(path: Path, sql: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute(sql)


def test_a_checkpoint_is_used_and_goes_with_the_end_of_its_match(world: World) -> None:
    world.restart(lambda path: None)
    kept = world.parlour.store.load("match")
    assert [stored.checkpoint is not None for stored in kept] == [True, True]
    assert all(len(stored.lines) < 8 for stored in kept)
    ada, _ = world.come("ada", "bob")
    ada.ask("rejoin", match=world.hurt)
    ada.ask("resign", match=world.hurt)
    rows = world.parlour.store.rows("SELECT count(*) FROM checkpoint", ())
    assert rows == [(1,)]


@pytest.mark.parametrize("place", [0.1, 0.5, 0.9])
def test_a_damaged_journal_hurts_whom_it_concerns(
    world: World, place: float, caplog: pytest.LogCaptureFixture
) -> None:
    """The entries that no stretch has yet: here all of them, one batch an entry."""
    well = world.running(world.well)
    number = world.parlour.hall.tables[world.hurt].stream.number
    world.restart(lambda path: flip(path, "journal", "lines", f"ends GLOB '{number}:*'", place))
    assert world.running(world.well) == well
    assert world.running(world.hurt) is None
    _require_refusals(world)
    _require_the_match_again(world)
    _require_no_traceback(caplog)


def test_damaged_summaries_and_ledger_lines_are_left_out(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    def damage(path: Path) -> None:
        flip(path, "stream", "summary", f"key = '{world.past}'", 0.0)
        flip(path, "ledger", "line", f"match = '{world.past}'", 0.0)

    before = world.running(world.hurt), world.running(world.well)
    world.restart(damage)
    assert (world.running(world.hurt), world.running(world.well)) == before
    [ada] = world.come("ada")
    listed = ada.ask("list_matches")["matches"]
    assert sorted(each["match"] for each in listed) == sorted([world.hurt, world.well])
    assert ada.ask("ladder")["games"] == []
    assert "the summary of a finished match is damaged: lists do not show it" in caplog.messages
    assert "line 1 of the ledger is damaged: its match counts for nobody" in caplog.messages
    _require_no_traceback(caplog)


def test_a_result_whose_summary_is_damaged_is_read_from_the_record(world: World) -> None:
    """A lobby that did not hear of the end of its match is told what the footer says."""
    ada, _ = world.guests["ada"], world.guests["bob"]
    ada.ask("resign", match=world.hurt)
    world.restart(lambda path: _unhear(path, world))
    roll = world.parlour.hall.rooms[world.lobby].lobby.roll
    assert (roll.ended, roll.aborted, len(roll.repeated)) == (1, 0, 0)


def _unhear(path: Path, world: World) -> None:
    """Cut the end of the match out of its lobby's log, and damage the match's summary."""
    flip(path, "stream", "summary", f"key = '{world.hurt}'", 0.0)
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        number = db.execute("SELECT number FROM stream WHERE key = ?", (world.lobby,)).fetchone()[0]
        journal.recover(db)
        rowid, link, lines = db.execute(
            "SELECT rowid, chain, lines FROM stretch WHERE stream = ? ORDER BY first DESC LIMIT 1",
            (number,),
        ).fetchone()
        kept = [line for line in lines.split(b"\n") if b'"kind":"match_ended"' not in line]
        assert b"\n".join(kept) != lines
        [head] = db.execute("SELECT head FROM stream WHERE number = ?", (number,)).fetchone()
        link = chain("", head)
        for line in kept:
            link = chain(link, line)
        db.execute(
            "UPDATE stretch SET last = ?, chain = ?, lines = ? WHERE rowid = ?",
            (len(kept), link, b"\n".join(kept), rowid),
        )


# --- lobbies ----------------------------------------------------------------------------------


@pytest.mark.parametrize("column", ["head", "lines"])
def test_a_damaged_lobby_is_set_aside_and_its_match_is_played_on(
    world: World, column: str, caplog: pytest.LogCaptureFixture
) -> None:
    world.restart(lambda path: None)
    hurt, well = world.running(world.hurt), world.running(world.well)
    where = f"key = '{world.lobby}'" if column == "head" else of_stream(world.lobby)
    table = "stream" if column == "head" else "stretch"
    world.restart(lambda path: flip(path, table, column, where))
    assert (world.running(world.hurt), world.running(world.well)) == (hurt, well)
    assert world.lobby not in world.parlour.hall.rooms
    assert [line for line in caplog.messages if line.startswith(f"lobby {world.lobby} is set")]
    ada, bob = world.come("ada", "bob")
    welcome = [each for each in ada.messages() if each["type"] == "welcome"][-1]
    assert (welcome["seats"], welcome["lobbies"]) == ([world.hurt], [])
    assert ada.ask("join", lobby=world.lobby)["code"] == "damaged"
    assert ada.ask("close", lobby=world.lobby)["code"] == "damaged"
    for player in (ada, bob):
        assert player.ask("rejoin", match=world.hurt)["type"] == "done"
    play(world.parlour, world.hurt, 2, ada, bob)
    ada.ask("resign", match=world.hurt)
    assert b'"kind":"end"' in world.parlour.page(f"/records/{world.hurt}.jsonl")
    _require_no_traceback(caplog)


def test_a_match_with_a_house_bot_ends_with_its_lobby(world: World) -> None:
    table = world.parlour.hall.tables[world.hurt]
    house = table.match.players[1].model_copy(update={"kind": "house"})
    table.match.players = (table.match.players[0], house)
    room = world.parlour.hall.rooms[world.lobby]
    world.parlour.hall.room_gone(room, StoreError("an entry is not one"))
    world.parlour.wait(0.1)
    assert world.running(world.hurt) is None
    record = world.parlour.page(f"/records/{world.hurt}.jsonl")
    assert b'"cause":"infrastructure"' in record


# --- while it runs ----------------------------------------------------------------------------


def test_a_log_that_cannot_be_read_again_is_set_aside(
    world: World, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a failed write a match is loaded again; the disk may have become worse meanwhile."""

    damaged = StoreError("entry 3 does not continue the chain")
    hall = world.parlour.hall
    monkeypatch.setattr(world.parlour.store, "reload", answering({world.hurt: damaged}))
    hall.unwritten(hall.tables[world.hurt], WriteFailed("the disk is full"))
    world.parlour.wait(2)
    assert world.running(world.hurt) is None
    assert hall.quarantine.reason(world.hurt) is not None
    roll = hall.rooms[world.lobby].lobby.roll
    assert (list(roll.running), roll.repeated) == ([], {1})
    world.restart(lambda path: None)
    assert world.parlour.hall.quarantine.reason(world.hurt) is not None


def answering(found: dict[str, Any]) -> Any:
    """Return a `Store.reload` that finds this."""

    async def reload(keys: list[str]) -> dict[str, Any]:
        return {key: found[key] for key in keys}

    return reload


def test_a_lobby_that_cannot_be_read_again_is_set_aside(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    hall = world.parlour.hall
    damaged = StoreError("entry 3 does not continue the chain")
    monkeypatch.setattr(world.parlour.store, "reload", answering({world.lobby: damaged}))
    before = world.running(world.hurt)
    hall.room_unwritten(hall.rooms[world.lobby], WriteFailed("the disk is full"))
    world.parlour.wait(2)
    assert world.lobby not in hall.rooms
    assert hall.quarantine.reason(world.lobby) is not None
    assert world.running(world.hurt) == before
    for name in ("ada", "bob"):
        closed = [m for m in world.guests[name].messages() if m["type"] == "lobby_closed"]
        assert [each["lobby"] for each in closed] == [world.lobby]


def test_a_disk_that_fails_is_no_damage(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    async def failing(keys: list[str]) -> Any:
        raise StoreError("cannot read: disk I/O error")

    hall = world.parlour.hall
    before = world.running(world.hurt)
    with monkeypatch.context() as patch:
        patch.setattr(world.parlour.store, "reload", failing)
        hall.unwritten(hall.tables[world.hurt], WriteFailed("the disk is full"))
        world.parlour.wait(2)
    assert hall.quarantine.reason(world.hurt) is None
    world.restart(lambda path: None)
    assert world.running(world.hurt) == before


def test_a_disk_that_fails_at_the_start_sets_nothing_aside(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.restart(lambda path: None)
    before = world.running(world.hurt)

    def failing(*_: object) -> Any:
        error = sqlite3.OperationalError("disk I/O error")
        error.sqlite_errorcode = sqlite3.SQLITE_IOERR
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(Store, "whole", failing)
        with pytest.raises(StoreError, match="the disk reports an error"):
            world.restart(lambda path: _execute(path, "UPDATE checkpoint SET data = x'00'"))
    world.restart(lambda path: None)
    assert world.running(world.hurt) == before
    assert world.parlour.hall.gauges()["damaged"] == 0


def test_a_match_that_exists_is_not_begun_again(world: World) -> None:
    """A lobby's log that lost its end must not poison a batch with a second stream of a name."""
    hall = world.parlour.hall
    room = hall.rooms[world.lobby]
    [planned] = room.lobby.roll.running.values()
    del hall.tables[world.hurt]
    hall.begin(room, Begin(world.hurt, planned))
    world.parlour.wait(0.1)
    assert world.parlour.store.healthy
    play(world.parlour, world.well, 1, *_turns(world))


def _turns(world: World) -> list[Guest]:
    return [world.guests["cat"], world.guests["dan"]]


def test_a_finished_record_that_is_damaged_is_not_handed_out(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.restart(lambda path: flip(path, "stretch", "lines", of_stream(world.past)))
    assert world.parlour.page(f"/records/{world.past}.jsonl").startswith(b"HTTP/1.1 404")
    [ada] = world.come("ada")
    assert ada.ask("history", match=world.past)["code"] == "damaged"
    assert ada.ask("report", match=world.past)["code"] == "damaged"
    assert ada.ask("rejoin", match=world.past)["code"] == "damaged"
    assert [line for line in caplog.messages if line.startswith(f"match {world.past} is set aside")]


# --- files ------------------------------------------------------------------------------------


def crashed(world: World, directory: Path) -> Path:
    """Copy the files of a running server as a crash leaves them; return the database's."""
    directory.mkdir()
    copy = directory / "kibitz.db"
    for suffix in ("", "-wal", "-mark"):
        Path(f"{copy}{suffix}").write_bytes(Path(f"{world.parlour.path}{suffix}").read_bytes())
    return copy


def started(world: World, path: Path) -> str | None:
    """Start a server with a database; return why it will not, else require all that was told."""
    try:
        parlour = Parlour(world.parlour.games, path)
    except StoreError as error:
        return str(error)
    try:
        found = World(parlour, {}, world.hurt, world.well, world.past)
        for match in (world.hurt, world.well):
            aside = parlour.hall.quarantine.reason(match)
            assert aside or found.running(match) == world.running(match)
        assert parlour.page(f"/records/{world.past}.jsonl").startswith(b"HTTP/1.1 200")
    finally:
        parlour.close()
    return None


def test_what_a_crash_leaves_is_taken_up(world: World, tmp_path: Path) -> None:
    assert started(world, crashed(world, tmp_path / "crash")) is None


@pytest.mark.parametrize("share", [0.0, 0.001, 0.2, 0.5, 0.8, 0.95, 0.9999])
def test_a_log_that_was_cut_off_is_refused(world: World, tmp_path: Path, share: float) -> None:
    """SQLite takes what is left for all there is; the mark knows better."""
    path = crashed(world, tmp_path / "crash")
    wal = Path(f"{path}-wal")
    whole = wal.read_bytes()
    assert len(whole) > 100_000
    wal.write_bytes(whole[: int(share * len(whole))])
    why = started(world, path)
    assert why is not None
    assert "is missing" in why
    wal.write_bytes(whole)
    path.unlink()
    path.write_bytes(crashed(world, tmp_path / "again").read_bytes())
    assert started(world, path) is None, "the missing end was put back"


@pytest.mark.parametrize("place", [0.0, 0.1, 0.5, 0.9, 1.0])
def test_a_byte_of_the_log_is_refused_or_hurts_nobody(
    world: World, tmp_path: Path, place: float
) -> None:
    path = crashed(world, tmp_path / "crash")
    wal = Path(f"{path}-wal")
    changed = bytearray(wal.read_bytes())
    changed[int(place * (len(changed) - 1))] ^= 1
    wal.write_bytes(changed)
    started(world, path)


@pytest.mark.parametrize("how", ["no log", "no database", "empty database", "cut database"])
def test_files_that_do_not_belong_together_are_refused(
    world: World, tmp_path: Path, how: str
) -> None:
    path = crashed(world, tmp_path / "crash")
    match how:
        case "no log":
            Path(f"{path}-wal").unlink()
        case "no database":
            path.unlink()
        case "empty database":
            path.write_bytes(b"")
        case "cut database":
            Path(f"{path}-wal").unlink()
            path.write_bytes(path.read_bytes()[:-4096])
    why = started(world, path)
    assert why is not None
    assert str(path) in why
    assert "\n" not in why


def test_a_server_starts_with_every_other_byte_of_a_database_changed(
    world: World, tmp_path: Path
) -> None:
    """Wherever a bit of the file flips, the start is refused in a sentence or sets things aside.

    Content that nothing repeats, such as a player's name, may be another one.
    """
    world.restart(lambda path: None)
    world.parlour.close()
    data = world.parlour.path.read_bytes()
    source = random.Random(7)
    for number in range(60):
        path = tmp_path / f"flip{number}.db"
        changed = bytearray(data)
        changed[source.randrange(len(data))] ^= 1 << source.randrange(8)
        path.write_bytes(changed)
        with contextlib.suppress(StoreError):
            parlour = Parlour(world.parlour.games, path)
            known = parlour.hall.tables.keys() | parlour.hall.quarantine._fresh.keys()
            found = {each.key for each in parlour.store.damaged()} | known
            assert {world.hurt, world.well} <= found
            parlour.close()


def test_a_text_that_is_none_hurts_its_stream_alone(world: World) -> None:
    world.restart(lambda path: None)
    well = world.running(world.well)
    sql = f"UPDATE stretch SET chain = CAST(x'ff00' AS TEXT) WHERE {of_stream(world.hurt)}"
    world.restart(lambda path: _execute(path, sql))
    assert world.running(world.well) == well
    assert world.parlour.hall.quarantine.reason(world.hurt) is not None


def test_a_damaged_schema_is_one_sentence(world: World) -> None:
    """What SQLite says of it may be no text at all."""
    world.restart(lambda path: None)

    def damage(path: Path) -> None:
        data = path.read_bytes()
        changed = data.replace(b"CREATE TABLE stretch", b"CREATE \xedABLE stretch")
        assert changed != data
        path.write_bytes(changed)

    with pytest.raises(StoreError, match=r"parlour.db' is damaged, or was cut off"):
        world.restart(damage)


def test_a_damaged_page_is_one_sentence(world: World) -> None:
    world.restart(lambda path: None)

    def damage(path: Path) -> None:
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            root, size = db.execute(
                "SELECT rootpage, (SELECT page_size FROM pragma_page_size) FROM sqlite_master"
                " WHERE name = 'stretch_by_stream'"
            ).fetchone()
        data = bytearray(path.read_bytes())
        data[(root - 1) * size : (root - 1) * size + 8] = b"damaged!"
        path.write_bytes(data)

    with pytest.raises(StoreError, match=r"parlour.db' is damaged, or was cut off"):
        world.restart(damage)
