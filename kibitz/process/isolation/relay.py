"""A relay out of a bot's network namespace: one address, WebSocket connections only.

The bot's side is a listening socket in a network that reaches nothing else; it comes from
`entrypoint`. The relay forwards a connection to the server if its first request asks for a
websocket at the server's own path. Entrants may not read a server's pages, such as the records of
other people's games. Connections are independent of each other, so a bot can reconnect as often as
it likes.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import socket
from asyncio import StreamReader, StreamWriter
from typing import Final
from urllib.parse import urlsplit

from kibitz_protocol.wire.server_address import websocket_url

HEAD_BYTES: Final = 16 * 1024
"""The longest request that opens a websocket."""
HEAD_SECONDS: Final = 10.0
MAX_CONNECTIONS: Final = 32
"""Connections of one bot at the same time."""
CHUNK: Final = 64 * 1024
_UPGRADE = re.compile(rb"\r\nupgrade:[ \t]*websocket[ \t]*\r\n", re.IGNORECASE)
REFUSED: Final = b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class Relay:
    """Passes on the connections of one bot. `close` ends them."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._host = parts.hostname or "127.0.0.1"
        self._port = parts.port or 80
        self._path = (urlsplit(websocket_url(url)).path or "/").encode()
        self._control, self._theirs = socket.socketpair()
        self._control.setblocking(False)
        self._servers: list[asyncio.Server] = []
        self._taking: asyncio.Task[None] | None = None
        self._open: set[asyncio.Task[None]] = set()

    @property
    def control(self) -> int:
        """The descriptor that the bot's process inherits, for `entrypoint`."""
        return self._theirs.fileno()

    def start(self) -> None:
        """Take over the listening sockets whenever they come."""
        self._taking = asyncio.create_task(self._take())

    async def close(self) -> None:
        """End all connections."""
        tasks = [*self._open, *([] if self._taking is None else [self._taking])]
        for server in self._servers:
            server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._control.close()
        self._theirs.close()

    async def _take(self) -> None:
        loop = asyncio.get_running_loop()
        ready = asyncio.Event()
        loop.add_reader(self._control.fileno(), ready.set)
        try:
            await ready.wait()
        finally:
            loop.remove_reader(self._control.fileno())
        _, descriptors, _, _ = socket.recv_fds(self._control, 64, 2)
        for descriptor in descriptors:
            listener = socket.socket(fileno=descriptor)
            self._servers.append(await asyncio.start_server(self._accept, sock=listener))

    async def _accept(self, reader: StreamReader, writer: StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            if len(self._open) <= MAX_CONNECTIONS:
                await self._serve(reader, writer)
        except (OSError, EOFError, ValueError, TimeoutError):
            pass  # either side went away; the bot notices, and connects again
        finally:
            self._open.discard(task)
            writer.transport.abort()

    async def _serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        async with asyncio.timeout(HEAD_SECONDS):
            head = await _head(reader)
        if not self._allowed(head):
            writer.write(REFUSED)
            await writer.drain()
            writer.close()
            await writer.wait_closed()
            return
        there, back = await asyncio.open_connection(self._host, self._port)
        try:
            back.write(head)
            await _both(_pump(reader, back), _pump(there, writer))
        finally:
            back.transport.abort()

    def _allowed(self, head: bytes) -> bool:
        method, _, rest = head.partition(b" ")
        path = rest.partition(b" ")[0].partition(b"?")[0]
        return method == b"GET" and path == self._path and _UPGRADE.search(head) is not None


async def _head(reader: StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    if len(head) > HEAD_BYTES:
        raise ValueError("too long")
    return head


async def _pump(source: StreamReader, target: StreamWriter) -> None:
    """Forward data until its end, and forward the end too."""
    while data := await source.read(CHUNK):
        if target.is_closing():  # uvloop raises RuntimeError where asyncio only logs
            raise ConnectionResetError("the other side is gone")
        target.write(data)
        await target.drain()
    with contextlib.suppress(OSError):
        target.write_eof()


async def _both(*pumps: object) -> None:
    """Run until both directions have ended, or one of them has lost its side."""
    try:
        async with asyncio.TaskGroup() as group:
            for pump in pumps:
                group.create_task(pump)  # type: ignore[arg-type]
    except* OSError:
        pass  # the group's own exception, which nobody around it looks for
