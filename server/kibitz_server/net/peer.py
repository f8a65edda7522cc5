"""One websocket connection: an asyncio protocol around websockets' sans-I/O `ServerProtocol`.

There is no coroutine and no task here: bytes come in, are cut into frames, decoded, paid for,
and end in a synchronous call of the handler. All that a ready-made server would do is done here:

* The handshake under a deadline, with limits on its headers, and only from where it may come
  (`access`); a plain HTTP request gets its page and the connection is closed. A record is
  written as its reader takes it, a piece at a time (`downloads`).
* Frames. The one that nearly every frame is, a whole masked text message, is unmasked here;
  every other one is handed over to `ServerProtocol`, whole, so that it and we always agree on
  where a frame begins. It answers pings, checks fragments and refuses what the RFC forbids.
* Limits on what comes in (16 KiB a message, `rate_limit`), and on what waits to go out
  (`send_queue`).
* Pings, which measure the round trip (`Peer.rtt_ms`), and every deadline (`timeouts`).
* Closing: a close frame, then half-closed, then aborted when the other side takes too long.

    handshake --101--> open --close(), protocol error, close frame--> leaving --> lost
        |                 \\--connection lost--------------------------------------^
        +--page, refusal--> leaving

What a peer does wrong and what it gets:

    no handshake in time       aborted              binary frame          closed 1003
    headers over 16 KiB        431                  text that is no UTF-8 closed 1007
    foreign origin             403                  message over 16 KiB   closed 1009
    another server's name      421                  broken framing        closed 1002
    token in the URL           400                  flood                 closed 1008
    no hello in time           closed 4002          too many requests     429
    not JSON, unknown fields   refused, malformed   reads too slowly      closed 4001, aborted
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import lru_cache
from http import HTTPStatus
from typing import Protocol, cast

from websockets.datastructures import Headers
from websockets.exceptions import InvalidMessage
from websockets.frames import CloseCode as Standard
from websockets.frames import Frame, Opcode
from websockets.http11 import Request
from websockets.protocol import State
from websockets.server import ServerProtocol

from kibitz_protocol.wire.codec import DecodeError, decode_request
from kibitz_protocol.wire.messages import (
    Answer,
    Capabilities,
    ClientMessage,
    Move,
    Refused,
    ServerMessage,
)
from kibitz_protocol.wire.refusals import HINTS, CloseCode, Code
from kibitz_protocol.wire.values import MAX_FRAME
from kibitz_server.accounts.identity import Identity
from kibitz_server.net import http
from kibitz_server.net.access import AccessPolicy, BadHeader
from kibitz_server.net.addresses import address_group, is_loopback
from kibitz_server.net.downloads import Downloads
from kibitz_server.net.frame_header import MASKED, WHOLE_TEXT, frame_bounds
from kibitz_server.net.http_checks import forbidden_page, malformed_page
from kibitz_server.net.page_sender import PageSender, download_refusal
from kibitz_server.net.rate_limit import Bucket, ChargeResult, RateLimiter, RateLimits
from kibitz_server.net.round_trip import RoundTrip
from kibitz_server.net.send_limits import SendLimits
from kibitz_server.net.send_queue import SendQueue, WriteBatcher, message_frame
from kibitz_server.net.timeouts import Timeouts

try:
    from websockets.speedups import apply_mask
except ImportError:  # where websockets was installed without its compiled part
    from websockets.utils import apply_mask

LOG = logging.getLogger("kibitz.net")
HEADER_BYTES = 16 * 1024
"""The longest handshake."""
HTTP_TIMEOUT_S = 30.0
"""How long a page may take to be read."""
RETRY_AFTER_MS = 1000
"""When to ask again for what could not be carried out just now."""
_PONG = 0x8A
"""First byte of an unfragmented pong."""


class PeerHandler(Protocol):
    """Receives what happens on the connections of a server."""

    def admit(self, peer: Peer) -> bool:
        """Whether there is room for another connection from this address."""

    def relocate(self, peer: Peer) -> bool:
        """Whether there is, now that its headers say that it comes from another one."""

    def move(self, peer: Peer, move: Move) -> None:
        """Carry out a move, or refuse it and call `peer.charge_refused_move`."""

    def request(self, peer: Peer, message: ClientMessage) -> None:
        """Carry out a request that was paid for."""

    def disconnected(self, peer: Peer) -> None:
        """The connection is lost or being closed: nothing more comes from it."""

    def socket_closed(self, peer: Peer) -> None:
        """The socket is closed."""


class Subscription(Protocol):
    """A match or a lobby that a connection has to do with."""

    def disconnected(self, peer: Peer) -> None: ...


class PeerMetrics(Protocol):
    """What connections count."""

    def refused(self, code: Code) -> None: ...

    def dropped(self, why: str) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerContext:
    """What all peers of a server share."""

    loop: asyncio.AbstractEventLoop
    clock: Callable[[], int]
    """Monotonic milliseconds: what stamps the arrival of a move."""
    handler: PeerHandler
    pages: http.PageSource
    metrics: PeerMetrics
    batcher: WriteBatcher
    timeouts: Timeouts
    rate_limits: RateLimits
    send_limits: SendLimits
    access: AccessPolicy = field(default_factory=AccessPolicy)
    """Which requests are served, by their headers."""
    downloads: Downloads = field(default_factory=Downloads)
    spawn: Callable[[Awaitable[None]], None]
    """Runs what cannot be done at once; used for pages that come from the disk only."""


class Peer(asyncio.Protocol):
    """One connection."""

    __slots__ = (
        "_aborted",
        "_context",
        "_cuts_frames",
        "_eof_received",
        "_over_limit",
        "_partial",
        "_parts",
        "_protocol",
        "_reported_gone",
        "_sender",
        "_transport",
        "address",
        "bearer",
        "capabilities",
        "identity",
        "instance",
        "leaving",
        "local",
        "proxied",
        "rate_limiter",
        "round_trip",
        "send_queue",
        "subscriptions",
        "token",
        "unanswered",
    )

    def __init__(self, context: PeerContext) -> None:
        self._context = context
        self._protocol = ServerProtocol(max_size=MAX_FRAME, logger=LOG)
        self._protocol.debug = False
        self._partial = b""
        """Bytes that do not make a frame, or a handshake, yet."""
        self._cuts_frames = False
        """Whether bytes are cut into frames here; otherwise the protocol reads everything."""
        self._parts: list[bytes] | None = None
        """What has come of a fragmented message."""
        self._over_limit = False
        """Whether the last charge was refused, so that even moves are paid for."""
        self._reported_gone = False
        self._aborted = False
        self._sender: PageSender | None = None
        """Sends a record; nothing that the other side says counts any more."""
        self._eof_received = False
        """Whether the reader of a record has said all."""
        self.leaving = False
        """Whether the connection is being closed."""
        self.round_trip = RoundTrip()
        self.identity: Identity | None = None
        """Who is there, once hello was answered."""
        self.bearer: str | None = None
        """The token of the handshake's Authorization header."""
        self.token: bytes | None = None
        """The digest of the token that hello was answered for."""
        self.capabilities: Capabilities | None = None
        """What the bot said in hello that it can do."""
        self.instance: str | None = None
        """What its program calls itself, a secret between it and the server."""
        self.subscriptions: dict[str, Subscription] = {}
        """The matches and lobbies that hear of it when this connection is lost, by key."""
        self.unanswered: set[int] = set()
        """The requests that were handed to the handler and are not answered yet."""

    # --- the transport's callbacks ----------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        context = self._context
        self._transport = cast(asyncio.Transport, transport)
        self._transport.set_write_buffer_limits(high=context.send_limits.high_water)
        name = transport.get_extra_info("peername")
        self.address = str(name[0]) if name else "?"
        self.local = is_loopback(self.address)
        self.proxied = context.access.is_proxy(self.address)
        """Whether only its headers will say where it comes from."""
        self.send_queue = SendQueue(
            self._transport, context.batcher, context.send_limits, self._too_slow
        )
        self.rate_limiter = RateLimiter(context.rate_limits.socket, context.loop.time())
        context.timeouts.connected(self)
        if not context.handler.admit(self):
            context.metrics.dropped("too many connections")
            self._reply(http.BUSY, head=False)

    def data_received(self, data: bytes) -> None:
        if self._sender is not None:
            return
        if self._partial:
            data = self._partial + data
            self._partial = b""
        if self._cuts_frames:
            self._split_frames(data)
        elif self._protocol.state is State.CONNECTING and not self.leaving:
            self._read_handshake(data)
        else:
            self._feed(data)

    def eof_received(self) -> bool:
        if self._sender is not None:
            self._eof_received = True
            return not self._sender.done  # who has said all may still read
        self._protocol.receive_eof()
        self._flush()
        # Nothing may be written after our own end of file, and the transport closes only soon.
        self.send_queue.close()
        self.leaving = True
        self._context.timeouts.leaving(self)  # what still waits to be written may wait for ever
        self._report_gone()
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self.send_queue.close()
        self._context.timeouts.forget(self)
        self._cuts_frames = False
        self.leaving = True
        self._wake_download()
        self._report_gone()
        self._context.handler.socket_closed(self)

    def pause_writing(self) -> None:
        self.send_queue.pause()
        if self._sender is None:  # a reader of a record has a deadline for each piece
            self._context.timeouts.paused(self)

    def resume_writing(self) -> None:
        self._context.timeouts.resumed(self)
        self.send_queue.resume()
        self._wake_download()

    # --- what handlers do -------------------------------------------------------------------

    @property
    def rtt_ms(self) -> int:
        """The round trip in milliseconds as the server measured it, 0 before it did."""
        return self.round_trip.ms

    def answer(self, message: Answer) -> None:
        """Send the answer to a request."""
        self.unanswered.discard(message.re)
        self.send_queue.send(message_frame(message))

    def send(self, message: ServerMessage) -> None:
        """Send news that must not be dropped."""
        self.send_queue.send(message_frame(message))

    def refuse(
        self,
        request: int,
        code: Code,
        message: str,
        *,
        hint: str | None = None,
        retry_after_ms: int | None = None,
        ply: int | None = None,
    ) -> None:
        """Answer that a request was not carried out."""
        self._context.metrics.refused(code)
        self.answer(
            Refused(
                re=request,
                code=code,
                message=message,
                hint=HINTS[code] if hint is None else hint,
                retry_after_ms=retry_after_ms,
                ply=ply,
            )
        )

    def fail(
        self,
        request: int,
        code: Code = Code.INTERNAL,
        message: str = "the server failed to carry this out",
    ) -> None:
        """Refuse a request that something has gone wrong with, unless it is answered already."""
        if request in self.unanswered:
            after = RETRY_AFTER_MS if code is Code.UNAVAILABLE else None
            self.refuse(request, code, message, retry_after_ms=after)

    def charge(self, cost: float, request: int) -> bool:
        """Charge the peer; where that fails, it is refused or closed, and False returned."""
        charged = self._charge(cost)
        if charged is ChargeResult.REFUSED:
            after = self.rate_limiter.retry_after_ms(cost, self._context.loop.time())
            message = f"too many messages, wait {after} ms"
            self.refuse(request, Code.RATE_LIMITED, message, retry_after_ms=after)
        return charged is ChargeResult.GRANTED

    def charge_refused_move(self, cost: float) -> None:
        """Charge for a move that was refused, which has been answered already."""
        self._charge(cost)

    def _charge(self, cost: float) -> ChargeResult:
        charged = self.rate_limiter.charge(cost, self._context.loop.time())
        self._over_limit = charged is not ChargeResult.GRANTED
        if charged is ChargeResult.FLOODING:
            self._context.metrics.dropped("flood")
            self.close(Standard.POLICY_VIOLATION, "too many messages")
        return charged

    def share_bucket(self, bucket: Bucket) -> None:
        """Pay from the bucket of the account or the address too."""
        self.rate_limiter.share(bucket)

    def greeted(self, identity: Identity) -> None:
        """Hello was answered: the peer may stay."""
        self.identity = identity
        self._context.timeouts.greeted(self)

    def close(self, code: int, reason: str = "") -> None:
        """Send what waits and a close frame; the connection is aborted if that takes too long."""
        if self.leaving:
            return
        self.leaving = True
        self.send_queue.flush()
        self.send_queue.close()
        self._cuts_frames = False
        if self._protocol.state is State.OPEN:
            self._protocol.send_close(code, _clip_reason(reason))
            self._flush()
        else:
            self._transport.close()
        self._context.timeouts.leaving(self)
        self._report_gone()

    def abort(self) -> None:
        """Drop the connection without another word."""
        if not self._aborted:
            self._aborted = True
            self._context.metrics.dropped("aborted")
            self.leaving = True
            self.send_queue.close()
            self._transport.abort()

    # --- what timeouts do (timeouts.TimedPeer) ----------------------------------------------

    def ping(self) -> None:
        if self._protocol.state is not State.OPEN or self.leaving:
            return
        self._transport.write(_ping_frame(self.round_trip.ping(self._context.clock())))

    def overdue(self) -> None:
        if self._protocol.state is not State.OPEN:
            self.abort()
            return
        self.close(CloseCode.NO_HELLO, "no hello in time")

    def write_buffer_size(self) -> int:
        return self._transport.get_write_buffer_size()

    # --- frames -----------------------------------------------------------------------------

    def _split_frames(self, data: bytes) -> None:
        """Cut bytes into frames. Only whole frames go on; the rest waits for more."""
        start, size = 0, len(data)
        while size - start >= 2:
            length = data[start + 1] & 0x7F
            if length < 126:  # as `frame_bounds` says, for nearly all that comes
                body, end = start + 6, start + 6 + length
            elif (bounds := frame_bounds(data, start)) is not None:
                body, end = bounds
            else:
                break
            if data[start + 1] < MASKED or end - body > MAX_FRAME:
                self._cuts_frames = False
                self._feed(data[start:])  # the protocol refuses this from the header alone
                return
            if end > size:
                break
            if data[start] == WHOLE_TEXT and self._parts is None:
                self._handle_text(apply_mask(data[body:end], data[body - 4 : body]))
            elif data[start] == _PONG and end - body <= 125:
                self._handle_pong(apply_mask(data[body:end], data[body - 4 : body]))
            else:
                self._feed_charged(data[start:end])
            start = end
            if not self._cuts_frames:
                self._feed(data[start:])
                return
        if start < size:
            self._partial = data[start:]

    def _feed_charged(self, frame: bytes) -> None:
        """A control frame, a fragment, a binary frame, or a violation of the protocol."""
        if self.charge(self._context.rate_limits.control, 0):
            self._feed(frame)

    def _feed(self, data: bytes) -> None:
        """Hand bytes over to the protocol and do what it says."""
        if not data or self._protocol.reader.eof:
            return
        self._protocol.receive_data(data)
        for event in self._protocol.events_received():
            if isinstance(event, Request):
                self._answer_handshake(event)
            elif not self.leaving:
                self._handle_frame(cast(Frame, event))
        self._flush()
        if self._protocol.state is not State.OPEN and not self.leaving:
            self._protocol_ended()

    def _handle_frame(self, frame: Frame) -> None:
        match frame.opcode:
            case Opcode.BINARY:
                self.close(Standard.UNSUPPORTED_DATA, "text frames only")
            case Opcode.TEXT | Opcode.CONT:
                self._add_fragment(bytes(frame.data), frame.fin)
            case Opcode.PONG:
                self._handle_pong(bytes(frame.data))
            case Opcode.PING | Opcode.CLOSE:
                pass  # answered by the protocol

    def _add_fragment(self, data: bytes, fin: bool) -> None:
        parts = self._parts or []
        parts.append(data)
        self._parts = None if fin else parts
        if fin:
            self._handle_text(b"".join(parts))

    def _handle_pong(self, data: bytes | bytearray) -> None:
        if self.round_trip.pong(data, self._context.clock()):
            self._context.timeouts.ponged(self, soon=self.round_trip.is_new)
        else:  # nobody asked for it
            self.charge(self._context.rate_limits.control, 0)

    def _handle_text(self, payload: bytes | bytearray) -> None:
        try:
            message = decode_request(payload)
        except DecodeError as error:
            self._refuse_malformed(payload, error)
            return
        if type(message) is Move:
            if not self._over_limit or self.charge(1, message.id):
                self.unanswered.add(message.id)
                self._context.handler.move(self, message)
        elif self.charge(self._context.rate_limits.cost(type(message)), message.id):
            self.unanswered.add(message.id)
            self._context.handler.request(self, message)

    def _refuse_malformed(self, payload: bytes | bytearray, error: DecodeError) -> None:
        try:
            payload.decode()
        except UnicodeDecodeError:
            self.close(Standard.INVALID_DATA, "not UTF-8")
            return
        if self.charge(self._context.rate_limits.garbage, error.request):
            self.refuse(error.request, error.code, str(error))

    # --- handshake and pages ----------------------------------------------------------------

    def _read_handshake(self, data: bytes) -> None:
        """Wait for all headers; what follows them is frames already."""
        end = data.find(b"\r\n\r\n")
        if end < 0 and len(data) <= HEADER_BYTES:
            self._partial = data
            return
        if end < 0 or end > HEADER_BYTES:
            self._reply(http.HEADERS_TOO_LARGE, head=False)
            return
        method = data[: data.find(b" ")]
        self._feed(data[: end + 4])
        if isinstance(self._protocol.handshake_exc, InvalidMessage):
            LOG.debug("no handshake from %s (%r)", self.address, method)
        if self._cuts_frames and len(data) > end + 4:
            self._split_frames(data[end + 4 :])

    def _answer_handshake(self, request: Request) -> None:
        try:
            page = self._refusal_page(request)
        except BadHeader as error:
            page = http.bad_request(str(error))
        if page is not None:
            self._reply(page, head=request.method == "HEAD")
        elif "Upgrade" in request.headers:
            self._accept(request)
        else:
            self._serve_page(request)

    def _refusal_page(self, request: Request) -> http.Page | None:
        """Return the page that says why a request is not served. Raises `BadHeader`."""
        access = self._context.access
        malformed = malformed_page(access, request)
        if malformed is not None:
            return malformed
        if not self._locate(request.headers):
            return http.BUSY
        return forbidden_page(access, request) or self._charge_http(request.path.partition("?")[0])

    def _locate(self, headers: Headers) -> bool:
        """Find out where a request really comes from; return whether there is room for it."""
        place = self._context.access.client_address(headers, self.address)
        if (place.address, place.local) == (self.address, self.local) and not self.proxied:
            return True
        self.address, self.local, self.proxied = place.address, place.local, False
        return self._context.handler.relocate(self)

    def _charge_http(self, path: str) -> http.Page | None:
        """Charge a request to its address; return the page for who cannot pay."""
        limits, now = self._context.rate_limits, self._context.loop.time()
        dear = path == "/metrics" or http.is_record(path)
        cost = limits.record if dear else limits.http
        if self.rate_limiter.charge_shared(cost, now):
            return None
        self._context.metrics.dropped("too many HTTP requests")
        return http.too_many_requests(math.ceil(self.rate_limiter.retry_after_ms(cost, now) / 1000))

    def _accept(self, request: Request) -> None:
        response = self._protocol.accept(request)
        self._protocol.send_response(response)
        self._flush()
        if response.status_code != HTTPStatus.SWITCHING_PROTOCOLS:
            self._close_after_page()
            return
        self._cuts_frames = True
        self.bearer = _bearer_token(request)
        self._context.timeouts.opened(self)

    def _serve_page(self, request: Request) -> None:
        head = request.method == "HEAD"
        path = request.path.partition("?")[0]
        page = http.page_at(request.method, path, self._context.pages)
        if isinstance(page, http.Page):
            self._reply(page, head=head)
        else:
            chunked = request.protocol != "HTTP/1.0"
            self._context.spawn(self._reply_later(page, head, chunked))

    async def _reply_later(
        self, coming: Awaitable[http.Page | http.StreamedPage], head: bool, chunked: bool
    ) -> None:
        page = await coming
        if isinstance(page, http.Page):
            self._reply(page, head=head)
            return
        address = None if self.local else address_group(self.address)
        refusal = download_refusal(self._context.downloads, address)
        if refusal is not None:
            self._context.metrics.dropped("too many downloads")
            self._reply(refusal, head=head)
        elif not self._is_lost() and not self._protocol.eof_sent:
            await self._stream(page, address, head, chunked)

    async def _stream(
        self, page: http.StreamedPage, address: str | None, head: bool, chunked: bool
    ) -> None:
        """Send a record and half-close; where it cannot be read its reader misses the end."""
        context = self._context
        download = context.downloads.begin(address)
        piece_s = context.downloads.limits.piece_s
        self._sender = PageSender(
            context.loop,
            self._transport,
            self.send_queue,
            lambda: context.timeouts.leaving(self, piece_s),
        )
        self._close_after_page()
        try:
            if await self._sender.send(page, download, head=head, chunked=chunked):
                self._half_close()
                if self._eof_received:
                    self._transport.close()
        except Exception:
            LOG.exception("a record cannot be read")
            self.abort()
        finally:
            download.end()

    def _is_lost(self) -> bool:
        """Whether nothing more can be written."""
        return self.send_queue.closed or self._transport.is_closing()

    def _wake_download(self) -> None:
        if self._sender is not None:
            self._sender.wake()

    def _reply(self, page: http.Page, *, head: bool) -> None:
        """Send a page and half-close; the rest is the other side's."""
        if self._transport.is_closing() or self._protocol.state is not State.CONNECTING:
            return
        if self._protocol.eof_sent:
            return
        self._protocol.send_response(page.response(head=head))
        self._flush()
        self._close_after_page()

    def _close_after_page(self) -> None:
        self.leaving = True
        self._context.timeouts.leaving(self, HTTP_TIMEOUT_S)
        self._report_gone()

    # --- the end ----------------------------------------------------------------------------

    def _flush(self) -> None:
        """Write what the protocol has to say, after what the send queue has."""
        self.send_queue.flush()
        for data in self._protocol.data_to_send():
            if self._transport.is_closing():
                return
            if data:
                self._transport.write(data)
            else:
                self._half_close()

    def _half_close(self) -> None:
        with contextlib.suppress(OSError, RuntimeError):
            self._transport.write_eof()

    def _protocol_ended(self) -> None:
        """The protocol has given the connection up, or the other side has closed it."""
        if self._protocol.state is State.CONNECTING:
            if not self._protocol.eof_sent:
                return  # a page that comes from the disk is on its way
            self._transport.close()
        self.leaving = True
        self._cuts_frames = False
        self.send_queue.close()
        self._context.timeouts.leaving(self)
        self._report_gone()

    def _too_slow(self) -> None:
        self._context.metrics.dropped("too slow")
        self.close(CloseCode.TOO_SLOW, "read faster")

    def _report_gone(self) -> None:
        if not self._reported_gone:
            self._reported_gone = True
            self._context.handler.disconnected(self)


@lru_cache(maxsize=1)  # all pings of one check are of one moment
def _ping_frame(payload: bytes) -> bytes:
    return Frame(Opcode.PING, payload).serialize(mask=False)


def _clip_reason(reason: str) -> str:
    """Shorten a reason to what a close frame holds (RFC 6455, section 5.5)."""
    return reason.encode()[:120].decode(errors="ignore")


def _bearer_token(request: Request) -> str | None:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" and token else None
