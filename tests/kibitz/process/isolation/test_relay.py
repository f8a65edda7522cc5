"""The relay to the server from an otherwise isolated network."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import cast

import pytest

from kibitz.process.isolation.entrypoint import share_listener
from kibitz.process.isolation.relay import MAX_CONNECTIONS, REFUSED, Relay, _both, _pump

OPENING = b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"


async def echo(reader: StreamReader, writer: StreamWriter) -> None:
    """Run a server that echoes its input."""
    while data := await reader.read(1 << 16):
        writer.write(data)
        await writer.drain()
    writer.close()


def free() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


@asynccontextmanager
async def relayed(path: str = "") -> AsyncIterator[int]:
    """Return the port that replaces a server's in the bot's network."""
    async with await asyncio.start_server(echo, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        relay = Relay(f"ws://127.0.0.1:{port}{path}")
        relay.start()
        inside = free()
        share_listener(os.dup(relay.control), inside)
        try:
            yield inside
        finally:
            await relay.close()


async def opened(port: int, head: bytes = OPENING) -> tuple[StreamReader, StreamWriter]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(head)
    return reader, writer


@pytest.mark.parametrize("path", ["/kibitz", "/kibitz/"])
async def test_a_server_below_a_path_is_reached_where_clients_look_for_it(path: str) -> None:
    async with relayed(path) as port:
        opening = OPENING.replace(b"GET / ", b"GET /kibitz/ ")
        reader, writer = await opened(port, opening)
        assert await reader.readexactly(len(opening)) == opening
        other_reader, other = await opened(port, OPENING)
        assert await other_reader.read() == REFUSED
        writer.close()
        other.close()


async def test_a_websocket_is_passed_on_both_ways() -> None:
    async with relayed() as port:
        reader, writer = await opened(port, OPENING + b"frames")
        assert await reader.readexactly(len(OPENING) + 6) == OPENING + b"frames"
        writer.write(b"more")
        assert await reader.readexactly(4) == b"more"
        writer.write_eof()
        assert await reader.read() == b""
        writer.close()


async def test_who_loses_a_connection_comes_back_by_another() -> None:
    async with relayed() as port:
        for _ in range(3):
            reader, writer = await opened(port)
            assert await reader.readexactly(len(OPENING)) == OPENING
            writer.transport.abort()


class GoneWriter:
    """The bot's side after it was killed while the server is still sending."""

    def __init__(self, *, noticed: bool) -> None:
        self.noticed = noticed

    def is_closing(self) -> bool:
        return self.noticed

    def write(self, data: bytes) -> None:
        if self.noticed:
            raise RuntimeError("the handler is closed")  # like uvloop's transports

    async def drain(self) -> None:
        raise ConnectionResetError("Connection lost")


@pytest.mark.parametrize("noticed", [False, True])
async def test_a_side_that_is_gone_in_the_middle_ends_both_ways_without_an_error(
    noticed: bool,
) -> None:
    told, silent = StreamReader(), StreamReader()
    told.feed_data(b"news")
    back = cast(StreamWriter, GoneWriter(noticed=noticed))
    await asyncio.wait_for(_both(_pump(told, back), _pump(silent, back)), timeout=5)


@pytest.mark.parametrize(
    "head",
    [
        b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        OPENING.replace(b"GET /", b"GET /records/m1.jsonl"),
        OPENING.replace(b"GET", b"POST"),
    ],
    ids=["page", "no websocket", "record", "method"],
)
async def test_pages_of_the_server_are_not_for_bots(head: bytes) -> None:
    async with relayed() as port:
        reader, writer = await opened(port, head)
        assert await reader.read() == REFUSED
        writer.close()


async def test_what_is_no_request_ends_the_connection() -> None:
    async with relayed() as port:
        reader, writer = await opened(port, b"x" * (1 << 20))
        with contextlib.suppress(ConnectionError):
            assert await reader.read(1) == b""
        writer.close()


async def test_connections_of_one_bot_are_counted() -> None:
    async with relayed() as port:
        held = [await opened(port) for _ in range(MAX_CONNECTIONS)]
        for reader, _ in held:
            await reader.readexactly(len(OPENING))
        reader, writer = await opened(port)
        with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
            await reader.readexactly(1)
        for _, each in [*held, (reader, writer)]:
            each.transport.abort()
