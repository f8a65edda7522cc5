"""How long a server's replies take while the rules of every game are compiled and loaded.

`python -m benchmarks.first_match` starts a server with an empty cache of machine code and as many
busy processes as there are cores. 50 clients list the lobbies ten times a second while another one
hosts every game for the first time. A bare echo loop in a process of its own is asked just as often
by the same process: what it is late by is the machine's doing, and not the server's.

`--warm` leaves the cache as it is, `--seconds` ends the run before every game is there.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import uvloop
from websockets.asyncio.client import ClientConnection, connect

from benchmarks.machine import machine
from kibitz.builtin_games import load_games

CLIENTS = 50
PERIOD_S = 0.1
QUIET_S = 5.0
"""How long the server is asked before the first game is hosted."""


@dataclass
class Delays:
    """The delays of replies in seconds, before games are hosted and while they are."""

    quiet: list[float] = field(default_factory=list)
    hosting: list[float] = field(default_factory=list)

    def line(self, name: str) -> str:
        """Return them in words."""
        parts = [
            f"{part} p50 {_ms(each, 0.5)}, p99 {_ms(each, 0.99)}, latest {_ms(each, 1.0)} ms"
            f" of {len(each)}"
            for part, each in (("before:", self.quiet), ("while games are hosted:", self.hosting))
        ]
        return f"{name}: " + "; ".join(parts)


def _ms(delays: Sequence[float], part: float) -> str:
    ordered = sorted(delays) or [0.0]
    return f"{1000 * ordered[min(len(ordered) - 1, int(part * len(ordered)))]:.1f}"


class Run:
    """What is measured."""

    def __init__(self) -> None:
        self.lobbies = Delays()
        self.echo = Delays()
        self.hosting = False
        self.ready: dict[str, float] = {}

    def note(self, delays: Delays, seconds: float) -> None:
        """Note a delay."""
        (delays.hosting if self.hosting else delays.quiet).append(seconds)


async def ask_regularly(
    run: Run, delays: Delays, ask: Callable[[], Awaitable[object]], offset: float
) -> None:
    """Ask ten times a second, for ever."""
    await asyncio.sleep(offset)
    while True:
        began = time.perf_counter()
        await ask()
        took = time.perf_counter() - began
        run.note(delays, took)
        await asyncio.sleep(max(0.0, PERIOD_S - took))


async def player(url: str, name: str) -> ClientConnection:
    """Return a connection that has said hello."""
    made = await connect(url, max_size=None, compression=None, proxy=None)
    await request(made, "hello", versions=[1], name=name, kind="bot")
    return made


async def request(connection: ClientConnection, what: str, **fields: object) -> dict[str, object]:
    """Send a request and return its answer."""
    await connection.send(json.dumps({"id": 1, "type": what, **fields}))
    while True:
        message: dict[str, object] = json.loads(await connection.recv())
        if message.get("re") == 1:
            return message


async def host_all(run: Run, url: str, games: Mapping[str, int]) -> None:
    """Host every game at once, each by a player of its own, and note when each was hosted.

    `games` says with how many seats.
    """
    began = time.perf_counter()

    async def host(game: str, seats: int) -> None:
        conditions = {
            "seats": [{"kind": "open"}] * seats,
            "programme": [{"game": game, "seats": seats}],
        }
        connection = await player(url, f"host-{game}")
        answer = await request(connection, "host", settings=conditions)
        if answer["type"] != "done":
            raise SystemExit(f"{game}: {answer}")
        run.ready[game] = time.perf_counter() - began

    await asyncio.gather(*(host(game, seats) for game, seats in games.items()))


async def echo(port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Return a connection to the echo loop."""
    return await asyncio.open_connection("127.0.0.1", port)


@asynccontextmanager
async def process(*command: str, **environment: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run a Python program for the length of the block."""
    made = await asyncio.create_subprocess_exec(
        sys.executable,
        *command,
        stdout=asyncio.subprocess.PIPE,
        env=os.environ | environment,
    )
    try:
        yield made
    finally:
        made.terminate()
        await made.communicate()


async def first_line(made: asyncio.subprocess.Process) -> str:
    """Return the first line that a process prints."""
    assert made.stdout is not None
    return (await made.stdout.readline()).decode()


async def serve_echo() -> None:
    """Echo whatever comes, and print the port."""

    class Echo(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            self._transport = cast(asyncio.Transport, transport)

        def data_received(self, data: bytes) -> None:
            self._transport.write(data)

    server = await asyncio.get_running_loop().create_server(Echo, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


async def measure(*, warm: bool, seconds: float, busy: int) -> Run:
    """Run everything, and return what was measured."""
    run = Run()
    games = {name: game.info.seats[0] for name, game in load_games("plain").items()}
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="kibitz-first-"))
        cache = {} if warm else {"KIBITZ_CACHE": str(Path(folder) / "cache")}
        for _ in range(busy):
            await stack.enter_async_context(process("-c", "while True: pass"))
        options = ("--port", "0", "--db", f"{folder}/k.db", "--unlimited", "--no-web", "--json")
        server = await stack.enter_async_context(
            process("-m", "kibitz", "serve", *options, **cache)
        )
        url = str(json.loads(await first_line(server))["url"])
        bare = await stack.enter_async_context(process("-m", "benchmarks.first_match", "--echo"))
        port = int(await first_line(bare))
        tasks = [asyncio.ensure_future(each) for each in await askers(run, url, port)]
        await asyncio.sleep(QUIET_S)
        run.hosting = True
        hosting = asyncio.ensure_future(host_all(run, url, games))
        await asyncio.wait([hosting], timeout=seconds)
        for task in (*tasks, hosting):
            task.cancel()
        await asyncio.gather(*tasks, hosting, return_exceptions=True)
    return run


async def askers(run: Run, url: str, port: int) -> list[Awaitable[None]]:
    """Return what asks the server and the echo loop."""
    found: list[Awaitable[None]] = []
    for number in range(CLIENTS):
        offset = PERIOD_S * number / CLIENTS
        connection = await player(url, f"client-{number}")
        reader, writer = await echo(port)

        async def list_lobbies(connection: ClientConnection = connection) -> None:
            await request(connection, "list_lobbies")

        async def ask_echo(
            reader: asyncio.StreamReader = reader, writer: asyncio.StreamWriter = writer
        ) -> None:
            writer.write(b'{"id": 1, "type": "list_lobbies"}\n')
            await reader.readline()

        found.append(ask_regularly(run, run.lobbies, list_lobbies, offset))
        found.append(ask_regularly(run, run.echo, ask_echo, offset))
    return found


def report(run: Run) -> str:
    """Return what was measured, in words."""
    games = ", ".join(f"{game} {seconds:.1f} s" for game, seconds in run.ready.items()) or "none"
    beyond = 1000 * (max(run.lobbies.hosting) - max(run.echo.hosting))
    return "\n".join(
        [
            machine(),
            f"hosted after: {games}",
            run.lobbies.line("the server"),
            run.echo.line("a bare echo loop"),
            f"the server's latest reply comes {beyond:.1f} ms beyond the echo loop's",
        ]
    )


def main() -> None:
    """Measure, and print it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.first_match", description=__doc__)
    parser.add_argument("--warm", action="store_true", help="leave the cache as it is")
    parser.add_argument("--seconds", type=float, default=300.0, help="end the run after so long")
    parser.add_argument("--busy", type=int, default=os.cpu_count() or 1, help="busy processes")
    parser.add_argument("--echo", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.echo:
        uvloop.run(serve_echo())
        return
    run = uvloop.run(measure(warm=given.warm, seconds=given.seconds, busy=given.busy))
    print(report(run))


if __name__ == "__main__":
    main()
