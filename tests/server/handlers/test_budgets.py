"""A player's budget for entries in all matches and lobbies, enforced by the server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from kibitz_server.app import Config, running
from kibitz_server.match.budget import NOTES, RETURNS
from kibitz_server.net.rate_limit import Rate, RateLimits
from tests.server.directory.test_directory import GAMES, Scenario, settings

PLENTY = Rate(1e6, 1e6)
SLOW = Rate(0.001, 3)


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[Scenario]:
    limits = replace(RateLimits(), socket=PLENTY, account=PLENTY, openings=SLOW)
    limits = replace(limits, notes=Rate(0.001, NOTES.at_once + 5000))
    async with (
        running(Config(db=tmp_path / "k.db", tariff=limits), GAMES) as server,
        AsyncExitStack() as stack,
    ):
        yield Scenario(server, stack)


async def test_a_player_opens_so_many_lobbies_by_hosting_and_seeking(house: Scenario) -> None:
    ada = await house.guest("ada")
    for _ in range(int(SLOW.burst)):
        opened = await ada.ask("host", settings=settings())
        await ada.ask("close", lobby=opened["lobby"])
    for answer in (
        await ada.ask("host", settings=settings()),
        await ada.ask("seek", terms={"item": {"game": "toy-grid", "seats": 2}}),
    ):
        assert (answer["code"], "too many lobbies" in answer["message"]) == ("rate_limited", True)
        assert answer["retry_after_ms"] > 0
    assert house.server.backend.registry.lobbies == {}
    assert (await (await house.guest("bob")).ask("host", settings=settings()))["type"] == "done"


async def test_a_player_writes_so_many_notes(house: Scenario) -> None:
    [ada, bob], _ = await house.match("ada", "bob")
    match = (await ada.next("match_started"))["match"]["match"]
    for _ in range(NOTES.at_once // 2000):
        assert (await ada.ask("note", match=match, text="x" * 2000))["type"] == "done"
    assert (await ada.ask("note", match=match, text="x" * 2000))["code"] == "limit"
    assert (await ada.ask("note", match=match, text="x" * 2000))["code"] == "limit"
    assert (await ada.ask("note", match=match, text="x" * 2000))["code"] == "rate_limited"
    assert (await bob.ask("note", match=match, text="x" * 2000))["type"] == "done"


async def test_a_seat_that_comes_back_too_often_waits_and_keeps_its_connection(
    house: Scenario,
) -> None:
    await house.match("ada", "bob")
    [match] = house.server.backend.registry.matches.values()
    before, log = match.seats.peers[0], match.engine.state.seq
    match.engine.state.used[RETURNS.key(0)] = RETURNS.at_once
    other = await house.call()
    await other.ask("hello", versions=[1], resume=house.secrets["ada"])
    refused = await other.ask("rejoin", match=match.key)
    assert refused["code"] == "rate_limited"
    assert refused["retry_after_ms"] > 0
    assert (match.seats.peers[0], match.engine.state.seq) == (before, log)
    match.engine.state.used[RETURNS.key(0)] = RETURNS.most
    assert (await other.ask("rejoin", match=match.key))["code"] == "limit"
