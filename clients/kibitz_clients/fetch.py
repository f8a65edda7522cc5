"""The record of a finished match, over plain HTTP from the server that played it."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

from kibitz_protocol.recordfile import Record, parse_record

TIMEOUT_S: Final = 15.0
MOST_BYTES: Final = 64 * 1024 * 1024
"""The longest record that is read; the longest match takes a hundredth of it."""
ATTEMPTS: Final = 5
BUSY: Final = frozenset({429, 503})
"""What a server answers that will have time for a record later."""
LONGEST_WAIT_S: Final = 10.0

Fetch: TypeAlias = Callable[[str, str], Awaitable[Record]]
"""Takes the server's websocket address and a match; raises `OSError` and `RecordError`."""


async def record(url: str, match: str) -> Record:
    """Fetch the record of `match` from the server at the websocket address `url`.

    Raises `OSError` where the server does not give it, `RecordError` where it is no record.
    """
    address = address_of(url, match)
    body = await asyncio.to_thread(read, address)
    return parse_record(body.splitlines(keepends=True), path=address)


def address_of(url: str, match: str) -> str:
    """Return where the record of a match is: the same host and port, plain HTTP."""
    parts = urllib.parse.urlsplit(url)
    scheme = "https" if parts.scheme == "wss" else "http"
    path = f"/records/{urllib.parse.quote(match)}.jsonl"
    return urllib.parse.urlunsplit((scheme, parts.netloc, path, "", ""))


def read(address: str, pause: Callable[[float], None] = time.sleep) -> bytes:
    """Return all that a server has at `address`; one that is busy is asked again. Blocks.

    Raises `OSError`, also where what came is not all.
    """
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return _read(address)
        except urllib.error.HTTPError as error:
            error.close()
            if error.code not in BUSY or attempt == ATTEMPTS:
                answer = f"{error.code} {error.reason}"
                raise OSError(f"{address}: the server answers {answer}") from None
            pause(_wait(error.headers.get("Retry-After")))
    raise AssertionError("the last attempt returns or raises")


def _read(address: str) -> bytes:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with contextlib.closing(opener.open(address, timeout=TIMEOUT_S)) as answer:
            body: bytes = answer.read(MOST_BYTES + 1)
    except http.client.HTTPException as error:
        raise OSError(f"{address}: the answer is not whole: {error!r}") from None
    if len(body) > MOST_BYTES:
        raise OSError(f"{address}: expected a record of at most {MOST_BYTES} bytes")
    return body


def _wait(after: str | None) -> float:
    """Return the seconds of a Retry-After header; a server may ask for no more than a while."""
    return min(float(after), LONGEST_WAIT_S) if after and after.isdecimal() else 1.0
