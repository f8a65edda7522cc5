"""The demo's host is asked to close while it opens its lobbies."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import cast

import pytest

from kibitz.local import demo_host
from kibitz.local.demo_host import DemoHost
from kibitz.local.demo_programme import DemoGame
from kibitz.text.lobby_progress import LobbyProgress
from kibitz_clients.tui.screens.wall import Preparation
from kibitz_protocol.client.client import Client
from kibitz_protocol.wire.lobbies import LobbyView
from kibitz_protocol.wire.messages import Done, LobbyClosed
from tests.server.fakes import wait_until


class SlowServer:
    """A client whose second lobby opens while the first one is closed."""

    def __init__(self) -> None:
        self.hosting = self
        self.opened = 0
        self.closed: list[str] = []
        self.closing = asyncio.Event()
        self._news: asyncio.Queue[LobbyClosed] = asyncio.Queue()

    async def host(self, settings: object) -> Done:
        self.opened += 1
        if self.opened == 2:
            await self.closing.wait()
        return Done(re=1, lobby=f"L{self.opened}")

    async def join(self, lobby: str, role: str) -> None:
        pass

    async def close_lobby(self, lobby: str) -> None:
        self.closing.set()
        for _ in range(10):
            await asyncio.sleep(0)
        self.closed.append(lobby)
        self._news.put_nowait(LobbyClosed(lobby=lobby, reason="closed"))

    async def news(self) -> AsyncIterator[LobbyClosed]:
        while True:
            yield await self._news.get()


async def test_a_lobby_that_is_opened_while_others_are_closed_is_closed_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server = SlowServer()
    games = [SimpleNamespace(name=name, settings=lambda: None) for name in ("one", "two", "three")]
    host = DemoHost(
        cast(Client, server),
        cast("list[DemoGame]", games),
        Preparation(),
        lambda line: None,
        endless=False,
    )
    monkeypatch.setattr(demo_host, "_has_begun", lambda course: True)
    async with asyncio.timeout(10):
        running = asyncio.create_task(host.run())
        await wait_until(lambda: server.opened == 2)
        await host.close()
        await running
    assert sorted(server.closed) == ["L1", "L2"]


@pytest.mark.parametrize(
    ("state", "begun"),
    [(None, False), ("waiting", False), ("running", True), ("finished", True)],
)
def test_a_lobby_has_begun_when_its_matches_run_or_are_over(state: str | None, begun: bool) -> None:
    course = LobbyProgress("L1")
    course.view = None if state is None else cast(LobbyView, SimpleNamespace(state=state))
    assert demo_host._has_begun(course) == begun
