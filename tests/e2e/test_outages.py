"""Failures that a server survives: a full disk, freezes, kills during startup.

Play continues: no acknowledged move is lost or applied twice, every match ends, and all messages to
players and spectators agree with the records.
"""

from __future__ import annotations

import asyncio
import random
import time
from pathlib import Path

import pytest

from tests.tools.fleet import Fleet, contradictions, fleet_of
from tests.tools.measurements import ReportFigure
from tests.tools.mnk import GAME
from tests.tools.server_process import ServerProcess, drawn_matches, server_process


async def untrue(process: ServerProcess, fleet: Fleet) -> list[str]:
    """Return the contradictions between the records and the fleet's messages."""
    records = {
        match: await asyncio.to_thread(process.page, f"/records/{match}.jsonl")
        for match in fleet.seats
    }
    return contradictions(fleet, GAME, records)


async def fill_the_disk(server: ServerProcess, seconds: float) -> list[int]:
    """Block all writes for a while; return the readiness states in that time."""
    said = []
    with server.full_disk():
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            await asyncio.sleep(0.5)
            said.append(await asyncio.to_thread(server.status, "/readyz"))
    return said


async def test_a_disk_that_was_full_takes_nothing_back(tmp_path: Path) -> None:
    """Six seconds exceed the total of a commit's retries."""
    matches = 6
    with server_process(tmp_path, unlimited=True) as server:
        async with (
            asyncio.timeout(100),
            fleet_of(server.url, matches, drawn_matches(6), pause=0.1) as fleet,
        ):
            await fleet.moved(60)
            assert 503 in await fill_the_disk(server, 6)
            await fleet.moved(fleet.moves + 30)
            server.kill()
            await asyncio.to_thread(server.start)
            await fleet.finished(matches)
        assert await untrue(server, fleet) == []
    assert fleet.moves == matches * 36


@pytest.mark.slow
async def test_outages_of_every_kind_in_turn(tmp_path: Path, report: ReportFigure) -> None:
    """Full disks of various durations, freezes and kills during forty matches."""
    matches, chance = 40, random.Random(2)
    outages = {"full disk": 0, "freeze": 0, "kill": 0}
    with server_process(tmp_path, unlimited=True) as server:
        async with (
            asyncio.timeout(550),
            fleet_of(server.url, matches, drawn_matches(12), pause=0.3) as fleet,
        ):
            for number in range(18):
                await fleet.moved(fleet.moves + 200)
                kind = ("full disk", "freeze", "kill")[number % 3]
                outages[kind] += 1
                if kind == "full disk":
                    await fill_the_disk(server, chance.choice([0.6, 1, 2.5, 4, 5, 8]))
                elif kind == "freeze":
                    with server.frozen():
                        await asyncio.sleep(chance.uniform(1, 8))
                else:
                    server.kill()
                    await asyncio.to_thread(server.start)
            fleet.pause = 0.0
            await fleet.finished(matches)
        assert await untrue(server, fleet) == []
    assert fleet.moves == matches * 144
    report(f"outages: {outages}, {fleet.moves} moves, none lost, doubled or told wrongly")


@pytest.mark.slow
async def test_kills_before_it_is_up(tmp_path: Path, report: ReportFigure) -> None:
    """A recovery that is interrupted at any time is repeated from the start."""
    matches, kills, chance = 40, 40, random.Random(3)
    with server_process(tmp_path, unlimited=True) as server:
        async with (
            asyncio.timeout(400),
            fleet_of(server.url, matches, drawn_matches(8), pause=0.2) as fleet,
        ):
            for _ in range(kills // 4):
                await fleet.moved(fleet.moves + 100)
                server.kill()
                for _ in range(4):
                    server.launch()
                    await asyncio.sleep(chance.uniform(0.02, 0.9))
                    server.kill()
                await asyncio.to_thread(server.start)
            fleet.pause = 0.0
            await fleet.finished(matches)
        assert await untrue(server, fleet) == []
        assert server.error_lines() == []
    assert fleet.moves == matches * 64
    report(f"kills before it is up: {kills}, {fleet.moves} moves, none lost or doubled")
