"""A fleet on a bad network: every match ends, and no message is wrong or repeated."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from kibitz_protocol.client import connection
from kibitz_protocol.wire.clocks import TimeControl
from kibitz_protocol.wire.records import Conduct
from tests.server.fakes import JsonClient, connected
from tests.tools.fault_proxy import NetworkFaults, fault_proxy
from tests.tools.fleet import Fleet, contradictions, fleet_of
from tests.tools.measurements import ReportFigure
from tests.tools.mnk import GAME
from tests.tools.server_process import ServerProcess, drawn_matches, server_process

QUICK = {"ping_every_s": 0.5, "pong_s": 0.5, "sweep_s": 0.1}
"""Both sides check for dead connections more often than by default."""


async def faults(server: ServerProcess, fleet: Fleet) -> list[str]:
    fetched = {
        match: await asyncio.to_thread(server.page, f"/records/{match}.jsonl")
        for match in fleet.seats
    }
    return [*contradictions(fleet, GAME, fetched), *server.error_lines()]


async def test_matches_end_behind_a_bad_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "PING_INTERVAL_S", 0.5)
    matches = 6
    network = NetworkFaults(reset=0.4, half_open=0.15, half_closed=0.2, slow=0.1, max_bytes=10_000)
    with server_process(tmp_path, unlimited=True, patience=QUICK) as server:
        async with (
            fault_proxy(server.port, 1, network) as proxy,
            asyncio.timeout(50),
            fleet_of(proxy.url, matches, drawn_matches(5)) as fleet,
        ):
            await fleet.finished(matches)
        assert await faults(server, fleet) == []
    assert len(fleet.seats) == matches
    assert fleet.moves == matches * 25
    # Faults did occur.
    assert proxy.counts.resets >= 4
    assert proxy.counts.silences >= 1
    assert proxy.counts.half_closed >= 1
    assert proxy.counts.sliced >= 4
    assert proxy.counts.slow >= 1
    assert fleet.returns


@pytest.mark.slow
async def test_two_hundred_matches_behind_a_bad_network(
    tmp_path: Path, report: ReportFigure
) -> None:
    """T6: all matches finish, and nothing is lost, duplicated or reported wrongly."""
    matches = 200
    network = NetworkFaults(
        latency_s=0.005,
        jitter_s=0.1,
        sliced=0.1,
        reset=0.4,
        half_open=0.1,
        half_closed=0.2,
        slow=0.1,
        max_bytes=30_000,
    )
    with server_process(tmp_path, unlimited=True) as server:
        async with (
            fault_proxy(server.port, 7, network) as proxy,
            asyncio.timeout(500),
            fleet_of(proxy.url, matches, drawn_matches(5), seed=7, pause=0.2) as fleet,
        ):
            await fleet.finished(matches)
        assert await faults(server, fleet) == []
    assert len(fleet.seats) == matches
    assert fleet.moves == matches * 25
    counts = proxy.counts
    assert min(counts.resets, counts.silences, counts.half_closed, counts.slow) >= 20
    report(f"T6: {matches} of {matches} matches ended, {fleet.moves} moves, 0 doubled, {counts}")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
async def test_many_matches_behind_a_bad_network_and_a_server_that_is_killed(
    tmp_path: Path, seed: int, report: ReportFigure
) -> None:
    """T6 with the default timers."""
    matches = 40
    network = NetworkFaults(latency_s=0.01, jitter_s=0.1, half_open=0.05, max_bytes=60_000)
    with server_process(tmp_path, unlimited=True) as server:
        async with (
            fault_proxy(server.port, seed, network) as proxy,
            asyncio.timeout(280),
            fleet_of(proxy.url, matches, drawn_matches(12), seed=seed, pause=0.2) as fleet,
        ):
            for quarter in (1, 2, 3):
                await fleet.moved(matches * 144 * quarter // 4)
                server.kill()
                await asyncio.to_thread(server.start)
            await fleet.finished(matches)
        assert await faults(server, fleet) == []
    assert fleet.moves == matches * 144
    report(
        f"T6: seed {seed}: {matches} of {matches} matches ended, {fleet.moves} moves,"
        f" {proxy.counts}"
    )


# --- suspended servers --------------------------------------------------------------------------

SIDE = 5
STOPPED_S = 5.0


@contextlib.asynccontextmanager
async def two_players(server: ServerProcess, matches: int, conduct: Conduct) -> AsyncIterator[Any]:
    """Start matches between two connections with 3 s per move; yield both, and one's secret."""
    item = drawn_matches(SIDE, matches).model_copy(
        update={"time_control": TimeControl.parse("move=3")}
    )
    settings = {
        "seats": [{"kind": "open"}] * 2,
        "programme": [item.model_dump()],
        "at_once": matches,
        "conduct": conduct.model_dump(),
    }
    able = {"at_once": matches}
    url = f"ws://127.0.0.1:{server.port}"
    async with connected(url, ping_interval=None) as ada, connected(url, ping_interval=None) as bob:
        await ada.hello("ada", capabilities=able)
        secret = (await bob.hello("bob", capabilities=able))["resume"]
        lobby = (await ada.ask("host", settings=settings))["lobby"]
        for caller in (ada, bob):
            await caller.ask("join", lobby=lobby)
        for caller in (ada, bob):
            await caller.ask("ready", lobby=lobby)
        yield ada, bob, secret


async def turns_of(
    players: list[JsonClient], count: int
) -> list[tuple[JsonClient, dict[str, Any]]]:
    """Return the first turn of each match with its connection."""
    found: list[tuple[JsonClient, dict[str, Any]]] = []

    async def collect(caller: JsonClient) -> None:
        while True:
            found.append((caller, await caller.next("your_turn")))

    collecting = [asyncio.create_task(collect(caller)) for caller in players]
    async with asyncio.timeout(20):
        while len(found) < count:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    for task in collecting:
        task.cancel()
    await asyncio.gather(*collecting, return_exceptions=True)
    return found


@contextlib.contextmanager
def stopping(server: ServerProcess) -> Iterator[None]:
    os.kill(server.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(server.pid, signal.SIGCONT)


async def stopped(
    server: ServerProcess, meanwhile: list[tuple[JsonClient, dict[str, Any]]]
) -> list[Any]:
    """Suspend the server, send moves meanwhile, and return its answers."""
    with stopping(server):
        await asyncio.sleep(0.2)
        for number, (caller, turn) in enumerate(meanwhile, 1000):
            await caller.socket.send(_move(number, turn))
        await asyncio.sleep(STOPPED_S)
    return [await answer_to(caller, number) for number, (caller, _) in enumerate(meanwhile, 1000)]


def _move(number: int, turn: dict[str, Any]) -> str:
    return json.dumps(
        {
            "type": "move",
            "id": number,
            "match": turn["match"],
            "ply": turn["ply"],
            "action": {"cell": 0},
        }
    )


async def answer_to(caller: JsonClient, request: int) -> dict[str, Any]:
    """Return an answer; store other messages as events."""
    for kept in caller.news:
        if kept.get("re") == request:
            return kept
    async with asyncio.timeout(20):
        while True:
            message: dict[str, Any] = json.loads(await caller.socket.recv())
            caller.news.append(message)
            if message.get("re") == request:
                return message


async def test_a_server_that_is_stopped_forfeits_nobody_whose_move_waits(tmp_path: Path) -> None:
    """With 3 s per move, of which the players have used most when the server is suspended."""
    matches = 20
    with server_process(tmp_path, unlimited=True) as server:
        async with two_players(server, matches, Conduct()) as (ada, bob, _):
            turns = await turns_of([ada, bob], matches)
            await asyncio.sleep(2)
            answers = await stopped(server, turns)
            assert [answer["type"] for answer in answers] == ["done"] * matches
            heard = [*ada.news, *bob.news]
        entries = [m["entry"] for m in heard if m["type"] == "event"]
        moved = {entry["id"]: entry for entry in entries if entry["kind"] == "move"}
        assert len(moved) == matches
        for entry in moved.values():
            assert 1900 <= entry["elapsed_ms"] < 3000
            assert STOPPED_S * 1000 <= entry["lag_ms"] < STOPPED_S * 1000 + 2000
        assert not [entry for entry in entries if entry["kind"] in {"flag", "forfeit"}]
        assert server.error_lines() == []


@pytest.mark.slow
async def test_a_server_that_is_stopped_gives_nobody_up_who_comes_back_meanwhile(
    tmp_path: Path,
) -> None:
    with server_process(tmp_path, unlimited=True) as server:
        conduct = Conduct(grace_ms=3000)
        async with two_players(server, 1, conduct) as (ada, bob, secret):
            [(mover, turn)] = await turns_of([ada, bob], 1)
            assert mover is ada
            await bob.socket.close()
            assert (await ada.next("event"))["entry"]["kind"] == "leave"
            with stopping(server):
                coming = asyncio.create_task(returned(server, secret, turn["match"]))
                await asyncio.sleep(STOPPED_S)
            assert "result" not in await coming
            assert (await ada.next("event"))["entry"]["kind"] == "return"
        assert server.error_lines() == []


async def returned(server: ServerProcess, secret: str, match: str) -> dict[str, Any]:
    """Reconnect to a match with a secret; return its snapshot."""
    async with connected(
        f"ws://127.0.0.1:{server.port}", ping_interval=None, open_timeout=20
    ) as again:
        await again.ask("hello", versions=[1], resume=secret)
        await again.ask("rejoin", match=match)
        snapshot = await again.next("snapshot")
        await asyncio.sleep(0.5)
        return snapshot
