"""The HTTP request at the start of every connection, and its answer: a websocket or a page.

Processing starts when all headers, at most 16 KiB, have arrived. The websockets library parses the
request, `http_checks` and `access` may refuse it, and the request is charged to its address. The
server writes a page at once and half-closes the connection. It writes a record piece by piece, as
fast as its reader receives it (`page_sender`). A request for a websocket opens one, which ends this
exchange.

After a file of the web site the connection stays open for some seconds, because a page needs dozens
of files. There are four conditions: no other input has arrived (no pipelining), the request has no
body, it did not pass through a proxy, and its address has spare connections. The next request is
read only when the previous answer was written to the socket, so a slow reader never has more than
one pending answer.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Awaitable, Callable, Generator
from functools import partial
from http import HTTPStatus
from typing import Any, Protocol

from websockets.datastructures import Headers
from websockets.exceptions import HeaderLineTooLong, RequestLineTooLong, TooManyHeaders
from websockets.http11 import MAX_LINE_LENGTH, MAX_NUM_HEADERS, Request, Response
from websockets.server import ServerProtocol

from kibitz_server.net import http
from kibitz_server.net.access import BadHeader
from kibitz_server.net.addresses import address_group
from kibitz_server.net.http_checks import asks_for_websocket, forbidden_page, malformed_page
from kibitz_server.net.page_sender import PageSender, download_refusal
from kibitz_server.net.peer import Peer, PeerContext, half_close
from kibitz_server.net.site import SiteFile, page_response, site_response

LOG = logging.getLogger("kibitz.net")
HEADER_BYTES = 16 * 1024
"""The maximum length of a request's head, in bytes."""
PAGE_TIMEOUT_S = 30.0
"""Seconds that a client has to read a page."""
KEEP_ALIVE_S = 5.0
"""Seconds that a connection may wait for its next request."""
_END_OF_HEAD = b"\r\n\r\n"
_NEGOTIATOR: Any = ServerProtocol(logger=LOG)
"""The library's answers to handshakes (RFC 6455, section 4.2), stateless between handshakes."""


class HttpReader(Protocol):
    """The connection of an exchange (`connection.Connection`)."""

    def in_turn(self, call: Callable[[], None]) -> None:
        """Call a function now or in a later event loop iteration; read no input until then."""

    def open_websocket(self, bearer: str | None, response: bytes, rest: bytes) -> None:
        """Answer the handshake, and read frames from now on; `bearer` is the token."""


class HttpExchange:
    """One request and its answer."""

    __slots__ = (
        "_answered",
        "_context",
        "_data",
        "_eof_received",
        "_kept",
        "_peer",
        "_reader",
        "_relocated",
        "_sender",
    )

    def __init__(self, context: PeerContext, peer: Peer, reader: HttpReader) -> None:
        self._context = context
        self._peer = peer
        self._reader = reader
        self._data = b""
        """The input so far: the request's head, and any bytes after it."""
        self._answered = False
        """Whether a page was written, or is being read from disk."""
        self._kept = False
        """Whether the connection stays open for another request after an answer."""
        self._relocated = False
        """Whether a proxy made the connection; its next request may come from another client."""
        self._sender: PageSender | None = None
        """The sender of a record; input is ignored while it runs."""
        self._eof_received = False
        """Whether the client has closed its side while it receives a record."""

    def feed(self, data: bytes) -> None:
        """Collect the whole head, then answer. Input after the head is websocket frames."""
        if self._answered:
            return
        self._data += data
        if not self._kept or not self._peer.send_queue.paused:
            self._read_head()
        elif len(self._data) > HEADER_BYTES:  # the client has not read the previous answer yet
            self._peer.abort()

    def _read_head(self) -> None:
        if self._peer.is_unread:  # a complete head waits for its turn
            return
        data = self._data
        end = data.find(_END_OF_HEAD)
        if end > HEADER_BYTES or (end < 0 and len(data) > HEADER_BYTES):
            self.reply(_too_large_page(data))
        elif end >= 0:
            self._reader.in_turn(partial(self._answer, end + len(_END_OF_HEAD)))

    def eof_received(self) -> bool:
        """Handle the end of the client's output; return whether it may still receive ours."""
        self._eof_received = True
        return self._sender is not None and not self._sender.done

    def wake(self) -> None:
        """Wake the sender, because the transport has room again or is lost."""
        if self._sender is not None:
            self._sender.wake()
        elif self._kept and self._data and not self._answered and not self._is_lost():
            self._read_head()

    def overdue(self) -> None:
        """End the connection, because a request did not arrive in time."""
        if not self._kept:
            self._peer.abort()
        elif not self._answered:
            self._answered = True
            self._end()

    @property
    def is_streaming(self) -> bool:
        """Whether a record is being sent, whose pieces each have a deadline."""
        return self._sender is not None

    def reply(self, page: http.Page, *, head: bool = False) -> None:
        """Send a page and half-close; the other side then closes the connection."""
        self._write(page.response(head=head))

    # --- answers ----------------------------------------------------------------------------

    def _answer(self, end: int) -> None:
        """Answer the request whose head ends at `end`."""
        head, rest, self._data = self._data[:end], self._data[end:], b""
        self._answered = True
        self._context.turns.spend(self._context.rate_limits.http)
        try:
            request = http.origin_form(parse_request(head))
        except RequestLineTooLong:
            self.reply(http.REQUEST_LINE_TOO_LONG)
            return
        except HeaderLineTooLong:
            self.reply(http.headers_too_large(f"a header is longer than {MAX_LINE_LENGTH} bytes"))
            return
        except TooManyHeaders:
            self.reply(
                http.headers_too_large(f"the request has more than {MAX_NUM_HEADERS} headers")
            )
            return
        except (EOFError, ValueError, NotImplementedError) as error:
            LOG.debug("invalid HTTP from %s: %r", self._peer.address, error)
            self._end()
            return
        try:
            page = self._refusal_page(request)
        except BadHeader as error:
            page = http.bad_request(str(error))
        if page is not None:
            self.reply(page, head=request.method == "HEAD")
        elif asks_for_websocket(request):
            self._upgrade(request, rest)
        else:
            self._serve_page(request, alone=not rest)

    def _upgrade(self, request: Request, rest: bytes) -> None:
        response: Response = _NEGOTIATOR.accept(request)
        if response.status_code != HTTPStatus.SWITCHING_PROTOCOLS:
            self._write(response)
            return
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        bearer = token.strip() if scheme.lower() == "bearer" and token else None
        self._reader.open_websocket(bearer, response.serialize(), rest)

    def _refusal_page(self, request: Request) -> http.Page | None:
        """Return the page that refuses a request, or None. Raises `BadHeader`."""
        access = self._context.access
        malformed = malformed_page(access, request)
        if malformed is not None:
            return malformed
        if not self._locate(request.headers):
            return http.BUSY
        forbidden = forbidden_page(access, request, self._context.servers())
        return forbidden or self._charge(request.path.partition("?")[0])

    def _locate(self, headers: Headers) -> bool:
        """Determine the client's address; return whether its limits allow the connection."""
        here = self._peer
        place = self._context.access.proxies.client_address(headers, here.address)
        if (place.address, place.local) == (here.address, here.local) and not here.proxied:
            return True
        self._relocated = True
        here.address, here.local, here.proxied = place.address, place.local, False
        return self._context.registry.relocate(here)

    def _charge(self, path: str) -> http.Page | None:
        """Charge a request to its address; return a page if the address is over its limit."""
        now = self._context.loop.time()
        limiter = self._peer.rate_limiter
        cost = self._cost(path)
        if limiter.charge_shared(cost, now):
            return None
        self._context.metrics.drops["too many HTTP requests"] += 1
        return http.too_many_requests(math.ceil(limiter.retry_after_ms(cost, now) / 1000))

    def _cost(self, path: str) -> float:
        limits = self._context.rate_limits
        if path == "/metrics" or http.is_record(path):
            return limits.record
        return limits.http if self._site_file(path) is None else limits.static

    # --- pages ------------------------------------------------------------------------------

    def _site_file(self, path: str) -> SiteFile | None:
        site = self._context.site
        return None if site is None else site(path)

    def _serve_page(self, request: Request, *, alone: bool) -> None:
        """Answer with a page; `alone` if no input follows the request's head."""
        head = request.method == "HEAD"
        path = request.path.partition("?")[0]
        file = self._site_file(path)
        if file is not None:
            self._serve_file(file, request, alone)
            return
        page = http.page_at(request.method, path, self._context.pages, self._asker())
        if isinstance(page, http.Page):
            self.reply(page, head=head)
        else:
            chunked = request.protocol != "HTTP/1.0"
            self._context.spawn(partial(self._reply_later, page, head, chunked))

    def _serve_file(self, file: SiteFile, request: Request, alone: bool) -> None:
        head = request.method == "HEAD"
        if not head and request.method != "GET":
            self._write(page_response(http.NOT_ALLOWED, head=False))
            return
        keep = alone and not self._relocated and _wants_another(request)
        keep = keep and self._context.registry.may_stay(self._peer)
        servers = self._context.servers()
        response = site_response(file, request.headers, head=head, keep=keep, servers=servers)
        if not keep:
            self._write(response)
        elif not self._is_lost():
            self._answered, self._kept = False, True
            self._peer.transport.write(response.serialize())
            self._context.timeouts.connected(self._peer, self.overdue, KEEP_ALIVE_S)

    def _asker(self) -> http.Asker:
        here = self._peer
        address = None if here.local else address_group(here.address)
        return http.Asker(address, self._context.guest_networks.people(here.address))

    async def _reply_later(
        self, coming: Awaitable[http.Page | http.StreamedPage], head: bool, chunked: bool
    ) -> None:
        page = await coming
        if isinstance(page, http.Page):
            self.reply(page, head=head)
            return
        asker = self._asker()
        refusal = download_refusal(self._context.downloads, asker.address, asker.people)
        if refusal is not None:
            self._context.metrics.drops["too many downloads"] += 1
            self.reply(refusal, head=head)
        elif not self._is_lost():
            await self._stream(page, asker.address, head, chunked)

    async def _stream(
        self, page: http.StreamedPage, address: str | None, head: bool, chunked: bool
    ) -> None:
        """Send a record and half-close; after a read error the record is incomplete."""
        context, here = self._context, self._peer
        piece_s = context.downloads.limits.piece_s
        self._sender = sender = PageSender(
            context.loop, here.transport, here.send_queue, lambda: here.leave(piece_s)
        )
        here.leave(PAGE_TIMEOUT_S)
        try:
            with context.downloads.begin(address) as download:
                sent = await sender.send(page, download, head=head, chunked=chunked)
        except Exception:
            LOG.exception("cannot read a record")
            here.abort()
            return
        if sent:
            half_close(here.transport)
            if self._eof_received:
                here.transport.close()

    # --- writing ----------------------------------------------------------------------------

    def _write(self, response: Response) -> None:
        self._answered = True
        if not self._is_lost():
            self._peer.transport.write(response.serialize())
            self._end()

    def _end(self) -> None:
        half_close(self._peer.transport)
        self._peer.leave(PAGE_TIMEOUT_S)

    def _is_lost(self) -> bool:
        """Return whether writing is no longer possible."""
        here = self._peer
        return here.send_queue.closed or here.transport.is_closing()


def parse_request(head: bytes) -> Request:
    """Parse the complete head of a request.

    Raises `EOFError`, `ValueError` or `NotImplementedError` if it is not a request, and
    `RequestLineTooLong`, `HeaderLineTooLong` or `TooManyHeaders` if it exceeds the library's
    limits.
    """
    lines = iter(head.split(b"\n"))

    def read_line(limit: int, too_long: type[Exception]) -> Generator[None, None, bytes]:
        line = next(lines, b"") + b"\n"
        if len(line) > limit:
            raise too_long(f"over {limit} bytes")
        return line
        yield  # the parser expects a coroutine

    try:
        next(Request.parse(read_line))
    except StopIteration as done:
        request: Request = done.value
        return request
    raise AssertionError("the parser expects more input, although the head is complete")


def _too_large_page(data: bytes) -> http.Page:
    """Return the page for a head that is too long, in total or because of one line."""
    if len(data.partition(b"\r\n")[0]) > MAX_LINE_LENGTH:
        return http.REQUEST_LINE_TOO_LONG
    return http.headers_too_large(f"the headers are longer than {HEADER_BYTES} bytes")


def _wants_another(request: Request) -> bool:
    """Return whether the client may send another request, and this one has no body."""
    headers = request.headers
    options = ",".join(headers.get_all("Connection")).lower().replace(" ", "").split(",")
    has_body = "Content-Length" in headers or "Transfer-Encoding" in headers
    return request.protocol == "HTTP/1.1" and "close" not in options and not has_body
