"""The record of a finished match, over plain HTTP from the server that played it."""

from __future__ import annotations

import asyncio
import contextlib
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

from kibitz_protocol.recordfile import Record, parse_record

TIMEOUT_S: Final = 15.0
MOST_BYTES: Final = 64 * 1024 * 1024
"""The longest record that is read; the longest match takes a hundredth of it."""

Fetch: TypeAlias = Callable[[str, str], Awaitable[Record]]
"""Takes the server's websocket address and a match; raises `OSError` and `RecordError`."""


async def record(url: str, match: str) -> Record:
    """Fetch the record of `match` from the server at the websocket address `url`.

    Raises `OSError` where the server does not give it, `RecordError` where it is no record.
    """
    address = address_of(url, match)
    body = await asyncio.to_thread(_read, address)
    return parse_record(body.splitlines(keepends=True), path=address)


def address_of(url: str, match: str) -> str:
    """Return where the record of a match is: the same host and port, plain HTTP."""
    parts = urllib.parse.urlsplit(url)
    scheme = "https" if parts.scheme == "wss" else "http"
    path = f"/records/{urllib.parse.quote(match)}.jsonl"
    return urllib.parse.urlunsplit((scheme, parts.netloc, path, "", ""))


def _read(address: str) -> bytes:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with contextlib.closing(opener.open(address, timeout=TIMEOUT_S)) as answer:
            body: bytes = answer.read(MOST_BYTES + 1)
    except urllib.error.HTTPError as error:
        error.close()
        raise OSError(f"{address}: the server answers {error.code} {error.reason}") from None
    if len(body) > MOST_BYTES:
        raise OSError(f"{address}: expected a record of at most {MOST_BYTES} bytes")
    return body
