"""`docs/examples/client.js`, written only from the protocol page, on a real server."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from kibitz_protocol.client.client import Client
from kibitz_protocol.wire.codec import encode
from kibitz_protocol.wire.lobbies import (
    HouseSeat,
    LobbySettings,
    LobbyView,
    OpenSeat,
    ProgrammeItem,
)
from kibitz_protocol.wire.merge_patch import apply
from kibitz_protocol.wire.messages import LobbyNews
from tests.clients.web.node import NODE, needs_node, websocket_flag
from tests.tools.command import Kibitz

CLIENT = Path(__file__).parents[2] / "docs" / "examples" / "client.js"
SETTINGS = LobbySettings(
    name="javascript",
    seats=[
        OpenSeat(),
        HouseSeat(personality="line-nim/random"),
        HouseSeat(personality="five-in-a-row/random"),
    ],
    programme=[
        ProgrammeItem(game="line-nim", options={"free": 12}, games=2),
        # The turns list no actions, so the client uses `picks`.
        ProgrammeItem(game="five-in-a-row", options={"size": 6}),
    ],
)
ENOUGH_S = 60


async def follow_to_the_end(host: Client, lobby: str) -> LobbyView:
    """Return the lobby as known to the Python client after its programme."""
    async for news in host.news():
        if not isinstance(news, LobbyNews) or news.lobby.lobby != lobby:
            continue
        if news.lobby.state == "finished":
            return news.lobby
    raise AssertionError("the news have ended")


async def drawing(host: Client, match: str) -> Any:
    """Return the drawing at the end of a match, from its history."""
    page = await host.history(match, first=1, count=1000)
    stage: Any = page.stage
    for event in page.events:
        stage = apply(stage, event.patch or {})
    return json.loads(json.dumps(stage))


async def play(url: str) -> tuple[list[dict[str, Any]], LobbyView, dict[str, Any], Any]:
    async with Client(url, name="host", views="drawn") as host:
        lobby = (await host.hosting.host(SETTINGS)).lobby
        assert lobby is not None
        assert NODE is not None
        words = [NODE, *websocket_flag(), str(CLIENT), url, lobby, "ada"]
        process = await asyncio.create_subprocess_exec(
            *words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={"PATH": os.defpath}
        )
        async with asyncio.timeout(ENOUGH_S):
            view, (output, errors) = await asyncio.gather(
                follow_to_the_end(host, lobby), process.communicate()
            )
        assert process.returncode == 0, errors.decode()
        lines = [json.loads(line) for line in output.decode().splitlines()]
        drawings = {match: await drawing(host, match) for match in lines[-1]["stages"]}
        return lines, view, drawings, (await host.hall.lobbies()).lobbies


@pytest.mark.e2e
@needs_node
def test_it_plays_and_knows_the_lobby_the_hall_and_the_drawings(kibitz: Kibitz) -> None:
    words = ["serve", "--port", "0", "--db", "kibitz.db", "--json", "--unlimited"]
    with kibitz.start(*words) as server:
        lines, view, drawings, listed = asyncio.run(play(server.json()["url"]))
    *told, followed = lines
    begun = [line["begins"] for line in told if "begins" in line]
    assert sorted(begun) == sorted(line["ends"] for line in told if "ends" in line)
    assert {line["cause"] for line in told if "ends" in line} == {"rules"}
    assert len(begun) == view.planned == view.done
    known, wanted = followed["lobby"], json.loads(encode(view))
    for viewers_own in ("settings", "invite"):
        known.pop(viewers_own, None)
        wanted.pop(viewers_own, None)
    assert known == wanted
    assert followed["hall"]["finished"].keys() == set(begun)
    brief = followed["hall"]["lobbies"][view.lobby]
    [shown] = [json.loads(encode(line)) for line in listed if line.lobby == view.lobby]
    assert {name: value for name, value in brief.items() if name != "order"} == shown
    assert followed["stages"] == drawings
