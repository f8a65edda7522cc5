"""One websocket connection: an asyncio protocol, without coroutines or tasks.

Bytes come in, are cut into frames, decoded and paid for, and end in a synchronous call of the
handler. Separate parts do the work of a ready-made server, each with one reason to change:

* `http_exchange`: the handshake, with limits on its headers and its origin; a plain HTTP request
  gets its page and the connection is closed.
* `frames`: cutting bytes into messages; websockets refuses what the RFC forbids.
* `rate_limit`: limits on the input, 16 KiB a message; `send_queue`: the output queue.
* `turn_budget`: how much is done before the loop looks at its sockets again.
* `round_trip`: pings, which measure the round trip (`Peer.rtt_ms`); `timeouts`: every deadline.

To close, the server sends a close frame, then half-closes. It discards further input unread, which
costs nothing, so that the other side can read the reason (a lingering close). If that takes too
long, it aborts the connection.

    handshake --101--> open --close(), protocol error, close frame--> leaving --> lost
        |                 \\--connection lost--------------------------------------^
        +--page, refusal--> leaving

Violations by a peer, and the responses:

    no handshake in time       aborted              binary frame          closed 1003
    headers too long, too many 431                  text that is no UTF-8 closed 1007
    foreign origin             403                  message over 16 KiB   closed 1009
    another server's name      421                  broken framing        closed 1002
    token in the URL           400                  flood                 closed 1008
    no hello in time           closed 4002          too many requests     429
    a malformed hello          closed 4002          ten malformed frames  closed 1008
    not JSON, unknown fields   refused, malformed   reads too slowly      closed 4001, aborted
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Protocol, cast

from websockets.frames import CloseCode as Standard
from websockets.frames import Opcode

from kibitz_protocol.wire.codec import DecodeError, decode_hello, decode_request
from kibitz_protocol.wire.messages import (
    Answer,
    Capabilities,
    ClientMessage,
    Move,
    Redirect,
    Refused,
    ServerMessage,
)
from kibitz_protocol.wire.refusals import HINTS, CloseCode, Code
from kibitz_protocol.wire.values import MAX_HELLO
from kibitz_protocol.wire.visibility import WantedViews
from kibitz_server.accounts.identity import Identity
from kibitz_server.net import http
from kibitz_server.net.addresses import is_loopback
from kibitz_server.net.frames import FrameReader, Kind, close_frame, ping_frame
from kibitz_server.net.guest_networks import GuestNetworks
from kibitz_server.net.http_exchange import HttpContext, HttpExchange, half_close
from kibitz_server.net.rate_limit import (
    UNLIMITED,
    Bucket,
    ChargeResult,
    RateLimiter,
)
from kibitz_server.net.round_trip import RoundTrip
from kibitz_server.net.send_limits import SendLimits
from kibitz_server.net.send_queue import SendQueue, WriteBatcher, message_frame
from kibitz_server.net.timeouts import Timeouts

LOG = logging.getLogger("kibitz.net")
RETRY_AFTER_MS = 1000
"""Milliseconds after which a client should retry a request that failed for the moment."""


class PeerHandler(Protocol):
    """The handler of events on a server's connections: `handlers.requests.RequestHandlers`."""

    def admit(self, peer: Peer) -> bool:
        """Return whether there is room for another connection from this address."""

    def relocate(self, peer: Peer) -> bool:
        """Return whether there is room, now that its headers name another address."""

    def may_stay(self, peer: Peer) -> bool:
        """Return whether there is room to keep this connection when it has its page."""

    def move(self, peer: Peer, move: Move) -> None:
        """Carry out a move, or refuse it and call `peer.charge_refused_move`."""

    def request(self, peer: Peer, message: ClientMessage) -> None:
        """Carry out a request that was paid for."""

    def disconnected(self, peer: Peer) -> None:
        """Note that the connection is lost or closing; no more input comes from it."""

    def socket_closed(self, peer: Peer) -> None:
        """Note that the socket is closed."""


class Subscription(Protocol):
    """A match or a lobby that a connection subscribes to."""

    def disconnected(self, peer: Peer) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerContext(HttpContext):
    """The state shared by all peers of a server, from their first request on."""

    clock: Callable[[], int]
    """Monotonic milliseconds, for the arrival times of moves."""
    handler: PeerHandler
    batcher: WriteBatcher
    timeouts: Timeouts
    send_limits: SendLimits
    guest_networks: GuestNetworks = field(default_factory=GuestNetworks)
    """Addresses that count as many people."""


class Peer(asyncio.Protocol):
    """One connection."""

    __slots__ = (
        "_aborted",
        "_context",
        "_exchange",
        "_frames",
        "_malformed",
        "_over_limit",
        "_plays",
        "_reported_gone",
        "_waiting",
        "address",
        "bearer",
        "capabilities",
        "entrant",
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
        "transport",
        "unanswered",
        "views",
    )

    def __init__(self, context: PeerContext) -> None:
        self._context = context
        self._exchange: HttpExchange | None = HttpExchange(context, self)
        """Reads the input before there is a websocket."""
        self._frames: FrameReader | None = None
        """Reads the input of the websocket."""
        self._waiting: Callable[[], None] | None = None
        """A call that waits for a later turn of the loop; nothing is read meanwhile."""
        self._malformed: Bucket | None = None
        """The allowance for malformed frames, once one has arrived."""
        self._plays = False
        """Whether it has come to play, so that its round trip matters."""
        self._over_limit = False
        """Whether the last charge was refused, so that even moves cost."""
        self._reported_gone = False
        self._aborted = False
        self.leaving = False
        """Whether the connection is being closed."""
        self.round_trip = RoundTrip()
        self.identity: Identity | None = None
        """The player, once hello was answered."""
        self.entrant = False
        """Whether it may do no more than play its seats (`handlers.rights`)."""
        self.bearer: str | None = None
        """The token of the handshake's Authorization header."""
        self.token: bytes | None = None
        """The digest of the token that hello was answered for."""
        self.capabilities: Capabilities | None = None
        """The bot's capabilities, from its hello."""
        self.instance: str | None = None
        """The name of its program, a secret between it and the server."""
        self.views: WantedViews = "turn"
        """The messages that carry the view of a match, from its hello."""
        self.subscriptions: dict[str, Subscription] = {}
        """The matches and lobbies to notify when this connection is lost, by key."""
        self.unanswered: set[int] = set()
        """The requests that the handler has and that are not answered yet."""

    # --- the transport's callbacks ----------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        context = self._context
        self.transport = cast(asyncio.Transport, transport)
        self.transport.set_write_buffer_limits(high=context.send_limits.high_water)
        name = transport.get_extra_info("peername")
        self.address = str(name[0]) if name else "?"
        self.local = is_loopback(self.address)
        self.proxied = context.access.is_proxy(self.address)
        """Whether its address is known only from its headers."""
        self.send_queue = SendQueue(
            self.transport, context.batcher, context.send_limits, self._too_slow
        )
        self.rate_limiter = RateLimiter(context.rate_limits.socket, context.loop.time())
        context.timeouts.connected(self)
        if not context.handler.admit(self) and self._exchange is not None:
            context.metrics.dropped("too many connections")
            self._exchange.reply(http.BUSY)

    def data_received(self, data: bytes) -> None:
        frames = self._frames
        if frames is not None:
            if self._waiting is not None:
                frames.feed(data)
            elif not self.leaving:
                payload = frames.whole_text(data)
                if payload is None:
                    self._read_frames(data)
                    return
                try:  # as in `_read_frames`, for a message that arrives alone
                    self._handle_text(payload)
                except Exception:
                    LOG.exception("a frame of %s could not be carried out", self.address)
        elif self._exchange is not None:
            self._exchange.feed(data)

    def eof_received(self) -> bool:
        if self._exchange is not None and self._exchange.eof_received():
            return True
        # No writes are allowed after our end of file, and the transport closes only soon.
        self.send_queue.close()
        self.leave()  # output still in the queue may never be read
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self.send_queue.close()
        self._context.timeouts.forget(self)
        self.leaving = True
        self._wake_download()
        self._report_gone()
        self._context.handler.socket_closed(self)
        if self._frames is not None:  # a lost peer may wait long for the garbage collector
            self._frames.discard()

    def pause_writing(self) -> None:
        self.send_queue.pause()
        if self._exchange is None or not self._exchange.is_streaming:
            self._context.timeouts.paused(self)

    def resume_writing(self) -> None:
        self._context.timeouts.resumed(self)
        self.send_queue.resume()
        self._wake_download()

    def _wake_download(self) -> None:
        if self._exchange is not None:
            self._exchange.wake()

    # --- for handlers -----------------------------------------------------------------------

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
        redirect: Redirect | None = None,
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
                redirect=redirect,
            )
        )

    def fail(
        self,
        request: int,
        code: Code = Code.INTERNAL,
        message: str = "the server failed to carry this out",
        retry_after_ms: int = RETRY_AFTER_MS,
    ) -> None:
        """Refuse a request that failed, unless it was answered."""
        if request in self.unanswered:
            after = retry_after_ms if code is Code.UNAVAILABLE else None
            self.refuse(request, code, message, retry_after_ms=after)

    def charge(self, cost: float, request: int) -> bool:
        """Charge the peer; if it cannot pay, refuse the request or close, and return False."""
        charged = self._charge(cost)
        if charged is ChargeResult.REFUSED:
            after = self.rate_limiter.retry_after_ms(cost, self._context.loop.time())
            message = f"too many messages, wait {after} ms"
            self.refuse(request, Code.RATE_LIMITED, message, retry_after_ms=after)
        return charged is ChargeResult.GRANTED

    def charge_refused_move(self, cost: float) -> None:
        """Charge for a refused move, which was answered already."""
        self._charge(cost)

    def _charge(self, cost: float) -> ChargeResult:
        self._context.turns.spend(cost)
        charged = self.rate_limiter.charge(cost, self._context.loop.time())
        self._over_limit = charged is not ChargeResult.GRANTED
        if charged is ChargeResult.FLOODING:
            self._context.metrics.dropped("flood")
            self.close(Standard.POLICY_VIOLATION, "too many messages")
        return charged

    def lift_limits(self) -> None:
        """Exempt this connection from limits on its requests."""
        self.rate_limiter = RateLimiter(UNLIMITED, self._context.loop.time())

    def share_bucket(self, bucket: Bucket) -> None:
        """Pay from the bucket of the account or the address too."""
        self.rate_limiter.share(bucket)

    def greeted(self, identity: Identity) -> None:
        """Let the peer stay, as hello was answered."""
        self.identity = identity
        self._context.timeouts.greeted(self)

    def close(self, code: int, reason: str = "") -> None:
        """Send the queue and a close frame; the connection is aborted if that takes too long."""
        if self.leaving:
            return
        self.leaving = True
        self.send_queue.flush()
        self.send_queue.close()
        if self._frames is None:
            self.transport.close()
        else:
            self._write(close_frame(code, reason), b"")
        self.leave()

    def abort(self) -> None:
        """Drop the connection without sending anything more."""
        if not self._aborted:
            self._aborted = True
            self._context.metrics.dropped("aborted")
            self.leaving = True
            self.send_queue.close()
            self.transport.abort()

    # --- for timeouts (timeouts.TimedPeer) --------------------------------------------------

    def ping(self) -> None:
        if self._frames is not None and not self.leaving:
            self.transport.write(_ping_frame(self.round_trip.ping(self._context.clock())))

    def overdue(self) -> None:
        if self._exchange is not None:
            if not self._exchange.end_idle():
                self.abort()
        elif self.identity is None:
            self.close(CloseCode.NO_HELLO, "no hello in time")

    def write_buffer_size(self) -> int:
        return self.transport.get_write_buffer_size()

    @property
    def is_unread(self) -> bool:
        return self._waiting is not None

    # --- for the HTTP exchange (http_exchange.HttpConnection) -------------------------------

    def in_turn(self, call: Callable[[], None]) -> None:
        """Call a function now, or in a later turn of the loop, and read nothing until then."""
        if not self._context.turns.is_spent:
            self._carry_out(call)
            return
        self._waiting = call
        if not self.transport.is_closing():
            self.transport.pause_reading()
        self._context.turns.wait(self._go_on)

    @property
    def people(self) -> int:
        """The number of people that its address counts as, 0 if it counts as itself."""
        return self._context.guest_networks.people(self.address)

    def relocate(self, address: str, local: bool) -> bool:
        """Set the address that the request comes from; return whether there is room for it."""
        self.address, self.local, self.proxied = address, local, False
        return self._context.handler.relocate(self)

    def may_stay(self) -> bool:
        """Return whether its address has connections to spare."""
        return self._context.handler.may_stay(self)

    def expect_request(self, patience_s: float) -> None:
        """Wait some seconds for another request."""
        self._context.timeouts.connected(self, patience_s)

    def open_websocket(self, bearer: str | None, response: bytes, rest: bytes) -> None:
        """Answer, and read frames from now on, beginning with `rest`."""
        self._exchange = None
        self._frames = FrameReader()
        self.bearer = bearer
        self.transport.write(response)
        self._context.timeouts.opened(self)
        if rest:
            self.data_received(rest)

    def leave(self, patience_s: float | None = None) -> None:
        """Ignore further input; the other side has some seconds to read the output."""
        self.leaving = True
        self._context.timeouts.leaving(self, patience_s)
        self._report_gone()

    # --- frames -----------------------------------------------------------------------------

    def _go_on(self) -> None:
        """Make the call that waited for this turn of the loop, and read on."""
        call, self._waiting = self._waiting, None
        try:
            if call is not None and not self.leaving:
                self._carry_out(call)
                if not self.leaving and self._waiting is None:
                    self._read_frames()
        finally:
            if self._waiting is None and not self.transport.is_closing():
                self.transport.resume_reading()

    def _carry_out(self, call: Callable[[], None]) -> None:
        """Call a function; if it raises, later input is handled all the same.

        A connection that is not a websocket yet would never be answered, so it is dropped.
        """
        try:
            call()
        except Exception:
            LOG.exception("what %s has sent could not be carried out", self.address)
            if self._frames is None:
                self.abort()

    def _read_frames(self, more: bytes = b"") -> None:
        """Handle frames until one has to wait for its turn; `more` has just arrived."""
        frames = self._frames
        if frames is None:
            return
        frame = frames.next(more)
        while frame is not None:
            try:
                self._handle_frame(frames, *frame)
            except Exception:  # a move or a pong; `_carry_out` catches errors of queued calls
                LOG.exception("a frame of %s could not be carried out", self.address)
            if self.leaving or self._waiting is not None:
                return
            frame = frames.next()

    def _handle_frame(self, frames: FrameReader, kind: Kind, data: bytes | bytearray) -> None:
        match kind:
            case Kind.TEXT:
                self._handle_text(data)
            case Kind.PONG:
                self._handle_pong(data)
            case Kind.OTHER:
                self.in_turn(partial(self._handle_charged, frames, data))
            case Kind.BROKEN:
                self._handle_other(frames, data)

    def _handle_charged(self, frames: FrameReader, data: bytes | bytearray) -> None:
        """Handle a control frame, a fragment, a binary frame, or a violation of the protocol."""
        if self.charge(self._context.rate_limits.control, 0):
            self._handle_other(frames, data)

    def _handle_other(self, frames: FrameReader, data: bytes | bytearray) -> None:
        """Handle a frame as the library requires."""
        for frame in frames.receive_other(data):
            if frame.opcode is Opcode.BINARY:
                self.close(Standard.UNSUPPORTED_DATA, "text frames only")
            elif frame.opcode is Opcode.TEXT and not self.leaving:
                self._handle_text(bytes(frame.data))
        if self.leaving:
            return
        self.send_queue.flush()
        self._write(*frames.replies())
        if frames.is_over:
            self.send_queue.close()
            self.leave()

    def _write(self, *pieces: bytes) -> None:
        """Write after the queue; an empty piece is the end."""
        for data in pieces:
            if self.transport.is_closing():
                return
            if data:
                self.transport.write(data)
            else:
                half_close(self.transport)

    def _handle_pong(self, data: bytes | bytearray) -> None:
        if self.round_trip.pong(data, self._context.clock()):
            self._context.timeouts.ponged(self, soon=self._plays and self.round_trip.is_new)
        else:  # an unsolicited pong
            self.charge(self._context.rate_limits.control, 0)

    def _handle_text(self, payload: bytes | bytearray) -> None:
        try:
            # Before hello nothing else is validated, so strangers cost little.
            message = decode_hello(payload) if self.identity is None else decode_request(payload)
        except DecodeError as error:
            self.in_turn(partial(self._refuse_malformed, payload, error))
            return
        if type(message) is not Move:
            self.in_turn(partial(self._handle_request, message, len(payload) >> 12))
        elif not self._over_limit or self.charge(1, message.id):
            self.unanswered.add(message.id)
            self._context.handler.move(self, message)

    def _handle_request(self, message: ClientMessage, pages: int) -> None:
        limits = self._context.rate_limits
        if self.charge(message.cost + pages * limits.size, message.id):
            self.unanswered.add(message.id)
            if message.of_players and self.identity is not None and not self._plays:
                self._plays = True
                self._context.timeouts.begin_measuring(self)
            self._context.handler.request(self, message)

    def _refuse_malformed(self, payload: bytes | bytearray, error: DecodeError) -> None:
        try:
            payload.decode()
        except UnicodeDecodeError:
            self.close(Standard.INVALID_DATA, "not UTF-8")
            return
        if error.code is Code.HELLO_FIRST:
            if self.charge(1, error.request):
                self.refuse(error.request, error.code, str(error))
            return
        if self.charge(self._context.rate_limits.garbage, error.request):
            hint = f"keep hello under {MAX_HELLO} bytes" if error.code is Code.TOO_LARGE else None
            self.refuse(error.request, error.code, str(error), hint=hint)
        if self.identity is None:
            self.close(CloseCode.NO_HELLO, "the first message is no hello that can be read")
        elif self._is_malformed_too_often():
            self._context.metrics.dropped("malformed")
            self.close(Standard.POLICY_VIOLATION, "too many malformed messages")

    def _is_malformed_too_often(self) -> bool:
        """Count a malformed frame; return whether there were too many."""
        now = self._context.loop.time()
        if self._malformed is None:
            self._malformed = Bucket(self._context.rate_limits.malformed, now)
        return self._malformed.charge(1, now) < 0

    # --- the end ----------------------------------------------------------------------------

    def _too_slow(self) -> None:
        self._context.metrics.dropped("too slow")
        self.close(CloseCode.TOO_SLOW, "read faster")

    def _report_gone(self) -> None:
        if not self._reported_gone:
            self._reported_gone = True
            self._context.handler.disconnected(self)


@lru_cache(maxsize=1)  # all pings of one check have the same time
def _ping_frame(payload: bytes) -> bytes:
    return ping_frame(payload)
