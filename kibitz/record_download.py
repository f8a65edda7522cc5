"""The record of a finished match, fetched over plain HTTP from the server that played it."""

from __future__ import annotations

import asyncio
from pathlib import Path

from kibitz_clients.matches.fetch import download, record_url


async def record(url: str, match: str, path: Path) -> Path:
    """Store the record of `match` at `path` and return that, or raise `OSError`.

    `url` is where clients connect to the server.
    """
    await asyncio.to_thread(_store, record_url(url, match), path)
    return path


def _store(url: str, path: Path) -> None:
    """Write what `url` answers; never a part of it under the final name."""
    body = download(url)
    partial = path.with_suffix(".part")
    partial.write_bytes(body)
    partial.replace(path)
