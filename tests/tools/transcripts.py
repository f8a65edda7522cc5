"""The complete text of a closed match, as stored."""

from __future__ import annotations

from typing import NamedTuple

from kibitz_server.storage.interface import Store


class Transcript(NamedTuple):
    """A match's lines on disk."""

    head: bytes
    lines: list[bytes]
    footer: bytes | None


async def transcript(store: Store, key: str) -> Transcript | None:
    """Return a closed match's lines; None for any other stream."""
    closed = await store.closed(key)
    if closed is None or closed.kind != "match":
        return None
    lines = await store.entries(closed.number, 1, closed.tail)
    return Transcript(closed.head, lines, closed.footer)
