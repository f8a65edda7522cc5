"""Damaged databases: damaged parts are set aside and reported, and everything else continues."""

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

from kibitz_protocol.wire.recordfile import chain_hash
from kibitz_server.directory.recovery import StoredLog
from kibitz_server.lobby.commands import BeginMatch
from kibitz_server.maintenance.check import check_database
from kibitz_server.storage.errors import StoreError, WriteFailed
from kibitz_server.storage.sqlite import journal, streams
from tests.tools.used_server import (
    PLIES,
    UsedServer,
    flip_bit,
    play_plies,
    used_server,
    where_stream,
)
from tests.tools.virtual_server import ScriptedClient, VirtualServer


@pytest.fixture
def world(tmp_path: Path) -> Iterator[UsedServer]:
    with used_server(tmp_path) as world:
        yield world


# --- kinds of damage --------------------------------------------------------------------------


def in_head(world: UsedServer) -> Callable[[Path], None]:
    return lambda path: flip_bit(path, "stream", "head", f"key = '{world.damaged}'")


def in_segment(world: UsedServer) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        with closing(
            sqlite3.connect(path, isolation_level=None)
        ) as db:  # nothing before it is read
            db.execute(f"DELETE FROM checkpoint WHERE {where_stream(world.damaged)}")
        flip_bit(path, "stretch", "lines", where_stream(world.damaged), 0.95)

    return damage


def in_link(world: UsedServer) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            db.execute(f"UPDATE stretch SET chain = 'x' WHERE {where_stream(world.damaged)}")

    return damage


def without_segment(world: UsedServer) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            db.execute(f"DELETE FROM checkpoint WHERE {where_stream(world.damaged)}")
            db.execute(f"DELETE FROM stretch WHERE {where_stream(world.damaged)} AND first = 1")

    return damage


def in_head_as_text(world: UsedServer) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            db.execute("UPDATE stream SET head = 'text' WHERE key = ?", (world.damaged,))

    return damage


def as_another(changes: dict[str, Any]) -> Callable[[UsedServer], Callable[[Path], None]]:
    """Write a valid setup with correct links that this server cannot play."""

    def of(world: UsedServer) -> Callable[[Path], None]:
        def damage(path: Path) -> None:
            with closing(sqlite3.connect(path, isolation_level=None)) as db:
                [head] = db.execute(
                    "SELECT head FROM stream WHERE key = ?", (world.damaged,)
                ).fetchone()
                fields = json.loads(head) | changes
                rewrite(db, world.damaged, json.dumps(fields).encode())

        return damage

    return of


def rewrite(db: sqlite3.Connection, key: str, head: bytes) -> None:
    """Replace a stream's head and recompute the links of all its entries."""
    journal.recover(db)
    link = chain_hash("", head)
    db.execute("UPDATE stream SET head = ?, link = ? WHERE key = ?", (head, link, key))
    rows = db.execute(
        f"SELECT rowid, lines FROM stretch WHERE {where_stream(key)} ORDER BY first"
    ).fetchall()
    for rowid, lines in rows:
        for line in lines.split(b"\n"):
            link = chain_hash(link, line)
        db.execute("UPDATE stretch SET chain = ? WHERE rowid = ?", (link, rowid))
    db.execute(f"DELETE FROM checkpoint WHERE {where_stream(key)}")


def broken_log(world: UsedServer) -> Callable[[Path], None]:
    """Write entries with correct links that are not a valid match."""

    def damage(path: Path) -> None:
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            journal.recover(db)
            rowid, lines = db.execute(
                "SELECT rowid, lines FROM stretch WHERE "
                f"{where_stream(world.damaged)} AND first = 1"
            ).fetchone()
            wrong = lines.replace(b'"ply":9', b'"ply":8')
            assert wrong != lines
            db.execute("UPDATE stretch SET lines = ? WHERE rowid = ?", (wrong, rowid))
            [head] = db.execute(
                "SELECT head FROM stream WHERE key = ?", (world.damaged,)
            ).fetchone()
            rewrite(db, world.damaged, head)

    return damage


MATCHES = {
    "a byte of the head": (in_head, "its head is damaged"),
    "a head of another type": (in_head_as_text, "expected bytes"),
    "a byte of an entry": (in_segment, "is damaged"),
    "a link": (in_link, "is damaged"),
    "a segment that is gone": (without_segment, ""),
    "a game that is not here": (as_another({"game": "toy-chess"}), "has no game 'toy-chess'"),
    "other rules": (as_another({"rules_version": 7}), "rules version 7"),
    "the setup of another match": (as_another({"match": "m"}), "is that of match 'm'"),
    "options that cannot be": (as_another({"options": {"columns": -1}}), "columns"),
    "a log that does not fold": (broken_log, "is not the turn"),
}


@pytest.mark.parametrize("name", MATCHES)
def test_a_damaged_match_is_set_aside_and_the_others_go_on(
    world: UsedServer, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    damage, expected = MATCHES[name]
    world.restart(lambda path: None)
    well, past = world.running(world.intact), world.server.page(f"/records/{world.finished}.jsonl")
    caplog.clear()
    world.restart(damage(world))
    assert world.running(world.intact) == well
    assert world.server.page(f"/records/{world.finished}.jsonl") == past
    assert world.running(world.damaged) is None
    told = [line for line in caplog.messages if world.damaged in line]
    assert len(told) == 1
    assert f"match {world.damaged} is set aside because its log is damaged: " in told[0]
    assert expected in told[0]
    _require_refusals(world)
    _require_the_match_again(world)
    _require_no_traceback(caplog)
    assert world.server.backend.gauges()["damaged"] == 1
    caplog.clear()
    world.restart(lambda path: None)
    assert [line for line in caplog.messages if world.damaged in line and "set aside" in line]
    assert world.running(world.damaged) is None
    assert world.server.backend.gauges()["damaged"] == 1


def _require_refusals(world: UsedServer) -> None:
    """Require that requests for the match are refused as damaged, and reveal nothing of it."""
    ada, _ = world.reconnect("ada", "bob")
    asked = (
        ada.ask("rejoin", match=world.damaged),
        ada.ask("move", match=world.damaged, ply=PLIES, action={"x": 0, "y": 0}),
        ada.ask("history", match=world.damaged),
        ada.ask("report", match=world.damaged),
        ada.ask("watch", match=world.damaged),
        ada.ask("resign", match=world.damaged),
    )
    for answer in asked:
        assert (answer["type"], answer["code"]) == ("refused", "damaged"), answer
        assert (
            answer["message"] == f"the log of {world.damaged!r} is damaged, so it cannot continue"
        )


def _require_the_match_again(world: UsedServer) -> None:
    """Its lobby replays it under another name and does not rate it."""
    world.server.advance(1)
    again = world.running(f"{world.damaged}b")
    assert again is not None
    assert again[1] == 0
    play_plies(world.server, f"{world.damaged}b", 2, world.guests["ada"], world.guests["bob"])


def _require_no_traceback(caplog: pytest.LogCaptureFixture) -> None:
    raised = [record for record in caplog.records if record.exc_info]
    assert not raised, [record.getMessage() for record in raised]


def test_a_match_that_has_lost_entries_before_its_checkpoint_goes_on(world: UsedServer) -> None:
    """A start skips the entries that a checkpoint has replaced; the check finds the damage."""
    world.restart(lambda path: None)
    hurt = world.running(world.damaged)
    world.restart(
        lambda path: flip_bit(path, "stretch", "lines", where_stream(world.damaged), 0.02)
    )
    assert world.running(world.damaged) == hurt
    ada, bob = world.reconnect("ada", "bob")
    ada.ask("rejoin", match=world.damaged)
    bob.ask("rejoin", match=world.damaged)
    play_plies(world.server, world.damaged, 2, ada, bob)
    found = check_database(world.server.path)
    assert [str(problem) for problem in found.problems if problem.name == world.damaged]


def test_a_damaged_checkpoint_costs_time_and_nothing_else(world: UsedServer) -> None:
    world.restart(lambda path: None)
    before = world.running(world.damaged), world.running(world.intact)
    for column in ("data", "link"):
        world.restart(_text_or_bytes(column, world))
        assert (world.running(world.damaged), world.running(world.intact)) == before
    world.restart(lambda path: _execute(path, "UPDATE checkpoint SET seq = seq - 1"))
    assert (world.running(world.damaged), world.running(world.intact)) == before
    world.restart(lambda path: _execute(path, "UPDATE checkpoint SET seq = 999"))
    assert (world.running(world.damaged), world.running(world.intact)) == before
    world.restart(lambda path: _execute(path, "DELETE FROM checkpoint"))
    assert (world.running(world.damaged), world.running(world.intact)) == before
    assert world.server.backend.gauges()["damaged"] == 0


def _text_or_bytes(column: str, world: UsedServer) -> Callable[[Path], None]:
    if column == "data":
        return lambda path: flip_bit(path, "checkpoint", "data", where_stream(world.damaged))
    return lambda path: _execute(path, "UPDATE checkpoint SET link = '0' || substr(link, 2)")


def _execute(path: Path, sql: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute(sql)


def test_a_checkpoint_is_used_and_goes_with_the_end_of_its_match(world: UsedServer) -> None:
    world.restart(lambda path: None)
    kept = world.server.store.load("match")
    assert [stored.checkpoint is not None for stored in kept] == [True, True]
    assert all(len(stored.lines) < 8 for stored in kept)
    ada, _ = world.reconnect("ada", "bob")
    ada.ask("rejoin", match=world.damaged)
    ada.ask("resign", match=world.damaged)
    rows = world.server.store._readers.rows("SELECT count(*) FROM checkpoint", ())
    assert rows == [(1,)]


@pytest.mark.parametrize("place", [0.1, 0.5, 0.9])
def test_a_damaged_journal_hurts_whom_it_concerns(
    world: UsedServer, place: float, caplog: pytest.LogCaptureFixture
) -> None:
    """The entries not yet in a segment: here all of them, in one batch each."""
    well = world.running(world.intact)
    number = world.server.backend.registry.matches[world.damaged].stream.number
    world.restart(lambda path: flip_bit(path, "journal", "lines", f"ends GLOB '{number}:*'", place))
    assert world.running(world.intact) == well
    assert world.running(world.damaged) is None
    _require_refusals(world)
    _require_the_match_again(world)
    _require_no_traceback(caplog)


def test_damaged_summaries_and_ledger_lines_are_left_out(
    world: UsedServer, caplog: pytest.LogCaptureFixture
) -> None:
    def damage(path: Path) -> None:
        flip_bit(path, "stream", "summary", f"key = '{world.finished}'", 0.0)
        flip_bit(path, "ledger", "line", f"match = '{world.finished}'", 0.0)

    before = world.running(world.damaged), world.running(world.intact)
    world.restart(damage)
    assert (world.running(world.damaged), world.running(world.intact)) == before
    [ada] = world.reconnect("ada")
    listed = ada.ask("list_matches")["matches"]
    assert sorted(each["match"] for each in listed) == sorted([world.damaged, world.intact])
    assert ada.ask("ladder")["games"] == []
    assert "the summary of a finished match is damaged, so lists omit it" in caplog.messages
    assert "line 1 of the ledger is damaged: its match does not count" in caplog.messages
    _require_no_traceback(caplog)


def test_a_result_whose_summary_is_damaged_is_read_from_the_record(world: UsedServer) -> None:
    """A lobby that missed the end of its match gets the result from the footer."""
    ada, _ = world.guests["ada"], world.guests["bob"]
    ada.ask("resign", match=world.damaged)
    world.restart(lambda path: _unhear(path, world))
    state = world.server.backend.registry.lobbies[world.lobby].engine.state
    assert (state.round.ended, state.round.aborted, len(state.round.repeated)) == (1, 0, 0)


def _unhear(path: Path, world: UsedServer) -> None:
    """Remove the end of the match from its lobby's log, and damage the match's summary."""
    flip_bit(path, "stream", "summary", f"key = '{world.damaged}'", 0.0)
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
        link = chain_hash("", head)
        for line in kept:
            link = chain_hash(link, line)
        db.execute(
            "UPDATE stretch SET last = ?, chain = ?, lines = ? WHERE rowid = ?",
            (len(kept), link, b"\n".join(kept), rowid),
        )


# --- lobbies ----------------------------------------------------------------------------------


@pytest.mark.parametrize("column", ["head", "lines"])
def test_a_damaged_lobby_is_set_aside_and_its_match_is_played_on(
    world: UsedServer, column: str, caplog: pytest.LogCaptureFixture
) -> None:
    world.restart(lambda path: None)
    hurt, well = world.running(world.damaged), world.running(world.intact)
    where = f"key = '{world.lobby}'" if column == "head" else where_stream(world.lobby)
    table = "stream" if column == "head" else "stretch"
    world.restart(lambda path: flip_bit(path, table, column, where))
    assert (world.running(world.damaged), world.running(world.intact)) == (hurt, well)
    assert world.lobby not in world.server.backend.registry.lobbies
    assert [line for line in caplog.messages if line.startswith(f"lobby {world.lobby} is set")]
    ada, bob = world.reconnect("ada", "bob")
    welcome = [each for each in ada.messages() if each["type"] == "welcome"][-1]
    assert (welcome["seats"], welcome["lobbies"]) == ([world.damaged], [])
    assert ada.ask("join", lobby=world.lobby)["code"] == "damaged"
    assert ada.ask("close", lobby=world.lobby)["code"] == "damaged"
    for player in (ada, bob):
        assert player.ask("rejoin", match=world.damaged)["type"] == "done"
    play_plies(world.server, world.damaged, 2, ada, bob)
    ada.ask("resign", match=world.damaged)
    assert b'"kind":"end"' in world.server.page(f"/records/{world.damaged}.jsonl")
    _require_no_traceback(caplog)


def test_a_match_with_a_house_bot_ends_with_its_lobby(world: UsedServer) -> None:
    match_runner = world.server.backend.registry.matches[world.damaged]
    house = match_runner.engine.state.players[1].model_copy(update={"kind": "house"})
    match_runner.engine.state.players = (match_runner.engine.state.players[0], house)
    damaged = StoredLog("lobby", world.lobby, StoreError("an entry is not one"))
    world.server.backend.recovery.restore([damaged])
    world.server.advance(0.1)
    assert world.running(world.damaged) is None
    record = world.server.page(f"/records/{world.damaged}.jsonl")
    assert b'"cause":"infrastructure"' in record


# --- at run time ------------------------------------------------------------------------------


def test_a_log_that_cannot_be_read_again_is_set_aside(
    world: UsedServer, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a failed write a match is reloaded; the disk may have become worse in the meantime."""

    damaged = StoreError("entry 3 does not continue the chain")
    backend = world.server.backend
    monkeypatch.setattr(world.server.store, "reload", answering({world.damaged: damaged}))
    backend.reloader.lost(backend.registry.matches[world.damaged], WriteFailed("the disk is full"))
    world.server.advance(2)
    assert world.running(world.damaged) is None
    assert backend.directory.quarantine.reason(world.damaged) is not None
    state = backend.registry.lobbies[world.lobby].engine.state
    assert (list(state.round.running), state.round.repeated) == ([], frozenset({1}))
    world.restart(lambda path: None)
    assert world.server.backend.directory.quarantine.reason(world.damaged) is not None


def answering(found: dict[str, Any]) -> Any:
    """Return a `SQLiteStore.reload` with this result."""

    async def reload(keys: list[str]) -> dict[str, Any]:
        return {key: found[key] for key in keys}

    return reload


def test_a_lobby_that_cannot_be_read_again_is_set_aside(
    world: UsedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = world.server.backend
    damaged = StoreError("entry 3 does not continue the chain")
    monkeypatch.setattr(world.server.store, "reload", answering({world.lobby: damaged}))
    before = world.running(world.damaged)
    backend.reloader.lost(backend.registry.lobbies[world.lobby], WriteFailed("the disk is full"))
    world.server.advance(2)
    assert world.lobby not in backend.registry.lobbies
    assert backend.directory.quarantine.reason(world.lobby) is not None
    assert world.running(world.damaged) == before
    for name in ("ada", "bob"):
        closed = [m for m in world.guests[name].messages() if m["type"] == "lobby_closed"]
        assert [each["lobby"] for each in closed] == [world.lobby]


def test_a_disk_that_fails_is_no_damage(world: UsedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    async def failing(keys: list[str]) -> Any:
        raise StoreError("cannot read: disk I/O error")

    backend = world.server.backend
    before = world.running(world.damaged)
    with monkeypatch.context() as patch:
        patch.setattr(world.server.store, "reload", failing)
        backend.reloader.lost(
            backend.registry.matches[world.damaged], WriteFailed("the disk is full")
        )
        world.server.advance(2)
    assert backend.directory.quarantine.reason(world.damaged) is None
    world.restart(lambda path: None)
    assert world.running(world.damaged) == before


def test_a_disk_that_fails_at_the_start_sets_nothing_aside(
    world: UsedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.restart(lambda path: None)
    before = world.running(world.damaged)
    load = streams.load

    def failing(*given: Any) -> Any:
        if len(given) == len(("db", "number", "key", "kind", "head", "kept")):
            return load(*given)  # from a checkpoint on
        error = sqlite3.OperationalError("disk I/O error")
        error.sqlite_errorcode = sqlite3.SQLITE_IOERR
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(streams, "load", failing)
        with pytest.raises(StoreError, match="disk I/O error"):
            world.restart(lambda path: _execute(path, "UPDATE checkpoint SET data = x'00'"))
    world.restart(lambda path: None)
    assert world.running(world.damaged) == before
    assert world.server.backend.gauges()["damaged"] == 0


def test_a_match_that_exists_is_not_begun_again(world: UsedServer) -> None:
    """A lobby's log that lost its end must not break a batch with a duplicate stream name."""
    world.restart(lambda path: None)
    backend = world.server.backend
    lobby_runner = backend.registry.lobbies[world.lobby]
    [planned] = lobby_runner.engine.state.round.running.values()
    del backend.registry.matches[world.damaged]
    backend.lobby_matches.begin(lobby_runner, BeginMatch(world.damaged, planned))
    world.server.advance(0.1)
    assert world.server.store.healthy
    for player in world.reconnect("cat", "dan"):
        assert player.ask("rejoin", match=world.intact)["type"] == "done"
    play_plies(world.server, world.intact, 1, *_turns(world))


def _turns(world: UsedServer) -> list[ScriptedClient]:
    return [world.guests["cat"], world.guests["dan"]]


def test_a_finished_record_that_is_damaged_is_not_handed_out(
    world: UsedServer, caplog: pytest.LogCaptureFixture
) -> None:
    world.restart(lambda path: flip_bit(path, "stretch", "lines", where_stream(world.finished)))
    assert world.server.page(f"/records/{world.finished}.jsonl").startswith(b"HTTP/1.1 404")
    [ada] = world.reconnect("ada")
    assert ada.ask("history", match=world.finished)["code"] == "damaged"
    assert ada.ask("report", match=world.finished)["code"] == "damaged"
    assert ada.ask("rejoin", match=world.finished)["code"] == "damaged"
    assert [
        line for line in caplog.messages if line.startswith(f"match {world.finished} is set aside")
    ]


# --- files ------------------------------------------------------------------------------------


def crashed(world: UsedServer, directory: Path) -> Path:
    """Copy the files of a running server as after a crash; return the database's path."""
    directory.mkdir()
    copy = directory / "kibitz.db"
    for suffix in ("", "-wal", "-mark"):
        Path(f"{copy}{suffix}").write_bytes(Path(f"{world.server.path}{suffix}").read_bytes())
    return copy


def started(world: UsedServer, path: Path) -> str | None:
    """Start a server on a database; return its refusal, or require all reported entries."""
    try:
        server = VirtualServer(world.server.games, path)
    except StoreError as error:
        return str(error)
    try:
        found = UsedServer(server, {}, world.damaged, world.intact, world.finished)
        for match in (world.damaged, world.intact):
            aside = server.backend.directory.quarantine.reason(match)
            assert aside or found.running(match) == world.running(match)
        assert server.page(f"/records/{world.finished}.jsonl").startswith(b"HTTP/1.1 200")
    finally:
        server.close()
    return None


def test_what_a_crash_leaves_is_taken_up(world: UsedServer, tmp_path: Path) -> None:
    assert started(world, crashed(world, tmp_path / "crash")) is None


@pytest.mark.parametrize("share", [0.0, 0.001, 0.2, 0.5, 0.8, 0.95, 0.9999])
def test_a_log_that_was_cut_off_is_refused(world: UsedServer, tmp_path: Path, share: float) -> None:
    """SQLite accepts the truncated log as complete; the watermark detects the loss."""
    path = crashed(world, tmp_path / "crash")
    wal = Path(f"{path}-wal")
    whole = wal.read_bytes()
    assert len(whole) > 100_000
    wal.write_bytes(whole[: int(share * len(whole))])
    why = started(world, path)
    assert why is not None
    assert "are missing" in why
    wal.write_bytes(whole)
    path.unlink()
    path.write_bytes(crashed(world, tmp_path / "again").read_bytes())
    assert started(world, path) is None, "the missing end was put back"


@pytest.mark.parametrize("place", [0.0, 0.1, 0.5, 0.9, 1.0])
def test_a_byte_of_the_log_is_refused_or_hurts_nobody(
    world: UsedServer, tmp_path: Path, place: float
) -> None:
    path = crashed(world, tmp_path / "crash")
    wal = Path(f"{path}-wal")
    changed = bytearray(wal.read_bytes())
    changed[int(place * (len(changed) - 1))] ^= 1
    wal.write_bytes(changed)
    started(world, path)


@pytest.mark.parametrize("how", ["no log", "no database", "empty database", "cut database"])
def test_files_that_do_not_belong_together_are_refused(
    world: UsedServer, tmp_path: Path, how: str
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
    world: UsedServer, tmp_path: Path
) -> None:
    """If any bit of the file flips, the start fails with a message or sets parts aside.

    Content that is stored only once, such as a player's name, may change undetected.
    """
    world.restart(lambda path: None)
    world.server.close()
    data = world.server.path.read_bytes()
    source = random.Random(7)
    for number in range(60):
        path = tmp_path / f"flip{number}.db"
        changed = bytearray(data)
        changed[source.randrange(len(data))] ^= 1 << source.randrange(8)
        path.write_bytes(changed)
        with contextlib.suppress(StoreError):
            server = VirtualServer(world.server.games, path)
            known = (
                server.backend.registry.matches.keys()
                | server.backend.directory.quarantine._new.keys()
            )
            found = {each.key for each in server.store.damaged()} | known
            assert {world.damaged, world.intact} <= found
            server.close()


def test_a_text_that_is_none_hurts_its_stream_alone(world: UsedServer) -> None:
    world.restart(lambda path: None)
    well = world.running(world.intact)
    sql = f"UPDATE stretch SET chain = CAST(x'ff00' AS TEXT) WHERE {where_stream(world.damaged)}"
    world.restart(lambda path: _execute(path, sql))
    assert world.running(world.intact) == well
    assert world.server.backend.directory.quarantine.reason(world.damaged) is not None


def test_a_damaged_schema_is_one_sentence(world: UsedServer) -> None:
    """SQLite's error message may be invalid text."""
    world.restart(lambda path: None)

    def damage(path: Path) -> None:
        data = path.read_bytes()
        changed = data.replace(b"CREATE TABLE stretch", b"CREATE \xedABLE stretch")
        assert changed != data
        path.write_bytes(changed)

    with pytest.raises(StoreError, match=r"virtual.db' is damaged or truncated"):
        world.restart(damage)


def test_a_damaged_page_is_one_sentence(world: UsedServer) -> None:
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

    with pytest.raises(StoreError, match=r"virtual.db' is damaged or truncated"):
        world.restart(damage)
