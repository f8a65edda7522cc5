"""A client of a kibitz server: the session of `session.py` on a real websocket.

    async with Client("ws://127.0.0.1:8080", name="ada") as client:
        await client.join("L1")
        async for message in client.news():
            match message:
                case YourTurn():
                    await client.move(message.match, message.ply, message.legal[0])
                case LobbyClosed():
                    break

The client reconnects by itself, comes back to its seats, lobbies and watched matches, and
sends unanswered requests again where that is harmless. Its connection is looked after by one
task of the event loop, so long computations belong in a thread (`asyncio.to_thread`).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import secrets
import ssl
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from functools import partial
from types import TracebackType
from typing import Final, Literal, Self, TypeVar

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import (
    ConnectionClosed,
    InvalidMessage,
    InvalidStatus,
    WebSocketException,
)

from kibitz_protocol import printable
from kibitz_protocol.codec import encode
from kibitz_protocol.errors import (
    BacklogError,
    ClosedError,
    GarbledError,
    RefusedError,
    SessionError,
    UnansweredError,
    UnreachableError,
)
from kibitz_protocol.messages import (
    MOST_ARRANGED,
    MOST_LISTED,
    Answer,
    Arrange,
    Arranged,
    AskLadder,
    AskReport,
    Capabilities,
    Close,
    Done,
    EventList,
    GameList,
    History,
    Host,
    Join,
    Kick,
    Ladders,
    Leave,
    LeaveMatch,
    ListGames,
    ListLobbies,
    ListMatches,
    LobbyList,
    MatchList,
    Move,
    Note,
    Ready,
    Refused,
    Rejoin,
    Rematch,
    Reported,
    Request,
    Resign,
    Start,
    Unwatch,
    Watch,
    Welcome,
)
from kibitz_protocol.records import Comment
from kibitz_protocol.rooms import Arrangement, LobbyBrief, LobbySettings, MatchBrief
from kibitz_protocol.session import (
    Answered,
    Ended,
    Gone,
    Happening,
    Identity,
    Lost,
    News,
    Opened,
    Patience,
    Session,
    State,
    Told,
    Unanswered,
)

MAX_NEWS: Final = 4 * 1024 * 1024
"""Largest frame that is read from a server, in bytes: a long history is one frame."""
PING_S: Final = 10.0
"""A server is pinged this often, and given up when a pong takes as long again."""
SEND_S: Final = 15.0
"""A server that reads nothing for so long is given up; pings alone would not notice."""
CLOSE_S: Final = 3.0
"""How long the farewell of websockets may take."""
ENVELOPE: Final = 256
"""Bytes of a frame that are kept for what a request says besides its matches."""

_BUSY = frozenset({408, 425, 429, 500, 502, 503, 504})
"""HTTP statuses of a server, or a proxy before it, that may be better in a while."""

_log = logging.getLogger(__name__)
_AnswerT = TypeVar("_AnswerT", bound=Answer)


class Client:
    """A player's connection to a server, kept up until the end of the `async with` block.

    `token` names an account, `resume` is the secret of an earlier welcome. `patience` is how
    many seconds a server may stay away before the session ends, `opening` the same for the
    first connection; None waits for ever. With `seated` off the seats and lobbies of an earlier
    session are left to whoever plays there. Entering raises `HelloRefusedError` or
    `UnreachableError`; later, whatever ends the session is raised by `news` and by every
    request.
    """

    def __init__(
        self,
        url: str,
        *,
        name: str | None = None,
        kind: Literal["bot", "human"] = "bot",
        token: str | None = None,
        resume: str | None = None,
        capabilities: Capabilities | None = None,
        agent: str = "",
        seated: bool = True,
        patience: float | None = 120.0,
        opening: float | None = 10.0,
        backlog: int = 100_000,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self.url = url
        self._identity = Identity(
            name=name,
            kind=kind,
            token=token,
            resume=resume,
            capabilities=capabilities,
            agent=agent,
            seated=seated,
            instance=secrets.token_hex(16),
        )
        self._patience = Patience(opening_ms=_millis(opening), away_ms=_millis(patience))
        self._chance = chance
        self._inbox = _Inbox(backlog)
        self._waiting: dict[int, asyncio.Future[Answer]] = {}
        # Set whenever there may be frames to send.
        self._wake = asyncio.Event()

    # --- the life of a client -------------------------------------------------------------

    async def __aenter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        self._opened: asyncio.Future[Welcome] = self._loop.create_future()
        self._session = Session(
            self._identity,
            self._now(),
            chance=self._chance,
            patience=self._patience,
            first_id=_first_id(self._identity),
        )
        self._life = asyncio.create_task(self._live(), name=f"client of {self.url}")
        try:
            await self._opened
        except BaseException:
            await self._stop()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._stop()

    @property
    def welcome(self) -> Welcome:
        """The newest welcome."""
        if self._session.welcome is None:
            raise AssertionError("a client is used inside its async with block")
        return self._session.welcome

    @property
    def online(self) -> bool:
        """Whether the server listens now; while it does not, requests wait."""
        return self._session.state is State.ONLINE

    @property
    def player(self) -> str:
        """The server's id for this player."""
        return self.welcome.player

    @property
    def name(self) -> str:
        """The name that the server shows."""
        return self.welcome.name

    @property
    def seats(self) -> list[str]:
        """The running matches in which this player had a seat when the server said welcome."""
        return self.welcome.seats

    @property
    def resume(self) -> str:
        """The secret with which another process can go on as this player."""
        return self.welcome.resume

    @property
    def error(self) -> SessionError | None:
        """What ended the session."""
        return self._session.error

    async def news(self) -> AsyncIterator[News | Gone]:
        """What the server tells, in order. Ends with the client, or raises what ended it.

        All iterators share one stream: a message goes to one of them.
        """
        while (message := await self._inbox.get()) is not None:
            yield message

    # --- lists ----------------------------------------------------------------------------

    async def games(self) -> GameList:
        return await self._ask(lambda id: ListGames(id=id), GameList)

    async def lobbies(self) -> LobbyList:
        """All open lobbies that lists show, however many pages they take."""
        found: list[LobbyBrief] = []
        after = 0
        while True:
            page = await self._ask(partial(_lobbies_after, after), LobbyList)
            found += page.lobbies
            if not page.more or page.last <= after:
                return page.model_copy(update={"lobbies": found})
            after = page.last

    async def matches(self, lobby: str | None = None) -> MatchList:
        """All running matches that lists show, of one lobby or of all, and the newest finished."""
        found: list[MatchBrief] = []
        after = 0
        while True:
            page = await self._ask(partial(_matches_after, lobby, after), MatchList)
            found += page.matches
            if not page.more or page.last <= after:
                return page.model_copy(update={"matches": found})
            after = page.last

    async def ladder(self, game: str | None = None, first: int = 1, count: int = 100) -> Ladders:
        """The ladder of a game, or of all, from place `first` on."""
        return await self._ask(
            lambda id: AskLadder(id=id, game=game, first=first, count=count), Ladders
        )

    # --- lobbies --------------------------------------------------------------------------

    async def host(self, settings: LobbySettings) -> Done:
        """Open a lobby; the answer names it, and its invite code if it has one."""
        return await self._do(lambda id: Host(id=id, settings=settings))

    async def join(
        self,
        lobby: str,
        *,
        invite: str | None = None,
        role: Literal["player", "spectator"] = "player",
    ) -> Done:
        return await self._do(lambda id: Join(id=id, lobby=lobby, invite=invite, role=role))

    async def leave(self, lobby: str) -> Done:
        return await self._do(lambda id: Leave(id=id, lobby=lobby))

    async def kick(self, lobby: str, player: str) -> Done:
        return await self._do(lambda id: Kick(id=id, lobby=lobby, player=player))

    async def ready(self, lobby: str, ready: bool = True) -> Done:
        return await self._do(lambda id: Ready(id=id, lobby=lobby, ready=ready))

    async def start(self, lobby: str) -> Done:
        return await self._do(lambda id: Start(id=id, lobby=lobby))

    async def rematch(self, lobby: str) -> Done:
        return await self._do(lambda id: Rematch(id=id, lobby=lobby))

    async def close_lobby(self, lobby: str) -> Done:
        return await self._do(lambda id: Close(id=id, lobby=lobby))

    async def arrange(self, lobby: str, matches: Sequence[Arrangement]) -> Arranged:
        """Have matches played in an arranged lobby; returns a line for each of them, in order.

        Harmless to say again: a tag that is known is answered with how it stands. More than
        fits into one frame travels as several requests; when a later one is refused, the
        matches of those before it are arranged all the same.
        """
        parts = portions(matches, self.welcome.limits.frame_bytes)
        answers = [await self._arrange(lobby, part) for part in parts]
        briefs = [brief for answer in answers for brief in answer.matches]
        return Arranged(re=answers[-1].re if answers else 0, matches=briefs)

    # --- matches --------------------------------------------------------------------------

    async def watch(self, match: str) -> Done:
        """Follow a match; a `Snapshot` comes as news, and then its events."""
        return await self._do(lambda id: Watch(id=id, match=match))

    async def unwatch(self, match: str) -> Done:
        return await self._do(lambda id: Unwatch(id=id, match=match))

    async def rejoin(self, match: str) -> Done:
        """Take the own seat here. After a reconnect the client does this by itself."""
        return await self._do(lambda id: Rejoin(id=id, match=match))

    async def move(
        self,
        match: str,
        ply: int,
        action: Mapping[str, bool | int | str],
        comment: Comment | None = None,
    ) -> Done:
        """Play at `ply`; the answer's `seq` numbers the entry. Applied once, come what may."""
        fields = dict(action)
        return await self._do(
            lambda id: Move(id=id, match=match, ply=ply, action=fields, comment=comment)
        )

    async def resign(
        self, match: str, fault: Literal["crash", "illegal"] | None = None, detail: str = ""
    ) -> Done:
        """Give a match up; `fault` says that the bot failed, and how."""
        return await self._do(
            lambda id: Resign(id=id, match=match, fault=fault, detail=detail[:200])
        )

    async def leave_match(self, match: str) -> Done:
        return await self._do(lambda id: LeaveMatch(id=id, match=match))

    async def report(self, match: str, seat: int | None = None) -> Reported:
        """What there is to know of the seats at fault in a match that is over."""
        return await self._ask(lambda id: AskReport(id=id, match=match, seat=seat), Reported)

    async def note(self, match: str, text: str) -> Done:
        """Write a line into the own record, which nobody else sees."""
        return await self._do(lambda id: Note(id=id, match=match, text=text))

    async def history(self, match: str, first: int = 1, count: int = 200) -> EventList:
        return await self._ask(
            lambda id: History(id=id, match=match, first=first, count=count), EventList
        )

    # --- requests -------------------------------------------------------------------------

    async def _arrange(self, lobby: str, matches: list[Arrangement]) -> Arranged:
        return await self._ask(lambda id: Arrange(id=id, lobby=lobby, matches=matches), Arranged)

    async def _do(self, build: Callable[[int], Request]) -> Done:
        return await self._ask(build, Done)

    async def _ask(self, build: Callable[[int], Request], kind: type[_AnswerT]) -> _AnswerT:
        """Send a request and wait for its answer, across reconnects.

        Cancelling this waits no longer; what was sent may still be carried out.
        """
        answer = await self._answer(build(self._session.new_id()))
        if isinstance(answer, Refused):
            raise RefusedError.of(answer)
        if not isinstance(answer, kind):
            raise GarbledError(f"expected {kind.__name__}, the answer is {type(answer).__name__}")
        return answer

    async def _answer(self, request: Request) -> Answer:
        self._session.ask(request)
        future: asyncio.Future[Answer] = self._loop.create_future()
        self._waiting[request.id] = future
        self._wake.set()
        try:
            return await future
        finally:
            del self._waiting[request.id]
            self._session.withdraw(request.id)

    # --- the one task ---------------------------------------------------------------------

    async def _live(self) -> None:
        try:
            while self._session.state is not State.ENDED:
                await self._attempt()
        except Exception as error:
            # A fault of ours: everybody who waits must hear of it, and the task fails.
            self._heed(self._session.close(SessionError(f"the client failed: {error!r}")))
            raise

    async def _attempt(self) -> None:
        """Wait until a connection is due, open it, and stay with it until its end."""
        await asyncio.sleep(max(0, self._session.connect_at - self._now()) / 1000)
        try:
            connection = await connect(
                self.url,
                compression=None,
                proxy=None,
                max_size=MAX_NEWS,
                open_timeout=PING_S,
                ping_interval=PING_S,
                ping_timeout=PING_S,
                close_timeout=CLOSE_S,
            )
        except (OSError, EOFError, WebSocketException) as error:
            self._failed(error)
            return
        try:
            await self._attend(connection)
        finally:
            await _shut(connection)

    def _failed(self, error: Exception) -> None:
        if _is_passing(error):
            self._heed(self._session.lost(self._now(), None, f"{self.url}: {_sentence(error)}"))
        else:
            fatal = UnreachableError(f"{self.url}: {_sentence(error)}")
            self._heed(self._session.close(fatal))

    async def _attend(self, connection: ClientConnection) -> None:
        self._session.connected(self._now())
        async with asyncio.TaskGroup() as group:
            writing = group.create_task(self._write(connection))
            await self._read(connection)
            writing.cancel()
        if self._session.live:
            code, reason = connection.close_code, connection.close_reason or ""
            self._heed(self._session.lost(self._now(), code, reason))

    async def _read(self, connection: ClientConnection) -> None:
        """Until the connection ends, or the session has had enough of it."""
        with contextlib.suppress(ConnectionClosed):
            while self._session.live:
                frame = await connection.recv(decode=False)
                self._heed(self._session.receive(frame, self._now()))
                self._wake.set()

    async def _write(self, connection: ClientConnection) -> None:
        try:
            while self._session.live:
                self._wake.clear()
                await self._flush(connection)
                await self._doze()
                self._heed(self._session.tick(self._now()))
            connection.transport.abort()
        except TimeoutError:
            # The server reads nothing: the reader notices that the connection is gone.
            connection.transport.abort()
        except ConnectionClosed:
            # The reader notices too, after it has read what is left.
            pass

    async def _flush(self, connection: ClientConnection) -> None:
        for frame in self._session.frames(self._now()):
            async with asyncio.timeout(SEND_S):
                await connection.send(frame, text=True)

    async def _doze(self) -> None:
        """Until there is something to send or a time has come."""
        deadline = self._session.deadline()
        wait = None if deadline is None else max(0, deadline - self._now()) / 1000
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(wait):
                await self._wake.wait()

    async def _stop(self) -> None:
        """Close, and return when the task is over; whoever cancels this gets it at once."""
        self._heed(self._session.close())
        self._life.cancel()
        try:
            await asyncio.wait({self._life})
        except asyncio.CancelledError:
            self._life.cancel()
            await asyncio.wait({self._life})
            raise
        if not self._life.cancelled():
            self._life.result()

    # --- what has happened ----------------------------------------------------------------

    def _heed(self, happenings: Sequence[Happening]) -> None:
        for happening in happenings:
            self._heed_one(happening)

    def _heed_one(self, happening: Happening) -> None:
        match happening:
            case Opened(welcome=welcome):
                if not self._opened.done():
                    self._opened.set_result(welcome)
            case Answered(id=id, answer=answer):
                if (future := self._waiter(id)) is not None:
                    future.set_result(answer)
            case Unanswered(id=id, why=why):
                if (future := self._waiter(id)) is not None:
                    future.set_exception(self._session.error or UnansweredError(why))
            case Told(news=news):
                self._deliver(news)
            case Gone():
                self._deliver(happening)
            case Lost(code=code, reason=reason):
                said = printable.line(reason)
                _log.info("connection lost (%s %s), trying again", code, said)
            case Ended(error=error):
                self._inbox.close(error)
                if not self._opened.done():
                    self._opened.set_exception(error)

    def _waiter(self, id: int) -> asyncio.Future[Answer] | None:
        future = self._waiting.get(id)
        return None if future is None or future.done() else future

    def _deliver(self, news: News | Gone) -> None:
        if not self._inbox.put(news):
            most = self._inbox.most
            self._heed(self._session.close(BacklogError(f"{most} messages of news not read")))

    def _now(self) -> int:
        return int(self._loop.time() * 1000)


def portions(matches: Sequence[Arrangement], frame_bytes: int) -> Iterator[list[Arrangement]]:
    """Cut matches into requests that the server reads: by their number, and by their size."""
    part: list[Arrangement] = []
    size = 0
    for each in matches:
        more = len(encode(each)) + 1
        if part and (len(part) == MOST_ARRANGED or size + more > frame_bytes - ENVELOPE):
            yield part
            part, size = [], 0
        part.append(each)
        size += more
    if part:
        yield part


class _Inbox:
    """News that was not read yet: bounded, closable, in order."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._news: deque[News | Gone] = deque()
        self._changed = asyncio.Event()
        self._closed = False
        self._error: SessionError | None = None

    def put(self, news: News | Gone) -> bool:
        """Whether there was room."""
        if len(self._news) >= self.most:
            return False
        self._news.append(news)
        self._changed.set()
        return True

    def close(self, error: SessionError) -> None:
        self._closed = True
        self._error = error
        self._changed.set()

    async def get(self) -> News | Gone | None:
        """The next news; None after the end, unless it ended with an error."""
        while not self._news and not self._closed:
            self._changed.clear()
            await self._changed.wait()
        if self._news:
            return self._news.popleft()
        if self._error is not None and not isinstance(self._error, ClosedError):
            raise self._error
        return None


async def _shut(connection: ClientConnection) -> None:
    """Close under a deadline, for `close` alone waits as long as the peer reads nothing."""
    try:
        async with asyncio.timeout(2 * CLOSE_S):
            await connection.close()
    except TimeoutError:
        pass
    finally:
        connection.transport.abort()


def _is_passing(error: Exception) -> bool:
    """Whether a connection that could not be opened may be possible in a while."""
    if isinstance(error, InvalidStatus):
        return error.response.status_code in _BUSY
    if isinstance(error, ssl.SSLCertVerificationError):
        return False
    return isinstance(error, (OSError, EOFError, InvalidMessage))


def _sentence(error: Exception) -> str:
    return str(error) or type(error).__name__


def _millis(seconds: float | None) -> int | None:
    return None if seconds is None else int(seconds * 1000)


def _first_id(identity: Identity) -> int:
    """A player who may have been here before must not use an id of then: start at the clock."""
    if identity.token is None and identity.resume is None:
        return 1
    return int(time.time() * 1000)


def _lobbies_after(after: int, id: int) -> ListLobbies:
    return ListLobbies(id=id, after=after, limit=MOST_LISTED)


def _matches_after(lobby: str | None, after: int, id: int) -> ListMatches:
    return ListMatches(id=id, lobby=lobby, after=after, limit=MOST_LISTED)
