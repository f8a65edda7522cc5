"""JSON frames on a pipe: a four-byte big-endian length, followed by that many bytes of JSON."""

from __future__ import annotations

import asyncio
import json

from kibitz.workers.port import Json

HEAD = 4
"""The size of the length field in bytes."""


def encode(value: Json) -> bytes:
    """Return the frame of a value."""
    body = json.dumps(value).encode()
    return len(body).to_bytes(HEAD, "big") + body


async def read(stream: asyncio.StreamReader) -> Json:
    """Return the next value; raises `asyncio.IncompleteReadError` at the end of the pipe."""
    length = int.from_bytes(await stream.readexactly(HEAD), "big")
    value: Json = json.loads(await stream.readexactly(length))
    return value
