"""Many matches on a server process that is killed, terminated and restarted.

No acknowledged move is lost or applied twice, every match ends, and all messages to players and
spectators agree with the records.
"""

from __future__ import annotations

import asyncio
import random
import socket
import statistics
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.tools.fleet import Fleet, contradictions, fleet_of, percentile
from tests.tools.measurements import ReportFigure
from tests.tools.mnk import GAME
from tests.tools.raw_connection import stalled_spectator
from tests.tools.server_process import ServerProcess, drawn_matches, server_process

MATCHES = 12
KILLS = 50
CROWD = 200


async def records(process: ServerProcess, fleet: Fleet) -> dict[str, bytes]:
    """Fetch the records of all matches seen by the fleet."""
    return {
        match: await asyncio.to_thread(process.page, f"/records/{match}.jsonl")
        for match in fleet.seats
    }


async def faults(process: ServerProcess, fleet: Fleet, matches: int) -> list[str]:
    """Return all errors of a fleet after its matches."""
    found = contradictions(fleet, GAME, await records(process, fleet))
    if len(fleet.seats) != matches:
        found.append(f"{len(fleet.seats)} matches were seen, {matches} expected")
    return [*found, *process.error_lines()]


async def test_a_killed_server_has_lost_nothing_and_everybody_comes_back(tmp_path: Path) -> None:
    with server_process(tmp_path, unlimited=True) as server:
        async with (
            asyncio.timeout(50),
            fleet_of(server.url, MATCHES, drawn_matches(6), pause=0.03) as fleet,
        ):
            for moves in (100, 220):
                await fleet.moved(moves)
                server.kill()
                server.start()
            await fleet.finished(MATCHES)
        assert await faults(server, fleet, MATCHES) == []
        assert fleet.moves == MATCHES * 36
        assert {player for player, _ in fleet.returns} == {
            player.client.player for player in fleet.players
        }


@pytest.mark.slow
async def test_fifty_kills_at_random_moments(tmp_path: Path, report: ReportFigure) -> None:
    """T1: pairs of kills: one during play, one after the restart while clients reconnect."""
    chance = random.Random(1)
    waits: list[float] = []
    with server_process(tmp_path, unlimited=True) as server:
        async with (
            asyncio.timeout(900),
            fleet_of(server.url, CROWD, drawn_matches(15), pause=0.3, spectators=2) as fleet,
        ):
            for number in range(KILLS):
                if number % 2 == 0:
                    await fleet.moved(CROWD * 225 * number // (KILLS + 2))
                await asyncio.sleep(chance.uniform(0.05, 0.3))
                before = fleet.moves
                server.kill()
                await asyncio.to_thread(server.start)
                ready = time.monotonic()
                if number % 2:
                    await fleet.online()
                    await wait_for_return(fleet, ready)
                    waits += returned(fleet, ready).values()
                    assert fleet.moves >= before
            fleet.pause = 0.0
            await fleet.finished(CROWD)
        assert await faults(server, fleet, CROWD) == []
        assert fleet.moves == CROWD * 225
    median_s, ready_s = statistics.median(server.starts), max(server.starts)
    back_s = percentile(waits, 0.99)
    report(
        f"T1: {KILLS} kills, {fleet.moves} moves; ready after {median_s:.2f} s, at worst"
        f" {ready_s:.2f} s; back at the seat p99 {back_s:.2f} s of {len(waits)}"
    )
    assert percentile(server.starts, 0.9) <= 3
    assert back_s <= 10


def returned(fleet: Fleet, since: float) -> dict[str, float]:
    """Return how long after `since` each player first resumed its seat."""
    found: dict[str, float] = {}
    for player, at in fleet.returns:
        if at >= since:
            found.setdefault(player, at - since)
    return found


async def wait_for_return(fleet: Fleet, since: float) -> None:
    """Wait until all players who still have a seat have reconnected."""
    await fleet.until(lambda: playing(fleet) <= returned(fleet, since).keys())


def playing(fleet: Fleet) -> set[str]:
    """Return the players of matches whose end no client has seen."""
    live = fleet.seats.keys() - fleet.ended.keys()
    return {player for match in live for player in fleet.seats[match]}


@pytest.mark.slow
async def test_sigterm_with_peers_that_do_not_read(tmp_path: Path, report: ReportFigure) -> None:
    """T10: with 200 matches and 20 stuck readers, a shutdown is in time and loses nothing."""
    with server_process(tmp_path, unlimited=True) as server, ExitStack() as stack:
        async with (
            asyncio.timeout(300),
            fleet_of(server.url, CROWD, drawn_matches(15), pause=0.3) as fleet,
        ):
            stuck: list[socket.socket] = []
            for number in range(20):
                matches = list(fleet.seats)[number * 10 : number * 10 + 10]
                stuck.append(stack.enter_context(stalled_spectator(server.port, number, matches)))
            await fleet.moved(8000)
            code, seconds = await asyncio.to_thread(server.terminate)
            report(f"T10: exit status {code} after {seconds:.1f} s")
            assert code == 0
            assert seconds <= 15
            await asyncio.to_thread(server.start)
            fleet.pause = 0.0
            await fleet.finished(CROWD)
        assert await faults(server, fleet, CROWD) == []
        assert fleet.moves == CROWD * 225
