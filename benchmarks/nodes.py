"""Costs of PostgreSQL and several nodes, beside one server with SQLite in the same run.

    python -m benchmarks.nodes [--quick] [--json FILE] [--page FILE]

200 matches of five in a row are played on one server with SQLite, on one with PostgreSQL, and on
one, two and three nodes with PostgreSQL. Each setup runs with all sides moving at once, and at a
pace. The database is a temporary one on this machine, which syncs its commits, the default. It
shares the processors with the servers and the clients, so the page lists the CPU time of each.
Latency is the time from sending a move to its acknowledgement, which comes after the sync.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Final

import psutil
import uvloop

from benchmarks.machine import machine
from benchmarks.players import Meter, Player, seat_kibitz
from benchmarks.server import FIVE, HOST, Subject, hang_up, kibitz_server
from tests.tools import postgres_server

MATCHES: Final = 200
PACE: Final = 500
"""Moves a second of all matches together, in the paced runs."""


@dataclass(frozen=True)
class Setup:
    """Which servers play, and on what database."""

    name: str
    nodes: int = 0
    """The number of nodes; 0 for one server that has the database for itself."""
    sqlite: bool = False


SETUPS: Final = (
    Setup("one server, SQLite", sqlite=True),
    Setup("one server, PostgreSQL"),
    Setup("1 node", 1),
    Setup("2 nodes", 2),
    Setup("3 nodes", 3),
)


@dataclass(frozen=True)
class Load:
    """One measured stretch of play; CPU is that of all processes of a kind, a move."""

    moves_per_second: float
    servers_us: float
    database_us: float
    """0.0 for SQLite, which is in the server's process."""
    clients_us: float
    p50_ms: float
    p99_ms: float


class Servers:
    """The processes under measurement."""

    def __init__(self, servers: Sequence[Subject], database: int | None) -> None:
        self.ports = [server.port for server in servers]
        self._servers = servers
        self._database = None if database is None else psutil.Process(database)
        self._clients = psutil.Process()

    def spent(self) -> tuple[float, float, float]:
        """Return the seconds of CPU that servers, database and clients have spent so far."""
        database = 0.0
        if self._database is not None:
            workers = [self._database, *self._database.children()]
            database = sum(map(_cpu, workers))
        return sum(server.cpu() for server in self._servers), database, _cpu(self._clients)


def _cpu(process: psutil.Process) -> float:
    with contextlib.suppress(psutil.NoSuchProcess):
        times = process.cpu_times()
        return float(times.user + times.system)
    return 0.0


@contextlib.contextmanager
def serving(setup: Setup) -> Iterator[Servers]:
    """Start a setup's database and servers, and end them afterwards."""
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="kibitz-bench-"))
        database = None
        address = str(Path(folder) / "kibitz.db")
        if not setup.sqlite:
            cluster = stack.enter_context(postgres_server.cluster(settings={}))
            address, database = cluster.url, cluster.pid
        options: list[tuple[str, ...]] = [
            ("--node", f"n{number}", "--public-url", f"ws://n{number}.example.org")
            for number in range(setup.nodes)
        ]
        started = [
            stack.enter_context(kibitz_server(address, *option)) for option in options or [()]
        ]
        yield Servers(started, database)


async def play(setup: Setup, rate: float, seconds: float) -> Load:
    """Play at `rate` moves a second, 0 for at once, on servers that are started for it."""
    with serving(setup) as servers:
        meter = Meter(interval=MATCHES / rate if rate else 0.0)
        players: list[Player] = []
        for place, port in enumerate(servers.ports):
            share = MATCHES * (place + 1) // len(servers.ports) - len(players) // 2
            await _until_open(port)
            players += await seat_kibitz(HOST, port, share, meter, FIVE, f"p{place}")
        await asyncio.sleep(2)
        meter.reset()
        meter.running = True
        before, began = servers.spent(), time.perf_counter()
        await asyncio.sleep(seconds)
        meter.running = False
        lasted, after = time.perf_counter() - began, servers.spent()
        hang_up(players)
    at = statistics.quantiles(meter.latencies, n=100)
    servers_us, database_us, clients_us = (
        (end - start) / meter.moves * 1e6 for start, end in zip(before, after, strict=True)
    )
    return Load(
        meter.moves / lasted, servers_us, database_us, clients_us, at[49] * 1e3, at[98] * 1e3
    )


async def _until_open(port: int) -> None:
    """Wait until a node has found that it serves."""
    request = f"GET /readyz HTTP/1.1\r\nHost: {HOST}\r\nConnection: close\r\n\r\n".encode()
    async with asyncio.timeout(30):
        while True:
            reader, writer = await asyncio.open_connection(HOST, port)
            writer.write(request)
            status = await reader.readline()
            writer.close()
            if b" 200 " in status:
                return
            await asyncio.sleep(0.1)


def median(loads: Sequence[Load]) -> Load:
    """Return the median of each figure."""
    return Load(
        *(
            statistics.median(getattr(load, figure.name) for load in loads)
            for figure in fields(Load)
        )
    )


async def measure(rate: float, seconds: float, rounds: int) -> dict[str, Load]:
    """Measure every setup in turn, so many times."""
    loads: dict[str, list[Load]] = {setup.name: [] for setup in SETUPS}
    for _ in range(rounds):
        for setup in SETUPS:
            loads[setup.name].append(await play(setup, rate, seconds))
    return {name: median(runs) for name, runs in loads.items()}


def table(title: str, loads: dict[str, Load]) -> list[str]:
    """Return a section of the page."""
    first = next(iter(loads.values()))
    lines = [
        f"## {title}",
        "",
        "| | moves per second | servers, us per move | database | clients | p50 ms | p99 ms"
        " | servers and database / SQLite |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, load in loads.items():
        cost = load.servers_us + load.database_us
        ratio = cost / (first.servers_us + first.database_us)
        lines.append(
            f"| {name} | {load.moves_per_second:.0f} | {load.servers_us:.0f}"
            f" | {load.database_us:.0f} | {load.clients_us:.0f} | {load.p50_ms:.1f}"
            f" | {load.p99_ms:.1f} | {ratio:.2f} |"
        )
    return [*lines, ""]


def page(command: str, sections: dict[str, dict[str, Load]]) -> str:
    """Return the page of the documents."""
    lines = [
        "# What PostgreSQL and several nodes cost",
        "",
        f"Written by `{command}`. Servers, database and clients were on one machine: {machine()}.",
        "",
        f"{MATCHES} matches of five in a row, spread over the servers. If the processors are"
        " saturated, more nodes cannot play more moves; the columns show the cost of each part."
        " A move is acknowledged when it is synced.",
        "",
    ]
    for title, loads in sections.items():
        lines += table(title, loads)
    return "\n".join(lines)


async def main(quick: bool) -> dict[str, dict[str, Load]]:
    """Measure everything, printing each section as soon as it is there."""
    seconds, rounds = (2.0, 1) if quick else (8.0, 3)
    sections = {}
    for title, rate in (
        ("All sides moving at once", 0),
        (f"{PACE} moves a second", PACE),
    ):
        sections[title] = await measure(rate, seconds, rounds)
        print("\n".join(table(title, sections[title])), flush=True)
    return sections


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="short runs, one of each")
    parser.add_argument("--json", type=Path, help="write every figure to a file")
    parser.add_argument("--page", type=Path, help="write a page of Markdown")
    given = parser.parse_args()
    measured = uvloop.run(main(given.quick))
    if given.json:
        figures = {
            title: {name: asdict(load) for name, load in found.items()}
            for title, found in measured.items()
        }
        given.json.write_text(json.dumps(figures, indent=2) + "\n")
    if given.page:
        words = "python -m benchmarks.nodes" + (" --quick" if given.quick else "")
        given.page.write_text(page(words, measured), encoding="utf-8")
