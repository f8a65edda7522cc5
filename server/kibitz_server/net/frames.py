"""Cuts the input of an open websocket into messages (RFC 6455, section 5). Sans-I/O.

Nearly every frame is a whole masked text message. This module unmasks these and pongs itself. When
any other frame is complete, it goes to the sans-I/O layer of the websockets library, which answers
pings, joins fragments and refuses what the RFC forbids. That layer is created on first use; most
connections never need it. Both read only whole frames, so each can continue where the other
stopped.
"""

from __future__ import annotations

from enum import Enum
from typing import TypeAlias, cast

from websockets.frames import Close, Frame, Opcode
from websockets.protocol import Protocol, Side, State

from kibitz_protocol.wire.frames import MASKED, TEXT, frame_bounds
from kibitz_protocol.wire.values import MAX_FRAME

try:
    from websockets.speedups import apply_mask
except ImportError:  # websockets was installed without its C extension
    from websockets.utils import apply_mask

_PONG = 0x8A
"""The first byte of an unfragmented pong."""
_MAX_CONTROL = 125
"""The longest payload of a control frame, in bytes."""


class Kind(Enum):
    """The kinds of frames that `FrameReader.next` returns."""

    TEXT = "the payload of a whole text message"
    PONG = "the payload of a pong"
    OTHER = "a whole frame, for `receive_other`"
    BROKEN = "invalid input, for `receive_other`; everything after it is discarded"


Found: TypeAlias = tuple[Kind, bytes | bytearray]


class FrameReader:
    """The input of one client."""

    __slots__ = ("_data", "_parts", "_protocol", "_start")

    def __init__(self) -> None:
        self._data = b""
        self._start = 0
        """The start of the next frame in `_data`."""
        self._parts: list[bytes] | None = None
        """The fragments received so far of a fragmented message."""
        self._protocol: Protocol | None = None

    def feed(self, data: bytes) -> None:
        """Add input."""
        self._data = self._data[self._start :] + data if self._data else data
        self._start = 0

    def whole_text(self, data: bytes) -> bytes | None:
        """Return the payload if `data` is exactly one whole text message and no input is pending.

        Otherwise return None and consume nothing; call `next` then. Nearly every move arrives like
        this.
        """
        size = len(data)
        if self._data or self._parts is not None or size < 8 or data[0] != TEXT:
            return None
        length, body = data[1] - MASKED, 6
        if length == 126:
            length, body = data[2] << 8 | data[3], 8
        elif length == 127:  # an eight-byte length exceeds the limit
            return None
        if length != size - body or length > MAX_FRAME:
            return None
        return apply_mask(data[body:], data[body - 4 : body])

    def next(self, more: bytes = b"") -> Found | None:
        """Return the next frame, after adding `more` input; None while it is incomplete."""
        if more:
            self.feed(more)
        data, start = self._data, self._start
        if start >= len(data):
            self._data, self._start = b"", 0
            return None
        bounds = frame_bounds(data, start)
        if bounds is None:
            self._keep()
            return None
        body, end = bounds
        if data[start + 1] < MASKED or end - body > MAX_FRAME:
            self._data = b""
            return Kind.BROKEN, data[start:]  # the header is enough to refuse the frame
        if end > len(data):
            self._keep()
            return None
        self._start = end
        if data[start] == TEXT and self._parts is None:
            return Kind.TEXT, apply_mask(data[body:end], data[body - 4 : body])
        if data[start] == _PONG and end - body <= _MAX_CONTROL:
            return Kind.PONG, apply_mask(data[body:end], data[body - 4 : body])
        return Kind.OTHER, data[start:end]

    def _keep(self) -> None:
        """Drop consumed input."""
        self._data = self._data[self._start :]
        self._start = 0

    def receive_other(self, data: bytes | bytearray) -> list[Frame]:
        """Pass a frame to the library; return the resulting frames, with text fragments joined.

        Afterwards `replies` has the replies to the frame, and `is_over` tells whether it was the
        last.
        """
        protocol = self._protocol
        if protocol is None:
            protocol = self._protocol = Protocol(Side.SERVER, state=State.OPEN, max_size=MAX_FRAME)
        protocol.receive_data(bytes(data))
        frames = [cast(Frame, event) for event in protocol.events_received()]
        return [joined for frame in frames if (joined := self._join(frame)) is not None]

    def replies(self) -> list[bytes]:
        """Return the replies to write; b"" stands for the end of the output."""
        return [] if self._protocol is None else self._protocol.data_to_send()

    @property
    def is_over(self) -> bool:
        """Whether the other side has closed the websocket or violated the protocol."""
        return self._protocol is not None and self._protocol.state is not State.OPEN

    def _join(self, frame: Frame) -> Frame | None:
        """Return a frame joined with its earlier fragments; None while more fragments follow."""
        if frame.opcode not in (Opcode.TEXT, Opcode.CONT):
            return frame
        self._parts = [*(self._parts or ()), bytes(frame.data)]
        if not frame.fin:
            return None
        whole, self._parts = b"".join(self._parts), None
        return Frame(Opcode.TEXT, whole)


def ping_frame(payload: bytes) -> bytes:
    return Frame(Opcode.PING, payload).serialize(mask=False)


def close_frame(code: int, reason: str) -> bytes:
    """Return a close frame, with the reason truncated to fit (RFC 6455, section 5.5)."""
    clipped = reason.encode()[: _MAX_CONTROL - 5].decode(errors="ignore")
    return Frame(Opcode.CLOSE, Close(code, clipped).serialize()).serialize(mask=False)
