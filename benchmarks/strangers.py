"""What strangers cost a server: slow readers of a long record, and reports that they may not have.

    python -m benchmarks.strangers

A database is made with one long match in it, and served by a process of its own. Then 150
connections ask for the record and do not read it, and the most memory that the server takes is
looked at; then 8 guests ask for the match's report as fast as they are let, beside somebody who
asks for the list of lobbies, whose answers are timed.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

from websockets.asyncio.client import ClientConnection, connect

from benchmarks.mnk import GAME
from kibitz_protocol.wire.codec import encode
from kibitz_protocol.wire.lobbies import MatchBrief
from kibitz_protocol.wire.recordfile import EMPTY_CHAIN, chain_hash, footer_line, seed_commitment
from kibitz_protocol.wire.records import Footer, Player, Setup
from kibitz_server.match.commands import Append, Note, Play
from kibitz_server.match.engine import MatchEngine
from kibitz_server.storage.store import SQLiteStore
from kibitz_server.storage.streams import Stream

READERS, STRANGERS, SECONDS = 150, 8, 6.0
RECORD_BYTES = 5_700_000
MATCH = "bcdfgh-1-1"


def long_match() -> tuple[Setup, list[bytes], bytes]:
    """Return a finished match whose log is long because of what its players noted."""
    seed = "0" * 16
    setup = Setup(
        match=MATCH,
        game=GAME.info.name,
        rules_version=GAME.info.rules_version,
        options={},
        seats=[Player(player=name, name=name, kind="bot") for name in ("ada", "bob")],
        deal={},
        seed=seed,
        commitment=seed_commitment(seed, ""),
        started="2026-01-01T00:00:00Z",
    )
    match = MatchEngine.new(GAME, setup)
    lines: list[bytes] = []
    size, number = 0, 0
    while match.state.result is None:
        number += 1
        seat = match.state.to_act
        commands: list[Play | Note] = [Note(seat, "x" * 2000)] * 100 if size < RECORD_BYTES else []
        board = match.state.game_state
        action = GAME.dump(GAME.encode(board, GAME.legal(board)[0]))
        commands.append(Play(seat, number, match.state.ply, action, None))
        for command in commands:
            for effect in match.handle(command, number).effects:
                if isinstance(effect, Append):
                    lines.append(encode(effect.entry))
                    size += len(lines[-1])
    link = chain_hash(EMPTY_CHAIN, encode(setup))
    for text in lines:
        link = chain_hash(link, text)
    return setup, lines, footer_line(link, match.state.result)


async def prepare(db: Path) -> int:
    """Write the match into a database and return how long its log is."""
    setup, lines, footer = long_match()
    store = SQLiteStore(db, asyncio.get_running_loop())
    stream = Stream(0, MATCH, "match")
    store.create(stream, encode(setup), owner=None, waiter=None)
    for seq, text in enumerate(lines, 1):
        store.append(stream, seq, text, None)
        if seq % 32 == 0:
            await store.flush()
    result = Footer.model_validate_json(footer).result
    brief = MatchBrief(match=MATCH, game=setup.game, seats=setup.seats, result=result)
    store.finish(stream, footer, encode(brief))
    await store.close()
    return sum(map(len, lines))


@contextlib.contextmanager
def serving(db: Path) -> Iterator[tuple[int, int]]:
    """Run a server; yields its process and its port."""
    command = [sys.executable, "-m", "benchmarks.strangers", "--serve", str(db)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process.pid, int(process.stdout.readline().split()[1])
    finally:
        process.terminate()
        process.wait(30)


def serve(db: Path) -> None:
    from kibitz_server.app import Config, Server, run

    def listening(server: Server) -> None:
        print(f"listening {server.port}", flush=True)

    run(Config(db=db, notes=True), {GAME.info.name: GAME}, started=listening)


def memory_mb(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def slow_readers(pid: int, port: int) -> tuple[float, float]:
    """Return the server's memory before and with readers that do not read, in MB."""
    before = most = memory_mb(pid)
    with contextlib.ExitStack() as stack:
        for _ in range(READERS):
            reader = stack.enter_context(socket.socket())
            reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            reader.connect(("127.0.0.1", port))
            request = f"GET /records/{MATCH}.jsonl HTTP/1.1\r\nHost: localhost\r\n\r\n"
            reader.sendall(request.encode())
        until = time.monotonic() + 4
        while time.monotonic() < until:
            most = max(most, memory_mb(pid))
            time.sleep(0.02)
    return before, most


async def hello(port: int, name: str) -> ClientConnection:
    line = await connect(f"ws://127.0.0.1:{port}", compression=None, max_size=None)
    await ask(line, 1, type="hello", versions=[1], name=name)
    return line


async def ask(line: ClientConnection, id: int, **fields: object) -> None:
    await line.send(json.dumps({"id": id, **fields}))
    while json.loads(await line.recv()).get("re") != id:
        pass


async def repeat(line: ClientConnection, pause_s: float, **fields: object) -> list[float]:
    """Ask again and again; returns how long the answers took, in milliseconds."""
    took, id, end = [], 1, time.monotonic() + SECONDS
    while time.monotonic() < end:
        id += 1
        started = time.monotonic()
        await ask(line, id, **fields)
        took.append((time.monotonic() - started) * 1000)
        await asyncio.sleep(max(0.0, pause_s - (time.monotonic() - started)))
    return took


async def timed(pid: int, work: Callable[[], Awaitable[list[float]]]) -> str:
    began, cpu = time.monotonic(), cpu_s(pid)
    took = sorted(await work())
    share = (cpu_s(pid) - cpu) / (time.monotonic() - began)
    p99 = took[int(len(took) * 0.99)]
    return f"{share:.0%} of a core, answers {statistics.median(took):.1f} ms, p99 {p99:.1f} ms"


async def reports(pid: int, port: int) -> tuple[str, str]:
    """Return what the server does without and with strangers who ask for reports."""
    player = await hello(port, "ada")
    strangers = [await hello(port, f"eve {number}") for number in range(STRANGERS)]

    async def alone() -> list[float]:
        return await repeat(player, 0.2, type="list_lobbies")

    async def together() -> list[float]:
        asked = [repeat(each, 0.2, type="report", match=MATCH) for each in strangers]
        return (await asyncio.gather(alone(), *asked))[0]

    found = await timed(pid, alone), await timed(pid, together)
    for line in (player, *strangers):
        await line.close()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    db = parser.parse_args().serve
    if db is not None:
        serve(db)
        return
    with tempfile.TemporaryDirectory() as folder:
        db = Path(folder) / "kibitz.db"
        size = asyncio.run(prepare(db))
        with serving(db) as (pid, port):
            before, most = slow_readers(pid, port)
        print(f"{READERS} slow readers of {size / 1e6:.1f} MB: {before:.0f} to {most:.0f} MB")
        with serving(db) as (pid, port):
            alone, together = asyncio.run(reports(pid, port))
        print(f"without strangers: {alone}\nwith {STRANGERS}: {together}")


if __name__ == "__main__":
    main()
