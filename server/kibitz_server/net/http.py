"""Plain HTTP on the server's port: liveness, readiness, metrics, finished records.

    GET /healthz                  200 while the event loop runs
    GET /readyz                   200 when matches may start, 503 while starting or draining
    GET /metrics                  metrics for Prometheus
    GET /records/<match>.jsonl    the record of a finished match
    GET /records/<match>/analysis a bot's analysis of it, or its progress (202)
    GET /records/<match>/hint     a bot's move in a running match, or its progress (202)
    GET /ws                       426 unless the request asks for a websocket

Everything else gets 404, and every method other than GET and HEAD gets 405. Connections are not
kept. A page is short and built at once; a record is read while it is sent (`StreamedPage`).
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from http import HTTPStatus

from websockets.datastructures import Headers
from websockets.http11 import MAX_LINE_LENGTH, Request, Response

from kibitz_server.storage.errors import UnusableDatabase

TEXT = "text/plain; charset=utf-8"
JSON = "application/json"
JSON_LINES = "application/jsonl; charset=utf-8"
METRICS = "text/plain; version=0.0.4; charset=utf-8"
WEBSOCKET_PATH = "/ws"
"""The path for websockets only."""
_RECORD = re.compile(r"/records/([A-Za-z0-9_-]{1,32})(?:\.jsonl|/(?P<about>analysis|hint))")

_PATH = re.compile(r"/(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})*")
_URL = re.compile(r"https?://(?P<host>[^/?#]*)(?P<path>.*)", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Asker:
    """The client of a request, for limits on its address."""

    address: str | None = None
    """The address; None for this machine."""
    people: int = 0
    """The number of people that the address counts as; 0 for an ordinary address."""


@dataclass(frozen=True, slots=True)
class PageSource:
    """The contents of the pages."""

    ready: Callable[[], bool]
    """Returns whether new matches may start."""
    metrics: Callable[[], bytes]
    record: Callable[[str], Awaitable[AsyncIterator[bytes] | None]]
    """Returns the record of a finished match, piece by piece."""
    analysis: Callable[[str, Asker], Awaitable[Page]]
    """Returns the analysis of a finished match, its progress, or why there is none."""
    hint: Callable[[str, Asker], Awaitable[Page]]
    """Returns a bot's move in a running match, its progress, or why there is none."""


@dataclass(frozen=True, slots=True)
class Page:
    status: HTTPStatus
    body: bytes
    content_type: str = TEXT
    allow: bool = False
    retry_after_s: int | None = None
    upgrade: bool = False
    """Whether the path serves a websocket."""

    def response(self, *, head: bool = False) -> Response:
        """Return the page as a response; without its body for HEAD."""
        headers = _headers(self.content_type)
        headers["Content-Length"] = str(len(self.body))
        if self.allow:
            headers["Allow"] = "GET, HEAD"
        if self.retry_after_s is not None:
            headers["Retry-After"] = str(self.retry_after_s)
        if self.upgrade:
            headers["Upgrade"] = "websocket"
            del headers["Connection"]
            headers["Connection"] = "Upgrade, close"
        body = b"" if head else self.body
        return Response(self.status.value, self.status.phrase, headers, body)


@dataclass(frozen=True, slots=True)
class StreamedPage:
    """A long page, which is made piece by piece while the client receives it.

    Its length is unknown at the start. It is sent in chunks (RFC 9112, section 7.1), so readers can
    tell whether it is complete; HTTP/1.0 clients have to check the last line.
    """

    pieces: AsyncIterator[bytes]
    content_type: str

    def head(self, *, chunked: bool) -> bytes:
        """Return the part of the response before the first piece."""
        headers = _headers(self.content_type)
        if chunked:
            headers["Transfer-Encoding"] = "chunked"
        return Response(HTTPStatus.OK.value, HTTPStatus.OK.phrase, headers).serialize()


LAST_CHUNK = b"0\r\n\r\n"


def chunk(piece: bytes) -> bytes:
    """Encode a piece as a chunk. It must not be empty, because an empty chunk marks the end."""
    return b"%x\r\n%b\r\n" % (len(piece), piece)


def _headers(content_type: str) -> Headers:
    return Headers(
        {
            "Connection": "close",
            "Content-Type": content_type,
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
            "Cross-Origin-Resource-Policy": "same-origin",
        }
    )


NOT_FOUND = Page(HTTPStatus.NOT_FOUND, b"not found\n")
UNREADABLE = Page(HTTPStatus.SERVICE_UNAVAILABLE, b"the database cannot be read at the moment\n")
NOT_ALLOWED = Page(HTTPStatus.METHOD_NOT_ALLOWED, b"only GET and HEAD are supported\n", allow=True)
BAD_REQUEST = Page(HTTPStatus.BAD_REQUEST, b"invalid HTTP request\n")
REQUEST_LINE_TOO_LONG = Page(
    HTTPStatus.REQUEST_URI_TOO_LONG,
    f"the request line is longer than {MAX_LINE_LENGTH} bytes\n".encode(),
)
WEBSOCKET_ONLY = Page(
    HTTPStatus.UPGRADE_REQUIRED,
    b"this path only serves websockets, but the request does not ask for one; a proxy must use"
    b" HTTP/1.1 and forward the headers Upgrade and Connection\n",
    upgrade=True,
)
BUSY = Page(HTTPStatus.SERVICE_UNAVAILABLE, b"too many connections\n")
TOKEN_IN_URL = Page(
    HTTPStatus.BAD_REQUEST,
    b"a URL must not contain secrets: send the token in hello, or in the Authorization header\n",
)


FOREIGN_ORIGIN = Page(
    HTTPStatus.FORBIDDEN,
    b"pages of this origin may not connect; the operator can allow it with --origin\n",
)
TOO_MANY_DOWNLOADS = b"too many downloads to this address are running; retry later\n"
NO_ROOM_FOR_DOWNLOADS = b"too many downloads are running; retry later\n"


def wrong_host() -> Page:
    return Page(
        HTTPStatus.MISDIRECTED_REQUEST,
        b"this server does not accept the name in the Host header;"
        b" its operator can add names with `kibitz serve --allow-host NAME`\n",
    )


def headers_too_large(limit: str) -> Page:
    """Return the page for headers beyond a limit, such as "more than 128 headers"."""
    page = f"{limit}\n".encode()
    return Page(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, page)


def bad_request(why: str) -> Page:
    return Page(HTTPStatus.BAD_REQUEST, f"{why}\n".encode())


def too_many_requests(retry_after_s: int) -> Page:
    body = f"too many requests; retry after {retry_after_s} s\n".encode()
    return Page(HTTPStatus.TOO_MANY_REQUESTS, body, retry_after_s=retry_after_s)


def split_target(target: str) -> tuple[str, str] | None:
    """Return the path and query of a request's target, or None if it is invalid.

    A target is an absolute path of valid characters (RFC 9112, section 3.2.1, and RFC 3986, section
    3.3); `origin_form` converts URLs to such targets. A path that starts with two slashes is not
    parsed as a URL with a host.
    """
    path, _, query = target.partition("?")
    return (path, query) if _PATH.fullmatch(path) and "#" not in query else None


def origin_form(request: Request) -> Request:
    """Convert a request for a full URL to a request for its path; return others unchanged.

    Servers must accept full URLs, which clients send to proxies, and must use the URL's host
    instead of the header's (RFC 9112, section 3.2.2).
    """
    url = _URL.fullmatch(request.path)
    if url is None:
        return request
    headers = request.headers.copy()
    given = len(headers.get_all("Host"))
    if given == 1:  # a request with two `Host` headers is refused later
        del headers["Host"]
    if given == 1 or request.protocol == "HTTP/1.0":
        headers["Host"] = url["host"]
    path = url["path"]
    target = path if path.startswith("/") else f"/{path}"
    return Request(target, headers, request.method, request.protocol)


def is_record(path: str) -> bool:
    """Return whether a path is that of a record, its analysis or a hint."""
    return _RECORD.fullmatch(path) is not None


def page_at(
    method: str, path: str, source: PageSource, asker: Asker
) -> Page | Awaitable[Page | StreamedPage]:
    """Return the page at a path, at once or as an awaitable."""
    if path == WEBSOCKET_PATH:
        return WEBSOCKET_ONLY
    record = _RECORD.fullmatch(path)
    if record is None and path not in {"/healthz", "/readyz", "/metrics"}:
        return NOT_FOUND
    if method not in {"GET", "HEAD"}:
        return NOT_ALLOWED
    if record is not None and record["about"]:
        about = source.hint if record["about"] == "hint" else source.analysis
        return about(record[1], asker)
    if record is not None:
        return _record_page(record[1], source)
    if path == "/metrics":
        return Page(HTTPStatus.OK, source.metrics(), METRICS)
    if path == "/readyz" and not source.ready():
        return Page(HTTPStatus.SERVICE_UNAVAILABLE, b"not ready\n")
    return Page(HTTPStatus.OK, b"ok\n")


async def _record_page(match: str, source: PageSource) -> Page | StreamedPage:
    try:
        pieces = await source.record(match)
    except UnusableDatabase:
        return UNREADABLE
    return NOT_FOUND if pieces is None else StreamedPage(pieces, JSON_LINES)
