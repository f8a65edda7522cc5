"""Where a websocket frame ends (RFC 6455, section 5.2), for frames that come in."""

from __future__ import annotations

WHOLE_TEXT = 0x81
"""First byte of an unfragmented text frame."""
MASKED = 0x80
"""Bit of the second byte that every frame of a client has set."""


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
