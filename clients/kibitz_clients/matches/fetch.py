"""Fetches the record of a finished match over plain HTTP from the server that played it."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final, TypeAlias

from kibitz_protocol.atomic_write import write_atomically
from kibitz_protocol.wire.recordfile import Record, parse_record
from kibitz_protocol.wire.server_address import page_url

TIMEOUT_S: Final = 15.0
MAX_BYTES: Final = 64 * 1024 * 1024
"""The maximum size of a record in bytes, a hundred times that of the longest match."""
MAX_ATTEMPTS: Final = 5
RETRYABLE_STATUSES: Final = frozenset({429, 503})
"""HTTP statuses of a server that is too busy to send a record now."""
MAX_WAIT_S: Final = 10.0

RecordFetcher: TypeAlias = Callable[[str, str], Awaitable[Record]]
"""A function that fetches a record, given the server's websocket address and the match key.

It raises `OSError` and `RecordError`.
"""


async def fetch_record(url: str, match: str) -> Record:
    """Fetch the record of `match` from the server at the websocket address `url`.

    Raises `OSError` if the server does not send it, `RecordError` if it is not a valid record.
    """
    address = record_url(url, match)
    body = await asyncio.to_thread(download, address)
    return parse_record(body.splitlines(keepends=True), path=address)


async def save_record(url: str, match: str, path: Path) -> Path:
    """Store the record of `match` at `path` and return the path; raises `OSError`."""
    body = await asyncio.to_thread(download, record_url(url, match))
    return write_atomically(path, body, durable=False)


def record_url(url: str, match: str) -> str:
    """Return the HTTP address of the record of a match, next to the websocket's."""
    return page_url(url, f"records/{urllib.parse.quote(match)}.jsonl")


def download(address: str, pause: Callable[[float], None] = time.sleep) -> bytes:
    """Download `address`, retrying while the server is busy. Blocks.

    Raises `OSError`, also for an incomplete response.
    """
    for attempt in range(1, MAX_ATTEMPTS + 1):
        try:
            return _download_once(address)
        except urllib.error.HTTPError as error:
            error.close()
            if error.code not in RETRYABLE_STATUSES or attempt == MAX_ATTEMPTS:
                answer = f"{error.code} {error.reason}"
                raise OSError(f"{address}: the server answered {answer}") from None
            pause(_retry_after_s(error.headers.get("Retry-After")))
    raise AssertionError("the last attempt returns or raises")


def _download_once(address: str) -> bytes:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with contextlib.closing(opener.open(address, timeout=TIMEOUT_S)) as answer:
            body: bytes = answer.read(MAX_BYTES + 1)
    except http.client.HTTPException as error:
        raise OSError(f"{address}: the answer is incomplete: {error!r}") from None
    if len(body) > MAX_BYTES:
        raise OSError(f"{address}: expected a record of at most {MAX_BYTES} bytes")
    return body


def _retry_after_s(after: str | None) -> float:
    """Return the seconds of a Retry-After header, capped."""
    return min(float(after), MAX_WAIT_S) if after and after.isdecimal() else 1.0
