"""The client's side of a session, without any I/O.

A session outlives its connections. Its owner has the socket and the clock, and does only this:

    session = Session(identity, now, chance=random.random)
    when session.connect_at has come     open a connection; then session.connected(now),
                                         or session.lost(now) if that failed
    whenever a frame arrives             session.receive(frame, now)
    whenever the connection is gone      session.lost(now, close code, reason)
    whenever session.deadline() comes    session.tick(now)
    when `Disconnected` or `SessionEnded` has happened
                                         close the connection if it still stands, without
                                         calling lost for it
    after each of these and after ask    send every frame of session.frames(now)

`receive`, `lost` and `tick` return events in order, and every request ends in exactly one
`Answered` or `Unanswered`. `now` is in integer milliseconds of any clock that never runs backwards.

    AWAY ──connected──> GREETING ──welcome──> ONLINE        any ──ended──> ENDED
     ^                     │                    │
     └───────lost──────────┴────────lost────────┘

The session does the following by itself:

- It sends hello, on every later connection with the secret of the first welcome.
- It rejoins the seats, joins the lobbies and watches the matches of the previous connection.
- It resends unanswered requests where that is harmless (see `Request.repeatable`).
- It drops duplicate events, and asks for a snapshot when a gap in a match's numbers shows a loss.
- It follows redirects to other servers of the cluster, and tries those when its server is gone.
- It applies changes of lobbies and of the hall, so that its owner gets only whole ones.
- It stays below the server's limit of messages per second.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final, Literal, TypeAlias

from kibitz_protocol.client.addresses import Addresses
from kibitz_protocol.client.errors import (
    ClosedError,
    GarbledError,
    HelloRefusedError,
    KickedError,
    ReplacedError,
    SessionError,
    UnreachableError,
)
from kibitz_protocol.client.lobby_views import LobbyViews, patched
from kibitz_protocol.client.requests import PendingRequest, PendingRequests
from kibitz_protocol.client.retry import Backoff, RandomSource, RequestThrottle
from kibitz_protocol.client.sequence import EventOrder, SequenceTracker
from kibitz_protocol.wire.codec import DecodeError, decode_server_message, encode
from kibitz_protocol.wire.lobbies import LobbyView
from kibitz_protocol.wire.messages import (
    MAX_WALL,
    VERSIONS,
    WALL_MATCH_COST,
    Answer,
    Capabilities,
    Event,
    Farewell,
    Finished,
    HallChanged,
    HallNews,
    Hello,
    Join,
    Leave,
    LeaveMatch,
    LobbyChanged,
    LobbyClosed,
    LobbyNews,
    MatchEnded,
    MatchStarted,
    Move,
    Redirect,
    Refused,
    Rejoin,
    Request,
    Snapshot,
    Subscribe,
    Unsubscribe,
    Unwatch,
    Wall,
    Walled,
    Watch,
    Welcome,
    YourTurn,
)
from kibitz_protocol.wire.refusals import CloseCode, Code
from kibitz_protocol.wire.values import MAX_FRAME
from kibitz_protocol.wire.visibility import WantedViews

_Told: TypeAlias = (
    Snapshot
    | Event
    | YourTurn
    | Finished
    | LobbyNews
    | MatchStarted
    | MatchEnded
    | LobbyClosed
    | HallNews
    | Farewell
)
News: TypeAlias = _Told | Refused
"""Messages of the server that answer no request; changes of a lobby or of the hall are replaced by
their result. A `Refused` here is for a message whose id the server could not read."""

TRANSIENT_REFUSALS: Final = frozenset(
    {Code.RATE_LIMITED, Code.UNAVAILABLE, Code.INTERNAL, Code.ELSEWHERE}
)
"""Temporary refusals of hello; all others end the session."""

_POSTPONING: Final = frozenset({Code.RATE_LIMITED, Code.UNAVAILABLE})
"""Refusals after which moves, and the session's own requests, are retried."""

DEFAULT_RETRY_MS: Final = 1_000
"""Delay before such a retry if the refusal gives none."""

MOST_HOPS: Final = 5
"""Redirects that a request, or hello, follows without a pause before the redirect becomes its
answer. The count restarts after a lost connection, since lobbies may have moved between servers."""


@dataclass(frozen=True, kw_only=True)
class ClientIdentity:
    """The identity in hello: a token names an account, `resume` a player who reconnects."""

    name: str | None = None
    kind: Literal["bot", "human"] = "bot"
    token: str | None = None
    organizer: str | None = None
    """The secret that opens an event's own server, sent beside `name` or `resume`."""
    resume: str | None = None
    capabilities: Capabilities | None = None
    agent: str = ""
    seated: bool = True
    """Whether to take over the player's seats and lobbies from an earlier session. Off for sessions
    that only watch or host, which would take them from the one that plays."""
    instance: str | None = None
    """An id that distinguishes this program from others with the same secrets."""
    views: WantedViews = "turn"
    """The messages that carry the view of a match, besides snapshots and the end."""


@dataclass(frozen=True, kw_only=True)
class SessionTimeouts:
    """Timeouts for a server, in milliseconds; None means no limit."""

    opening_ms: int | None = 10_000
    """From the start to the first welcome."""
    away_ms: int | None = 120_000
    """From losing a connection to the next welcome."""
    hello_ms: int = 10_000
    """From hello to its answer, on an open connection."""


# --- what happens -------------------------------------------------------------------------


@dataclass(frozen=True)
class Opened:
    """The server said welcome; `again` if this session had been welcomed before."""

    welcome: Welcome
    again: bool


@dataclass(frozen=True)
class Answered:
    """The one answer to request `id`."""

    id: int
    answer: Answer


@dataclass(frozen=True)
class Unanswered:
    """Request `id` will never be answered; it may have been carried out."""

    id: int
    why: str


@dataclass(frozen=True)
class NewsReceived:
    """News from the server, in order and without duplicates."""

    news: News


@dataclass(frozen=True)
class MatchLost:
    """A match that was followed could not be found again, most likely because it ended."""

    match: str
    code: Code
    message: str


@dataclass(frozen=True)
class Disconnected:
    """There is no connection; the next attempt is at `connect_at`."""

    code: int | None
    reason: str
    connect_at: int


@dataclass(frozen=True)
class SessionEnded:
    """The session is over, for this reason."""

    error: SessionError


SessionEvent: TypeAlias = (
    Opened | Answered | Unanswered | NewsReceived | MatchLost | Disconnected | SessionEnded
)


class SessionState(Enum):
    """The states of a session; see the diagram at the top of the module."""

    AWAY = "away"
    GREETING = "greeting"
    ONLINE = "online"
    ENDED = "ended"


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
        self.state = SessionState.AWAY
        self.welcome: Welcome | None = None
        """The newest welcome."""
        self.error: SessionError | None = None
        """The error that ended the session."""
        self.connect_at = now
        """When the next connection is due, while `state` is AWAY."""
        self._identity = identity
        self._chance = chance
        self._timeouts = patience or SessionTimeouts()
        self._backoff = backoff or Backoff()
        self._requests = PendingRequests(first_id)
        self._sequences = SequenceTracker()
        self._lobbies: dict[str, Join] = {}
        self._views = LobbyViews()
        self._hall: HallNews | None = None
        # Whether the hall was subscribed to, and which matches the last wall had.
        self._hall_wanted = False
        self._wall: list[str] | None = None
        # Ids of requests in the order in which they go out; those not known to
        # `_requests` any more were withdrawn and are passed over.
        self._outgoing: deque[int] = deque()
        # Requests to retry because the server was too busy: (time, id).
        self._postponed: list[tuple[int, int]] = []
        # How many connections in a row failed or did not last.
        self._failures = 0
        # When the present state of AWAY, GREETING or ONLINE began.
        self._since = now
        # The deadline for the server's welcome, after which the session ends.
        self._give_up_at = _deadline_after(now, self._timeouts.opening_ms)
        # Whether the server has asked for a pause before the next attempt, and until when.
        self._not_before = 0
        self._hello = 0
        # Whether a hello got no answer, so that this session itself may hold the name.
        self._hello_lost = False
        self._addresses = Addresses()
        # How often a hello was sent elsewhere without a pause, and whether what the session asks by
        # itself may send it elsewhere: once after each loss of a connection, wherever hello was
        # sent, for who sends it there may not know yet who has its lobby now.
        self._hops = 0
        self._may_move = False
        # Whether the server has said that it does not know the secret of its last welcome.
        self._unknown = False
        self._throttle: RequestThrottle | None = None

    @property
    def has_others(self) -> bool:
        """Whether other servers of the cluster are known as alternatives."""
        return self._addresses.has_others

    @property
    def address(self) -> str | None:
        """The address to connect to; None for the owner's own server."""
        return self._addresses.present

    # --- what the owner asks --------------------------------------------------------------

    def new_id(self) -> int:
        """Return an id for the next request."""
        return self._requests.new_id()

    def ask(self, request: Request) -> None:
        """Queue a request until there is a connection. Send `frames` afterwards.

        Raises the session's error if it is over, and `ValueError` for a request that is too large
        for the server or whose id is not from `new_id`.
        """
        if self.error is not None:
            raise self.error
        self._check_size(request)
        self._ask(request, own=False)

    def withdraw(self, id: int) -> None:
        """Stop waiting for an answer; a request that was not sent yet never will be."""
        self._requests.withdraw(id)

    def close(self, error: SessionError | None = None) -> list[SessionEvent]:
        """End the session from this side. The owner closes the connection."""
        if self.state is SessionState.ENDED:
            return []
        return self._end(error or ClosedError("the session was closed"))

    @property
    def live(self) -> bool:
        """Whether a connection is open."""
        return self.state in {SessionState.GREETING, SessionState.ONLINE}

    @property
    def max_request_bytes(self) -> int:
        """The size of the largest frame that the server reads; the default before its welcome."""
        return MAX_FRAME if self.welcome is None else self.welcome.limits.frame_bytes

    def frames(self, now: int) -> list[bytes]:
        """Return the frames to send now, in order, each as one text message."""
        self._requeue_postponed(now)
        frames = []
        held: list[Request] = []
        for pending in filter(None, map(self._requests.get, self._outgoing)):
            if self._may_send(pending.request, held, now):
                pending.sent = True
                frames.append(encode(pending.request))
            else:
                held.append(pending.request)
        self._outgoing = deque(request.id for request in held)
        return frames

    def deadline(self) -> int | None:
        """Return when to connect, `tick` or send next if no frame arrives before."""
        times = {
            SessionState.AWAY: lambda: [self.connect_at],
            SessionState.GREETING: lambda: [self._since + self._timeouts.hello_ms],
            SessionState.ONLINE: self._send_times,
            SessionState.ENDED: list[int],
        }[self.state]()
        return min(times, default=None)

    # --- what the owner reports -----------------------------------------------------------

    def connected(self, now: int) -> None:
        """Note that a connection is open. Send `frames`, the hello, afterwards."""
        if self.state is not SessionState.AWAY:
            raise AssertionError(f"a second connection while {self.state.value}")
        self.state = SessionState.GREETING
        self._since = now
        hello = self._make_hello()
        self._hello = hello.id
        self._requests.add(hello, "session")
        self._outgoing = deque([hello.id])
        self._throttle = None

    def receive(self, frame: bytes | str, now: int) -> list[SessionEvent]:
        """Process a frame from the server."""
        if not self.live:
            return []
        try:
            message = decode_server_message(frame)
            if isinstance(message, Answer):
                return self._on_answer(message, now)
            return self._on_news(message, now)
        except DecodeError as error:
            return self._on_unreadable(error)

    def lost(self, now: int, code: int | None = None, reason: str = "") -> list[SessionEvent]:
        """Note that the connection is lost or could not be opened; `code` is the close code."""
        if self.state is SessionState.ENDED:
            return []
        if code in _FATAL_CODES:
            return self._end(_FATAL_CODES[code](reason or f"the server closed with code {code}"))
        return self._disconnect(now, code, reason)

    def tick(self, now: int) -> list[SessionEvent]:
        """Note that time has passed; call it when `deadline` has come."""
        if self.state is SessionState.GREETING and now >= self._since + self._timeouts.hello_ms:
            return self._disconnect(now, None, "no answer to hello")
        return []

    # --- the connection -------------------------------------------------------------------

    def _make_hello(self) -> Hello:
        """Return hello with the account's token, or with the secret of the first welcome."""
        who, ticket = self._identity, self._addresses.ticket
        resume = self._resume
        if who.token is not None or self._unknown or ticket is not None:
            resume = None
        return Hello(
            id=self.new_id(),
            versions=list(VERSIONS),
            name=who.name if resume is None and ticket is None else None,
            token=(who.token or who.organizer) if ticket is None else None,
            resume=resume,
            ticket=ticket,
            kind=who.kind,
            agent=who.agent,
            instance=who.instance,
            capabilities=who.capabilities,
            views=who.views,
        )

    @property
    def _resume(self) -> str | None:
        """The secret for reconnecting, if there is one."""
        return self._identity.resume if self.welcome is None else self.welcome.resume or None

    def _on_welcome(self, welcome: Welcome, now: int) -> list[SessionEvent]:
        if welcome.version not in VERSIONS:
            return self._end(GarbledError(f"the server chose version {welcome.version}"))
        if not welcome.resume:  # admitted by a ticket: the earlier secret stays valid
            kept = self._identity.token or self._resume or ""
            welcome = welcome.model_copy(update={"resume": kept})
        self._addresses.ticket, self._hops = None, 0
        self._addresses.learn(welcome.nodes)
        again, self._unknown = self.welcome is not None, False
        self.state, self.welcome, self._since = SessionState.ONLINE, welcome, now
        self._give_up_at, self._not_before = None, 0
        self._throttle = RequestThrottle(
            welcome.limits.messages_per_second, welcome.limits.burst, now
        )
        self._throttle.try_take(now, Hello.cost)
        waiting = [pending.request for pending in self._requests]
        closed = self._forget_closed_lobbies(welcome)
        for request in self._requests_to_restore(welcome):
            if not any(_same_request(request, other) for other in waiting):
                self._ask(request.model_copy(update={"id": self.new_id()}), own=True)
        self._outgoing.extend(request.id for request in waiting)
        return [Opened(welcome, again), *closed]

    def _forget_closed_lobbies(self, welcome: Welcome) -> list[SessionEvent]:
        """Forget lobbies that closed, or removed this player, during the disconnect."""
        shut = [key for key, join in self._lobbies.items() if _was_removed(join, welcome)]
        for key in shut:
            del self._lobbies[key]
        return [NewsReceived(LobbyClosed(lobby=key, reason="closed")) for key in shut]

    def _requests_to_restore(self, welcome: Welcome) -> Iterator[Request]:
        """Yield requests that restore the last connection; seats first, as their clocks run.

        Their ids are still to be replaced.

        Seats that the server does not list are asked for too: the answer tells what became of
        the match.
        """
        seats, lobbies = (welcome.seats, welcome.lobbies) if self._identity.seated else ([], [])
        for match in dict.fromkeys([*seats, *self._sequences.seated()]):
            yield Rejoin(id=1, match=match)
        leaving = {ask.request.lobby for ask in self._requests if isinstance(ask.request, Leave)}
        for key in dict.fromkeys([*lobbies, *self._lobbies]):
            if key not in leaving:
                yield self._lobbies.get(key) or Join(id=1, lobby=key)
        if self._hall_wanted:
            yield Subscribe(id=1, topic="hall")
        watched = dict.fromkeys([*(self._wall or ()), *self._sequences.watched()])
        others = [match for match in watched if match not in seats]
        if self._wall is not None:
            yield Wall(id=1, matches=others[:MAX_WALL])
            others = others[MAX_WALL:]
        for match in others:
            yield Watch(id=1, match=match)

    def _disconnect(
        self,
        now: int,
        code: int | None,
        reason: str,
        choose_address: Callable[[], None] | None = None,
    ) -> list[SessionEvent]:
        """Wait for the next connection, or end the session if its time is up."""
        if self.state is SessionState.ONLINE:
            self._give_up_at = _deadline_after(now, self._timeouts.away_ms)
            if now - self._since >= self._backoff.stable_ms:
                self._failures = 0
        elif self._is_overdue(now):
            what = reason or "it cannot be reached"
            since = (
                "no server answers"
                if self.welcome is None
                else "the server stayed away for too long"
            )
            return self._end(UnreachableError(f"{since}: {what}"))
        else:
            (choose_address or self._addresses.try_next)()
        self._hops = 0
        for pending in self._requests:
            pending.hops = 0
        self._may_move = True
        self._hello_lost = self._hello_lost or self.state is SessionState.GREETING
        self.state, self._since = SessionState.AWAY, now
        self._failures += 1
        self.connect_at = self._next_attempt_at(now)
        self._clear_connection_state()
        lost = [Unanswered(id, "the connection broke") for id in self._requests.drop_unrepeatable()]
        return [*lost, Disconnected(code, reason, self.connect_at)]

    def _follow(self, redirect: Redirect, now: int) -> list[SessionEvent]:
        """Follow a redirect to another server of the cluster."""
        if self.state is SessionState.ONLINE:
            self._give_up_at = _deadline_after(now, self._timeouts.away_ms)
        self._addresses.follow(redirect)
        self.state, self._since, self.connect_at = SessionState.AWAY, now, now
        self._clear_connection_state()
        lost = [Unanswered(id, "it goes on elsewhere") for id in self._requests.drop_unrepeatable()]
        return [*lost, Disconnected(None, f"it goes on at {redirect.url}", now)]

    def _may_follow(self, pending: PendingRequest) -> bool:
        """Return whether to follow a redirect: at most `MOST_HOPS` times, own requests once."""
        if pending.requester != "caller":
            return self._may_move and pending.requester == "session"
        pending.hops += 1
        return pending.hops <= MOST_HOPS

    def _next_attempt_at(self, now: int) -> int:
        """Return when to connect: after a pause, but once more before the time is up."""
        pause = self._backoff.pause_ms(self._failures, self._chance)
        at = max(now, self._not_before) + pause
        return at if self._give_up_at is None else min(at, self._give_up_at)

    def _clear_connection_state(self) -> None:
        self._outgoing.clear()
        self._postponed.clear()
        self._sequences.await_snapshots()
        self._views = LobbyViews()
        self._hall = None
        self._throttle = None

    def _is_overdue(self, now: int) -> bool:
        return self._give_up_at is not None and now >= self._give_up_at

    def _end(self, error: SessionError) -> list[SessionEvent]:
        self.state, self.error = SessionState.ENDED, error
        self._clear_connection_state()
        lost = [pending.request.id for pending in self._requests if pending.requester == "caller"]
        for id in lost:
            self._requests.pop(id)
        return [*(Unanswered(id, str(error)) for id in lost), SessionEnded(error)]

    # --- requests and their answers -------------------------------------------------------

    def _ask(self, request: Request, *, own: bool) -> None:
        self._requests.add(request, "session" if own else "caller")
        if self.state is SessionState.ONLINE:
            self._outgoing.append(request.id)

    def _check_size(self, request: Request) -> None:
        most, size = self.max_request_bytes, len(encode(request))
        if size > most:
            raise ValueError(f"request of {size} bytes, the server reads at most {most}")

    def _may_send(self, request: Request, held: Sequence[Request], now: int) -> bool:
        """Return whether a request may be sent: in order, and below the rate limit.

        A move overtakes all but the rejoin of its own match.
        """
        if isinstance(request, Move):
            return not any(_must_precede(one, request) for one in held)
        if held:
            return False
        return self._throttle is None or self._throttle.try_take(now, _cost(request))

    def _send_times(self) -> list[int]:
        times = [at for at, _ in self._postponed]
        if self._outgoing and self._throttle is not None:
            times.append(self._throttle.ready_at())
        return times

    def _requeue_postponed(self, now: int) -> None:
        """Queue postponed requests that are due."""
        due = [id for at, id in self._postponed if at <= now]
        self._postponed = [(at, id) for at, id in self._postponed if at > now]
        self._outgoing.extend(due)

    def _on_answer(self, answer: Answer, now: int) -> list[SessionEvent]:
        if isinstance(answer, Refused) and answer.re == 0:
            return [NewsReceived(answer)]
        pending = self._requests.get(answer.re)
        if pending is None or not pending.sent:
            return []
        if isinstance(answer, Refused) and self._postpone(pending, answer, now):
            return []
        if answer.re == self._hello:
            self._requests.pop(answer.re)
            return self._on_hello_answer(answer, now)
        if isinstance(answer, Refused) and answer.redirect and self._may_follow(pending):
            pending.sent = self._may_move = False
            return self._follow(answer.redirect, now)
        self._requests.pop(answer.re)
        happened = self._apply_answer(pending.request, answer)
        if pending.requester == "caller":
            happened.insert(0, Answered(answer.re, answer))
        return happened

    def _on_hello_answer(self, answer: Answer, now: int) -> list[SessionEvent]:
        match answer:
            case Welcome():
                return self._on_welcome(answer, now)
            case Refused(redirect=Redirect() as redirect) if self._hops < MOST_HOPS:
                self._hops += 1
                return self._follow(redirect, now)
            case Refused(code=code) if code in TRANSIENT_REFUSALS:
                return self._on_transient_refusal(answer, now)
            case Refused(code=Code.UNAUTHORIZED) if self._addresses.ticket is not None:
                return self._disconnect(now, None, answer.message)  # it came too late
            case Refused(code=Code.NAME_TAKEN) if self._hello_lost and self.welcome is None:
                # Most likely by this session itself, until the server notices the disconnect.
                return self._disconnect(now, None, answer.message)
            case Refused(code=Code.UNAUTHORIZED) if self._may_come_anew():
                self._unknown = True
                return self._disconnect(now, None, answer.message)
            case Refused():
                return self._end(
                    HelloRefusedError(
                        answer.code, answer.message, answer.hint, answer.retry_after_ms
                    )
                )
            case _:
                return self._end(GarbledError(f"hello was answered with {type(answer).__name__}"))

    def _on_transient_refusal(self, refused: Refused, now: int) -> list[SessionEvent]:
        """Retry hello later, here or at another server."""
        self._not_before = now + (refused.retry_after_ms or 0)
        return self._disconnect(now, None, refused.message, self._addresses.not_let_in)

    def _may_come_anew(self) -> bool:
        """Return whether to send hello by name if the server rejects the last welcome's secret.

        A killed server forgets a guest who had just connected and done nothing.
        """
        who = self._identity
        known_by_name = who.token is None and who.name is not None
        return self.welcome is not None and known_by_name and not self._unknown

    def _postpone(self, pending: PendingRequest, refused: Refused, now: int) -> bool:
        """Return whether to retry a request later instead of passing its refusal on.

        That is so for moves, because a clock is running, and for the session's own requests.
        """
        moving = pending.requester == "caller" and isinstance(pending.request, Move)
        mine = moving or pending.requester == "session"
        if refused.code not in _POSTPONING or not mine or refused.re == self._hello:
            return False
        wait = DEFAULT_RETRY_MS if refused.retry_after_ms is None else refused.retry_after_ms
        self._postponed.append((now + wait, refused.re))
        if self._throttle is not None and refused.code is Code.RATE_LIMITED:
            self._throttle.drain(now, wait)
        return True

    def _apply_answer(self, request: Request, answer: Answer) -> list[SessionEvent]:
        """Update the state that a reconnect restores."""
        if isinstance(answer, Refused):
            return self._apply_refusal(request, answer)
        match request:
            case Join(lobby=lobby):
                self._lobbies[lobby] = request
            case Leave(lobby=lobby):
                self._lobbies.pop(lobby, None)
            case Unwatch(match=match) | LeaveMatch(match=match):
                self._sequences.drop(match)
                self._take_off_wall(match)
            case Subscribe():
                self._hall_wanted = True
            case Unsubscribe():
                self._hall_wanted, self._hall = False, None
            case Wall() if isinstance(answer, Walled):
                return self._set_wall(answer)
            case _:
                pass
        return []

    def _set_wall(self, answer: Walled) -> list[SessionEvent]:
        """Follow the matches of a wall, and stop watching all others."""
        followed = {*self._sequences.watched(), *(self._wall or ())}
        self._wall = list(answer.watching)
        for match in followed.difference(self._wall):
            self._sequences.drop(match)
        return [
            MatchLost(each.match, each.code, each.message)
            for each in answer.refused
            if each.match in followed
        ]

    def _apply_refusal(self, request: Request, refused: Refused) -> list[SessionEvent]:
        match request:
            case Watch(match=match) if self._sequences.is_seated(match):
                return []  # the seat still gets its own news
            case Rejoin(match=match) | Watch(match=match) if match in self._sequences:
                self._sequences.drop(match)
                return [MatchLost(match, refused.code, refused.message)]
            case Join(lobby=lobby) if lobby in self._lobbies:
                del self._lobbies[lobby]
                return [NewsReceived(LobbyClosed(lobby=lobby, reason="closed"))]
            case _:
                return []

    # --- news -----------------------------------------------------------------------------

    def _on_news(self, news: _Told | LobbyChanged | HallChanged, now: int) -> list[SessionEvent]:
        match news:
            case HallChanged():
                return self._hall_news(news)
            case HallNews():
                self._hall = news
            case LobbyChanged():
                return self._lobby_news(self._views.change(news))
            case LobbyNews(lobby=view):
                self._views.tell(view)
            case MatchStarted(lobby=lobby, match=brief):
                begun = self._views.match_started(lobby, brief)
                return [NewsReceived(news), *self._lobby_news(begun)]
            case MatchEnded(lobby=lobby, match=brief):
                ended = self._views.match_ended(lobby, brief.match)
                return [NewsReceived(news), *self._lobby_news(ended)]
            case Event():
                return self._on_event(news)
            case Snapshot():
                self._sequences.reset_to(news)
                if news.result is not None:
                    self._take_off_wall(news.match)
            case YourTurn(match=match, ply=ply) if self._requests.has_move(match, ply):
                # The answer to this turn is already on its way.
                return []
            case Finished(match=match):
                self._sequences.drop(match)
                self._take_off_wall(match)
            case LobbyClosed(lobby=lobby):
                self._lobbies.pop(lobby, None)
                self._views.forget(lobby)
            case Farewell(retry_after_ms=wait):
                self._not_before = now + (wait or 0)
            case _:
                pass
        return [NewsReceived(news)]

    def _lobby_news(self, view: LobbyView | None) -> list[SessionEvent]:
        return [] if view is None else [NewsReceived(LobbyNews(lobby=view))]

    def _hall_news(self, changed: HallChanged) -> list[SessionEvent]:
        if self._hall is None:
            return []
        self._hall = patched(self._hall, changed.patch)
        return [NewsReceived(self._hall)]

    def _take_off_wall(self, match: str) -> None:
        if self._wall is not None:
            self._wall = [watched for watched in self._wall if watched != match]

    def _on_event(self, event: Event) -> list[SessionEvent]:
        match self._sequences.classify(event):
            case EventOrder.NEXT:
                return [NewsReceived(event)]
            case EventOrder.GAP:
                self._request_snapshot(event.match)
            case EventOrder.OLD | EventOrder.UNKNOWN:
                pass
        return []

    def _request_snapshot(self, match: str) -> None:
        """Ask for the present state of a match after a loss of events."""
        id = self.new_id()
        if self._sequences.is_seated(match):
            self._ask(Rejoin(id=id, match=match), own=True)
        else:
            self._ask(Watch(id=id, match=match), own=True)

    def _on_unreadable(self, error: DecodeError) -> list[SessionEvent]:
        """Skip a message of an unknown type, as from a newer server; else end the session."""
        if error.code is not Code.UNKNOWN_TYPE:
            return self._end(GarbledError(f"unreadable message of the server: {error}"))
        pending = self._requests.pop(error.request)
        if pending is None or pending.requester != "caller":
            return []
        return [Unanswered(error.request, "the answer is of a type that this client cannot read")]


_FATAL_CODES: Final[dict[int | None, Callable[[str], SessionError]]] = {
    CloseCode.REPLACED: ReplacedError,
    CloseCode.KICKED: KickedError,
}
"""Close codes that end the session."""


def _deadline_after(now: int, wait: int | None) -> int | None:
    return None if wait is None else now + wait


def _cost(request: Request) -> float:
    """Return the most that the server may charge for a request; all of a wall may be new."""
    cost: float = request.cost
    if isinstance(request, Wall):
        cost += WALL_MATCH_COST * len(request.matches)
    return cost


def _was_removed(join: Join, welcome: Welcome) -> bool:
    """Return whether a lobby has removed this player, who was a member."""
    return join.role == "player" and join.lobby not in welcome.lobbies


def _must_precede(request: Request, move: Move) -> bool:
    """Return whether the server refuses the move until this request is carried out."""
    return isinstance(request, Rejoin) and request.match == move.match


def _same_request(one: Request, other: Request) -> bool:
    """Return whether two requests are the same but for their ids."""
    return type(one) is type(other) and one == other.model_copy(update={"id": one.id})
