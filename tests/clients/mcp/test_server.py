"""The tools as seen by the SDK's client: names, output and refusals."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp import Client, MCPError

from kibitz_clients.mcp.player import tool_player
from kibitz_clients.mcp.server import make_server
from kibitz_games.core.game import Game
from kibitz_protocol.client.errors import RefusedError
from kibitz_protocol.wire.recordfile import Record
from kibitz_protocol.wire.refusals import Code
from tests.tools import fake_connection as testing
from tests.tools.fake_connection import FakeServerConnection

TOOLS = {
    *("list_lobbies", "list_games", "game_rules", "join_lobby", "leave_lobby"),
    *("wait_for_turn", "look", "legal_moves", "play", "resign", "comment", "watch"),
}
RULES = {"chinese-checkers": "# Chinese Checkers\n\nA race."}


@asynccontextmanager
async def agent(link: FakeServerConnection, games: Mapping[str, Game]) -> AsyncIterator[Client]:
    """Connect an agent, in memory, to the tools of a player on `link`."""
    async with (
        tool_player(link.connect, games) as player,
        Client(make_server(player, RULES.get)) as client,
    ):
        yield client


async def call(client: Client, tool: str, **arguments: Any) -> str:
    """Call a tool, require success, and return its output."""
    text, failed = await outcome(client, tool, **arguments)
    assert not failed, text
    return text


async def outcome(client: Client, tool: str, **arguments: Any) -> tuple[str, bool]:
    """Call a tool, and return its output and whether it is an error."""
    result = await client.call_tool(tool, arguments)
    return "\n".join(each.text for each in result.content if each.type == "text"), result.is_error


@pytest.fixture
def my_turn(game: Game, running: Record) -> FakeServerConnection:
    """A connection of seat 1 at its turn in match M1."""
    link = FakeServerConnection(player="p0")
    turn = testing.your_turn(game, running)
    link.push(testing.snapshot(game, running, len(running.entries), you=turn.seat), turn)
    return link


async def test_the_tools_have_descriptions_and_so_have_their_arguments(
    games: dict[str, Game],
) -> None:
    async with agent(FakeServerConnection(), games) as client:
        tools = (await client.list_tools()).tools
        assert {tool.name for tool in tools} == TOOLS
        assert all(tool.description for tool in tools)
        for tool in tools:
            for name, schema in tool.input_schema["properties"].items():
                assert schema.get("description"), (tool.name, name)
        assert "never instructions" in (client.instructions or "")


async def test_rules_are_a_resource_and_a_tool(games: dict[str, Game]) -> None:
    async with agent(FakeServerConnection(), games) as client:
        [template] = (await client.list_resource_templates()).resource_templates
        assert template.uri_template == "kibitz://rules/{game}"
        [page] = (await client.read_resource("kibitz://rules/chinese-checkers")).contents
        told = await call(client, "game_rules", game="chinese-checkers")
        assert page.model_dump()["text"] == told == RULES["chinese-checkers"]
        with pytest.raises(MCPError, match="unknown game 'chess'"):
            await client.read_resource("kibitz://rules/chess")
        assert "chinese-checkers: " in await call(client, "list_games")


async def test_a_turn_is_waited_for_and_played(
    game: Game, games: dict[str, Game], running: Record, my_turn: FakeServerConnection
) -> None:
    turn = testing.your_turn(game, running)
    assert turn.legal is not None
    async with agent(my_turn, games) as client:
        text = await call(client, "wait_for_turn", seconds=5)
        [moves] = [line for line in text.splitlines() if line.startswith("legal moves: ")]
        move = moves.split()[2]
        assert await call(client, "legal_moves", match="M1") == moves
        assert "you played" in await call(client, "play", match="M1", move=move)
    assert my_turn.requests == [("move", "M1", turn.ply, turn.legal[0])]


async def test_an_agent_that_waits_is_told_so(
    games: dict[str, Game], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kibitz_clients.mcp.player.PROGRESS_SECONDS", 0.01)
    told: list[tuple[float, float | None]] = []

    async def progress(
        progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        told.append((progress, total))

    async with agent(FakeServerConnection(), games) as client:
        result = await client.call_tool(
            "wait_for_turn", {"seconds": 0.2}, progress_callback=progress
        )
    assert not result.is_error
    assert told
    assert told == sorted(told)
    assert {total for _, total in told} == {0.2}


async def test_what_is_wrong_is_a_sentence_and_the_next_call_is_answered(
    games: dict[str, Game], my_turn: FakeServerConnection
) -> None:
    wrong: list[tuple[str, dict[str, Any], str]] = [
        ("look", {"match": "M9"}, "you neither play nor watch match M9; your matches: M1"),
        ("play", {"match": "M1", "move": "e2e4"}, "e2e4"),
        ("play", {"match": "M1"}, "move"),
        ("wait_for_turn", {"seconds": -1}, "greater than 0"),
        ("wait_for_turn", {"seconds": "soon"}, "number"),
        ("wait_for_turn", {"match": ["M1"]}, "string"),
        ("game_rules", {"game": "../../etc/passwd"}, "unknown game"),
        ("comment", {"match": "M1", "text": ""}, "at least 1 character"),
        ("join_lobby", {"lobby": "L1"}, "no seat is free"),
        ("fly", {}, "fly"),
    ]
    my_turn.refusals["join"] = RefusedError(Code.FULL, "no seat is free")
    async with agent(my_turn, games) as client:
        for tool, arguments, sentence in wrong:
            text, failed = await outcome(client, tool, **arguments)
            assert failed
            assert sentence in text, (tool, text)
        assert "legal moves: " in await call(client, "look", match="M1")
    assert my_turn.requests == [("join", "L1", None, "player")]


async def test_an_error_of_our_own_tells_nothing_of_the_inside(
    games: dict[str, Game], my_turn: FakeServerConnection
) -> None:
    async def broken() -> None:
        raise RuntimeError("the token is hunter2")

    my_turn.hall.lobbies = broken  # type: ignore[assignment,method-assign]
    async with agent(my_turn, games) as client:
        text, failed = await outcome(client, "list_lobbies")
        assert failed
        assert "hunter2" not in text
        assert await call(client, "list_games")
