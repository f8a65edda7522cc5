"""Inspecting a running match and its later record with the commands."""

from __future__ import annotations

import asyncio
import json
import urllib.request
from contextlib import ExitStack
from typing import Any

import pytest

from kibitz_protocol.client.client import Client
from kibitz_protocol.wire.lobbies import HouseSeat, LobbySettings, OpenSeat, ProgrammeItem
from kibitz_protocol.wire.messages import Finished, YourTurn
from tests.tools.command import Kibitz, Running

FAST = "line-nim/greedy"
TURNS = 3
SETTINGS = LobbySettings(
    seats=[HouseSeat(personality=FAST), OpenSeat()],
    programme=[ProgrammeItem(game="line-nim", options={"free": 33}, rotate=False)],
)


async def until_watched(url: str) -> None:
    """Wait until a match of the server has a spectator."""
    address = url.replace("ws://", "http://") + "/metrics"

    def spectators() -> bool:
        with urllib.request.urlopen(address) as answer:
            return "\nkibitz_spectators 1" in answer.read().decode()

    while not await asyncio.to_thread(spectators):  # noqa: ASYNC110 - a page is all there is
        await asyncio.sleep(0.1)


class Opponent:
    """A player in seat 2 that inspects the match, plays some turns and resigns."""

    def __init__(self, kibitz: Kibitz, url: str, stack: ExitStack) -> None:
        self.match = ""
        self.branched: dict[str, Any] = {}
        self.shadow: Running | None = None
        self._kibitz = kibitz
        self._there = ["--server", url, "--ms", "5", "--json"]
        self._url = url
        self._stack = stack

    async def play(self) -> None:
        """Wait until the match is over."""
        turns = 0
        async with Client(self._url, name="ada") as client:
            lobby = (await client.hosting.host(SETTINGS)).lobby
            assert lobby is not None
            await client.join(lobby)
            await client.ready(lobby)
            async for news in client.news():
                if isinstance(news, Finished):
                    return
                if isinstance(news, YourTurn):
                    turns += 1
                    await self._turn(client, news, turns)

    async def _turn(self, client: Client, turn: YourTurn, number: int) -> None:
        if number == 1:
            await self._look(turn.match)
        if number > TURNS:
            await client.resign(turn.match)
        else:
            assert turn.legal is not None
            action: Any = turn.legal[0]
            await client.move(turn.match, turn.ply, action)

    async def _look(self, match: str) -> None:
        self.match = match
        self.branched = json.loads(await asyncio.to_thread(self.branch))
        words = ["match", "shadow", FAST, "--match", match, "--seat", "1", *self._there]
        self.shadow = self._stack.enter_context(self._kibitz.start(*words))
        await until_watched(self._url)

    def branch(self) -> str:
        """Continue the match from its first ply, and return the command's output."""
        words = ["record", "branch", self.match, "--ply", "1", "--seat", "2", "--games", "2"]
        words += ["--with", FAST, "--others", FAST, *self._there]
        return self._kibitz.run(*words).stdout

    def analyse(self) -> str:
        """Let the house bot analyze its own moves, and return the command's output."""
        words = ["record", "analyze", self.match, "--by", FAST, "--seat", "1", *self._there]
        return self._kibitz.run(*words).stdout


@pytest.mark.slow
def test_a_match_is_looked_into_while_it_runs_and_when_it_is_over(kibitz: Kibitz) -> None:
    with ExitStack() as stack:
        words = ["serve", "--port", "0", "--db", "kibitz.db", "--json", "--unlimited"]
        url = stack.enter_context(kibitz.start(*words)).json()["url"]
        opponent = Opponent(kibitz, url, stack)
        asyncio.run(opponent.play())
        assert (opponent.branched["games"], opponent.branched["recorded_score"]) == (2, None)
        assert opponent.shadow is not None
        answers = [json.loads(line) for line in opponent.shadow.rest().splitlines()]
        # It starts at ply 1, and the same bot plays seat 1.
        assert [answer["ply"] for answer in answers] == [2, 4, 6]
        assert all(answer["agrees"] for answer in answers)
        assert json.loads(opponent.branch())["recorded_score"] == 0.0
        moves = json.loads(opponent.analyse())["moves"]
        assert [each["ply"] for each in moves] == [0, 2, 4, 6]
