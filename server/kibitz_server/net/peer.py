"""The peer at the other end of a connection, for the rest of the server.

A peer has the player's identity, its subscriptions and its rate limits. It sends answers, events
and the closing handshake. `connection.Connection` reads its input.

To close, the server sends a close frame, then half-closes. It keeps reading and discards the input,
because closing the socket at once could destroy the close frame before the other side reads it (a
lingering close). If that takes too long, the server aborts the connection.
"""

from __future__ import annotations

import contextlib
import logging
from asyncio import AbstractEventLoop, Transport
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from typing import Protocol

from websockets.frames import CloseCode as Standard

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
from kibitz_protocol.wire.visibility import WantedViews
from kibitz_server.accounts.identity import Identity
from kibitz_server.metrics import Metrics
from kibitz_server.net.access import AccessPolicy
from kibitz_server.net.addresses import is_loopback
from kibitz_server.net.downloads import Downloads
from kibitz_server.net.frames import close_frame, ping_frame
from kibitz_server.net.guest_networks import GuestNetworks
from kibitz_server.net.http import PageSource
from kibitz_server.net.rate_limit import UNLIMITED, ChargeResult, RateLimiter, RateLimits
from kibitz_server.net.round_trip import RoundTrip
from kibitz_server.net.send_queue import SendLimits, SendQueue, WriteBatcher, message_frame
from kibitz_server.net.site import Site
from kibitz_server.net.timeouts import Timeouts
from kibitz_server.net.turn_budget import TurnBudget

LOG = logging.getLogger("kibitz.net")
RETRY_AFTER_MS = 1000
"""Milliseconds after which a client should retry a request that failed temporarily."""


class PeerRegistry(Protocol):
    """Counts connections, and limits their number (see `net.connections.Connections`)."""

    def admit(self, peer: Peer) -> bool:
        """Return whether another connection from this address is allowed."""

    def relocate(self, peer: Peer) -> bool:
        """Return whether the connection is allowed, given the address in its proxy's headers."""

    def may_stay(self, peer: Peer) -> bool:
        """Return whether an HTTP connection may stay open for another request."""

    def socket_closed(self, peer: Peer) -> None:
        """Handle a closed socket."""


class PeerHandler(Protocol):
    """Handles events on connections (see `handlers.requests.RequestHandlers`)."""

    def move(self, peer: Peer, move: Move) -> None:
        """Carry out a move, or refuse it and call `peer.charge_unanswered`."""

    def request(self, peer: Peer, message: ClientMessage) -> None:
        """Carry out a request that was already charged."""

    def disconnected(self, peer: Peer) -> None:
        """Handle a connection that was lost or is being closed; its further input is ignored."""


class Subscription(Protocol):
    """A match or a lobby that a connection subscribes to."""

    def disconnected(self, peer: Peer) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerContext:
    """The state shared by all connections of a server."""

    loop: AbstractEventLoop
    clock: Callable[[], int]
    """A monotonic clock in milliseconds, for the arrival times of moves."""
    handler: PeerHandler
    registry: PeerRegistry
    metrics: Metrics
    turns: TurnBudget
    timeouts: Timeouts
    batcher: WriteBatcher
    send_limits: SendLimits
    rate_limits: RateLimits
    access: AccessPolicy = field(default_factory=AccessPolicy)
    """Decides from a request's headers whether to serve it."""
    guest_networks: GuestNetworks = field(default_factory=GuestNetworks)
    """Networks whose addresses count as many people."""
    pages: PageSource
    site: Site | None = None
    """The files of the web pages, if any."""
    downloads: Downloads = field(default_factory=Downloads)
    servers: Callable[[], Sequence[str]] = list
    """Returns the websocket URLs of other servers whose pages count as this server's."""
    spawn: Callable[[Callable[[], Awaitable[None]]], None]
    """Runs coroutines in the background; used only for pages that are read from disk."""


class Peer:
    """The other side of one connection."""

    __slots__ = (
        "_aborted",
        "_context",
        "_reported_gone",
        "address",
        "bearer",
        "capabilities",
        "entrant",
        "identity",
        "instance",
        "is_unread",
        "leaving",
        "local",
        "newer",
        "over_limit",
        "proxied",
        "rate_limiter",
        "round_trip",
        "send_queue",
        "speaks_websocket",
        "subscriptions",
        "token",
        "transport",
        "unanswered",
        "views",
    )

    def __init__(self, context: PeerContext, transport: Transport) -> None:
        self._context = context
        self.transport = transport
        name = transport.get_extra_info("peername")
        self.address = str(name[0]) if name else "?"
        self.local = is_loopback(self.address)
        self.proxied = context.access.proxies.include(self.address)
        """Whether a proxy made the connection. Then only the headers have the client's address."""
        self.send_queue = SendQueue(
            transport, context.batcher, context.send_limits, self._read_too_slowly
        )
        self.rate_limiter = RateLimiter(context.rate_limits.socket, context.loop.time())
        self.over_limit = False
        """Whether the last charge exceeded a limit. Until that changes, moves are charged too."""
        self.round_trip = RoundTrip()
        self.speaks_websocket = False
        """Whether the handshake is complete."""
        self.is_unread = False
        """Whether one of its requests waits for a later event loop iteration. Until then no input
        is read.
        """
        self.leaving = False
        """Whether the connection is being closed."""
        self._reported_gone = False
        self._aborted = False
        self.identity: Identity | None = None
        """The player, once hello was answered."""
        self.entrant = False
        """Whether it may only play its seats (`handlers.rights`)."""
        self.bearer: str | None = None
        """The token of the handshake's Authorization header."""
        self.token: bytes | None = None
        """The digest of the token with which the player signed in."""
        self.capabilities: Capabilities | None = None
        """The bot's capabilities, as stated in its hello."""
        self.instance: str | None = None
        """A secret identifier of the client program, from its hello."""
        self.newer = False
        """Whether its hello listed a newer protocol version than the server's."""
        self.views: WantedViews = "turn"
        """Which messages contain the view of a match, as chosen in its hello."""
        self.subscriptions: dict[str, Subscription] = {}
        """The matches and lobbies to notify when the connection is lost, by key."""
        self.unanswered: dict[int, tuple[str, ...]] = {}
        """The unanswered requests passed to the handler, with the names of their ignored fields."""

    def request_key(self, request: int) -> str | None:
        """Return the key by which a log recognizes a resent request of this program.

        None if the program sent no `instance`. Other programs of the same player may use the same
        request numbers, and the server could not distinguish them. The key is a hash of its parts.
        """
        if self.identity is None or self.instance is None:
            return None
        text = f"{self.identity.key}\n{self.instance}\n{request}"
        return sha256(text.encode()).hexdigest()[:32]

    # --- answers and news -------------------------------------------------------------------

    def answer(self, message: Answer) -> None:
        """Send the answer to a request."""
        if ignored := self.unanswered.pop(message.re, None):
            message = message.model_copy(update={"ignored": list(ignored)})
        self.send_queue.send(message_frame(message))

    def send(self, message: ServerMessage) -> None:
        """Send a message that must not be dropped."""
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
        """Refuse a request."""
        self._context.metrics.refusals[code] += 1
        name = "a newcomer" if self.identity is None else self.identity.player.name
        LOG.info("refused %s: %s: %s", name, code, message)
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
        message: str = "internal server error",
        retry_after_ms: int = RETRY_AFTER_MS,
    ) -> None:
        """Refuse a request that failed, unless it was already answered."""
        if request in self.unanswered:
            after = retry_after_ms if code is Code.UNAVAILABLE else None
            self.refuse(request, code, message, retry_after_ms=after)

    # --- rate limits ------------------------------------------------------------------------

    def charge(self, cost: float, request: int) -> bool:
        """Charge the peer. If it is over a limit, refuse the request or close, and return False."""
        charged = self.charge_unanswered(cost)
        if charged is ChargeResult.REFUSED:
            wait_ms = self.rate_limiter.retry_after_ms(cost, self._context.loop.time())
            self.must_wait(request, wait_ms, "too many messages")
        return charged is ChargeResult.GRANTED

    def must_wait(self, request: int, wait_ms: int, why: str) -> bool:
        """Refuse a request that has to wait because of a rate limit; return whether it has to."""
        if wait_ms:
            message = f"{why}; wait {wait_ms} ms"
            self.refuse(request, Code.RATE_LIMITED, message, retry_after_ms=wait_ms)
        return wait_ms > 0

    def charge_unanswered(self, cost: float) -> ChargeResult:
        """Charge the peer without refusing a request; close the connection if it floods."""
        self._context.turns.spend(cost)
        charged = self.rate_limiter.charge(cost, self._context.loop.time())
        self.over_limit = charged is not ChargeResult.GRANTED
        if charged is ChargeResult.FLOODING:
            self._context.metrics.drops["flood"] += 1
            self.close(Standard.POLICY_VIOLATION, "too many messages")
        return charged

    def lift_rate_limit(self) -> None:
        """Let the peer send as many requests as it likes."""
        self.rate_limiter = RateLimiter(UNLIMITED, self._context.loop.time())

    @property
    def people(self) -> int:
        """The number of people that its address counts as; 0 for an ordinary address."""
        return self._context.guest_networks.people(self.address)

    # --- state ------------------------------------------------------------------------------

    def greeted(self, identity: Identity) -> None:
        """Accept the peer, after answering its hello."""
        self.identity = identity
        self._context.timeouts.greeted(self)

    def end_without_hello(self) -> None:
        """Close the connection, because no hello arrived in time."""
        if self.identity is None:
            self.close(CloseCode.NO_HELLO, "no hello arrived in time")

    def ping(self) -> None:
        if not self.leaving:
            self.transport.write(_ping_frame(self.round_trip.ping(self._context.clock())))

    def write_buffer_size(self) -> int:
        return self.transport.get_write_buffer_size()

    # --- the end ----------------------------------------------------------------------------

    def close(self, code: int, reason: str = "") -> None:
        """Send the queue and a close frame; the connection is aborted if that takes too long."""
        if self.leaving:
            return
        self.leaving = True
        self.send_queue.flush()
        self.send_queue.close()
        if not self.speaks_websocket:
            self.transport.close()
        elif not self.transport.is_closing():
            self.transport.write(close_frame(code, reason))
            half_close(self.transport)
        self.leave()

    def leave(self, patience_s: float | None = None) -> None:
        """Ignore further input; the other side has `patience_s` to read pending output."""
        self.leaving = True
        self._context.timeouts.leaving(self, patience_s)
        self._report_gone()

    def abort(self) -> None:
        """Drop the connection without sending anything else."""
        if not self._aborted:
            self._aborted = True
            self._context.metrics.drops["aborted"] += 1
            self.leaving = True
            self.send_queue.close()
            self.transport.abort()

    def lost(self) -> None:
        """Handle the loss of the connection."""
        self.leaving = True
        self.send_queue.close()
        self._context.timeouts.forget(self)
        self._report_gone()
        self._context.registry.socket_closed(self)

    def _report_gone(self) -> None:
        if not self._reported_gone:
            self._reported_gone = True
            self._context.handler.disconnected(self)

    def _read_too_slowly(self) -> None:
        self._context.metrics.drops["too slow"] += 1
        self.close(CloseCode.TOO_SLOW, "read faster")


def half_close(transport: Transport) -> None:
    """Close the sending side of a transport."""
    with contextlib.suppress(OSError, RuntimeError):
        transport.write_eof()


@lru_cache(maxsize=1)  # cached, because all pings of one check have the same payload
def _ping_frame(payload: bytes) -> bytes:
    return ping_frame(payload)
