"""Measure the cost of PostgreSQL and several nodes, relative to one server with SQLite.

    python -m benchmarks.nodes [--quick] [--json FILE] [--page FILE]

Each setup plays 200 matches of five in a row: one server with SQLite, one server with PostgreSQL,
and one, two and three nodes with PostgreSQL. Each runs at full speed and at a fixed pace. The
database is temporary and local, and syncs its commits (the default). Database, servers and clients
share the processors, so the page lists the CPU time of each. Latency is the time from sending a
move to its acknowledgment, which follows the sync.
"""

from __future__ import annotations

import asyncio
import contextlib
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Final

import psutil
import uvloop

from benchmarks import report
from benchmarks.machine import machine
from benchmarks.players import Meter, Player, seat_kibitz
from benchmarks.server import FIVE, HOST, Subject, hang_up, kibitz_server
from docs.generate.markdown import table
from tests.tools import postgres_server

MATCHES: Final = 200
PACE: Final = 500
"""Moves per second over all matches, in paced runs."""


@dataclass(frozen=True)
class Setup:
    """A set of servers with their kind of database."""

    name: str
    nodes: int = 0
    """The number of nodes; 0 for one server that owns the whole database."""
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
    """One measured period of play; CPU times are per move, over all processes of a kind."""

    moves_per_second: float
    servers_us: float
    database_us: float
    """0.0 for SQLite, which runs in the server's process."""
    clients_us: float
    p50_ms: float
    p99_ms: float


class Servers:
    """The measured processes."""

    def __init__(self, servers: Sequence[Subject], database: int | None) -> None:
        self.ports = [server.port for server in servers]
        self._servers = servers
        self._database = None if database is None else psutil.Process(database)
        self._clients = psutil.Process()

    def spent(self) -> tuple[float, float, float]:
        """Return the CPU seconds used so far by the servers, the database and the clients."""
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
    """Start a setup's database and servers, and stop them afterwards."""
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
    """Play at `rate` moves per second (0: at full speed) on newly started servers."""
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
    """Wait until a node is ready to serve."""
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
    """Return the median of each value."""
    return Load(
        *(
            statistics.median(getattr(load, figure.name) for load in loads)
            for figure in fields(Load)
        )
    )


async def measure(rate: float, seconds: float, rounds: int) -> dict[str, Load]:
    """Measure every setup in turn, `rounds` times."""
    loads: dict[str, list[Load]] = {setup.name: [] for setup in SETUPS}
    for _ in range(rounds):
        for setup in SETUPS:
            loads[setup.name].append(await play(setup, rate, seconds))
    return {name: median(runs) for name, runs in loads.items()}


HEADS = (
    *("", "moves per second", "servers, us per move", "database", "clients"),
    *("p50 ms", "p99 ms", "servers and database / SQLite"),
)


def section(title: str, loads: dict[str, Load]) -> list[str]:
    """Return a section of the page."""
    first = next(iter(loads.values()))
    rows = [
        [
            name,
            f"{load.moves_per_second:.0f}",
            f"{load.servers_us:.0f}",
            f"{load.database_us:.0f}",
            f"{load.clients_us:.0f}",
            f"{load.p50_ms:.1f}",
            f"{load.p99_ms:.1f}",
            f"{(load.servers_us + load.database_us) / (first.servers_us + first.database_us):.2f}",
        ]
        for name, load in loads.items()
    ]
    return [f"## {title}", "", table(HEADS, rows)]


def page(command: str, sections: dict[str, dict[str, Load]]) -> str:
    """Return the documentation page."""
    lines = [
        "# What PostgreSQL and several nodes cost",
        "",
        f"Written by `{command}`. Servers, database and clients were on one machine: {machine()}.",
        "",
        f"{MATCHES} matches of five in a row, spread over the servers. With saturated"
        " processors, additional nodes cannot increase the number of moves; the columns show the"
        " cost of each part. Moves are acknowledged after they are synced.",
        "",
    ]
    for title, loads in sections.items():
        lines += section(title, loads)
    return "\n".join(lines)


async def main(quick: bool) -> dict[str, dict[str, Load]]:
    """Measure all sections, and print each when it is complete."""
    seconds, rounds = (2.0, 1) if quick else (8.0, 3)
    sections = {}
    for title, rate in (
        ("Full speed", 0),
        (f"{PACE} moves per second", PACE),
    ):
        sections[title] = await measure(rate, seconds, rounds)
        print("\n".join(section(title, sections[title])), flush=True)
    return sections


if __name__ == "__main__":
    given = report.parser(__doc__).parse_args()
    measured = uvloop.run(main(given.quick))
    figures = {
        title: {name: asdict(load) for name, load in found.items()}
        for title, found in measured.items()
    }
    words = "python -m benchmarks.nodes" + (" --quick" if given.quick else "")
    report.write(given, figures, page(words, measured))
