"""Connections that flood a server with requests, lobbies and unfinished handshakes.

`python -m tests.tools.floods PORT` runs all floods in parallel in a separate low-priority process.
Otherwise the flooders would take CPU time from players on the same machine. Over a network, they
could not do this. It prints a `FloodOutcome` as JSON.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
import time
from dataclasses import asdict, dataclass

from kibitz.output import echo
from tests.tools.raw_connection import HANDSHAKE, greeted_connection, message_frame

WAITING_LOBBY = {
    "name": "the waiting room",
    "seats": [{"kind": "open"}] * 3,
    "programme": [{"game": "mnk", "options": {"columns": 3, "rows": 3, "row": 3}}],
}


@dataclass
class FloodOutcome:
    """How the request flooders were disconnected."""

    codes: list[int | None]
    """The close codes; None for connections that were reset."""
    slowest_s: float
    """The seconds until the last one was closed."""


def flood(port: int, name: str, count: int) -> tuple[int | None, float]:
    """Send requests as fast as possible; return the close code and the seconds until then."""
    with greeted_connection(port, name) as connection:
        began = time.monotonic()
        asked = b"".join(message_frame(type="list_lobbies", id=n + 1) for n in range(count))
        with contextlib.suppress(ConnectionError):
            connection.send(asked)
        with contextlib.suppress(ConnectionError):
            return connection.close_code(), time.monotonic() - began
    return None, time.monotonic() - began


def create_lobbies(port: int, name: str, count: int) -> tuple[set[str], int | None]:
    """Open lobbies until disconnected; return the refusal codes and the close code."""
    codes: set[str] = set()
    with greeted_connection(port, name) as connection:
        try:
            for _ in range(count):
                answer = connection.ask("host", settings=WAITING_LOBBY)
                codes.add(answer.get("code", "done"))
        except ConnectionError as error:
            return codes, error.args[0]
    return codes, None


async def send_headers_slowly(port: int) -> float:
    """Send headers byte by byte; return the seconds until the server closed the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    began = time.monotonic()
    try:
        with contextlib.suppress(ConnectionError):
            for byte in HANDSHAKE.format(path="/", more="X-Slow: x\r\n" * 50).encode():
                writer.write(bytes((byte,)))
                await writer.drain()
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(0.1):
                        if not await reader.read(1):
                            break
    finally:
        writer.transport.abort()
    return time.monotonic() - began


async def wait_for_close(port: int, first: bytes) -> float:
    """Send some data and then nothing; return the seconds until the server hung up."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    began = time.monotonic()
    try:
        with contextlib.suppress(ConnectionError):
            writer.write(first)
            await reader.read()
    finally:
        writer.transport.abort()
    return time.monotonic() - began


async def every_flood(port: int) -> FloodOutcome:
    """Flood with 50 connections, 2,000 half-open handshakes, 10,000 lobbies and 50 slow headers."""
    half = [wait_for_close(port, b"GET / HTTP/1.1\r\n") for _ in range(2000)]
    slow = [send_headers_slowly(port) for _ in range(50)]
    ends, *_ = await asyncio.gather(
        asyncio.gather(*(asyncio.to_thread(flood, port, f"f {n}", 10_000) for n in range(50))),
        asyncio.to_thread(create_lobbies, port, f"estate {os.getpid()}", 10_000),
        asyncio.gather(*half),
        asyncio.gather(*slow),
    )
    return FloodOutcome([code for code, _ in ends], max(seconds for _, seconds in ends))


if __name__ == "__main__":
    os.nice(19)
    echo(json.dumps(asdict(asyncio.run(every_flood(int(sys.argv[1]))))))
