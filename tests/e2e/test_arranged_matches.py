"""Arranged matches: the host's process and the server's process are killed."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import sqlite3
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kibitz_protocol.client.client import Client
from kibitz_protocol.client.errors import RefusedError, UnansweredError
from kibitz_protocol.wire.clocks import TimeControl
from kibitz_protocol.wire.lobbies import Arrangement, MatchBrief, ProgrammeItem
from kibitz_protocol.wire.messages import Capabilities, LobbyNews, MatchEnded, YourTurn
from kibitz_server.accounts.token_admin import TokenAdmin
from tests.tools.fleet import random_action
from tests.tools.server_process import ROOT, ServerProcess, server_process

NAMES = ("ada", "bob", "cyd", "dan")
MATCHES = 20
PAUSE_S = 0.005
"""The thinking time of a bot, long enough to kill it meanwhile."""
SECONDS = 60

HOST = """
import asyncio, json, sys
from kibitz_protocol.client.client import Client
from kibitz_protocol.wire.messages import LobbyNews, MatchEnded
from kibitz_protocol.wire.lobbies import LobbySettings, OpenSeat
from tests.e2e.test_arranged_matches import wanted

async def main(url, token=None):
    async with Client(url, name=None if token else "host", token=token) as client:
        settings = LobbySettings(
            seats=[OpenSeat()] * 4, programme=[], arranged=True, rated=bool(token), at_once=2
        )
        lobby = (await client.hosting.host(settings)).lobby
        print(json.dumps([lobby, client.resume]), flush=True)
        async for news in client.news():
            if isinstance(news, LobbyNews) and len(news.lobby.members) == 4:
                break
        await client.hosting.start(lobby)
        players = {each.name: each.player for each in news.lobby.members.values()}
        print(json.dumps(players), flush=True)
        await client.hosting.arrange(lobby, wanted(players))
        async for news in client.news():
            if isinstance(news, MatchEnded):
                print(json.dumps(news.match.tag), flush=True)

asyncio.run(main(*sys.argv[1:]))
"""
"""The host's program before it is killed; with an account its matches are rated."""
CLOCK = TimeControl(move_ms=60_000)


def wanted(players: dict[str, str]) -> list[Arrangement]:
    """All pairs of the four in rotation, twenty matches in total."""
    pairs = [(one, other) for one in NAMES for other in NAMES if one != other]
    return [
        Arrangement(
            tag=f"b{number}",
            item=ProgrammeItem(game="mnk", seed=number, time_control=CLOCK),
            players=[players[name] for name in pairs[number % len(pairs)]],
        )
        for number in range(MATCHES)
    ]


async def bot(url: str, token: str, lobby: str) -> None:
    """Report ready whenever the lobby waits for it, and play any legal move."""
    chance = random.Random(token)
    capabilities = Capabilities(at_once=2)
    async with Client(url, token=token, capabilities=capabilities, patience=None) as client:
        await client.join(lobby)
        await client.ready(lobby)
        async for news in client.news():
            if isinstance(news, YourTurn):
                await asyncio.sleep(PAUSE_S)
                with contextlib.suppress(RefusedError, UnansweredError):
                    await client.move(news.match, news.ply, random_action(news, chance))


@contextlib.asynccontextmanager
async def host_process(url: str, *token: str) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", HOST, url, *token, cwd=ROOT, stdout=asyncio.subprocess.PIPE
    )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def said(process: asyncio.subprocess.Process) -> object:
    assert process.stdout is not None
    return json.loads(await process.stdout.readline())


async def results(client: Client, lobby: str, matches: list[Arrangement]) -> dict[str, MatchBrief]:
    """Arrange all matches again and wait until they have ended."""
    told = (await client.hosting.arrange(lobby, matches)).matches
    ended = {brief.tag: brief for brief in told if brief is not None and brief.result is not None}
    assert len(told) == MATCHES
    news = client.news()
    while len(ended) < MATCHES:
        message = await anext(news)
        if isinstance(message, MatchEnded):
            assert message.match.tag not in ended, "an end is told once"
            ended[message.match.tag] = message.match
    return {str(tag): brief for tag, brief in ended.items()}


async def void_count(client: Client) -> int:
    """Wait until the lobby's updates contain void games; return their number."""
    async for news in client.news():
        if isinstance(news, LobbyNews) and news.lobby.void:
            return news.lobby.void
    raise AssertionError("the client has ended")


def on_disk(server: ServerProcess) -> tuple[list[str], list[str]]:
    """Return the tags of closed matches, and the matches in the ledger."""
    with contextlib.closing(sqlite3.connect(server.directory / "hosted.db")) as db:
        rows = db.execute("SELECT summary FROM stream WHERE kind = 'match' AND state = 'closed'")
        tags = [MatchBrief.model_validate_json(row[0]).tag or "" for row in rows]
        ledger = [row[0] for row in db.execute("SELECT match FROM ledger")]
    return tags, ledger


@pytest.mark.slow
async def test_a_killed_host_and_a_killed_server_get_every_result_exactly_once(
    tmp_path: Path,
) -> None:
    with server_process(tmp_path) as server:
        with TokenAdmin(tmp_path / "hosted.db") as register:
            tokens = [register.issue(name, "bot").token for name in NAMES]
            host = register.issue("olga", "human").token
        async with asyncio.timeout(SECONDS), asyncio.TaskGroup() as group:
            async with host_process(server.url, host) as process:
                opened = await said(process)
                assert isinstance(opened, list)
                lobby, resume = opened
                bots = [group.create_task(bot(server.url, token, lobby)) for token in tokens]
                players = await said(process)
                assert isinstance(players, dict)
                early = [await said(process) for _ in range(4)]
            await asyncio.to_thread(server.kill)
            await asyncio.to_thread(server.start)
            async with Client(server.url, resume=resume) as client:
                ended = await results(client, lobby, wanted(players))
                again = (await client.hosting.arrange(lobby, wanted(players))).matches
                (ladder,) = (await client.hall.ladder()).games
                await client.hosting.close_lobby(lobby)
            for each in bots:
                each.cancel()
        tags, ledger = on_disk(server)
        assert not server.error_lines()
    assert set(early) < set(ended)
    assert sorted(tags) == sorted(ended) == sorted(f"b{number}" for number in range(MATCHES))
    assert len(ledger) == len(set(ledger)) == MATCHES
    assert set(ledger) == {brief.match for brief in ended.values()}
    assert [brief and (brief.tag, brief.result) for brief in again] == [
        (each.tag, ended[each.tag].result) for each in wanted(players)
    ]
    assert (ladder.game, ladder.matches, ladder.players) == ("mnk", MATCHES, len(NAMES))
    assert sum(line.matches for line in ladder.lines) == 2 * MATCHES


async def test_a_host_learns_what_is_void_from_the_count_and_by_asking(tmp_path: Path) -> None:
    with server_process(tmp_path) as server:
        async with asyncio.timeout(SECONDS), asyncio.TaskGroup() as group:
            async with host_process(server.url) as process:
                opened = await said(process)
                assert isinstance(opened, list)
                lobby, resume = opened
                with TokenAdmin(tmp_path / "hosted.db") as register:
                    tokens = [register.issue(name, "bot").token for name in NAMES]
                bots = [group.create_task(bot(server.url, token, lobby)) for token in tokens]
                players = await said(process)
                assert isinstance(players, dict)
                await said(process)
            async with Client(server.url, resume=resume) as client:
                await client.hosting.kick(lobby, players["dan"])
                count = await void_count(client)
                briefs = (await client.hosting.arrange(lobby, wanted(players))).matches
                void = [brief for brief in briefs if brief is not None and brief.void]
            for each in bots:
                each.cancel()
    assert len(void) == count
    assert all("dan" in [seat.name for seat in brief.seats] for brief in void)
    assert all(brief.result is None and brief.tag for brief in void)
