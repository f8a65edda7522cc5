"""The input of one connection: an asyncio protocol, without coroutines or tasks.

A connection begins with HTTP (`http_exchange`): the handshake, with limits on its headers and its
origin. A plain HTTP request is answered with a page, and the connection is closed. The input of a
websocket passes through these stages, up to a synchronous call of the request's handler:

    frames          splits bytes into messages of at most 16 KiB; the websockets library refuses
                    what the RFC forbids
    wire.codec      validates a message; before hello only hello is accepted
    turn_budget     limits the work done before the event loop polls its sockets again
    rate_limit      charges the request to the peer
    handlers        `requests` checks `rights`, then calls the handler for this type of request
    Peer.answer     adds the answer to the output queue (`send_queue`), now or once it is durable

Moves bypass `turn_budget`, and are charged only if they are refused. `timeouts` manages all
deadlines, and `round_trip` measures round trips with pings.

    handshake --101--> open --close(), protocol error, close frame--> leaving --> lost
        |                 \\--connection lost--------------------------------------^
        +--page, refusal--> leaving

Violations by a peer, and the responses:

    no handshake in time       aborted              binary frame          closed 1003
    headers too long, too many 431                  text not in UTF-8     closed 1007
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
from functools import partial
from typing import cast

from websockets.frames import CloseCode as Standard
from websockets.frames import Opcode

from kibitz_protocol.wire.codec import DecodeError, decode_hello, decode_request, ignore_unknown
from kibitz_protocol.wire.messages import ClientMessage, Move
from kibitz_protocol.wire.refusals import CloseCode, Code
from kibitz_protocol.wire.values import MAX_HELLO
from kibitz_server.net import http
from kibitz_server.net.frames import FrameReader, Kind
from kibitz_server.net.http_exchange import HttpExchange
from kibitz_server.net.peer import Peer, PeerContext, half_close
from kibitz_server.net.rate_limit import Bucket

LOG = logging.getLogger("kibitz.net")


class Connection(asyncio.Protocol):
    """Reads the input of one peer."""

    __slots__ = ("_context", "_exchange", "_frames", "_malformed", "_plays", "peer")

    def __init__(self, context: PeerContext) -> None:
        self._context = context
        self.peer: Peer
        """The peer at the other end, set by `connection_made`."""
        self._exchange: HttpExchange | None = None
        """Reads the input before the websocket is open."""
        self._frames: FrameReader | None = None
        """Reads the input of the websocket."""
        self._malformed: Bucket | None = None
        """The rate limit on malformed frames; None until one has arrived."""
        self._plays = False
        """Whether the peer plays, so that the server measures its round trip."""

    # --- the transport's callbacks ----------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        context = self._context
        stream = cast(asyncio.Transport, transport)
        stream.set_write_buffer_limits(high=context.send_limits.high_water)
        self.peer = Peer(context, stream)
        self._exchange = HttpExchange(context, self.peer, self)
        context.timeouts.connected(self.peer, self._exchange.overdue)
        if not context.registry.admit(self.peer):
            context.metrics.drops["too many connections"] += 1
            self._exchange.reply(http.BUSY)

    def data_received(self, data: bytes) -> None:
        peer, frames = self.peer, self._frames
        if frames is not None:
            if peer.is_unread:
                frames.feed(data)
            elif not peer.leaving:
                payload = frames.whole_text(data)
                if payload is None:
                    self._read_frames(frames, data)
                    return
                try:  # a shortcut of `_read_frames`, for input that is exactly one message
                    self._handle_text(payload)
                except Exception:
                    LOG.exception("cannot handle a frame from %s", peer.address)
        elif self._exchange is not None:
            self._exchange.feed(data)

    def eof_received(self) -> bool:
        if self._exchange is not None and self._exchange.eof_received():
            return True
        # Writing is not allowed after EOF was sent, but the transport closes later.
        self.peer.send_queue.close()
        self.peer.leave()  # output that is still in the queue may never be read
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self.peer.lost()
        if self._exchange is not None:
            self._exchange.wake()

    def pause_writing(self) -> None:
        self.peer.send_queue.pause()
        if self._exchange is None or not self._exchange.is_streaming:
            self._context.timeouts.paused(self.peer)

    def resume_writing(self) -> None:
        self._context.timeouts.resumed(self.peer)
        self.peer.send_queue.resume()
        if self._exchange is not None:
            self._exchange.wake()

    # --- called by the HTTP exchange (http_exchange.HttpReader) -----------------------------

    def in_turn(self, call: Callable[[], None]) -> None:
        """Call a function now or in a later event loop iteration; read no input until then.

        If it raises, later input is still handled. But a connection that is not a websocket yet is
        dropped, because it would never get an answer.
        """
        peer, turns = self.peer, self._context.turns
        if turns.is_spent:
            peer.is_unread = True
            if not peer.transport.is_closing():
                peer.transport.pause_reading()
            turns.wait(partial(self._go_on, call))
            return
        try:
            call()
        except Exception:
            LOG.exception("cannot handle the input from %s", peer.address)
            if self._frames is None:
                peer.abort()

    def _go_on(self, call: Callable[[], None]) -> None:
        """Make a call that waited for its turn, and resume reading."""
        peer = self.peer
        peer.is_unread = False
        try:
            if not peer.leaving:
                self.in_turn(call)
                if self._frames is not None and not peer.leaving and not peer.is_unread:
                    self._read_frames(self._frames)
        finally:
            if not peer.is_unread and not peer.transport.is_closing():
                peer.transport.resume_reading()

    def open_websocket(self, bearer: str | None, response: bytes, rest: bytes) -> None:
        """Answer the handshake, and read frames from now on, starting with `rest`."""
        peer = self.peer
        self._exchange = None
        self._frames = FrameReader()
        peer.bearer = bearer
        peer.speaks_websocket = True
        peer.transport.write(response)
        self._context.timeouts.opened(peer, peer.end_without_hello)
        if rest:
            self.data_received(rest)

    # --- frames -----------------------------------------------------------------------------

    def _read_frames(self, frames: FrameReader, more: bytes = b"") -> None:
        """Handle frames, up to one that must wait for a later iteration; `more` is new input."""
        peer = self.peer
        frame = frames.next(more)
        while frame is not None:
            try:
                self._handle_frame(frames, *frame)
            except Exception:  # from a move or a pong; `in_turn` handles errors of its calls itself
                LOG.exception("cannot handle a frame from %s", peer.address)
            if peer.leaving or peer.is_unread:
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
        """Handle and charge a control frame, a fragment, a binary frame or a violation."""
        if self.peer.charge(self._context.rate_limits.control, 0):
            self._handle_other(frames, data)

    def _handle_other(self, frames: FrameReader, data: bytes | bytearray) -> None:
        """Handle a frame as the library requires."""
        peer = self.peer
        for frame in frames.receive_other(data):
            if frame.opcode is Opcode.BINARY:
                peer.close(Standard.UNSUPPORTED_DATA, "only text frames are accepted")
            elif frame.opcode is Opcode.TEXT and not peer.leaving:
                self._handle_text(bytes(frame.data))
        if peer.leaving:
            return
        peer.send_queue.flush()
        for reply in frames.replies():
            if peer.transport.is_closing():
                break
            if reply:
                peer.transport.write(reply)
            else:
                half_close(peer.transport)
        if frames.is_over:
            peer.send_queue.close()
            peer.leave()

    def _handle_pong(self, data: bytes | bytearray) -> None:
        round_trip = self.peer.round_trip
        if round_trip.pong(data, self._context.clock()):
            self._context.timeouts.ponged(self.peer, soon=self._plays and round_trip.is_new)
        else:  # an unsolicited pong
            self.peer.charge(self._context.rate_limits.control, 0)

    # --- requests ---------------------------------------------------------------------------

    def _handle_text(self, payload: bytes | bytearray) -> None:
        peer = self.peer
        try:
            message, ignored = self._decode(payload)
        except DecodeError as error:
            self.in_turn(partial(self._refuse_malformed, payload, error))
            return
        if type(message) is not Move:
            self.in_turn(partial(self._handle_request, message, ignored, len(payload) >> 12))
        elif not peer.over_limit or peer.charge(1, message.id):
            peer.unanswered[message.id] = ignored
            self._context.handler.move(peer, message)

    def _decode(self, payload: bytes | bytearray) -> tuple[ClientMessage, tuple[str, ...]]:
        """Return a request, and the names of its ignored fields."""
        try:
            # Before hello nothing else is validated, so unknown peers cost little.
            decode = decode_hello if self.peer.identity is None else decode_request
            return decode(payload), ()
        except DecodeError as error:
            return ignore_unknown(payload, error, newer=self.peer.newer), error.unknown

    def _handle_request(self, message: ClientMessage, ignored: tuple[str, ...], pages: int) -> None:
        peer, context = self.peer, self._context
        if peer.charge(message.cost + pages * context.rate_limits.size, message.id):
            peer.unanswered[message.id] = ignored
            if message.of_players and peer.identity is not None and not self._plays:
                self._plays = True
                context.timeouts.begin_measuring(peer)
            context.handler.request(peer, message)

    def _refuse_malformed(self, payload: bytes | bytearray, error: DecodeError) -> None:
        peer, context = self.peer, self._context
        try:
            payload.decode()
        except UnicodeDecodeError:
            peer.close(Standard.INVALID_DATA, "not UTF-8")
            return
        if error.code is Code.HELLO_FIRST:
            if peer.charge(1, error.request):
                peer.refuse(error.request, error.code, str(error))
            return
        if peer.charge(context.rate_limits.garbage, error.request):
            hint = f"keep hello under {MAX_HELLO} bytes" if error.code is Code.TOO_LARGE else None
            peer.refuse(error.request, error.code, str(error), hint=hint)
        if peer.identity is None:
            peer.close(CloseCode.NO_HELLO, "the first message must be a valid hello")
        elif self._is_malformed_too_often():
            context.metrics.drops["malformed"] += 1
            peer.close(Standard.POLICY_VIOLATION, "too many malformed messages")

    def _is_malformed_too_often(self) -> bool:
        """Count a malformed frame; return whether there were too many."""
        now = self._context.loop.time()
        if self._malformed is None:
            self._malformed = Bucket(self._context.rate_limits.malformed, now)
        return self._malformed.charge(1, now) < 0
