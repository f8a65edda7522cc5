"""A fleet behind a bad network: every match ends, and nobody is told anything twice or untrue."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from benchmarks.mnk import GAME
from kibitz_protocol import client
from tests.tools.faults import Weather, proxied
from tests.tools.figures import Tell
from tests.tools.fleet import Fleet, contradictions, fleet_of
from tests.tools.hosted import Process, draw, hosted

QUICK = {"ping_every_s": 0.5, "pong_s": 0.5, "sweep_s": 0.1}
"""Both sides look for dead connections more often than they usually do."""


async def faults(server: Process, fleet: Fleet) -> list[str]:
    fetched = {
        match: await asyncio.to_thread(server.page, f"/records/{match}.jsonl")
        for match in fleet.seats
    }
    return [*contradictions(fleet, GAME, fetched), *server.trouble()]


async def test_matches_end_behind_a_bad_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "PING_S", 0.5)
    matches = 6
    weather = Weather(reset=0.4, half_open=0.2, half_closed=0.2, slow=0.2, life_bytes=10_000)
    with hosted(tmp_path, unlimited=True, patience=QUICK) as server:
        async with (
            proxied(server.port, 1, weather) as proxy,
            asyncio.timeout(50),
            fleet_of(proxy.url, matches, draw(5)) as fleet,
        ):
            await fleet.finished(matches)
        assert await faults(server, fleet) == []
    assert len(fleet.seats) == matches
    assert fleet.moves == matches * 25
    # It was a bad network indeed.
    assert proxy.toll.resets >= 4
    assert proxy.toll.silences >= 1
    assert proxy.toll.half_closed >= 1
    assert proxy.toll.sliced >= 4
    assert proxy.toll.slow >= 2
    assert fleet.returns


@pytest.mark.slow
async def test_two_hundred_matches_behind_a_bad_network(tmp_path: Path, tell: Tell) -> None:
    """T6 of the promises: all finish, nothing is lost, doubled or told wrongly."""
    matches = 200
    weather = Weather(
        latency_s=0.005,
        jitter_s=0.1,
        sliced=0.1,
        reset=0.4,
        half_open=0.1,
        half_closed=0.2,
        slow=0.1,
        life_bytes=30_000,
    )
    with hosted(tmp_path, unlimited=True) as server:
        async with (
            proxied(server.port, 7, weather) as proxy,
            asyncio.timeout(500),
            fleet_of(proxy.url, matches, draw(5), seed=7, pause=0.2) as fleet,
        ):
            await fleet.finished(matches)
        assert await faults(server, fleet) == []
    assert len(fleet.seats) == matches
    assert fleet.moves == matches * 25
    toll = proxy.toll
    assert min(toll.resets, toll.silences, toll.half_closed, toll.slow) >= 20
    tell(f"T6: {matches} of {matches} matches ended, {fleet.moves} moves, 0 doubled, {toll}")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
async def test_many_matches_behind_a_bad_network_and_a_server_that_is_killed(
    tmp_path: Path, seed: int, tell: Tell
) -> None:
    """T6, with the timers as they are."""
    matches = 40
    weather = Weather(latency_s=0.01, jitter_s=0.1, half_open=0.05, life_bytes=60_000)
    with hosted(tmp_path, unlimited=True) as server:
        async with (
            proxied(server.port, seed, weather) as proxy,
            asyncio.timeout(280),
            fleet_of(proxy.url, matches, draw(12), seed=seed, pause=0.2) as fleet,
        ):
            for _ in range(3):
                await fleet.moved(fleet.moves + 1000)
                server.kill()
                await asyncio.to_thread(server.start)
            await fleet.finished(matches)
        assert await faults(server, fleet) == []
    assert fleet.moves == matches * 144
    tell(
        f"T6: seed {seed}: {matches} of {matches} matches ended, {fleet.moves} moves, {proxy.toll}"
    )
