"""Complete matches of every game between agents: the SDK's clients, over in-memory streams.

Every seat is a separate player on one server with real sockets, and another agent watches.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from mcp import Client as Agent

from kibitz_clients.mcp.player import tool_player
from kibitz_clients.mcp.server import make_server
from kibitz_games.core import registry
from kibitz_games.core.game import Game
from kibitz_protocol.client.client import Client
from kibitz_protocol.wire.lobbies import LobbySettings, OpenSeat, ProgrammeItem
from tests.tools.profiles import some
from tests.tools.server_thread import server_thread

SMALL: dict[str, dict[str, int]] = {
    "chinese-checkers": {"size": 2},
    "tanks": {"turns": 40},
    "five-in-a-row": {"size": 6},
    "line-nim": {"free": 12},
}
"""Options for short matches."""
RULES: dict[str, str] = {}


async def connect(stack: AsyncExitStack, url: str, name: str, games: Mapping[str, Game]) -> Agent:
    """Return an agent that plays as `name`."""
    player = await stack.enter_async_context(
        tool_player(lambda: Client(url, name=name, views="every"), games)
    )
    return await stack.enter_async_context(Agent(make_server(player, RULES.get)))


async def outcome(agent: Agent, tool: str, **arguments: Any) -> tuple[str, bool]:
    """Call a tool, and return its output and whether it is an error."""
    result = await agent.call_tool(tool, arguments)
    return "\n".join(each.text for each in result.content if each.type == "text"), result.is_error


async def call(agent: Agent, tool: str, **arguments: Any) -> str:
    text, failed = await outcome(agent, tool, **arguments)
    assert not failed, text
    return text


async def play(agent: Agent, stride: int) -> str:
    """Play legal moves from all over the list until a match ends; return the result."""
    for turn in range(2_000):
        text = await call(agent, "wait_for_turn", seconds=60)
        if " is over: " in text:
            return text
        [legal] = [line for line in text.splitlines() if line.startswith("legal moves: ")]
        moves = legal.removeprefix("legal moves: ").split()
        match = text.split(":")[0].removeprefix("match ")
        assert "(you)" in text
        await call(agent, "play", match=match, move=moves[turn * stride % len(moves)])
    raise AssertionError("a match of a game has an end")


async def running_match(agent: Agent) -> str:
    """Return the match that the server lists, once its start is on disk."""
    while True:
        for line in (await call(agent, "list_lobbies")).splitlines():
            if line.startswith("match "):
                return line.split(":")[0].removeprefix("match ")
        await asyncio.sleep(0.02)


@pytest.mark.parametrize("name", some(registry.names(), 2))
async def test_agents_play_and_watch_a_match(name: str, tmp_path: Path) -> None:
    game = registry.get(name)
    seats = game.info.seats[0]
    games = {name: game}
    item = ProgrammeItem(game=name, seats=seats, options=dict(SMALL.get(name, {})))
    settings = LobbySettings(seats=[OpenSeat()] * seats, programme=[item])
    with server_thread(tmp_path, games, unlimited=True) as server:
        async with asyncio.timeout(120), AsyncExitStack() as stack:
            host = await stack.enter_async_context(Client(server.url, name="host"))
            lobby = (await host.hosting.host(settings)).lobby
            agents = [
                await connect(stack, server.url, f"agent{seat}", games) for seat in range(seats)
            ]
            late = await connect(stack, server.url, "late", games)
            for agent in agents:
                await call(agent, "join_lobby", lobby=lobby)
            assert lobby is not None
            text, failed = await outcome(late, "join_lobby", lobby=lobby)
            assert failed
            assert "the programme is running" in text
            match = await running_match(late)
            assert "(you)" not in await call(late, "watch", match=match)
            strides = [7 * seat + 3 for seat in range(seats)]
            ended = await asyncio.gather(*map(play, agents, strides))
            assert {f"match {match} is over" in text for text in ended} == {True}
            assert f"match {match} is over" in await call(
                late, "wait_for_turn", match=match, seconds=60
            )
            text, failed = await outcome(agents[0], "play", match=match, move="x")
            assert failed
            assert f"match {match} is over" in text
