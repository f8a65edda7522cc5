"""WebSocket framing of text messages, as a server does it (RFC 6455, section 5.2)."""

from __future__ import annotations

TEXT = 0x81
"""First byte of an unfragmented text frame."""


def text_frame(payload: bytes) -> bytes:
    """Return a text message as one frame that is not masked, which can be sent to many.

    Must agree with ``websockets.frames.Frame(Opcode.TEXT, payload).serialize(mask=False)``.
    """
    size = len(payload)
    if size < 126:
        return bytes((TEXT, size)) + payload
    if size < 65536:
        return bytes((TEXT, 126, size >> 8, size & 255)) + payload
    return bytes((TEXT, 127)) + size.to_bytes(8, "big") + payload
