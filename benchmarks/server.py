"""What the server costs, beside a bare reference server in the same run.

    python -m benchmarks.server [--quick] [--json FILE] [--only SECTION ...]

Sections: saturation (server CPU per accepted move with 200 matches, both sides moving at
once), pace (latency at 1,000 moves a second), flat (CPU per move from 10 to 1,000 matches),
spectators (CPU per delivery with 1,000 spectators of one match), memory (per idle connection
and per idle match), chinese-checkers (the principal game instead of m,n,k), startup (server
and bot until ready). Only ratios between the two servers hold on a shared machine; absolute
figures are for the machine and the minute in which they were taken.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil
import uvloop

from benchmarks.players import (
    KibitzPlayer,
    Meter,
    Player,
    Programme,
    greet,
    seat_kibitz,
    seat_reference,
    watch_kibitz,
    watch_reference,
)

ROOT = Path(__file__).parent.parent
HOST = "127.0.0.1"
MNK = Programme("mnk", {"columns": 10, "rows": 10, "row": 5})
LONG = Programme("mnk", {"columns": 15, "rows": 15, "row": 225})
"""A match that no row ends: 225 plies."""
STAR = Programme("chinese-checkers", {})


@dataclass
class Subject:
    """A server process under measurement."""

    name: str
    port: int
    process: psutil.Process

    def cpu(self) -> float:
        times = self.process.cpu_times()
        return float(times.user + times.system)

    def memory(self) -> int:
        return int(self.process.memory_full_info().uss)


@contextmanager
def subject(name: str) -> Iterator[Subject]:
    """Start a server process, wait until it listens, and end it afterwards."""
    with tempfile.TemporaryDirectory(prefix="kibitz-bench-") as folder:
        command = [sys.executable, "-m", "benchmarks.reference"]
        if name == "kibitz":
            command = [sys.executable, "-m", "benchmarks.subject", "--db", f"{folder}/kibitz.db"]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as running:
            assert running.stdout is not None
            words = running.stdout.readline().split()
            if words[:1] != ["listening"]:
                raise RuntimeError(f"{name} did not start")
            try:
                yield Subject(name, int(words[1]), psutil.Process(running.pid))
            finally:
                running.kill()


@dataclass
class Load:
    """One measured stretch of play."""

    server: str
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
    return await seat_reference(HOST, server.port, matches, meter)


async def measure(server: Subject, matches: int, meter: Meter, seconds: float) -> Load:
    """Let play run for `seconds` after a second of warm-up."""
    await asyncio.sleep(1)
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
        matches,
        meter.moves / lasted,
        spent / meter.moves * 1e6,
        at[49] * 1e3,
        at[94] * 1e3,
        at[98] * 1e3,
        meter.lost,
    )


async def play(name: str, matches: int, seconds: float, rate: float, programme: Programme) -> Load:
    """Run one server alone with `matches` matches, at `rate` moves a second (0: at once)."""
    with subject(name) as server:
        meter = Meter(interval=matches / rate if rate else 0.0)
        players = await seat(server, matches, meter, programme)
        load = await measure(server, matches, meter, seconds)
        hang_up(players)
    return load


def hang_up(players: Sequence[Player]) -> None:
    for player in players:
        player.wire.close()


async def saturation(quick: bool) -> dict[str, object]:
    order = ("reference", "kibitz") * (1 if quick else 3)
    runs = [await play(name, 200, 4 if quick else 8, 0, MNK) for name in order]
    ratios = [
        ours.cpu_us_per_move / bare.cpu_us_per_move
        for bare, ours in zip(runs[::2], runs[1::2], strict=True)
    ]
    show_loads("saturation: 200 matches, both sides move at once", runs)
    print(f"  kibitz / reference, CPU a move: {', '.join(f'{r:.2f}' for r in ratios)}")
    return {"runs": [asdict(run) for run in runs], "ratio": statistics.median(ratios)}


async def pace(quick: bool) -> dict[str, object]:
    seconds = 5 if quick else 15
    runs = [await play(name, 200, seconds, 1000, MNK) for name in ("reference", "kibitz")]
    show_loads("pace: 200 matches, 1,000 moves a second", runs)
    return {"runs": [asdict(run) for run in runs]}


async def flat(quick: bool) -> dict[str, object]:
    counts = (10, 100) if quick else (10, 100, 1000)
    runs = [await play("kibitz", n, 4 if quick else 8, 1000, MNK) for n in counts]
    runs += [await play("kibitz", n, 4 if quick else 8, 0, MNK) for n in counts]
    show_loads("flat: 1,000 moves a second over more matches, then at once", runs)
    return {"runs": [asdict(run) for run in runs]}


async def star(quick: bool) -> dict[str, object]:
    runs = [await play("kibitz", 200, 4 if quick else 8, 0, STAR)]
    runs.append(await play("kibitz", 200, 4 if quick else 8, 1000, STAR))
    show_loads("chinese-checkers: 200 matches at once, then 1,000 moves a second", runs)
    return {"runs": [asdict(run) for run in runs]}


async def deliveries(name: str, watchers: int, seconds: float) -> dict[str, float]:
    """CPU per delivery: one long match at 6 moves a second, with and without its spectators."""
    with subject(name) as server:
        meter = Meter(interval=1 / 6)
        players = await seat(server, 1, meter, LONG)
        alone = await measure(server, 1, meter, seconds)
        if name == "kibitz":
            first = players[0]
            assert isinstance(first, KibitzPlayer)
            match = first.matches[-1]
            crowd: Sequence[Player] = await watch_kibitz(
                HOST, server.port, watchers, meter, match, "w"
            )
        else:
            crowd = await watch_reference(HOST, server.port, watchers, meter)
        watched = await measure(server, 1, meter, seconds)
        hang_up([*players, *crowd])
    extra = watched.cpu_us_per_move - alone.cpu_us_per_move
    return {
        "spectators": watchers,
        "deliveries_per_second": meter.deliveries / seconds,
        "delivered_share": meter.deliveries / (meter.moves * watchers),
        "cpu_us_per_delivery": extra / watchers,
    }


async def spectators(quick: bool) -> dict[str, object]:
    seconds = 4 if quick else 10
    rows: dict[str, object] = {}
    print("\nspectators: 1,000 spectators of one match")
    for name in ("reference", "kibitz"):
        row = await deliveries(name, 1000, seconds)
        rows[name] = row
        print(
            f"  {name:10} {row['cpu_us_per_delivery']:6.2f} us a delivery, "
            f"{row['deliveries_per_second']:8.0f} deliveries/s, "
            f"{row['delivered_share']:.3f} of what was due"
        )
    return rows


async def memory(quick: bool) -> dict[str, object]:
    count = 500 if quick else 2000
    with subject("kibitz") as server:
        meter = Meter()
        first = [await greet(HOST, server.port, meter, f"warm-{n}") for n in range(50)]
        before = server.memory()
        idle = [await greet(HOST, server.port, meter, f"idle-{n}") for n in range(count)]
        await asyncio.sleep(0.5)
        connection = (server.memory() - before) / count
        hang_up([*first, *idle])
    with subject("kibitz") as server:
        meter = Meter(interval=1e6)
        warm = await seat_kibitz(HOST, server.port, 1, meter, Programme("mnk", {}, 20, 20), "w")
        await asyncio.sleep(0.5)
        before = server.memory()
        many = Programme("mnk", {}, count // 2, 1000)
        players = await seat_kibitz(HOST, server.port, 1, meter, many, "m")
        await settle(players, count // 2)
        match = (server.memory() - before) / (count // 2)
        hang_up([*warm, *players])
    print(f"\nmemory: {connection / 1024:.1f} KiB a connection, {match / 1024:.1f} KiB a match")
    return {"connection_bytes": connection, "match_bytes": match, "counted": count}


async def settle(players: Sequence[KibitzPlayer], matches: int) -> None:
    """Wait until both players have been dealt all their matches."""
    for _ in range(600):
        seen = [len(player.matches) for player in players]
        if min(seen) >= matches:
            return
        await asyncio.sleep(0.1)
    raise RuntimeError(f"only {seen} of {matches} matches began")


async def startup(quick: bool) -> dict[str, object]:
    """Seconds from starting a process until the server listens, and until a bot is ready."""
    command = [sys.executable, "-m", "kibitz", "bots", "--warm"]
    warming = await asyncio.create_subprocess_exec(*command, stdout=subprocess.DEVNULL)
    if await warming.wait():
        raise RuntimeError("kibitz bots --warm failed")
    times = []
    for _ in range(3):
        start = time.perf_counter()
        with subject("kibitz"):
            times.append(time.perf_counter() - start)
    bots: dict[str, float] = {}
    for bot in ("random", "greedy-hand", "iddfs-hand"):
        bots[bot] = min([await bot_ready(f"chinese-checkers/{bot}") for _ in range(3)])
    print(f"\nstartup: server {min(times):.2f} s; bots " + str(bots))
    return {"server_s": min(times), "bots_s": bots}


async def bot_ready(personality: str) -> float:
    """Seconds from starting a bot's process until its lobby sees it ready."""
    with subject("kibitz") as server:
        host = await greet(HOST, server.port, Meter(), "host")
        done = await host.request(
            type="host",
            settings={
                "seats": [{"kind": "open"}, {"kind": "open"}],
                "programme": [{"game": "chinese-checkers"}],
                "auto_start": False,
            },
        )
        await host.request(type="join", lobby=done["lobby"], role="spectator")
        ready = asyncio.Event()

        def on_text(text: bytes) -> None:
            if text.startswith(b'{"type":"lobby"') and b'"ready":true' in text:
                ready.set()

        host.wire.on_text = on_text
        command = [sys.executable, "-m", "kibitz", "bot", personality]
        command += ["--server", f"ws://{HOST}:{server.port}", "--lobby", str(done["lobby"])]
        start = time.perf_counter()
        bot = await asyncio.create_subprocess_exec(*command, stdout=subprocess.DEVNULL)
        await asyncio.wait_for(ready.wait(), 60)
        lasted = time.perf_counter() - start
        bot.kill()
        await bot.wait()
        hang_up([host])
    return lasted


def show_loads(title: str, runs: list[Load]) -> None:
    print(f"\n{title}")
    print("  server     matches  moves/s  CPU us/move   p50 ms   p95 ms   p99 ms  lost")
    for run in runs:
        print(
            f"  {run.server:10} {run.matches:7} {run.moves_per_second:8.0f} "
            f"{run.cpu_us_per_move:12.1f} {run.p50_ms:8.2f} {run.p95_ms:8.2f} "
            f"{run.p99_ms:8.2f} {run.lost:5}"
        )


SECTIONS: dict[str, Callable[[bool], Awaitable[dict[str, object]]]] = {
    "saturation": saturation,
    "pace": pace,
    "flat": flat,
    "spectators": spectators,
    "memory": memory,
    "chinese-checkers": star,
    "startup": startup,
}


async def main(chosen: list[str], quick: bool) -> dict[str, object]:
    return {name: await SECTIONS[name](quick) for name in chosen}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="shorter runs, rougher figures")
    parser.add_argument("--only", nargs="*", choices=list(SECTIONS), default=list(SECTIONS))
    parser.add_argument("--json", type=Path, help="write all figures to this file")
    words = parser.parse_args()
    figures = uvloop.run(main(words.only, words.quick))
    if words.json:
        words.json.write_text(json.dumps(figures, indent=2) + "\n")
