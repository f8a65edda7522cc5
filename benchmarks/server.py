"""Measure the cost of the server, relative to bare reference servers in the same run.

    python -m benchmarks.server [--quick] [--only SECTION ...] [--json FILE] [--page FILE]

The games are five in a row on 10 x 10, with references that have the same rules
(`benchmarks.reference`), and Chinese Checkers with two and six seats. The server has the features
of a real deployment; the measurements include the start and end of matches.

Sections:

  saturation  CPU per accepted move, 200 matches at full speed
  pace        latency at 1,000 moves per second, and the time of a sync on this disk
  idle        the same with 4,000 idle connections that only answer pings

  flat        CPU per move from 10 to 1,000 matches
  spectators  CPU per delivery with 1,000 spectators of one match
  crowded     latency of 50 matches, one of them with 1,000 spectators of its drawing

  apart       the same with one processor for the server and one for all clients (Linux)
  connect     CPU per connection, from the handshake to the answer to hello
  memory      per idle connection; per lobby with its match

  start       time until the server listens: empty, with 2,500 unfinished matches, killed under load

On a shared machine, only ratios between servers in the same run are meaningful; absolute values
depend on the machine and its load. `--page` writes the results as a documentation page.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

import psutil
import uvloop

from benchmarks import report
from benchmarks.crowd import Crowd, Heard, crowd
from benchmarks.machine import machine
from benchmarks.players import (
    KibitzPlayer,
    Meter,
    Player,
    Programme,
    greet,
    greet_groups,
    open_lobbies,
    seat_kibitz,
    seat_reference,
    watch_reference,
)
from docs.generate.markdown import table

ROOT = Path(__file__).parent.parent
HOST = "127.0.0.1"
BYTECODE = {
    "PYTHONDONTWRITEBYTECODE": "",
    "PYTHONPYCACHEPREFIX": str(Path(tempfile.gettempdir()) / "kibitz-bench-bytecode"),
}
"""Servers cache bytecode, like installed ones, regardless of the environment."""
ServerName = Literal["kibitz", "reference", "sansio", "ws"]
REFERENCES: dict[str, Sequence[str]] = {
    "reference": (sys.executable, "-m", "benchmarks.reference", "--layer", "asyncio"),
    "sansio": (sys.executable, "-m", "benchmarks.reference", "--layer", "sansio"),
    "ws": ("node", "benchmarks/peers/ws.mjs"),
}
"""The commands of servers with the protocol of `benchmarks.reference`."""
Figures = dict[str, Any]

FIVE = Programme("five-in-a-row", {"first": "seat-0"})
LASTING = Programme("five-in-a-row", {"first": "seat-0", "size": 19}, draws=True)
"""Matches of 361 moves without a winner; at the pace of watched matches, each takes 90 seconds."""
STAR = Programme("chinese-checkers", {})
SIX_STAR = Programme("chinese-checkers", {}, seats=6)
WATCHED_MOVES_PER_SECOND = 4
FILLING_LOBBIES = 500
"""Lobbies to open before measuring others.

At 3.4 KiB each, they fill SQLite's page cache of 2 MB, so that the result is the marginal cost of a
lobby.
"""
SETTLING_S = 10.0
"""Spectators' pings take this long to reach their final frequency; they are part of the cost."""


# --- the servers ----------------------------------------------------------------------------------


@dataclass
class Subject:
    """A measured server process."""

    name: str
    port: int
    process: psutil.Process
    started_s: float
    """Seconds from the start of the process until the server listened."""

    def cpu(self) -> float:
        """Return the CPU seconds used so far."""
        if (
            sys.platform == "linux"
        ):  # the clock of clock_getcpuclockid(3); psutil has a resolution of 10 ms
            return time.clock_gettime(~self.process.pid << 3 | 2)
        times = self.process.cpu_times()
        return float(times.user + times.system)

    def memory(self) -> int:
        return int(self.process.memory_full_info().uss)


@contextmanager
def subject(name: ServerName, database: Path | None = None) -> Iterator[Subject]:
    """Start a server process, wait until it listens, and kill it afterwards."""
    if name != "kibitz":
        with serving(name, REFERENCES[name]) as server:
            yield server
        return
    with (
        tempfile.TemporaryDirectory(prefix="kibitz-bench-") as folder,
        kibitz_server(str(database or Path(folder) / "kibitz.db")) as server,
    ):
        yield server


def kibitz_server(database: str, *options: str) -> AbstractContextManager[Subject]:
    """Start kibitz with default settings, but without the limits per address."""
    words = ["serve", "--db", database, "--port", "0", "--unlimited", "--json", *options]
    return serving("kibitz", [sys.executable, "-m", "kibitz", *words])


@contextmanager
def serving(name: str, command: Sequence[str]) -> Iterator[Subject]:
    """Run a command that prints its address as JSON when it listens, and kill it afterwards."""
    began = time.perf_counter()
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env=os.environ | BYTECODE,
        stdout=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stdout is not None
        try:
            port = urlsplit(json.loads(running.stdout.readline())["url"]).port
            assert port is not None
            lasted = time.perf_counter() - began
            yield Subject(name, port, psutil.Process(running.pid), lasted)
        finally:
            running.kill()


# --- play -----------------------------------------------------------------------------------------


@dataclass
class Load:
    """One measured period of play."""

    server: str
    game: str
    matches: int
    moves_per_second: float
    cpu_us_per_move: float
    p50_ms: float
    p95_ms: float
    p99_ms: float
    lost: int


async def seat(
    server: Subject, matches: int, meter: Meter, programme: Programme
) -> Sequence[Player]:
    if server.name == "kibitz":
        return await seat_kibitz(HOST, server.port, matches, meter, programme, "p")
    return await seat_reference(HOST, server.port, matches, meter, draws=programme.draws)


async def measure(
    server: Subject,
    matches: int,
    meter: Meter,
    seconds: float,
    game: str = FIVE.game,
    warm_up: float = 1,
) -> Load:
    """Measure `seconds` of play after a warm-up."""
    await asyncio.sleep(warm_up)
    meter.reset()
    meter.running = True
    before, start = server.cpu(), time.perf_counter()
    await asyncio.sleep(seconds)
    meter.running = False
    spent, lasted = server.cpu() - before, time.perf_counter() - start
    if not meter.moves:
        raise RuntimeError(f"{server.name}: no move was accepted")
    at = statistics.quantiles(meter.latencies, n=100)
    return Load(
        server.name,
        game,
        matches,
        meter.moves / lasted,
        spent / meter.moves * 1e6,
        at[49] * 1e3,
        at[94] * 1e3,
        at[98] * 1e3,
        meter.lost,
    )


async def play(
    name: ServerName, matches: int, seconds: float, rate: float, programme: Programme, idle: int = 0
) -> Load:
    """Run one server with `matches` matches, at `rate` moves per second (0: at full speed).

    Another process opens `idle` connections that only answer pings.
    """
    with subject(name) as server:
        async with crowd(name, server.port, idle):
            meter = Meter(interval=matches / rate if rate else 0.0)
            players = await seat(server, matches, meter, programme)
            load = await measure(server, matches, meter, seconds, programme.game)
            hang_up(players)
    return load


def hang_up(players: Sequence[Player]) -> None:
    for player in players:
        player.connection.close()


async def saturation(quick: bool) -> Figures:
    """Measure the reference, five in a row and Chinese Checkers in turn; then six seats."""
    seconds, rounds = (2, 1) if quick else (8, 3)
    bare, ours, star = [], [], []
    for _ in range(rounds):
        bare.append(await play("reference", 200, seconds, 0, FIVE))
        ours.append(await play("kibitz", 200, seconds, 0, FIVE))
        star.append(await play("kibitz", 200, seconds, 0, STAR))
    six = [] if quick else [await play("kibitz", 70, seconds, 0, SIX_STAR)]
    ratios, of_star = _ratios(ours, bare), _ratios(star, ours)
    return {
        "runs": [asdict(run) for turn in zip(bare, ours, star, strict=True) for run in turn]
        + [asdict(run) for run in six],
        "kibitz / reference, CPU per move": statistics.median(ratios),
        "all pairs": ratios,
        "Chinese Checkers, 2 seats / five in a row": statistics.median(of_star),
        "all pairs with Chinese Checkers": of_star,
    }


def _ratios(runs: Sequence[Load], others: Sequence[Load]) -> list[float]:
    """Return the CPU per move of runs, relative to the corresponding other runs."""
    return [
        run.cpu_us_per_move / other.cpu_us_per_move for run, other in zip(runs, others, strict=True)
    ]


async def pace(quick: bool) -> Figures:
    """Measure the reference and kibitz in turn, and the disk in each round."""
    seconds, rounds = (3, 1) if quick else (15, 3)
    bare, ours, syncs = [], [], []
    for _ in range(rounds):
        bare.append(await play("reference", 200, seconds, 1000, FIVE))
        ours.append(await play("kibitz", 200, seconds, 1000, FIVE))
        syncs.append(sync_p99_ms())
    ratios = [
        run.p99_ms / (2 * other.p99_ms + sync)
        for run, other, sync in zip(ours, bare, syncs, strict=True)
    ]
    return {
        "runs": [asdict(run) for turn in zip(bare, ours, strict=True) for run in turn],
        "p99 of a sync on this disk, ms": statistics.median(syncs),
        "kibitz p99 / (2 x reference p99 + sync p99)": statistics.median(ratios),
        "all rounds": ratios,
    }


def sync_p99_ms() -> float:
    """Return the p99 latency of appending 4 KiB to a file and syncing it, in milliseconds."""
    times = []
    with tempfile.TemporaryFile(prefix="kibitz-bench-") as file:
        for _ in range(500):
            file.write(b"x" * 4096)
            began = time.perf_counter()
            file.flush()
            os.fdatasync(file.fileno())
            times.append(time.perf_counter() - began)
    return statistics.quantiles(times, n=100)[98] * 1e3


async def idle(quick: bool) -> Figures:
    """Measure the same pace with and without idle connections, in turn."""
    seconds, count, rounds = (3, 500, 1) if quick else (15, 4000, 3)
    crowds = (0, count) * rounds
    runs = [await play("kibitz", 200, seconds, 1000, FIVE, crowd) for crowd in crowds]
    pairs = zip(runs[::2], runs[1::2], strict=True)
    ratios = [beside.p99_ms / alone.p99_ms for alone, beside in pairs]
    return {
        "runs": [asdict(run) for run in runs],
        "idle connections": count,
        "p99 with them / without": statistics.median(ratios),
        "all rounds": ratios,
    }


async def flat(quick: bool) -> Figures:
    counts = (10, 100) if quick else (10, 100, 1000)
    seconds = 2 if quick else 8
    runs = [await play("kibitz", n, seconds, 1000, FIVE) for n in counts]
    return {"runs": [asdict(run) for run in runs]}


# --- spectators -----------------------------------------------------------------------------------


async def deliveries(
    name: ServerName, watchers: int, seconds: float, settling_s: float, views: str = "turn"
) -> Figures:
    """Measure CPU per delivery, from a drawn-out match with and without spectators.

    `views` is that of kibitz's spectators: ``turn`` for text, ``drawn`` for drawings.
    """
    with subject(name) as server:
        meter = Meter(interval=1 / WATCHED_MOVES_PER_SECOND)
        players = await seat(server, 1, meter, LASTING)
        alone = await measure(server, 1, meter, seconds)
        async with crowd(name, server.port, watchers, first_match(players), views) as watching:
            await asyncio.sleep(settling_s)
            watched, heard = await measure_watched(server, 1, meter, seconds, watching)
        hang_up(players)
    extra = watched.cpu_us_per_move - alone.cpu_us_per_move
    return {
        "deliveries per second": heard.deliveries / seconds,
        "share of expected deliveries": heard.deliveries / (meter.moves * watchers),
        "CPU us per delivery": extra / watchers,
        "ms until the last spectator has a move": last_ms(meter.sent_at, heard.at),
    }


async def measure_watched(
    server: Subject, matches: int, meter: Meter, seconds: float, watching: Crowd
) -> tuple[Load, Heard]:
    """Measure play with spectators; also return what they have received."""
    await asyncio.sleep(1)
    watching.begin()
    load = await measure(server, matches, meter, seconds, warm_up=0)
    return load, watching.end()


def last_ms(sent_at: Mapping[int, float], heard_at: Mapping[int, float]) -> float:
    """Return the median time from sending a move until the last spectator has it.

    The time is infinite if no spectator had a move before the end of the measurement.
    """
    delays = [heard_at[ply] - sent for ply, sent in sent_at.items() if ply in heard_at]
    return 1000 * statistics.median(delays) if delays else math.inf


def first_match(players: Sequence[Player]) -> str:
    """Return the name of the match that a crowd watches; ``-`` for a reference server."""
    first = players[0]
    return first.matches[-1] if isinstance(first, KibitzPlayer) else "-"


async def spectators(quick: bool) -> Figures:
    """Measure the sans-I/O layer and kibitz in turn; in full runs also drawings and the reference.

    A quick run does not wait for the pings of its spectators to settle.
    """
    if quick:
        seconds, settling_s, rounds = 3.0, 2.0, 1
    else:
        seconds, settling_s, rounds = 8.0, SETTLING_S, 3
    measured = partial(deliveries, watchers=1000, seconds=seconds, settling_s=settling_s)
    rows: Figures = {} if quick else {"reference": await measured("reference")}
    texts, drawings = [], []
    for number in range(1, rounds + 1):
        bare = rows[f"sansio {number}"] = await measured("sansio")
        text = rows[f"kibitz {number}"] = await measured("kibitz")
        texts.append(text["CPU us per delivery"] / bare["CPU us per delivery"])
        if not quick:
            drawn = rows[f"kibitz {number}, drawing"] = await measured("kibitz", views="drawn")
            drawings.append(drawn["CPU us per delivery"] / text["CPU us per delivery"])
    rows["kibitz / sans-I/O, CPU per delivery"] = statistics.median(texts)
    rows["all rounds"] = texts
    if drawings:
        rows["drawing / text, CPU per delivery"] = statistics.median(drawings)
    return rows


async def crowded(quick: bool) -> Figures:
    """Measure the players' latency while 1,000 spectators watch the drawing of one match.

    Each round measures without the crowd before and after, because the machine's speed may change.
    """
    return await _crowded(quick, [])


async def apart(quick: bool) -> Figures:
    """Measure `crowded` with one processor for the server, and one for players and spectators.

    The spectators have a lower priority than the players, so any remaining difference is caused by
    the server.
    """
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        raise RuntimeError("separating the server from its clients needs two processors")
    os.sched_setaffinity(0, cpus[1:2])  # inherited by the crowd's process
    try:
        return await _crowded(quick, cpus[:1])
    finally:
        os.sched_setaffinity(0, cpus)


async def _crowded(quick: bool, server_cpus: Sequence[int]) -> Figures:
    """Measure latency with a crowd; `server_cpus` pins the server, and makes the crowd yield."""
    seconds, rounds = (5, 1) if quick else (15, 3)
    before, beside, after = [], [], []
    for _ in range(rounds):
        with subject("kibitz") as server:
            if server_cpus:
                pin(server.process, server_cpus)
            meter = Meter(interval=1 / WATCHED_MOVES_PER_SECOND)
            players = await seat(server, 50, meter, LASTING)
            before.append(await measure(server, 50, meter, seconds))
            async with crowd(
                "kibitz", server.port, 1000, first_match(players), "drawn"
            ) as watching:
                if server_cpus:
                    watching.yield_to_others()
                load, _ = await measure_watched(server, 50, meter, seconds, watching)
                beside.append(load)
            after.append(await measure(server, 50, meter, seconds))
            hang_up(players)
    ratios = [
        2 * during.p99_ms / (one.p99_ms + other.p99_ms)
        for one, during, other in zip(before, beside, after, strict=True)
    ]
    drift = [other.p99_ms / one.p99_ms for one, other in zip(before, after, strict=True)]
    return {
        "runs": [asdict(run) for rows in zip(before, beside, after, strict=True) for run in rows],
        "p99 with them / without": statistics.median(ratios),
        "all rounds": ratios,
        "p99 without them, after / before": drift,
    }


def pin(process: psutil.Process, cpus: Sequence[int]) -> None:
    """Keep all threads of a process on `cpus`."""
    for thread in process.threads():
        os.sched_setaffinity(thread.id, cpus)


# --- connections and memory -----------------------------------------------------------------------


async def connect_cost(name: ServerName, count: int) -> float:
    """Return microseconds of CPU for one more connection."""
    with subject(name) as server:
        warm = await connected(server, 100, "warm")
        before = server.cpu()
        many = await connected(server, count, "many")
        await asyncio.sleep(0.3)
        spent = server.cpu() - before
        hang_up([*warm, *many])
    return spent / count * 1e6


async def connected(server: Subject, count: int, tag: str) -> list[Player]:
    """Open connections that say hello to kibitz, or watch a board of a reference."""
    if server.name != "kibitz":
        return await watch_reference(HOST, server.port, count, Meter())
    return [await greet(HOST, server.port, Meter(), f"{tag}-{n}") for n in range(count)]


async def connect(quick: bool) -> Figures:
    count, rounds = (500, 1) if quick else (3000, 3)
    bare, ours = [], []
    for _ in range(rounds):
        bare.append(await connect_cost("sansio", count))
        ours.append(await connect_cost("kibitz", count))
    ratios = [cost / other for cost, other in zip(ours, bare, strict=True)]
    return {
        "CPU us per connect, sans-I/O": statistics.median(bare),
        "CPU us per connect, kibitz": statistics.median(ours),
        "kibitz / sans-I/O, CPU per connect": statistics.median(ratios),
        "all rounds": ratios,
    }


async def memory(quick: bool) -> Figures:
    count = 500 if quick else 2000
    with subject("kibitz") as server:
        first = await connected(
            server, 500, "warm"
        )  # reuse the memory that was freed after the start
        before = server.memory()
        many = await connected(server, count, "idle")
        await asyncio.sleep(0.5)
        connection = (server.memory() - before) / count
        hang_up([*first, *many])
    lobbies = 100 if quick else 500
    with subject("kibitz") as server:
        meter = Meter(interval=1e6)
        warm = await seat_kibitz(HOST, server.port, FILLING_LOBBIES, meter, FIVE, "w")
        # Connect before measuring: lobbies could otherwise reuse memory that connecting has freed,
        # and the cost of a lobby would come out too low.
        players = await greet_groups(HOST, server.port, lobbies, meter, FIVE, "m")
        await asyncio.sleep(0.5)
        before = server.memory()
        await open_lobbies(players, FIVE, "m")
        await asyncio.sleep(0.5)
        lobby = (server.memory() - before) / lobbies
        hang_up([*warm, *players])
    return {
        "KiB per idle connection": connection / 1024,
        "KiB per lobby with its match, without its connections": lobby / 1024,
    }


# --- starting -------------------------------------------------------------------------------------


async def start(quick: bool) -> Figures:
    """Measure the seconds until a server listens: empty, with unfinished matches, after kill -9."""
    count = 500 if quick else 2500
    with tempfile.TemporaryDirectory(prefix="kibitz-bench-") as folder:
        empty = min(started(Path(folder) / f"empty-{n}.db") for n in range(3))
        full = Path(folder) / "full.db"
        await unfinished(full, count)
        killed = Path(folder) / "killed.db"
        with subject("kibitz", killed) as server:
            meter = Meter()
            players = await seat(server, 200, meter, FIVE)
            await asyncio.sleep(3)
        hang_up(players)
        again, killed_s = min(started(full) for _ in range(2)), started(killed)
    return {
        "seconds, empty": empty,
        f"seconds, with {count} unfinished matches": again,
        "with unfinished matches / empty": again / empty,
        "seconds, after kill -9 with 200 matches at full speed": killed_s,
    }


def started(database: Path) -> float:
    with subject("kibitz", database) as server:
        return server.started_s


async def unfinished(database: Path, matches: int) -> None:
    """Fill a database with lobbies and unfinished matches, as a killed server leaves them."""
    with subject("kibitz", database) as server:
        meter = Meter(interval=4.0)
        many = Programme(FIVE.game, FIVE.options, games=matches // 5, at_once=matches // 5)
        players = await seat_kibitz(HOST, server.port, 5, meter, many, "m")
        await dealt(players, matches // 5)
        await asyncio.sleep(10)
        hang_up(players)


async def dealt(players: Sequence[KibitzPlayer], matches: int) -> None:
    """Wait until all matches of all players have started."""
    for _ in range(600):
        seen = [len(player.matches) for player in players]
        if min(seen) >= matches:
            return
        await asyncio.sleep(0.1)
    raise RuntimeError(f"only {seen} of {matches} matches began")


# --- output ---------------------------------------------------------------------------------------

SECTIONS: dict[str, Callable[[bool], Awaitable[Figures]]] = {
    "saturation": saturation,
    "pace": pace,
    "idle": idle,
    "flat": flat,
    "spectators": spectators,
    "crowded": crowded,
    "apart": apart,
    "connect": connect,
    "memory": memory,
    "start": start,
}
QUICK = ("saturation", "pace", "spectators", "connect")
"""The default sections of `--quick`, which take about a minute."""
TITLES = {
    "saturation": "200 matches at full speed (70 with six seats)",
    "pace": "200 matches, 1,000 moves per second",
    "idle": "The same with idle connections",
    "flat": "1,000 moves per second with increasing numbers of matches",
    "spectators": "1,000 spectators of one match",
    "crowded": "50 matches, one with 1,000 spectators of its drawing",
    "apart": "The same, with separate processors for server and clients",
    "connect": "Opening connections",
    "memory": "Memory",
    "start": "Starting",
}
COLUMNS = {
    "server": "{}",
    "game": "{}",
    "matches": "{}",
    "moves_per_second": "{:.0f}",
    "cpu_us_per_move": "{:.1f}",
    "p50_ms": "{:.2f}",
    "p95_ms": "{:.2f}",
    "p99_ms": "{:.2f}",
    "lost": "{}",
}


def section_lines(name: str, figures: Figures) -> list[str]:
    """Return a section as Markdown: the runs as a table, all other results as list items."""
    lines = [f"## {TITLES[name]}", ""]
    if runs := figures.get("runs"):
        heads = [key.replace("_", " ") for key in COLUMNS]
        lines.append(
            table(heads, [[form.format(run[key]) for key, form in COLUMNS.items()] for run in runs])
        )
    lines += [f"- {key}: {_text(value)}" for key, value in figures.items() if key != "runs"]
    return [*lines, ""]


def _text(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_text(part)}" for key, part in value.items())
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def page(command: str, sections: dict[str, Figures]) -> str:
    lines = [
        "# What the server costs",
        "",
        f"Written by `{command}`. The clients ran on the same machine: {machine()}.",
        "",
        "*reference* is the asyncio server of websockets with pydantic models and the same rules;"
        " *sansio* is the same on the sans-I/O layer of websockets. Neither has a log, clocks,"
        " lobbies or limits. Only ratios within one run are comparable between machines.",
        "",
    ]
    for name, figures in sections.items():
        lines += section_lines(name, figures)
    return "\n".join(lines)


def invocation(quick: bool, only: Sequence[str] | None) -> str:
    """Return the command for this measurement, without output paths."""
    words = ["python -m benchmarks.server"]
    words += ["--quick"] if quick else []
    words += ["--only", *only] if only else []
    return " ".join(words)


async def main(chosen: Sequence[str], quick: bool) -> dict[str, Figures]:
    """Run sections, and print each when it is complete."""
    sections = {}
    for name in chosen:
        sections[name] = await SECTIONS[name](quick)
        print("\n".join(section_lines(name, sections[name])), flush=True)
    return sections


if __name__ == "__main__":
    parser = report.parser(__doc__)
    parser.add_argument("--only", nargs="*", choices=list(SECTIONS))
    words = parser.parse_args()
    measured = uvloop.run(main(words.only or list(QUICK if words.quick else SECTIONS), words.quick))
    report.write(words, measured, page(invocation(words.quick, words.only), measured))
