"""Clients flood a server or stop reading while a fleet plays undisturbed.

`tests/server/net/test_wire_refusals.py` covers single invalid requests.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
import time
from collections.abc import AsyncIterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest

from tests.tools.fleet import Fleet, contradictions, fleet_of, percentile
from tests.tools.floods import (
    FloodOutcome,
    create_lobbies,
    flood,
    send_headers_slowly,
    wait_for_close,
)
from tests.tools.measurements import ReportFigure
from tests.tools.mnk import GAME
from tests.tools.raw_connection import (
    HANDSHAKE,
    RawConnection,
    greeted_connection,
    message_frame,
)
from tests.tools.server_process import (
    ServerProcess,
    ServerResources,
    drawn_matches,
    resources_released,
    server_process,
)

FLOOD_CODE = 1008
ROOT = Path(__file__).parents[2]
FLOOD_ROUNDS = 3
"""Other processes may use this machine, so the best of several rounds counts."""
HANDSHAKE_S = 5.0
"""The handshake timeout (`TimeoutConfig`)."""


# --- crowds -----------------------------------------------------------------------------------


async def faults(server: ServerProcess, fleet: Fleet) -> list[str]:
    fetched = {
        match: await asyncio.to_thread(server.page, f"/records/{match}.jsonl")
        for match in fleet.seats
    }
    return [*contradictions(fleet, GAME, fetched), *server.error_lines()]


@contextlib.asynccontextmanager
async def playing(
    server: ServerProcess, matches: int, size: int, pause: float
) -> AsyncIterator[Fleet]:
    """Let a fleet play during the block; then all matches end and all resources are released."""
    before: ServerResources = await asyncio.to_thread(server.resources)
    async with fleet_of(server.url, matches, drawn_matches(size), pause=pause) as fleet:
        await fleet.moved(matches)
        moves = fleet.moves
        yield fleet
        assert fleet.moves > moves, "nobody has moved meanwhile"
        fleet.pause = 0.0
        await fleet.finished(matches)
        assert await faults(server, fleet) == []
    assert await resources_released(server, before, 20)


async def test_a_flood_is_closed_and_nobody_else_notices(tmp_path: Path) -> None:
    with server_process(tmp_path) as server:
        async with asyncio.timeout(40), playing(server, 4, 8, 0.03) as fleet:
            ends = []
            moves = fleet.moves
            # One wave takes only milliseconds, so waves are repeated until all players have moved.
            while fleet.moves < moves + 40:
                ends += await asyncio.gather(
                    *(asyncio.to_thread(flood, server.port, f"flood {n}", 500) for n in range(5))
                )
        assert {code for code, _ in ends} == {FLOOD_CODE}
        assert max(seconds for _, seconds in ends) < 2
        figures = server.metrics()
        assert figures['kibitz_connections_dropped_total{reason="flood"}'] == len(ends)
        assert figures['kibitz_refusals_total{code="rate_limited"}'] > 0


async def test_lobbies_have_a_limit_and_creating_them_a_price(tmp_path: Path) -> None:
    with server_process(tmp_path) as server:
        async with (
            asyncio.timeout(40),
            fleet_of(server.url, 2, drawn_matches(8), pause=0.02) as fleet,
        ):
            codes, code = await asyncio.to_thread(create_lobbies, server.port, "estate", 1000)
            await fleet.finished(2)
        assert codes == {"done", "rate_limited"}
        assert code == FLOOD_CODE
        assert server.metrics()["kibitz_lobbies_open"] <= 8 + 2
        assert await faults(server, fleet) == []


async def test_handshakes_that_never_end_are_ended(tmp_path: Path) -> None:
    with server_process(tmp_path) as server:
        async with asyncio.timeout(50), playing(server, 4, 15, 0.03):
            begun = b"GET / HTTP/1.1\r\nHost: localhost\r\n"
            half = [wait_for_close(server.port, begun) for _ in range(200)]
            mute = [wait_for_close(server.port, b"") for _ in range(50)]
            slow = [send_headers_slowly(server.port) for _ in range(20)]
            ends = await asyncio.gather(*half, *mute, *slow)
        assert max(ends) < HANDSHAKE_S + 2
        assert server.metrics()['kibitz_connections_dropped_total{reason="aborted"}'] >= 270


def stalled_spectators(
    stack: ExitStack, port: int, matches: list[str], name: str, count: int
) -> list[RawConnection]:
    """Open connections that watch all matches, with small receive buffers."""
    connections = []
    for number in range(count):
        connection = stack.enter_context(greeted_connection(port, f"{name} {number}", narrow=True))
        connections.append(connection)
        for match in matches:
            assert connection.ask("watch", match=match)["type"] == "done"
    return connections


async def read_slowly(connection: RawConnection, until: asyncio.Event) -> None:
    """Read a kilobyte per second."""
    loop = asyncio.get_running_loop()
    connection.socket.setblocking(False)
    with contextlib.suppress(ConnectionError):
        while not until.is_set():
            await loop.sock_recv(connection.socket, 102)
            await asyncio.sleep(0.1)


def wait_until_gone(server: ServerProcess, spectators: int) -> None:
    """Wait until at most a given number of watchers is left."""
    while server.resources().spectators > spectators:
        time.sleep(0.2)


async def test_spectators_who_do_not_read_are_dropped_and_slow_ones_fall_behind(
    tmp_path: Path,
) -> None:
    matches, stuck, slow = 6, 5, 5
    with server_process(tmp_path, unlimited=True) as server, ExitStack() as stack:
        async with asyncio.timeout(50), playing(server, matches, 15, 0.05) as fleet:
            seen = list(fleet.seats)
            open_ = stalled_spectators
            await asyncio.to_thread(open_, stack, server.port, seen, "stuck", stuck)
            slows = await asyncio.to_thread(open_, stack, server.port, seen, "slow", slow)
            over = asyncio.Event()
            async with asyncio.TaskGroup() as group:
                for connection in slows:
                    group.create_task(read_slowly(connection, over))
                # The fleet's own spectator and the slow ones may remain.
                await asyncio.to_thread(wait_until_gone, server, matches * (1 + slow))
                over.set()
            assert fleet.ended == {}, "the matches were over before anybody was stuck"
            stack.close()
        assert server.metrics()['kibitz_connections_dropped_total{reason="aborted"}'] >= stuck


# --- full-size crowds -------------------------------------------------------------------------


def report_times(fleet: Fleet, first: int) -> str:
    """Report the move latency of the players, who share a process with the crowd."""
    waits = fleet.answer_times[first:]
    p50, p99 = percentile(waits, 0.5) * 1000, percentile(waits, 0.99) * 1000
    return f"p50 {p50:.1f} ms, p99 {p99:.1f} ms of {len(waits)} moves"


def slow_moves(server: ServerProcess) -> dict[str, int]:
    """Return the number of moves for which the server itself took longer than a limit."""
    figures = server.metrics()
    total = figures["kibitz_move_seconds_count"]
    bounds = ("0.005", "0.01", "0.02", "0.05", "0.1")
    return {
        bound: int(total - figures[f'kibitz_move_seconds_bucket{{le="{bound}"}}'])
        for bound in bounds
    }


class DiscardingSpectator(asyncio.Protocol):
    """A spectator that reads all data and ignores it."""

    def __init__(self, hello: bytes) -> None:
        self._hello = hello

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        transport.write(self._hello)


@pytest.mark.slow
async def test_a_thousand_spectators(tmp_path: Path, report: ReportFigure) -> None:
    """T8: 800 fast readers, 100 that never read, 100 at a kilobyte per second, 20 matches."""
    matches, each = 20, 40
    with server_process(tmp_path, unlimited=True) as server, ExitStack() as stack:
        async with asyncio.timeout(280), playing(server, matches, 15, 0.5) as fleet:
            await fleet.moved(600)
            report(f"T8: alone {report_times(fleet, 0)}")
            seen = list(fleet.seats)
            loop = asyncio.get_running_loop()
            sinks = []
            for number in range(matches * each):
                hello = HANDSHAKE.format(path="/", more="").encode()
                hello += message_frame(type="hello", id=1, versions=[1], name=f"sink {number}")
                hello += message_frame(type="watch", id=2, match=seen[number % matches])
                sinks.append(
                    await loop.create_connection(
                        partial(DiscardingSpectator, hello), "127.0.0.1", server.port
                    )
                )
            for part in range(10):
                pair = seen[2 * part : 2 * part + 2]
                names = (stack, server.port, pair)
                await asyncio.to_thread(stalled_spectators, *names, f"stuck {part}", 10)
                slows = await asyncio.to_thread(stalled_spectators, *names, f"slow {part}", 10)
                over = asyncio.Event()
                sips = [asyncio.create_task(read_slowly(connection, over)) for connection in slows]
            first = fleet.moves
            await fleet.moved(first + 1200)
            report(f"T8: with 1,000 spectators {report_times(fleet, first)}; {slow_moves(server)}")
            over.set()
            await asyncio.gather(*sips)
            for transport, _ in sinks:
                transport.abort()
            stack.close()


async def flooded(server: ServerProcess) -> FloodOutcome:
    """Send all floods to a server in parallel, from a separate process."""
    flooders = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.tools.floods",
        str(server.port),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
    )
    printed, _ = await flooders.communicate()
    return FloodOutcome(**json.loads(printed))


async def p99_under_floods(fleet: Fleet, server: ServerProcess) -> tuple[float, FloodOutcome]:
    """Send all floods to a server; return the players' p99 latency in milliseconds."""
    first = fleet.moves
    outcome = await flooded(server)
    return percentile(fleet.answer_times[first:], 0.99) * 1000, outcome


@pytest.mark.slow
async def test_every_flood_at_once(tmp_path: Path, report: ReportFigure) -> None:
    """T9: 50 flooding sockets, 2,000 half-open handshakes, 10,000 lobbies, slow headers.

    The same floods are first sent to another server on the same machine. This measures the CPU time
    that the players lose regardless of this server. (`tests/server/net/test_connection.py` measures
    the floods' share of a loop turn.)
    """
    directories = tmp_path / "ours", tmp_path / "other"
    for directory in directories:
        directory.mkdir()
    with server_process(directories[0]) as server, server_process(directories[1]) as other:
        async with asyncio.timeout(280), playing(server, 20, 15, 0.3) as fleet:
            await fleet.moved(1000)
            report(f"T9: alone {report_times(fleet, 0)}")
            ratios, closed_after = [], []
            for _ in range(FLOOD_ROUNDS):
                elsewhere, _ = await p99_under_floods(fleet, other)
                here, outcome = await p99_under_floods(fleet, server)
                report(f"T9: p99 {here:.1f} ms, with another server flooded {elsewhere:.1f} ms")
                report(f"T9: the slowest flooder was closed after {outcome.slowest_s:.2f} s")
                ratios.append(here / elsewhere)
                assert set(outcome.codes) <= {FLOOD_CODE, None}
                closed_after.append(outcome.slowest_s)
            report(f"T9: {slow_moves(server)} in the server")
        assert min(ratios) <= 2
        assert min(closed_after) < 2
