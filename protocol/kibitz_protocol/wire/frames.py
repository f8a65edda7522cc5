"""WebSocket frames as a server writes and reads them (RFC 6455, section 5.2)."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from pydantic_core import to_json

TEXT = 0x81
"""First byte of an unfragmented text frame."""
_MEDIUM = struct.Struct("!BBH").pack
"""The header of a frame of 126 to 65,535 bytes."""
MASKED = 0x80
"""Bit of the second byte that is set in every frame of a client."""


def text_frame(payload: bytes) -> bytes:
    """Return a text message as one unmasked frame, which can be sent to many clients.

    Must agree with ``websockets.frames.Frame(Opcode.TEXT, payload).serialize(mask=False)``.
    """
    size = len(payload)
    if size < 126:
        return bytes((TEXT, size)) + payload
    if size < 65536:
        return _MEDIUM(TEXT, 126, size) + payload
    return bytes((TEXT, 127)) + size.to_bytes(8, "big") + payload


def done_frame(request: int, seq: int | None, ignored: Sequence[str] = ()) -> bytes:
    """Return the answer to a request that made entry `seq`, framed.

    `ignored` names the fields of the request that were ignored, which is rare.
    """
    if seq is None or ignored:
        named = b',"ignored":%b' % to_json(ignored) if ignored else b""
        made = b"" if seq is None else b',"seq":%d' % seq
        return text_frame(b'{"re":%d%b,"type":"done"%b}' % (request, named, made))
    payload = b'{"re":%d,"type":"done","seq":%d}' % (request, seq)
    return b"\x81%c%b" % (len(payload), payload)  # two numbers: always a short frame


def frame_bounds(data: bytes, start: int) -> tuple[int, int] | None:
    """Return where the payload of a masked frame begins and ends; None without all of its header.

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
