"""A relay out of a bot's network namespace, only for WebSocket connections to one address.

The bot's side is a listening socket from `entrypoint`, in an otherwise isolated network. The relay
forwards a connection to the server only if its first request opens a websocket at the server's
path. Entrants must not read the server's pages, such as the records of other games. Connections are
independent of each other, so a bot can reconnect any number of times.
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
"""The maximum size of a request that opens a websocket, in bytes."""
HEAD_SECONDS: Final = 10.0
MAX_CONNECTIONS: Final = 32
"""The maximum number of simultaneous connections of a bot."""
CHUNK: Final = 64 * 1024
_UPGRADE = re.compile(rb"\r\nupgrade:[ \t]*websocket[ \t]*\r\n", re.IGNORECASE)
REFUSED: Final = b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class Relay:
    """Forwards the connections of one bot until `close`."""

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
        """The descriptor for `entrypoint`, which the bot's process inherits."""
        return self._theirs.fileno()

    def start(self) -> None:
        """Accept the listening sockets as they arrive."""
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
            pass  # one side disconnected; the bot notices and reconnects
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
    """Forward data, including the end of the stream."""
    while data := await source.read(CHUNK):
        if target.is_closing():  # uvloop raises RuntimeError where asyncio only logs
            raise ConnectionResetError("the other side disconnected")
        target.write(data)
        await target.drain()
    with contextlib.suppress(OSError):
        target.write_eof()


async def _both(*pumps: object) -> None:
    """Run until both directions have ended or one has lost its connection."""
    try:
        async with asyncio.TaskGroup() as group:
            for pump in pumps:
                group.create_task(pump)  # type: ignore[arg-type]
    except* OSError:
        pass  # a lost connection is normal here
