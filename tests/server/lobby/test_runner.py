"""A lobby after an exception: it matches its log or is closed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from kibitz_server.app import Config, Server, running
from kibitz_server.directory import reload
from kibitz_server.lobby import runner as room_module
from kibitz_server.lobby.commands import Close, Ready, Step
from kibitz_server.lobby.engine import LobbyEngine
from kibitz_server.lobby.entries import ENTRY
from kibitz_server.lobby.match_flow import MatchFlow
from kibitz_server.lobby.membership import Membership
from kibitz_server.lobby.runner import LobbyRunner
from kibitz_server.lobby.state import LobbyState
from tests.server.directory.test_directory import GAMES, settings
from tests.server.fakes import JsonClient, connected, wait_until


class PlantedError(Exception):
    pass


def raising(*_: object, **__: object) -> Any:
    raise PlantedError


class Scenario:
    """A lobby with two members; the first is its host."""

    server: Server
    ada: JsonClient
    bob: JsonClient
    lobby: str

    @property
    def room(self) -> LobbyRunner:
        return self.server.backend.registry.lobbies[self.lobby]

    async def logged(self) -> LobbyState:
        """Return the lobby's state according to its log."""
        room = self.room
        lines = await self.server.backend.store.lines(room.stream, 1, room.stream.tail)
        return LobbyState.restore([room.engine.state.opened, *map(ENTRY.validate_json, lines)])

    async def settled(self) -> None:
        """Wait until the lobby accepts requests and is completely on disk."""
        await wait_until(lambda: not self.room.closed)
        await self.server.backend.store.flush()


@pytest.fixture
async def gathering(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Scenario]:
    monkeypatch.setattr(reload, "RETRY_PAUSE_S", 0.01)
    it = Scenario()
    async with running(Config(db=tmp_path / "k.db"), GAMES) as server, AsyncExitStack() as stack:
        it.server = server
        it.ada = await stack.enter_async_context(connected(server.url))
        it.bob = await stack.enter_async_context(connected(server.url))
        for caller, name in ((it.ada, "ada"), (it.bob, "bob")):
            caller.player = (await caller.hello(name))["player"]
        it.lobby = (await it.ada.ask("host", settings=settings(seats=3)))["lobby"]
        for caller in (it.ada, it.bob):
            await caller.ask("join", lobby=it.lobby)
        yield it


async def test_a_lobby_whose_entry_cannot_be_written_is_what_its_log_says(
    gathering: Scenario, caplog: pytest.LogCaptureFixture
) -> None:
    before = gathering.room
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(room_module, "_encode", raising)
        refused = await gathering.bob.ask("ready", lobby=gathering.lobby)
    assert refused["code"] == "internal"
    await wait_until(lambda: gathering.room is not before)
    await gathering.settled()
    assert gathering.room.engine.state == await gathering.logged()
    assert [each.ready for each in gathering.room.engine.state.seats.by_seat()] == [False, False]
    # For those present, it continues as if there had been no request.
    assert (await gathering.bob.ask("ready", lobby=gathering.lobby))["type"] == "done"
    assert {gathering.ada.player, gathering.bob.player} <= {
        *gathering.room.engine.presence.connected
    }
    assert f"lobby {gathering.lobby} failed" in caplog.text


async def test_a_command_that_raises_before_it_has_changed_anything_is_only_refused(
    gathering: Scenario,
) -> None:
    before = gathering.room
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Membership, "set_ready", raising)
        refused = await gathering.bob.ask("ready", lobby=gathering.lobby)
    assert refused["code"] == "internal"
    assert (await gathering.bob.ask("ready", lobby=gathering.lobby))["type"] == "done"
    assert gathering.room is before


async def test_nothing_of_a_command_that_raised_is_carried_out_with_the_next_one(
    gathering: Scenario,
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MatchFlow, "advance", raising)
        await gathering.bob.ask("leave", lobby=gathering.lobby)
    await gathering.settled()
    assert gathering.bob.player in gathering.room.engine.state.seats.members
    assert (await gathering.bob.ask("ready", lobby=gathering.lobby))["type"] == "done"
    await gathering.settled()
    assert gathering.room.engine.state == await gathering.logged()


async def test_a_lobby_that_is_ahead_of_its_log_again_and_again_is_closed(
    gathering: Scenario, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL, "kibitz.directory")
    original = LobbyState.apply
    with pytest.MonkeyPatch.context() as patch:

        def apply(state: LobbyState, entry: Any) -> None:
            original(state, entry)
            if entry.kind == "readied" and entry.ready:
                raise PlantedError

        patch.setattr(LobbyState, "apply", apply)
        for _ in range(LobbyRunner.MAX_FAILURES + 1):
            refused = await gathering.bob.ask("ready", lobby=gathering.lobby)
            assert refused["code"] == "internal"
            await wait_until(
                lambda: (
                    gathering.lobby not in gathering.server.backend.registry.lobbies
                    or not gathering.room.closed
                )
            )
    for caller in (gathering.ada, gathering.bob):
        assert (await caller.next("lobby_closed"))["reason"] == "failed"
    refused = await gathering.bob.ask("ready", lobby=gathering.lobby)
    assert refused["code"] == "no_such_lobby"


async def test_a_request_after_a_close_that_was_lost_is_not_told_that_the_lobby_is_closed(
    gathering: Scenario,
) -> None:
    before = gathering.room
    peer = gathering.server.backend.connections.peer_of(gathering.bob.player)
    assert peer is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(room_module, "_encode", raising)
        assert not before.command(Close(gathering.ada.player))
    assert before.engine.state.phase == "closed"
    peer.unanswered[500] = ()
    assert not before.command(Ready(gathering.bob.player), peer, 500)
    async with asyncio.timeout(10):
        answer = await gathering.bob.next("refused")
        assert (answer["re"], answer["code"]) == (500, "unavailable")
        assert (await gathering.bob.ask_until_carried_out("ready", lobby=gathering.lobby))[
            "type"
        ] == "done"


async def test_a_timer_that_raises_is_looked_at_again(
    gathering: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room_module, "TICK_RETRY_MS", 20)
    ticks: list[int] = []

    def tick(lobby: LobbyEngine, now: int) -> Step:
        ticks.append(now)
        if len(ticks) < 3:
            raise PlantedError
        return Step([], None)

    monkeypatch.setattr(LobbyEngine, "tick", tick)
    gathering.room.tick()
    await wait_until(lambda: len(ticks) == 3)
    assert (await gathering.bob.ask("ready", lobby=gathering.lobby))["type"] == "done"
