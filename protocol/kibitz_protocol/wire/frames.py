"""WebSocket frames as a server writes and reads them (RFC 6455, section 5.2)."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from pydantic_core import to_json

TEXT = 0x81
"""First byte of an unfragmented text frame."""
_MEDIUM = struct.Struct("!BBH").pack
"""Packs the header of a frame with a payload of 126 to 65,535 bytes."""
MASKED = 0x80
"""The mask bit in the second byte, which is set in every frame from a client."""


def text_frame(payload: bytes) -> bytes:
    """Return a text message as one unmasked frame, which can be reused for many clients.

    Must agree with ``websockets.frames.Frame(Opcode.TEXT, payload).serialize(mask=False)``.
    """
    size = len(payload)
    if size < 126:
        return bytes((TEXT, size)) + payload
    if size < 65536:
        return _MEDIUM(TEXT, 126, size) + payload
    return bytes((TEXT, 127)) + size.to_bytes(8, "big") + payload


def done_frame(request: int, seq: int | None, ignored: Sequence[str] = ()) -> bytes:
    """Return the frame of a `done`; `seq` is the entry that the request made, if any.

    `ignored` names the ignored fields of the request (rare).
    """
    if seq is None or ignored:
        named = b',"ignored":%b' % to_json(ignored) if ignored else b""
        made = b"" if seq is None else b',"seq":%d' % seq
        return text_frame(b'{"re":%d%b,"type":"done"%b}' % (request, named, made))
    payload = b'{"re":%d,"type":"done","seq":%d}' % (request, seq)
    return b"\x81%c%b" % (len(payload), payload)  # only two numbers, so under 126 bytes


def frame_bounds(data: bytes, start: int) -> tuple[int, int] | None:
    """Return the start and end of a masked frame's payload, or None if its header is incomplete.

    The frame begins at `start` and may be longer than `data`. Its masking key is the four bytes
    before the payload.
    """
    size = len(data) - start
    if size < 2:
        return None
    length = data[start + 1] & 0x7F
    if length < 126:
        return start + 6, start + 6 + length
    extent = 2 if length == 126 else 8
    if size < 2 + extent:
        return None
    length = int.from_bytes(data[start + 2 : start + 2 + extent], "big")
    body = start + 6 + extent
    return body, body + length
