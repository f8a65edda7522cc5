"""Matches and lobbies are what their logs say, on whatever occasion they are restored."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock, patch

import pytest

from kibitz_server.directory.recovery import Recovery, StoredLog
from kibitz_server.lobby.runner import LobbyRunner
from kibitz_server.lobby.state import LobbyState
from kibitz_server.match.engine import MatchEngine
from kibitz_server.storage.errors import StoreError, UnusableDatabase, WriteFailed
from kibitz_server.storage.streams import Kind
from tests.server.match.toy_games import Grid
from tests.tools.simulation import make_template
from tests.tools.used_server import UsedServer, play_plies, used_server
from tests.tools.virtual_server import VirtualServer, virtual_server


@pytest.fixture
def server(tmp_path: Path) -> Iterator[VirtualServer]:
    make_template(tmp_path)
    with virtual_server({"toy-grid": Grid()}, tmp_path) as server:
        yield server


@pytest.fixture
def world(tmp_path: Path) -> Iterator[UsedServer]:
    with used_server(tmp_path) as world:
        yield world


def test_a_lobby_whose_log_was_not_closed_any_more_is_closed_by_the_next_start(
    server: VirtualServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = server.guest_client("ada")
    item = {"game": "toy-grid", "seats": 2}
    settings = {"seats": [{"kind": "open"}] * 2, "programme": [item]}
    lobby = ada.ask("host", settings=settings)["lobby"]
    # The server dies between the entry that closes the lobby and the end of its log.
    monkeypatch.setattr(server.store, "finish", lambda *_: None)
    assert ada.ask("close", lobby=lobby)["type"] == "done"
    for _ in range(2):
        server.restart()
        ada.reconnect()
        server.advance(1)
        assert ada.ask("list_lobbies")["lobbies"] == []
        assert ada.ask("close", lobby=lobby)["code"] == "no_such_lobby"
        assert server.store.load("lobby") == []


@pytest.mark.parametrize("head", [None, b"{}"])
def test_a_lobby_whose_opening_cannot_be_read_is_not_listed(
    server: VirtualServer, head: bytes | None
) -> None:
    with patch.object(server.store, "lobby_head", return_value=head):
        assert not server.backend.recovery._is_listed("L1")


# --- the same on every occasion ------------------------------------------------------------------
#
#   a log that is    leaves
#   readable         a new runner at the same position, with the connections of the former one
#   damaged          no runner; it is set aside, and a lobby counts a match as one that failed
#   never stored     no trace; a lobby begins its match once more
#
# Everything else on the server continues. A lobby can only be lost before it is stored while the
# server runs (`test_reload`).

OCCASIONS = ("start", "reload", "take over")
KINDS: tuple[Kind, ...] = ("match", "lobby")
ERRORS = {"readable": None, "damaged": StoreError("entry 3 does not continue the chain")}


def restart(server: VirtualServer, occasion: str, match: str, damaged: StoredLog | None) -> None:
    """Restart a server, and restore a match with its lobby at once or by a take-over."""
    right, later = Recovery.read, list[StoredLog]()

    def read(recovery: Recovery) -> list[StoredLog]:
        logs = {log.key: log for log in right(recovery)}
        if damaged is not None:
            logs[damaged.key] = damaged
        if occasion == "take over":
            later.extend(logs.pop(key) for key in (match, match.partition("-")[0]) if key in logs)
        return list(logs.values())

    with patch.object(Recovery, "read", read):
        server.restart()
    server.advance(0.1)
    server.backend.recovery.restore(later)


@pytest.mark.parametrize(
    ("occasion", "kind", "log"), list(itertools.product(OCCASIONS, KINDS, ERRORS))
)
def test_a_log_is_restored_in_one_way(
    world: UsedServer, occasion: str, kind: Kind, log: str
) -> None:
    key, error = world.damaged if kind == "match" else world.lobby, ERRORS[log]
    former = world.server.backend.registry.matches[world.damaged]
    position, other = world.running(world.damaged), world.running(world.intact)
    if occasion != "reload":
        damaged = None if error is None else StoredLog(kind, key, error)
        restart(world.server, occasion, world.damaged, damaged)
    else:
        runner = former if kind == "match" else world.server.backend.registry.lobbies[key]
        answer = AsyncMock(return_value={key: error})
        with patch.object(world.server.store, "reload", answer) if error else nullcontext():
            runner.lost(WriteFailed("the disk is full"))
            world.server.advance(0.1)
    world.server.advance(0.1)
    backend = world.server.backend
    match, lobby = (
        backend.registry.matches.get(world.damaged),
        backend.registry.lobbies.get(world.lobby),
    )
    assert world.running(world.intact) == other
    assert (backend.directory.quarantine.reason(key) is not None) == (log == "damaged")
    if kind == "match" and log == "damaged":
        assert match is None
        assert lobby is not None
        assert lobby.engine.state.round.repeated == {1}
        return
    assert (lobby is None) == (kind == "lobby" and log == "damaged")
    assert match is not None
    assert not match.closed
    assert (match is former) == (kind == "lobby" and occasion == "reload")
    assert world.running(world.damaged) == position
    ada, bob = world.guests["ada"], world.guests["bob"]
    if occasion != "reload":
        for player in world.reconnect("ada", "bob"):
            assert player.ask("rejoin", match=match.key)["type"] == "done"
    play_plies(world.server, match.key, 2, ada, bob)


def test_a_disk_that_fails_in_the_middle_of_a_reload_is_no_damage(
    world: UsedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend, resume = world.server.backend, Recovery._resume_programme
    former, tries = backend.registry.lobbies[world.lobby], list[LobbyRunner]()
    world.guests["cat"].ask("join", lobby=world.lobby, role="spectator")

    def resume_later(recovery: Recovery, lobby: LobbyRunner) -> None:
        tries.append(lobby)
        if len(tries) < 3:
            raise UnusableDatabase("disk I/O error")
        resume(recovery, lobby)

    monkeypatch.setattr(Recovery, "_resume_programme", resume_later)
    former.lost(WriteFailed("the disk is full"))
    world.server.advance(5)
    assert backend.directory.quarantine.reason(world.lobby) is None
    assert backend.registry.lobbies[world.lobby] is tries[2]
    assert tries[2].news.followers() == former.news.followers()
    assert [runner.closed for runner in tries] == [True, True, False]


@pytest.mark.parametrize("occasion", OCCASIONS)
def test_a_match_that_was_never_stored_begins_again(server: VirtualServer, occasion: str) -> None:
    ada, bob = server.guest_client("ada"), server.guest_client("bob")
    item = {"game": "toy-grid", "seats": 2}
    settings = {"seats": [{"kind": "open"}] * 2, "programme": [item]}
    lobby = ada.ask("host", settings=settings)["lobby"]
    for player in (ada, bob):
        player.ask("join", lobby=lobby)
    ada.ask("ready", lobby=lobby)
    store = server.store
    store.hold()
    bob.post("ready", lobby=lobby)
    server.advance(0.1)
    store.release(hold_next=True)
    server.advance(0.1)
    [match] = server.backend.registry.matches
    former = server.backend.registry.matches[match]
    if occasion == "reload":
        store.holding, store.held = False, False
        store.commits._retries = ()
        store.commits._give_up = store._give_up  # type: ignore[method-assign]
        store._writer._failed(OSError("the disk is full"))
        server.advance(2)
    else:
        restart(server, occasion, match, None)
        for player in (ada, bob):
            player.reconnect()
        server.advance(1)
    fresh = server.backend.registry.matches[match]
    assert fresh is not former
    assert fresh.shown.stored
    assert server.backend.directory.quarantine.reason(match) is None
    for player in (ada, bob):
        assert player.ask("rejoin", match=match)["type"] == "done"
    play_plies(server, match, 2, ada, bob)


# --- exceptions that go on -----------------------------------------------------------------------


def test_a_match_that_can_neither_continue_nor_be_ended_is_set_aside(
    world: UsedServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    handle, failed = MatchEngine.handle, list[str]()

    def failing(engine: MatchEngine, *given: Any) -> Any:
        if engine.state.setup.match == world.damaged:
            failed.append(world.damaged)
            raise RuntimeError("planted")
        return handle(engine, *given)

    monkeypatch.setattr(MatchEngine, "handle", failing)
    ada = world.guests["ada"]
    assert ada.ask("resign", match=world.damaged)["code"] == "internal"
    world.server.advance(5)
    backend = world.server.backend
    assert world.damaged not in backend.registry.matches
    assert "because of exceptions" in str(backend.directory.quarantine.reason(world.damaged))
    assert backend.registry.lobbies[world.lobby].engine.state.round.repeated == {1}
    assert len(failed) < 20
    assert ada.is_closed
    play_plies(world.server, world.intact, 1, world.guests["cat"], world.guests["dan"])


def test_a_lobby_that_can_neither_continue_nor_be_closed_is_set_aside(
    world: UsedServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    apply, failed = LobbyState.apply, list[str]()

    def failing(state: LobbyState, entry: Any) -> None:
        apply(state, entry)
        if state.id == world.lobby and entry.kind in ("left", "closed"):
            failed.append(entry.kind)
            raise RuntimeError("planted")

    monkeypatch.setattr(LobbyState, "apply", failing)
    ada, bob = world.guests["ada"], world.guests["bob"]
    backend = world.server.backend
    for _ in range(LobbyRunner.MAX_FAILURES + 1):
        assert world.lobby in backend.registry.lobbies
        assert bob.ask("leave", lobby=world.lobby)["code"] == "internal"
        world.server.advance(5)
    assert world.lobby not in backend.registry.lobbies
    assert "because of exceptions" in str(backend.directory.quarantine.reason(world.lobby))
    assert failed == ["left"] * 4 + ["closed"] * 2
    for player in (ada, bob):
        assert [m["lobby"] for m in player.messages() if m["type"] == "lobby_closed"] == [
            world.lobby
        ]
    play_plies(world.server, world.damaged, 2, ada, bob)
