"""A lobby that something raised in: it is what its log says, or it is closed."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from kibitz_server import room as room_module
from kibitz_server.app import Config, Server, running
from kibitz_server.lobby import Lobby
from kibitz_server.roll import ENTRY, Roll
from kibitz_server.room import RELOADS, Room
from tests.server.test_hall import GAMES, settings
from tests.server.wires import Caller, calling, until

pytestmark = pytest.mark.e2e


class PlantedError(Exception):
    pass


def raising(*_: object, **__: object) -> Any:
    raise PlantedError


class Gathering:
    """A lobby with two members, of which the first is its host."""

    server: Server
    ada: Caller
    bob: Caller
    lobby: str

    @property
    def room(self) -> Room:
        return self.server.hall.rooms[self.lobby]

    async def logged(self) -> Roll:
        """Return what the log says of the lobby."""
        room = self.room
        lines = await self.server.hall.store.lines(room.stream, 1, room.stream.tail)
        return Roll.restore([room.lobby.roll.opened, *map(ENTRY.validate_json, lines)])

    async def settled(self) -> None:
        """Wait until the lobby can be asked for something, and all of it is on the disk."""
        await until(lambda: not self.room.closed)
        await self.server.hall.store.flush()


@pytest.fixture
async def gathering(tmp_path: Path) -> AsyncIterator[Gathering]:
    it = Gathering()
    async with running(Config(db=tmp_path / "k.db"), GAMES) as server, AsyncExitStack() as stack:
        it.server = server
        it.ada = await stack.enter_async_context(calling(server.url))
        it.bob = await stack.enter_async_context(calling(server.url))
        for caller, name in ((it.ada, "ada"), (it.bob, "bob")):
            caller.player = (await caller.hello(name))["player"]
        it.lobby = (await it.ada.ask("host", settings=settings(seats=3)))["lobby"]
        for caller in (it.ada, it.bob):
            await caller.ask("join", lobby=it.lobby)
        yield it


async def test_a_lobby_whose_entry_cannot_be_written_is_what_its_log_says(
    gathering: Gathering, caplog: pytest.LogCaptureFixture
) -> None:
    before = gathering.room
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(room_module, "_line", raising)
        refused = await gathering.bob.ask("ready", lobby=gathering.lobby)
    assert refused["code"] == "internal"
    await until(lambda: gathering.room is not before)
    await gathering.settled()
    assert gathering.room.lobby.roll == await gathering.logged()
    assert [each.ready for each in gathering.room.lobby.roll.by_seat()] == [False, False]
    # It goes on as if nothing had been asked, for those who are there.
    assert (await gathering.bob.ask("ready", lobby=gathering.lobby))["type"] == "done"
    assert [each.connected for each in gathering.room.lobby.view(None).members] == [True, True]
    assert "cannot go on" in caplog.text


async def test_a_command_that_raises_before_it_has_changed_anything_is_only_refused(
    gathering: Gathering,
) -> None:
    before = gathering.room
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Lobby, "_say_ready", raising)
        refused = await gathering.bob.ask("ready", lobby=gathering.lobby)
    assert refused["code"] == "internal"
    assert (await gathering.bob.ask("ready", lobby=gathering.lobby))["type"] == "done"
    assert gathering.room is before


async def test_nothing_of_a_command_that_raised_is_carried_out_with_the_next_one(
    gathering: Gathering,
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Lobby, "_go_on", raising)
        await gathering.bob.ask("leave", lobby=gathering.lobby)
    await gathering.settled()
    assert gathering.bob.player in gathering.room.lobby.roll.members
    assert (await gathering.bob.ask("ready", lobby=gathering.lobby))["type"] == "done"
    await gathering.settled()
    assert gathering.room.lobby.roll == await gathering.logged()


async def test_a_lobby_that_is_ahead_of_its_log_again_and_again_is_closed(
    gathering: Gathering, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL, "kibitz.hall")
    original = Roll.apply
    with pytest.MonkeyPatch.context() as patch:

        def apply(roll: Roll, entry: Any) -> None:
            original(roll, entry)
            if entry.kind == "readied" and entry.ready:
                raise PlantedError

        patch.setattr(Roll, "apply", apply)
        for _ in range(RELOADS + 1):
            refused = await gathering.bob.ask("ready", lobby=gathering.lobby)
            assert refused["code"] == "internal"
            await until(
                lambda: (
                    gathering.lobby not in gathering.server.hall.rooms or not gathering.room.closed
                )
            )
    for caller in (gathering.ada, gathering.bob):
        assert (await caller.next("lobby_closed"))["reason"] == "failed"
    refused = await gathering.bob.ask("ready", lobby=gathering.lobby)
    assert refused["code"] == "no_such_lobby"


async def test_a_timer_that_raises_is_looked_at_again(
    gathering: Gathering, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room_module, "TICK_AGAIN_MS", 20)
    ticks: list[int] = []

    def tick(lobby: Lobby, now: int) -> list[Any]:
        ticks.append(now)
        if len(ticks) < 3:
            raise PlantedError
        return []

    monkeypatch.setattr(Lobby, "tick", tick)
    gathering.room.tick()
    await until(lambda: len(ticks) == 3)
    assert (await gathering.bob.ask("ready", lobby=gathering.lobby))["type"] == "done"
