"""Plain HTTP on the server's port: is it alive, is it ready, its figures, finished records.

    GET /healthz                  200 while the loop turns
    GET /readyz                   200 when matches may start, 503 while starting or draining
    GET /metrics                  what prometheus collects
    GET /records/<match>.jsonl    the record of a finished match

Everything else is 404, and every other method but HEAD is 405. Connections are not kept.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Protocol

from websockets.datastructures import Headers
from websockets.http11 import Response

TEXT = "text/plain; charset=utf-8"
JSON_LINES = "application/jsonl; charset=utf-8"
METRICS = "text/plain; version=0.0.4; charset=utf-8"
_RECORD = re.compile(r"/records/([A-Za-z0-9_-]{1,32})\.jsonl")


class Site(Protocol):
    """What the pages say."""

    def ready(self) -> bool: ...

    def figures(self) -> bytes: ...

    async def record(self, match: str) -> bytes | None: ...


@dataclass(frozen=True, slots=True)
class Page:
    status: HTTPStatus
    body: bytes
    content_type: str = TEXT
    allow: bool = False

    def response(self, *, head: bool = False) -> Response:
        """Return the page as it travels; without its body for HEAD."""
        headers = Headers(
            {
                "Connection": "close",
                "Content-Length": str(len(self.body)),
                "Content-Type": self.content_type,
                "Cache-Control": "no-store",
                "X-Content-Type-Options": "nosniff",
            }
        )
        if self.allow:
            headers["Allow"] = "GET, HEAD"
        body = b"" if head else self.body
        return Response(self.status.value, self.status.phrase, headers, body)


NOT_FOUND = Page(HTTPStatus.NOT_FOUND, b"not found\n")
NOT_ALLOWED = Page(HTTPStatus.METHOD_NOT_ALLOWED, b"only GET is served here\n", allow=True)
BAD_REQUEST = Page(HTTPStatus.BAD_REQUEST, b"not an HTTP request that is served here\n")
HEADERS_TOO_LARGE = Page(
    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, b"the headers are longer than 16 KiB\n"
)
BUSY = Page(HTTPStatus.SERVICE_UNAVAILABLE, b"too many connections\n")
TOKEN_IN_URL = Page(
    HTTPStatus.BAD_REQUEST,
    b"no secrets in a URL: send the token in hello, or in the Authorization header\n",
)


def answer(method: str, target: str, site: Site) -> Page | Awaitable[Page]:
    """Return the page that a request asks for, at once or in a while."""
    path = target.partition("?")[0]
    record = _RECORD.fullmatch(path)
    if record is None and path not in {"/healthz", "/readyz", "/metrics"}:
        return NOT_FOUND
    if method not in {"GET", "HEAD"}:
        return NOT_ALLOWED
    if record is not None:
        return _record(record[1], site)
    if path == "/metrics":
        return Page(HTTPStatus.OK, site.figures(), METRICS)
    if path == "/readyz" and not site.ready():
        return Page(HTTPStatus.SERVICE_UNAVAILABLE, b"not ready\n")
    return Page(HTTPStatus.OK, b"ok\n")


async def _record(match: str, site: Site) -> Page:
    body = await site.record(match)
    return NOT_FOUND if body is None else Page(HTTPStatus.OK, body, JSON_LINES)
