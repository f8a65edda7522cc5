"""Limits on running matches, tested on a complete server."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from kibitz_server.app import Config, Server, running
from kibitz_server.directory.lobby_matches import LobbyMatches
from kibitz_server.directory.match_room import STARTS_AT_ONCE
from kibitz_server.lobby.commands import BeginMatch
from kibitz_server.lobby.runner import LobbyRunner
from kibitz_server.match.commands import Abort
from kibitz_server.net.connections import Quotas
from tests.server.directory.test_directory import GAMES, Scenario, settings
from tests.server.fakes import JsonClient, wait_until

MANY = {"at_once": 1000}


class PatientScenario(Scenario):
    """A server whose clients read and store all messages."""

    async def call(self, **options: Any) -> JsonClient:
        return await super().call(max_queue=None, **options)


@asynccontextmanager
async def server_with(tmp_path: Path, **options: Any) -> AsyncIterator[Scenario]:
    config = Config(db=tmp_path / "k.db", **options)
    async with running(config, GAMES) as server, AsyncExitStack() as stack:
        yield PatientScenario(server, stack)


async def play_many(house: Scenario, *names: str, at_once: int = 100) -> list[JsonClient]:
    """Let two players start as many matches as allowed."""
    players = [await house.guest(name, capabilities=MANY) for name in names]
    asked = settings(item={"games": 500}, at_once=at_once, conduct={"grace_ms": 10**9})
    done = await players[0].ask("host", settings=asked)
    assert done["type"] == "done", done
    for caller in players:
        await caller.ask("join", lobby=done["lobby"])
        await caller.ask("ready", lobby=done["lobby"])
    return players


def running_in(server: Server, name: str) -> int:
    return sum(
        any(player.name == name for player in match.engine.state.players)
        for match in server.backend.registry.matches.values()
    )


async def test_a_host_asks_for_no_more_matches_at_once_than_a_lobby_may_run(
    tmp_path: Path,
) -> None:
    async with server_with(tmp_path) as house:
        caller = await house.guest("ada")
        answer = await caller.ask("host", settings=settings(at_once=1000))
        assert answer["code"] == "limit"
        assert "settings.at_once: at most 100 matches" in answer["message"]
        assert house.server.backend.registry.lobbies == {}


async def test_few_matches_are_on_their_way_and_news_of_all_are_short(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_their_way: list[int] = []
    right = LobbyMatches.begin

    def begin(matches: LobbyMatches, lobby: LobbyRunner, effect: BeginMatch) -> None:
        running = lobby.engine.state.round.running
        on_their_way.append(sum(key not in matches._registry.matches for key in running))
        right(matches, lobby, effect)

    monkeypatch.setattr(LobbyMatches, "begin", begin)
    async with server_with(tmp_path) as house:
        await play_many(house, "ada", "bob")
        matches = house.server.backend.registry.matches
        await wait_until(lambda: len(matches) == 100)
        assert max(on_their_way) <= STARTS_AT_ONCE
        spectator = await house.guest("eve")
        [lobby] = house.server.backend.registry.lobbies
        await spectator.ask("join", lobby=lobby, role="spectator")
        news = await spectator.next("lobby")
        assert len(news["lobby"]["live"]) == 100
        assert len(json.dumps(news)) < 64_000


async def test_a_player_and_a_server_run_so_many_matches(tmp_path: Path) -> None:
    quotas = Quotas(matches_a_player=10, matches_in_all=15)
    async with server_with(tmp_path, quotas=quotas) as house:
        await play_many(house, "ada", "bob", at_once=50)
        await wait_until(lambda: running_in(house.server, "ada") == 10)
        await play_many(house, "cyd", "dee", at_once=50)
        matches = house.server.backend.registry.matches
        await wait_until(lambda: len(matches) == 15)
        assert running_in(house.server, "cyd") == 5
        begun = next(iter(matches))
        matches[begun].command(Abort("the test needs its place"))
        await wait_until(lambda: begun not in matches and len(matches) == 15)


def test_unlimited_lifts_these_limits_too(tmp_path: Path) -> None:
    config = Config(db=tmp_path / "k.db", unlimited=True)
    assert {getattr(config.quota(), each.name) for each in fields(Quotas)} == {10**9}
