"""Misbehaving clients on plain sockets, which do things that no browser or library does.

A `RawConnection` performs the WebSocket handshake and then sends the given bytes unchanged; it
reads only on request, and only the requested amount.
"""

from __future__ import annotations

import contextlib
import json
import socket
import struct
from collections.abc import Iterator, Sequence
from typing import Any

from websockets.frames import Frame, Opcode

HANDSHAKE = (
    "GET {path} HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n{more}\r\n"
)
TIMEOUT_S = 15.0
SMALL_BUFFER = 4096
"""The receive buffer of a peer that does not read; small, so that the kernel buffers little."""


def client_frame(data: bytes, opcode: Opcode = Opcode.TEXT, *, fin: bool = True) -> bytes:
    """Return a client frame."""
    return Frame(opcode, data, fin).serialize(mask=True)


def message_frame(**fields: object) -> bytes:
    """Return a message as a frame."""
    return client_frame(json.dumps(fields).encode())


class RawConnection:
    """A WebSocket connection that may violate the protocol."""

    def __init__(self, port: int, *, narrow: bool = False, host: str = "127.0.0.1") -> None:
        self.socket = socket.socket()
        if narrow:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL_BUFFER)
        self.socket.settimeout(TIMEOUT_S)
        self.socket.connect((host, port))
        self._buffer = b""
        self._id = 0

    def __enter__(self) -> RawConnection:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def reset(self) -> None:
        """Close the connection with a TCP reset."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    def handshake(self, path: str = "/", more: str = "") -> bytes:
        """Request a WebSocket and return the head of the response."""
        self.send(HANDSHAKE.format(path=path, more=more).encode())
        return self.head()

    def head(self) -> bytes:
        while b"\r\n\r\n" not in self._buffer:
            self._receive()
        head, _, self._buffer = self._buffer.partition(b"\r\n\r\n")
        return head

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def ask(self, type: str, **fields: object) -> dict[str, Any]:
        """Send a request and return its answer, skipping events."""
        self._id += 1
        return self.ask_as(self._id, message_frame(type=type, id=self._id, **fields))

    def ask_as(self, id: int, frame: bytes) -> dict[str, Any]:
        """Send a frame and return the answer to request `id`."""
        self.send(frame)
        while True:
            opcode, data = self.frame()
            if opcode == Opcode.CLOSE:
                raise ConnectionError(int.from_bytes(data[:2], "big"))
            message = json.loads(data) if opcode == Opcode.TEXT else {}
            if message.get("re") == id:
                answer: dict[str, Any] = message
                return answer

    def refusal(self) -> dict[str, Any]:
        """Return the next refusal of any request."""
        return self.wait_for("refused")

    def wait_for(self, type: str) -> dict[str, Any]:
        """Return the next message of a type, skipping others."""
        while True:
            opcode, data = self.frame()
            message = json.loads(data) if opcode == Opcode.TEXT else {}
            if message.get("type") == type:
                found: dict[str, Any] = message
                return found

    def hello(self, name: str, **fields: object) -> dict[str, Any]:
        return self.ask("hello", versions=[1], name=name, **fields)

    def frame(self) -> tuple[int, bytes]:
        """Return opcode and payload of the next frame, or raise `EOFError`."""
        self._fill(2)
        length, start = self._buffer[1] & 127, 2
        if length > 125:
            start += 2 if length == 126 else 8
            self._fill(start)
            length = int.from_bytes(self._buffer[2:start], "big")
        self._fill(start + length)
        opcode, data = self._buffer[0] & 15, self._buffer[start : start + length]
        self._buffer = self._buffer[start + length :]
        return opcode, data

    def close_code(self) -> int | None:
        """Read to the end; return the code of the close frame, None if there was none."""
        with contextlib.suppress(EOFError, ConnectionError):
            while True:
                opcode, data = self.frame()
                if opcode == Opcode.CLOSE:
                    return int.from_bytes(data[:2], "big")
        return None

    def _fill(self, size: int) -> None:
        while len(self._buffer) < size:
            self._receive()

    def _receive(self) -> None:
        data = self.socket.recv(65536)
        if not data:
            raise EOFError("the server has closed the connection")
        self._buffer += data


def greeted_connection(port: int, name: str, *, narrow: bool = False) -> RawConnection:
    """Return a connection after hello; a narrow one has a small receive buffer."""
    connection = RawConnection(port, narrow=narrow)
    try:
        connection.handshake()
        answer = connection.hello(name, views="every" if narrow else "turn")
        assert answer["type"] == "welcome", answer
    except BaseException:
        connection.socket.close()
        raise
    return connection


@contextlib.contextmanager
def stalled_spectator(port: int, number: int, matches: Sequence[str]) -> Iterator[socket.socket]:
    """Watch matches and then stop reading."""
    with greeted_connection(port, f"stuck {number}", narrow=True) as connection:
        for match in matches:
            assert connection.ask("watch", match=match)["type"] == "done"
        yield connection.socket
