"""`kibitz mcp` with a server: the SDK's client plays complete matches of every game."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from mcp import Client, StdioServerParameters

from kibitz_games.core import registry
from tests.tools.command import Kibitz, Running

GAMES = {
    "chinese-checkers": "chinese-checkers:size=2",
    "tanks": "tanks:turns=60",
    "five-in-a-row": "five-in-a-row:size=6",
    "line-nim": "line-nim:free=12",
    "number-merge": "number-merge",
    "connect-four": "connect-four",
    "tic-tac-toe": "tic-tac-toe",
}
SEATS = {"tanks": 4}
PATIENCE = 60.0


@pytest.fixture
def url(kibitz: Kibitz) -> Iterator[str]:
    """A running server."""
    words = ["serve", "--port", "0", "--db", "kibitz.db", "--json", "--unlimited"]
    with kibitz.start(*words) as server:
        yield server.json()["url"]


def open_lobby(kibitz: Kibitz, url: str, game: str) -> str:
    """Host a match with one open seat, and return the lobby."""
    house = [f"house={game}/random"] * (SEATS.get(game, 2) - 1)
    words = ["host", GAMES[game], "--seats", ",".join(["open", *house]), "--json", "--no-wait"]
    done = kibitz.run(*words, "--server", url)
    assert done.returncode == 0, done.stderr
    return str(json.loads(done.stdout)["lobby"])


@asynccontextmanager
async def over_stdio(kibitz: Kibitz, url: str) -> AsyncIterator[Client]:
    """Start `kibitz mcp` like an agent and connect to it."""
    command = ["-m", "kibitz", "mcp", "--server", url, "--name", "mira"]
    parameters = StdioServerParameters(
        command=sys.executable, args=command, env=kibitz.environment(), cwd=kibitz.directory
    )
    async with Client(parameters) as client:
        yield client


async def call(client: Client, tool: str, **arguments: object) -> str:
    result = await client.call_tool(tool, dict(arguments))
    text = "\n".join(each.text for each in result.content if each.type == "text")
    assert not result.is_error, text
    return text


async def play_to_the_end(client: Client) -> str:
    """Play the first legal move of every turn in any match until one is over."""
    while True:
        text = await call(client, "wait_for_turn", seconds=PATIENCE)
        if " is over: " in text:
            return text
        for told in text.split("\n\n"):
            match = told.split(":")[0].removeprefix("match ")
            [legal] = [line for line in told.splitlines() if line.startswith("legal moves: ")]
            await call(client, "play", match=match, move=legal.split()[2])


def test_every_built_in_game_is_played() -> None:
    assert {*GAMES} == {*registry.BUILT_IN}


@pytest.mark.slow
async def test_whole_matches_of_every_game_over_stdio(kibitz: Kibitz, url: str) -> None:
    async with over_stdio(kibitz, url) as client:
        for game in GAMES:
            assert "## On the wire" in await call(client, "game_rules", game=game)
            lobby = open_lobby(kibitz, url, game)
            assert lobby in await call(client, "list_lobbies")
            await call(client, "join_lobby", lobby=lobby)
            assert "mira" in await play_to_the_end(client)


def address_of(running: Running) -> str:
    """Return the URL printed by `kibitz mcp --http`."""
    return running.until("http://").split()[-1]


async def test_two_matches_at_once_over_http_and_no_foreign_page(kibitz: Kibitz, url: str) -> None:
    with kibitz.start("mcp", "--server", url, "--name", "mira", "--http", "0") as running:
        address = address_of(running)
        async with Client(address) as client:
            lobbies = [open_lobby(kibitz, url, game) for game in ("line-nim", "connect-four")]
            for lobby in lobbies:
                await call(client, "join_lobby", lobby=lobby)
            ended = [await play_to_the_end(client), await play_to_the_end(client)]
            assert len({text.split(" is over")[0] for text in ended}) == 2
        for header, status in (("Origin", "403"), ("Host", "421")):
            page = {header: "http://evil.example", "Content-Type": "application/json"}
            with pytest.raises(HTTPError, match=status):
                await asyncio.to_thread(urlopen, Request(address, b"{}", page))
        port = address.split(":")[2].split("/")[0]
        done = await asyncio.to_thread(
            kibitz.run, "mcp", "--server", url, "--name", "bob", "--http", port
        )
        assert done.returncode == 1
        assert f"port {port} of 127.0.0.1: " in done.stderr


async def test_ctrl_c_answers_the_call_that_waits(kibitz: Kibitz, url: str) -> None:
    async def interrupt(
        progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        running.send(signal.SIGINT)

    with kibitz.start("mcp", "--server", url, "--name", "mira", "--http", "0") as running:
        async with Client(address_of(running)) as client:
            result = await client.call_tool(
                "wait_for_turn", {"seconds": 600}, progress_callback=interrupt
            )
        assert result.is_error
        assert "was stopped" in str(result.content)
        await asyncio.to_thread(running.rest)
        assert running.process.returncode == 130
    assert "Traceback" not in running.log.read_text()


async def test_a_server_that_is_restarted_is_played_on(kibitz: Kibitz) -> None:
    words = ["--db", "kibitz.db", "--unlimited"]
    with kibitz.start("serve", "--port", "0", "--json", *words) as server:
        url = server.json()["url"]
        lobby = open_lobby(kibitz, url, "connect-four")
        async with over_stdio(kibitz, url) as client:
            await call(client, "join_lobby", lobby=lobby)
            text = await call(client, "wait_for_turn", seconds=PATIENCE)
            match = text.split(":")[0].removeprefix("match ")
            server.send(signal.SIGKILL)
            server.rest()
            port = url.rpartition(":")[2]
            with kibitz.start("serve", "--port", port, "--json", *words) as again:
                assert again.json()["url"] == url
                text = await call(client, "wait_for_turn", match=match, seconds=PATIENCE)
                assert "legal moves: " in text
                await play_to_the_end(client)


OFFLINE: dict[str, dict[str, Any]] = {
    "list_games": {},
    "game_rules": {"game": "line-nim"},
}
"""Tools that work without a server, with arguments."""
ONLINE: dict[str, dict[str, Any]] = {
    "list_lobbies": {},
    "join_lobby": {"lobby": "L1"},
    "leave_lobby": {"lobby": "L1"},
    "wait_for_turn": {"seconds": 5},
    "look": {"match": "M1"},
    "legal_moves": {"match": "M1"},
    "play": {"match": "M1", "move": "d"},
    "resign": {"match": "M1"},
    "comment": {"match": "M1", "text": "hm"},
    "watch": {"match": "M1"},
}
"""Tools that need a server."""


async def check_without_a_server(client: Client, url: str) -> None:
    """Call every tool without a server at `url`."""
    tools = {tool.name for tool in (await client.list_tools()).tools}
    assert tools == OFFLINE.keys() | ONLINE.keys()
    for tool, arguments in OFFLINE.items():
        await call(client, tool, **arguments)
    for tool, wanted in ONLINE.items():
        result = await client.call_tool(tool, wanted)
        assert result.is_error, tool
        assert url in str(result.content), tool


@pytest.mark.slow
async def test_it_answers_without_a_server_and_finds_one_that_comes_later(kibitz: Kibitz) -> None:
    with kibitz.start("serve", "--port", "0", "--db", "kibitz.db", "--json") as server:
        url = server.json()["url"]
    async with over_stdio(kibitz, url) as client:
        await check_without_a_server(client, url)
        port = url.rpartition(":")[2]
        with kibitz.start("serve", "--port", port, "--db", "kibitz.db", "--json") as again:
            again.json()
            lobby = open_lobby(kibitz, url, "connect-four")
            assert lobby in await call(client, "list_lobbies")
            await call(client, "join_lobby", lobby=lobby)
            assert "mira" in await play_to_the_end(client)


async def test_over_http_it_answers_without_a_server_too(kibitz: Kibitz) -> None:
    url = "ws://127.0.0.1:9"
    with kibitz.start("mcp", "--server", url, "--name", "mira", "--http", "0") as running:
        async with Client(address_of(running)) as client:
            await check_without_a_server(client, url)
        running.send(signal.SIGTERM)
        await asyncio.to_thread(running.rest)
        assert running.process.returncode == 0
    assert "Traceback" not in running.log.read_text()
