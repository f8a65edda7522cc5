"""A minimal websocket client, sufficient for a well-behaved server.

The load generator shares the machine with the server under test, so clients must be cheap. The
client is a bare asyncio protocol without extensions or support for fragments. It masks frames with
the zero key: RFC 6455 allows any key, and XOR with zeros needs no copy.
"""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Callable
from typing import cast

HANDSHAKE = (
    "GET / HTTP/1.1\r\nHost: {host}:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)
TEXT, CLOSE, PING, PONG = 0x1, 0x8, 0x9, 0xA


class ClientConnection(asyncio.Protocol):
    """One connection; `on_text` is called with the payload of each text frame."""

    __slots__ = ("_buffer", "_transport", "closed", "host", "on_text", "opened", "port")

    def __init__(self, host: str, port: int) -> None:
        self.host, self.port = host, port
        loop = asyncio.get_running_loop()
        self.opened: asyncio.Future[None] = loop.create_future()
        self.closed = False
        self.on_text: Callable[[bytes], None] = lambda text: None
        self._buffer = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports are not subclasses of asyncio's.
        self._transport = cast(asyncio.Transport, transport)
        self._transport.write(HANDSHAKE.format(host=self.host, port=self.port).encode())

    def connection_lost(self, exc: Exception | None) -> None:
        self.closed = True
        if not self.opened.done():
            self.opened.set_exception(ConnectionError("the connection closed during the handshake"))

    def send(self, payload: bytes, opcode: int = TEXT) -> None:
        assert self._transport is not None
        size = len(payload)
        if size < 126:
            head = bytes((0x80 | opcode, 0x80 | size))
        else:
            head = struct.pack("!BBH", 0x80 | opcode, 0x80 | 126, size)
        self._transport.write(head + b"\0\0\0\0" + payload)

    def close(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        buffer = self._buffer + data if self._buffer else data
        if not self.opened.done():
            buffer = self._handshake(buffer)
        self._buffer = self._frames(buffer) if self.opened.done() else buffer

    def _handshake(self, buffer: bytes) -> bytes:
        head, end, rest = buffer.partition(b"\r\n\r\n")
        if not end:
            return buffer
        if b" 101 " not in head.split(b"\r\n", 1)[0]:
            self.opened.set_exception(ConnectionError(head.decode("latin-1")))
            return b""
        self.opened.set_result(None)
        return rest

    def _frames(self, buffer: bytes) -> bytes:
        start, end = 0, len(buffer)
        while end - start >= 2:
            size, body = buffer[start + 1], start + 2
            if size == 126:
                if end - start < 4:
                    break
                size, body = struct.unpack_from("!H", buffer, body)[0], body + 2
            elif size == 127:
                if end - start < 10:
                    break
                size, body = struct.unpack_from("!Q", buffer, body)[0], body + 8
            if end - body < size:
                break
            self._frame(buffer[start] & 0x0F, buffer[body : body + size])
            start = body + size
        return buffer[start:]

    def _frame(self, opcode: int, payload: bytes) -> None:
        if opcode == TEXT:
            self.on_text(payload)
        elif opcode == PING:
            self.send(payload, PONG)
        elif opcode == CLOSE and self._transport is not None:
            self._transport.close()


async def connect(host: str, port: int) -> ClientConnection:
    """Open a connection and finish its handshake."""
    loop = asyncio.get_running_loop()
    _, connection = await loop.create_connection(lambda: ClientConnection(host, port), host, port)
    await asyncio.wait_for(connection.opened, 30)
    return connection
