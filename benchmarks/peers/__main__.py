"""Measure kibitz beside servers on other libraries, with the same game in one run.

    python -m benchmarks.peers [--quick] [--json FILE] [--page FILE]

Every server plays five in a row on 10 x 10 and checks each move. Only kibitz has a log that is
synced to the disk before a move is answered, clocks, lobbies, spectator permissions and limits.

  reference     the asyncio server of websockets, with pydantic and uvloop
  sansio        the sans-I/O layer of websockets, with pydantic and uvloop
  ws            the package ws of Node.js
  Colyseus      one room per match, with messages
  boardgame.io  its server, with storage in memory

The last three need Node.js and npm, which installs them into `benchmarks/peers/node_modules`.
Without these, they are left out, and the page says so. The clients of Colyseus and boardgame.io
exist in JavaScript only, so `drive.mjs` plays there; Python clients play on the others. Only the
server's processor time is counted.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import statistics
import subprocess
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

import uvloop

from benchmarks import report
from benchmarks.machine import machine
from benchmarks.server import (
    FIVE,
    ROOT,
    SETTLING_S,
    WATCHED_MOVES_PER_SECOND,
    ServerName,
    Subject,
    deliveries,
    last_ms,
    play,
    serving,
)
from docs.generate.markdown import table

FOLDER = Path(__file__).parent
PYTHON = ("kibitz", "reference", "sansio")
NODE = {"ws": "ws", "Colyseus": "colyseus", "boardgame.io": "boardgame"}
"""The servers on Node.js, with their modules in this folder."""
MATCHES = 200
SPECTATORS = 1000
MOVES_PER_SECOND = 1000


@dataclass
class Row:
    """One server's figures of a round."""

    server: str
    full_speed_us: float
    """Processor time per move with 200 matches at full speed, in microseconds."""
    moves_per_second: float
    paced_us: float
    """Processor time per move at 1,000 moves per second."""
    p50_ms: float
    p99_ms: float
    """Time from sending a move to its acknowledgment, at 1,000 moves per second."""
    delivery_us: float
    """Processor time per spectator and move, with 1,000 spectators of one match."""
    last_ms: float
    """Time from sending a move until the last of the 1,000 spectators has it."""


@dataclass(frozen=True)
class Lengths:
    """How long each part of a round lasts, in seconds."""

    play: float
    settling: float


async def measured(name: str, lengths: Lengths) -> Row:
    """Measure one server."""
    if name in ("Colyseus", "boardgame.io"):
        return await _by_node(name, lengths)
    server = cast(ServerName, name)
    full = await play(server, MATCHES, lengths.play, 0, FIVE)
    paced = await play(server, MATCHES, lengths.play, MOVES_PER_SECOND, FIVE)
    crowd = await deliveries(server, SPECTATORS, lengths.play, lengths.settling)
    return Row(
        name,
        full.cpu_us_per_move,
        full.moves_per_second,
        paced.cpu_us_per_move,
        paced.p50_ms,
        paced.p99_ms,
        crowd["CPU us per delivery"],
        crowd["ms until the last spectator has a move"],
    )


# --- clients in JavaScript ------------------------------------------------------------------------


class NodeClients:
    """A process of `drive.mjs` with all players or all spectators of a server."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def line(self) -> str:
        assert self._process.stdout is not None
        line = (await self._process.stdout.readline()).decode().strip()
        if not line:
            raise RuntimeError("the clients have exited")
        return line

    def toggle(self) -> None:
        """Begin or end a measurement; `line` returns its figures after the end."""
        assert self._process.stdin is not None
        self._process.stdin.write(b"\n")


@asynccontextmanager
async def _clients(server: Subject, *words: str) -> AsyncIterator[NodeClients]:
    process = await asyncio.create_subprocess_exec(
        *("node", str(FOLDER / "drive.mjs"), NODE[server.name], str(server.port), *words),
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        limit=1 << 20,
    )
    try:
        yield NodeClients(process)
    finally:
        process.kill()
        await process.wait()


@asynccontextmanager
async def _players(
    server: Subject, matches: int, moves_per_second: float
) -> AsyncIterator[tuple[NodeClients, str]]:
    """Seat the players of all matches; also yield the key of the first match, if it has one."""
    interval = matches / moves_per_second if moves_per_second else 0
    async with _clients(server, "play", str(matches), str(interval)) as clients:
        first = ""
        while (line := await clients.line()) != "ready":
            first = line
        yield clients, first


async def _period(
    server: Subject, seconds: float, *clients: NodeClients
) -> tuple[float, float, list[dict[str, Any]]]:
    """Measure a period; return the server's processor time, the duration and the figures."""
    await asyncio.sleep(1)
    for part in clients:
        part.toggle()
    before, began = server.cpu(), time.perf_counter()
    await asyncio.sleep(seconds)
    for part in clients:
        part.toggle()
    spent, lasted = server.cpu() - before, time.perf_counter() - began
    return spent, lasted, [json.loads(await part.line()) for part in clients]


async def _by_node(name: str, lengths: Lengths) -> Row:
    command = ["node", str(FOLDER / f"{NODE[name]}.mjs")]
    with serving(name, command) as server:
        async with _players(server, MATCHES, 0) as (players, _):
            spent, lasted, [full] = await _period(server, lengths.play, players)
    full_us, per_second = 1e6 * spent / full["moves"], full["moves"] / lasted
    with serving(name, command) as server:
        async with _players(server, MATCHES, MOVES_PER_SECOND) as (players, _):
            spent, _, [paced] = await _period(server, lengths.play, players)
    p50, _, p99 = (1000 * seconds for seconds in paced["latencies_s"])
    delivery_us, last = await _crowd(name, command, lengths)
    return Row(name, full_us, per_second, 1e6 * spent / paced["moves"], p50, p99, delivery_us, last)


async def _crowd(name: str, command: Sequence[str], lengths: Lengths) -> tuple[float, float]:
    """Return the processor time per delivery, and the time until the last spectator has a move."""
    with serving(name, command) as server:
        async with _players(server, 1, WATCHED_MOVES_PER_SECOND) as (players, match):
            alone, _, [quiet] = await _period(server, lengths.play, players)
            async with _clients(server, "watch", str(SPECTATORS), match) as spectators:
                while await spectators.line() != "ready":
                    pass
                await asyncio.sleep(lengths.settling)
                spent, _, [own, heard] = await _period(server, lengths.play, players, spectators)
    extra = spent / own["moves"] - alone / quiet["moves"]
    sent_at, heard_at = (
        {int(ply): at for ply, at in times.items()} for times in (own["sent_at"], heard["heard_at"])
    )
    return 1e6 * extra / SPECTATORS, last_ms(sent_at, heard_at)


# --- output ---------------------------------------------------------------------------------------

COLUMNS = {
    "server": ("server", "{}"),
    "full_speed_us": ("CPU us per move at full speed", "{:.0f}"),
    "moves_per_second": ("moves per second", "{:.0f}"),
    "paced_us": ("CPU us per move at 1,000 moves/s", "{:.0f}"),
    "p50_ms": ("p50 ms", "{:.2f}"),
    "p99_ms": ("p99 ms", "{:.1f}"),
    "delivery_us": ("CPU us per delivery to 1,000 spectators", "{:.1f}"),
    "last_ms": ("ms until the last spectator has a move", "{:.1f}"),
}


def page(rows: Sequence[Row], left_out: str, rounds: int) -> str:
    """Return the medians of all rounds as a documentation page."""
    measured = "one short round" if rounds == 1 else f"medians of {rounds} interleaved rounds"
    lines = [
        "# kibitz beside other servers",
        "",
        f"Written by `python -m benchmarks.peers`: {measured}. Clients and servers shared this"
        f" machine: {machine()}.",
        "",
        "All servers play five in a row on 10 x 10 and check each move; only kibitz keeps a log on"
        " disk, clocks, lobbies, permissions and limits.",
        *(["", left_out] if left_out else []),
        "",
    ]
    cells = []
    for name in dict.fromkeys(row.server for row in rows):
        own = [asdict(row) for row in rows if row.server == name]
        median = {
            key: name if key == "server" else statistics.median(row[key] for row in own)
            for key in COLUMNS
        }
        cells.append([form.format(median[key]) for key, (_, form) in COLUMNS.items()])
    return "\n".join([*lines, table([title for title, _ in COLUMNS.values()], cells)])


def install() -> str:
    """Install the servers on Node.js; return why they are left out, or an empty string."""
    if not (shutil.which("node") and shutil.which("npm")):
        return "The servers on Node.js are left out, because node and npm are not installed."
    words = ["npm", "install", "--no-audit", "--no-fund", "--no-package-lock"]
    done = subprocess.run(words, cwd=FOLDER, capture_output=True, text=True)
    if done.returncode:
        last = (done.stderr.strip() or "no reason").splitlines()[0]
        return f"The servers on Node.js are left out, because npm cannot install them: {last}"
    return ""


async def main(quick: bool) -> tuple[list[Row], str, int]:
    """Measure all servers in turn, in several rounds."""
    os.environ["NODE_ENV"] = "production"  # boardgame.io logs every move otherwise
    left_out = install()
    names = [*PYTHON, *([] if left_out else NODE)]
    rounds, lengths = (1, Lengths(3, 2)) if quick else (3, Lengths(8, SETTLING_S))
    rows = []
    for _ in range(rounds):
        for name in names:
            rows.append(await measured(name, lengths))
            print(json.dumps(asdict(rows[-1])), flush=True)
    return rows, left_out, rounds


if __name__ == "__main__":
    options = report.parser(__doc__).parse_args()
    found, missing, count = uvloop.run(main(options.quick))
    text = page(found, missing, count)
    report.write(options, [asdict(row) for row in found], text)
    print(text)
