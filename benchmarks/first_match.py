"""Measure a server's response times while the rules of every game are compiled and loaded.

`python -m benchmarks.first_match` starts a server with an empty cache of machine code, and one busy
process per core. While one client hosts every game for the first time, 50 others list the lobbies
ten times a second. The same process queries a bare reference server equally often. Delays of the
reference are caused by the machine, not by kibitz. `--warm` keeps the cache. `--seconds` ends the
run early.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import uvloop

from benchmarks.connection import ClientConnection, connect
from benchmarks.machine import machine
from benchmarks.players import KibitzPlayer, Meter, greet
from benchmarks.server import HOST, kibitz_server, subject
from kibitz.builtin_games import load_games

CLIENTS = 50
PERIOD_S = 0.1
QUIET_S = 5.0
"""How long to send requests before hosting the first game, in seconds."""


@dataclass
class Delays:
    """The delays of replies in seconds, before games are hosted and while they are."""

    quiet: list[float] = field(default_factory=list)
    hosting: list[float] = field(default_factory=list)

    def line(self, name: str) -> str:
        """Describe the delays in a line of text."""
        parts = [
            f"{part} p50 {_ms(each, 0.5)}, p99 {_ms(each, 0.99)}, slowest {_ms(each, 1.0)} ms"
            f" of {len(each)}"
            for part, each in (("before:", self.quiet), ("while games are hosted:", self.hosting))
        ]
        return f"{name}: " + "; ".join(parts)


def _ms(delays: Sequence[float], part: float) -> str:
    ordered = sorted(delays) or [0.0]
    return f"{1000 * ordered[min(len(ordered) - 1, int(part * len(ordered)))]:.1f}"


@dataclass
class Run:
    """The measurements of a run."""

    lobbies: Delays = field(default_factory=Delays)
    reference: Delays = field(default_factory=Delays)
    hosting: bool = False
    ready: dict[str, float] = field(default_factory=dict)
    connections: list[ClientConnection] = field(default_factory=list)

    async def ask_regularly(
        self, delays: Delays, ask: Callable[[], Awaitable[object]], offset: float
    ) -> None:
        """Send a request ten times a second, until canceled."""
        await asyncio.sleep(offset)
        while True:
            began = time.perf_counter()
            await ask()
            took = time.perf_counter() - began
            (delays.hosting if self.hosting else delays.quiet).append(took)
            await asyncio.sleep(max(0.0, PERIOD_S - took))

    async def host_all(self, port: int, games: Mapping[str, int]) -> None:
        """Host every game at once, each with its own player; `games` has the numbers of seats."""
        began = time.perf_counter()

        async def host(game: str, seats: int) -> None:
            player = await self._player(port, f"host-{game}")
            settings = {
                "seats": [{"kind": "open"}] * seats,
                "programme": [{"game": game, "seats": seats}],
            }
            await player.request(type="host", settings=settings)
            self.ready[game] = time.perf_counter() - began

        await asyncio.gather(*(host(game, seats) for game, seats in games.items()))

    async def askers(self, port: int, reference: int) -> list[asyncio.Task[None]]:
        """Return functions that send a request to the server and to the reference."""
        found = []
        for number in range(CLIENTS):
            player = await self._player(port, f"client-{number}")
            bare = await connect(HOST, reference)
            self.connections.append(bare)
            for delays, ask in (
                (self.lobbies, partial(player.request, type="list_lobbies")),
                (self.reference, partial(_ask_reference, bare)),
            ):
                asking = self.ask_regularly(delays, ask, PERIOD_S * number / CLIENTS)
                found.append(asyncio.create_task(asking))
        return found

    async def _player(self, port: int, name: str) -> KibitzPlayer:
        player = await greet(HOST, port, Meter(), name)
        player.patience_s = None
        self.connections.append(player.connection)
        return player


async def _ask_reference(connection: ClientConnection) -> None:
    """Request a board that does not exist, and wait for the refusal."""
    answer = asyncio.get_running_loop().create_future()
    connection.on_text = answer.set_result
    connection.send(b"{}")
    await answer


async def measure(*, warm: bool, seconds: float, busy: int) -> Run:
    """Run the benchmark and return its measurements."""
    run = Run()
    games = {name: game.info.seats[0] for name, game in load_games("plain").items()}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="kibitz-first-")))
        if not warm:
            os.environ["KIBITZ_CACHE"] = str(folder / "cache")
        for _ in range(busy):
            spinning = subprocess.Popen(  # noqa: ASYNC220 - takes a millisecond
                [sys.executable, "-c", "while True: pass"]
            )
            stack.callback(spinning.kill)
        server = stack.enter_context(kibitz_server(str(folder / "k.db"), "--no-web"))
        reference = stack.enter_context(subject("reference"))
        tasks = await run.askers(server.port, reference.port)
        await asyncio.sleep(QUIET_S)
        run.hosting = True
        hosting = asyncio.create_task(run.host_all(server.port, games))
        await asyncio.wait([hosting], timeout=seconds)
        for connection in run.connections:
            connection.close()  # canceled clients get no answer
        for task in (*tasks, hosting):
            task.cancel()
        await asyncio.gather(*tasks, hosting, return_exceptions=True)
    return run


def report(run: Run) -> str:
    """Return the measurements as text."""
    games = ", ".join(f"{game} {seconds:.1f} s" for game, seconds in run.ready.items()) or "none"
    beyond = 1000 * (max(run.lobbies.hosting) - max(run.reference.hosting))
    return "\n".join(
        [
            machine(),
            f"hosted after: {games}",
            run.lobbies.line("the server"),
            run.reference.line("a bare reference server"),
            f"the server's slowest reply takes {beyond:.1f} ms longer than the reference's",
        ]
    )


def main() -> None:
    """Run the benchmark and print the results."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.first_match", description=__doc__)
    parser.add_argument("--warm", action="store_true", help="keep the cache")
    parser.add_argument(
        "--seconds", type=float, default=300.0, help="end the run after this many seconds"
    )
    parser.add_argument("--busy", type=int, default=os.cpu_count() or 1, help="busy processes")
    given = parser.parse_args()
    run = uvloop.run(measure(warm=given.warm, seconds=given.seconds, busy=given.busy))
    print(report(run))


if __name__ == "__main__":
    main()
