"""The client's side of a session, without any I/O.

A session outlives its connections. Its owner provides the socket and the clock, and only does this:

    session = Session(identity, now, chance=random.random)
    at session.connect_at                open a connection; then session.connected(now),
                                         or session.lost(now) if that failed
    on each received frame               session.receive(frame, now)
    on losing the connection             session.lost(now, close code, reason)
    at session.deadline()                session.tick(now)
    on `Disconnected` or `SessionEnded`  close the connection if it is still open, without
                                         calling lost for it
    after each of these and after ask    send every frame of session.frames(now)

`receive`, `lost` and `tick` return events in order, and every request ends in exactly one
`Answered` or `Unanswered`. `now` is in integer milliseconds of any clock that never runs backwards.

A session is in one of four states. `TRANSITIONS` is the table of their transitions, and
`Session._enter` is the only place that changes the state. Each state is an object with the data
that only this state needs. It decides what to send, and when the next deadline is.

    AWAY ──connected──> GREETING ──welcome──> ONLINE        any ──over──> ENDED
     ^                     │                    │
     └──lost, redirect─────┴──lost, redirect────┘

The session automates the following:

- It sends hello. Later connections use the secret of the first welcome.
- It rejoins the seats, joins the lobbies and watches the matches of the previous connection.
- It resends unanswered requests under their old ids, and requests that overtook their rejoin.
- It drops duplicate events, and asks for a snapshot when a gap in a match's numbers shows a loss.
- It follows redirects to other servers of the cluster, and tries them when its own is gone.
- It applies changes of lobbies and of the hall, so that its owner always gets the whole view.
- It stays below the server's limit of messages per second.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar, Final, Literal, TypeAlias

from kibitz_protocol.client.addresses import Addresses
from kibitz_protocol.client.credentials import ClientIdentity, Credentials
from kibitz_protocol.client.errors import (
    ClosedError,
    GarbledError,
    HelloRefusedError,
    KickedError,
    ReplacedError,
    SessionError,
    UnreachableError,
)
from kibitz_protocol.client.events import (
    Answered,
    Disconnected,
    News,
    NewsReceived,
    Opened,
    SessionEnded,
    SessionEvent,
    Unanswered,
)
from kibitz_protocol.client.following import Following
from kibitz_protocol.client.outbox import Outbox
from kibitz_protocol.client.requests import PendingRequest, PendingRequests
from kibitz_protocol.client.retry import Backoff, RandomSource, SessionTimeouts
from kibitz_protocol.client.sequence import EventOrder
from kibitz_protocol.wire.codec import DecodeError, decode_server_message, encode
from kibitz_protocol.wire.messages import (
    VERSIONS,
    Answer,
    Event,
    Farewell,
    HallChanged,
    Hello,
    Leave,
    LobbyChanged,
    Move,
    Redirect,
    Refused,
    Request,
    Welcome,
    YourTurn,
)
from kibitz_protocol.wire.refusals import CloseCode, Code
from kibitz_protocol.wire.values import MAX_FRAME

TRANSIENT_REFUSALS: Final = frozenset(
    {Code.RATE_LIMITED, Code.UNAVAILABLE, Code.INTERNAL, Code.ELSEWHERE}
)
"""Refusals of hello that are temporary; all others end the session."""

_FATAL_CODES: Final[dict[int | None, Callable[[str], SessionError]]] = {
    CloseCode.REPLACED: ReplacedError,
    CloseCode.KICKED: KickedError,
}
"""Close codes that end the session."""

# --- the states ---------------------------------------------------------------------------


class SessionState(Enum):
    """The states of a session; see the diagram at the top of the module."""

    AWAY = "away"
    GREETING = "greeting"
    ONLINE = "online"
    ENDED = "ended"


Step: TypeAlias = Literal["connected", "welcome", "redirect", "lost", "over"]
"""A step from one state to the next.

- `connected`: the owner opened a connection.
- `welcome`: the server admitted this client.
- `redirect`: another server of the cluster has the lobby of a request, or of hello.
- `lost`: the connection broke or could not be opened, or hello has to be repeated later.
- `over`: the owner closed the session, or trying again is pointless.
"""

TRANSITIONS: Final[Mapping[SessionState, Mapping[Step, SessionState]]] = {
    SessionState.AWAY: {
        "connected": SessionState.GREETING,
        "lost": SessionState.AWAY,
        "over": SessionState.ENDED,
    },
    SessionState.GREETING: {
        "welcome": SessionState.ONLINE,
        "redirect": SessionState.AWAY,
        "lost": SessionState.AWAY,
        "over": SessionState.ENDED,
    },
    SessionState.ONLINE: {
        "redirect": SessionState.AWAY,
        "lost": SessionState.AWAY,
        "over": SessionState.ENDED,
    },
    SessionState.ENDED: {},
}
"""The next state for each step; other steps cannot happen. The browser's client has the same table
(`wire/connection.js`)."""


class _State:
    """Base class of the states, with nothing to send and no deadline."""

    name: ClassVar[SessionState]
    not_before: int = 0
    """The earliest time for the next attempt to connect, as requested by the server."""

    def frames(self, now: int) -> list[bytes]:
        return []

    def deadline(self) -> int | None:
        return None


@dataclass
class _Away(_State):
    """No connection is open."""

    connect_at: int
    give_up_at: int | None
    """The deadline for the server's welcome, after which the session ends; None without one."""
    name = SessionState.AWAY

    def deadline(self) -> int | None:
        return self.connect_at


@dataclass
class _Greeting(_State):
    """A connection is open, and hello has no answer yet."""

    hello: Hello
    answer_by: int
    give_up_at: int | None
    sent: bool = False
    name = SessionState.GREETING

    def frames(self, now: int) -> list[bytes]:
        frames = [] if self.sent else [encode(self.hello)]
        self.sent = True
        return frames

    def deadline(self) -> int | None:
        return self.answer_by


@dataclass
class _Online(_State):
    """The server has admitted this client on the open connection."""

    since: int
    outbox: Outbox
    name = SessionState.ONLINE

    def frames(self, now: int) -> list[bytes]:
        return self.outbox.frames(now)

    def deadline(self) -> int | None:
        return self.outbox.deadline()


@dataclass
class _Ended(_State):
    """The session is over."""

    error: SessionError
    name = SessionState.ENDED


class Session:
    """A client's session; see the top of the module for what its owner must do."""

    def __init__(
        self,
        identity: ClientIdentity,
        now: int,
        *,
        chance: RandomSource,
        patience: SessionTimeouts | None = None,
        backoff: Backoff | None = None,
        first_id: int = 1,
    ) -> None:
        self.welcome: Welcome | None = None
        """The latest welcome."""
        self._seated = identity.seated
        self._chance = chance
        self._timeouts = patience or SessionTimeouts()
        self._backoff = backoff or Backoff()
        self._credentials = Credentials(identity)
        self.addresses = Addresses()
        """The owner connects to `addresses.present`; None stands for its own server."""
        self._requests = PendingRequests(first_id)
        self._following = Following()
        # Number of consecutive connections that failed or did not last.
        self._failures = 0
        # Whether a hello got no answer. Then this session's own lost connection may have the name.
        self._hello_lost = False
        self._current: _State = _Away(now, _deadline_after(now, self._timeouts.opening_ms))

    # --- state for the owner --------------------------------------------------------------

    @property
    def state(self) -> SessionState:
        """The current state."""
        return self._current.name

    @property
    def connect_at(self) -> int:
        """The time of the next connection; only while `state` is AWAY."""
        assert isinstance(self._current, _Away), "no connection is due"
        return self._current.connect_at

    @property
    def error(self) -> SessionError | None:
        """The error that ended the session."""
        return self._current.error if isinstance(self._current, _Ended) else None

    @property
    def live(self) -> bool:
        """Whether a connection is open."""
        return isinstance(self._current, _Greeting | _Online)

    @property
    def max_request_bytes(self) -> int:
        """The size of the largest frame that the server reads; the default before its welcome."""
        return MAX_FRAME if self.welcome is None else self.welcome.limits.frame_bytes

    # --- calls of the owner ---------------------------------------------------------------

    def new_id(self) -> int:
        """Return an id for the next request."""
        return self._requests.new_id()

    def ask(self, request: Request) -> None:
        """Queue a request until a connection is open. The owner must send `frames` afterwards.

        Raises the session's error if it is over, and `ValueError` for a request that exceeds the
        server's frame limit or whose id is not from `new_id`.
        """
        if self.error is not None:
            raise self.error
        frame, most = encode(request), self.max_request_bytes
        if len(frame) > most:
            raise ValueError(f"request of {len(frame)} bytes, but the server reads at most {most}")
        self._requests.add(request, frame)
        if isinstance(self._current, _Online):
            self._current.outbox.add([request.id])

    def withdraw(self, id: int) -> None:
        """Stop waiting for an answer; an unsent request is dropped."""
        self._requests.withdraw(id)

    def close(self, error: SessionError | None = None) -> list[SessionEvent]:
        """End the session. The owner must close the connection."""
        if isinstance(self._current, _Ended):
            return []
        return self._end(error or ClosedError("the session was closed"))

    def frames(self, now: int) -> list[bytes]:
        """Return the frames to send now, in order, each as one text message."""
        return self._current.frames(now)

    def deadline(self) -> int | None:
        """Return when to connect, call `tick` or send next, unless a frame arrives first."""
        return self._current.deadline()

    # --- events that the owner reports ----------------------------------------------------

    def connected(self, now: int) -> None:
        """Record that a connection is open. The owner must send `frames`, the hello, afterwards."""
        if not isinstance(self._current, _Away):
            raise AssertionError(f"a second connection while {self.state.value}")
        hello = self._credentials.hello(self.new_id(), self.addresses.ticket)
        answer_by = now + self._timeouts.hello_ms
        self._enter("connected", _Greeting(hello, answer_by, self._current.give_up_at))

    def receive(self, frame: bytes | str, now: int) -> list[SessionEvent]:
        """Process a frame from the server."""
        if not self.live:
            return []
        try:
            message = decode_server_message(frame)
            if not isinstance(message, Answer):
                return self._on_news(message, now)
        except DecodeError as error:  # or a patch does not apply
            return self._on_unreadable(error)
        if isinstance(message, Refused) and message.re == 0:
            return [NewsReceived(message)]
        match self._current:
            case _Greeting(hello=hello) if message.re == hello.id:
                return self._on_hello_answer(message, now)
            case _Online() as online:
                return self._on_answer(online, message, now)
            case _:
                return []

    def lost(self, now: int, code: int | None = None, reason: str = "") -> list[SessionEvent]:
        """Record that the connection was lost or could not be opened; `code` is the close code."""
        if isinstance(self._current, _Ended):
            return []
        if code in _FATAL_CODES:
            return self._end(_FATAL_CODES[code](reason or f"the server closed with code {code}"))
        if not isinstance(self._current, _Online):
            self.addresses.try_next()
        return self._wait(now, reason, code)

    def tick(self, now: int) -> list[SessionEvent]:
        """Handle an expired timeout; the owner must call this at `deadline`."""
        if isinstance(self._current, _Greeting) and now >= self._current.answer_by:
            return self.lost(now, None, "no answer to hello")
        return []

    # --- transitions ----------------------------------------------------------------------

    def _enter(self, step: Step, state: _State) -> None:
        """Change the state; every change passes through here."""
        if TRANSITIONS[self.state].get(step) is not state.name:
            raise AssertionError(f"{step} cannot lead from {self.state} to {state.name}")
        self._current = state

    def _on_hello_answer(self, answer: Answer, now: int) -> list[SessionEvent]:
        match answer:
            case Welcome():
                return self._on_welcome(answer, now)
            case Refused(redirect=Redirect() as redirect) if self.addresses.may_redirect_hello():
                return self._follow(redirect, now)
            case Refused(code=code) if code in TRANSIENT_REFUSALS:
                self.addresses.not_let_in()
                return self._wait(now, answer.message, retry_after_ms=answer.retry_after_ms or 0)
            case Refused() if self._may_repeat_hello(answer):
                self.addresses.try_next()
                return self._wait(now, answer.message)
            case Refused(code=code, message=message, hint=hint, retry_after_ms=wait):
                return self._end(HelloRefusedError(code, message, hint, wait))
            case _:
                return self._end(GarbledError(f"hello was answered with {type(answer).__name__}"))

    def _may_repeat_hello(self, refused: Refused) -> bool:
        """Return whether the next hello may succeed after a refusal that is not temporary."""
        if refused.code is Code.NAME_TAKEN:
            # Probably the session's own lost connection has the name until the server notices the
            # loss.
            return self._hello_lost and self.welcome is None
        if refused.code is not Code.UNAUTHORIZED:
            return False
        if self.addresses.ticket is not None:  # the ticket has expired
            return True
        return self.welcome is not None and self._credentials.forget_secret()

    def _on_welcome(self, welcome: Welcome, now: int) -> list[SessionEvent]:
        if welcome.version not in VERSIONS:
            return self._end(GarbledError(f"the server chose version {welcome.version}"))
        again = self.welcome is not None
        self.welcome = self._credentials.renew(welcome)
        self.addresses.admitted(welcome.nodes)
        waiting = [pending.request for pending in self._requests]
        self._enter("welcome", _Online(now, Outbox(self._requests, welcome.limits, now)))
        closed = self._following.forget_closed_lobbies(welcome)
        self._restore(welcome, waiting)
        return [Opened(self.welcome, again), *closed]

    def _restore(self, welcome: Welcome, waiting: list[Request]) -> None:
        """Restore what the last connection followed, then resend the caller's pending requests."""
        assert isinstance(self._current, _Online), "called after a welcome"
        seats, lobbies = (welcome.seats, welcome.lobbies) if self._seated else ([], [])
        leaving = [request.lobby for request in waiting if isinstance(request, Leave)]
        for request in self._following.requests_to_restore(seats, lobbies, leaving):
            if not any(_same_request(request, other) for other in waiting):
                self._ask_by_itself(self._current, request)
        self._current.outbox.add(request.id for request in waiting)

    def _wait(
        self, now: int, reason: str, code: int | None = None, *, retry_after_ms: int = 0
    ) -> list[SessionEvent]:
        """Schedule the next connection, or end the session if its time has run out."""
        give_up_at = self._give_up_at(now)
        if isinstance(self._current, _Online):
            if now - self._current.since >= self._backoff.stable_ms:
                self._failures = 0
        elif give_up_at is not None and now >= give_up_at:
            what = reason or "the connection failed"
            since = (
                "no server answers"
                if self.welcome is None
                else "the server was unreachable for too long"
            )
            return self._end(UnreachableError(f"{since}: {what}"))
        self._hello_lost = self._hello_lost or isinstance(self._current, _Greeting)
        self._failures += 1
        self.addresses.restart_hops()
        connect_at = max(now + retry_after_ms, self._current.not_before)
        connect_at += self._backoff.pause_ms(self._failures, self._chance)
        if give_up_at is not None:  # the last attempt is at the deadline
            connect_at = min(connect_at, give_up_at)
        self._enter("lost", _Away(connect_at, give_up_at))
        return self._disconnected(Disconnected(code, reason, connect_at))

    def _follow(self, redirect: Redirect, now: int) -> list[SessionEvent]:
        """Follow a redirect to another server of the cluster."""
        self.addresses.follow(redirect)
        self._enter("redirect", _Away(now, self._give_up_at(now)))
        return self._disconnected(Disconnected(None, f"it goes on at {redirect.url}", now))

    def _give_up_at(self, now: int) -> int | None:
        """Return when to give up if the connection is lost now."""
        if isinstance(self._current, _Away | _Greeting):
            return self._current.give_up_at
        return _deadline_after(now, self._timeouts.away_ms)

    def _disconnected(self, event: Disconnected) -> list[SessionEvent]:
        self._following.connection_lost()
        self._requests.keep_callers()
        return [event]

    def _end(self, error: SessionError) -> list[SessionEvent]:
        self._enter("over", _Ended(error))
        lost = [Unanswered(id, str(error)) for id in self._requests.drop_all()]
        return [*lost, SessionEnded(error)]

    # --- requests and their answers -------------------------------------------------------

    def _ask_by_itself(self, online: _Online, request: Request) -> None:
        """Make a request whose answer is not passed to the owner."""
        own = request.model_copy(update={"id": self.new_id()})
        self._requests.add(own, encode(own), "session")
        online.outbox.add([own.id])

    def _on_answer(self, online: _Online, answer: Answer, now: int) -> list[SessionEvent]:
        pending = self._requests.get(answer.re)
        if pending is None or not pending.sent:
            return []
        if isinstance(answer, Refused):
            if _is_retried(pending, answer):
                online.outbox.postpone(answer, now)
                return []
            place = self._requests.awaited_place(pending.request, answer.code)
            if place is not None:
                online.outbox.postpone_behind(place, answer.re)
                return []
            if answer.redirect and self.addresses.may_redirect(pending):
                pending.sent = False
                return self._follow(answer.redirect, now)
        self._requests.pop(answer.re)
        happened = self._following.answered(pending.request, answer)
        if pending.requester == "caller":
            happened.insert(0, Answered(answer.re, answer))
        return happened

    def _on_unreadable(self, error: DecodeError) -> list[SessionEvent]:
        """Skip a message of unknown type, perhaps from a newer server; else end the session."""
        if error.code is not Code.UNKNOWN_TYPE:
            return self._end(GarbledError(f"unreadable message from the server: {error}"))
        pending = self._requests.pop(error.request)
        if pending is None or pending.requester != "caller":
            return []
        return [Unanswered(error.request, "this client does not know the type of the answer")]

    # --- news -----------------------------------------------------------------------------

    def _on_news(self, news: News | LobbyChanged | HallChanged, now: int) -> list[SessionEvent]:
        match news:
            case Event():
                order = self._following.order(news)
                if order is EventOrder.GAP and isinstance(self._current, _Online):
                    lost = self._following.snapshot_request(news.match)
                    self._ask_by_itself(self._current, lost)
                return [NewsReceived(news)] if order is EventOrder.NEXT else []
            case YourTurn(match=match, ply=ply) if self._requests.has_move(match, ply):
                return []  # the answer to this turn is already on its way
            case Farewell(retry_after_ms=wait):
                self._current.not_before = now + (wait or 0)
            case _:
                pass
        return self._following.receive(news)


def _deadline_after(now: int, wait: int | None) -> int | None:
    return None if wait is None else now + wait


def _is_retried(pending: PendingRequest, refused: Refused) -> bool:
    """Return whether to resend a refused request later instead of passing its refusal on.

    A server that lost the log entry of a request asks for it again (`unavailable` with
    `retry_after_ms`); it carries out each request once. Moves, because a clock is running, and the
    session's own requests also wait for the rate limit and for a server that names no time.
    """
    if refused.code is Code.UNAVAILABLE and refused.retry_after_ms is not None:
        return True
    urgent = pending.requester == "session" or isinstance(pending.request, Move)
    return urgent and refused.code in (Code.RATE_LIMITED, Code.UNAVAILABLE)


def _same_request(one: Request, other: Request) -> bool:
    """Return whether two requests are equal except for their ids."""
    return type(one) is type(other) and one == other.model_copy(update={"id": one.id})
