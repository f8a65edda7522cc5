"""A client of a kibitz server: the session of `session.py` on a real websocket.

    async with Client("ws://127.0.0.1:8080", name="ada") as client:
        await client.join("L1")
        async for message in client.news():
            match message:
                case YourTurn():
                    await client.move(message.match, message.ply, message.legal[0])
                case LobbyClosed():
                    break

The client reconnects automatically and restores its seats, lobbies and watched matches. It resends
unanswered requests if that is harmless. One task of the event loop serves the connection. Run long
computations in a thread (`asyncio.to_thread`), so that they do not block it.

`connection.py` handles the websocket, and `exchange.py` pairs requests with answers. The requests
of players and spectators are methods of `Client` (`player_requests.py`). Requests about the whole
server are in `client.hall` (`hall.py`), those of hosts in `client.hosting` (`hosting.py`).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import time
from collections.abc import AsyncIterator, Callable
from types import TracebackType
from typing import Literal, Self, TypeAlias

from kibitz_protocol import printable
from kibitz_protocol.client.connection import ConnectionLoop, now_ms
from kibitz_protocol.client.credentials import ClientIdentity
from kibitz_protocol.client.errors import BacklogError, HelloRefusedError, SessionError
from kibitz_protocol.client.events import (
    Answered,
    Disconnected,
    MatchLost,
    News,
    NewsReceived,
    Opened,
    SessionEnded,
    SessionEvent,
    Unanswered,
)
from kibitz_protocol.client.exchange import RequestExchange
from kibitz_protocol.client.hall import Hall
from kibitz_protocol.client.hosting import Hosting
from kibitz_protocol.client.news_queue import NewsQueue
from kibitz_protocol.client.player_requests import PlayerRequests
from kibitz_protocol.client.retry import SessionTimeouts
from kibitz_protocol.client.session import Session, SessionState
from kibitz_protocol.wire.messages import Capabilities, Welcome
from kibitz_protocol.wire.refusals import Code
from kibitz_protocol.wire.server_address import websocket_url
from kibitz_protocol.wire.visibility import WantedViews

_log = logging.getLogger(__name__)
SILENT_SECONDS = 0.9
"""Seconds without a welcome after which the client logs a warning; it keeps trying."""
_SILENT = "no server has answered yet at %s; still trying"


class Client(PlayerRequests):
    """A player's connection to a server, kept open until the end of the `async with` block.

    `url` is the server's address (``ws://`` or ``wss://``; ``http://`` and ``https://`` mean the
    same), with its path if a proxy serves it under one. One of these identifies the player: `name`,
    for a guest; `token`, for an account; `resume`, the secret of an earlier welcome, for a guest
    who reconnects. `organizer`, together with `name` or `resume`, is the secret that an event's own
    server requires. `kind` tells others whether this is a bot or a human, `capabilities` lists the
    games that a bot can play, and `agent` is the name and version of the program.

    `patience` is how many seconds a server may be unreachable before the session ends, `opening`
    the same for the first connection; None means no limit. Without `seated`, the client does not
    take over the seats and lobbies of an earlier session. If more than `backlog` news messages are
    unread, the session ends with `BacklogError`. `chance` is the source of random numbers in [0, 1)
    for the pauses between connections.

    `Snapshot` and `Finished` always contain the whole view of a match. `views` sets which other
    messages contain it: the player's own turns (``turn``), these and every event that changes the
    view (``every``), or none (``none``). With ``turn``, an event of a game with hidden information
    carries the changes to the player's view; `wire.merge_patch.apply` applies them to the previous
    view.

    Entering the block waits for the server's welcome. It raises `HelloRefusedError`, with the code
    `name_taken`, `name_invalid`, `unauthorized` or `version`, if the server rejects this client,
    and `UnreachableError` if no server answers within `opening` seconds.

    Every request returns the server's answer and raises

    - `RefusedError` if the server refuses it; nothing has changed then. Its `code` is one of those
      that the method lists, or `limit`, `rate_limited`, `unavailable` or `internal`, which any
      request can get;
    - `UnansweredError` if the answer cannot be read, because the server is newer;
    - `SessionError` if the session is over; its subclass says why (`errors.py`);
    - `ValueError` if it exceeds the server's frame limit, and `pydantic.ValidationError`, a
      subclass, if an argument is out of bounds.

    Requests wait while the server is unreachable. Canceling one stops the wait; if it was already
    sent, the server may still carry it out.
    """

    hall: Hall
    """Lists of games, lobbies, matches and ratings; available inside the `async with` block."""
    hosting: Hosting
    """Requests of hosts; available inside the `async with` block."""

    def __init__(
        self,
        url: str,
        *,
        name: str | None = None,
        kind: Literal["bot", "human"] = "bot",
        token: str | None = None,
        organizer: str | None = None,
        resume: str | None = None,
        capabilities: Capabilities | None = None,
        agent: str = "",
        seated: bool = True,
        views: WantedViews = "turn",
        patience: float | None = 120.0,
        opening: float | None = 10.0,
        backlog: int = 100_000,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self.url = websocket_url(url)
        self._identity = ClientIdentity(
            name=name,
            kind=kind,
            token=token,
            organizer=organizer,
            resume=resume,
            capabilities=capabilities,
            agent=agent,
            seated=seated,
            views=views,
        )
        self._timeouts = SessionTimeouts(opening_ms=_millis(opening), away_ms=_millis(patience))
        self._chance = chance
        self._news_queue = NewsQueue(backlog)

    # --- lifetime -------------------------------------------------------------------------

    async def __aenter__(self) -> Self:
        self._opened: asyncio.Future[Welcome] = asyncio.get_running_loop().create_future()
        self._session = Session(
            self._identity,
            now_ms(),
            chance=self._chance,
            patience=self._timeouts,
            first_id=_first_request_id(self._identity),
        )
        self._connection = ConnectionLoop(self.url, self._session, self._handle_event)
        self._exchange = RequestExchange(self._session, self._connection.wake)
        self.hall = Hall(self._exchange)
        self.hosting = Hosting(self._exchange)
        self._task = asyncio.create_task(self._connection.run(), name=f"client of {self.url}")
        loop = asyncio.get_running_loop()
        waiting = loop.call_later(SILENT_SECONDS, _log.warning, _SILENT, printable.line(self.url))
        try:
            await self._opened
        except BaseException:
            await self._stop()
            raise
        finally:
            waiting.cancel()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._stop()

    async def _stop(self) -> None:
        """End the session and wait for the task, even if this wait is canceled."""
        self._connection.close()
        self._task.cancel()
        try:
            await asyncio.wait({self._task})
        except asyncio.CancelledError:
            self._task.cancel()
            await asyncio.wait({self._task})
            raise
        if not self._task.cancelled():
            self._task.result()

    # --- identity and state ---------------------------------------------------------------

    @property
    def welcome(self) -> Welcome:
        """The server's latest welcome; available inside the `async with` block."""
        if self._session.welcome is None:
            raise AssertionError("a client can only be used inside its async with block")
        return self._session.welcome

    @property
    def online(self) -> bool:
        """Whether the client is connected now; requests wait while it is not."""
        return self._session.state is SessionState.ONLINE

    @property
    def player(self) -> str:
        """The server's key for this player."""
        return self.welcome.player

    @property
    def name(self) -> str:
        """The name that the server shows to others."""
        return self.welcome.name

    @property
    def seats(self) -> list[str]:
        """Keys of the unfinished matches in which this player had a seat at the last welcome."""
        return self.welcome.seats

    @property
    def resume(self) -> str:
        """The secret with which another process can continue as this player."""
        return self.welcome.resume

    @property
    def error(self) -> SessionError | None:
        """The error that ended the session; None while the session lasts."""
        return self._session.error

    # --- news -----------------------------------------------------------------------------

    async def news(self) -> AsyncIterator[News | MatchLost]:
        """Yield the news that the server sends, in order and without duplicates.

        `MatchLost` reports a followed match that could not be resumed after a reconnect. The
        iteration ends when the client is closed. If the session ends for another reason, it raises
        that `SessionError`. All iterators share one stream: each message goes to one of them.
        """
        while (message := await self._news_queue.get()) is not None:
            yield message

    def _handle_event(self, event: SessionEvent) -> None:
        match event:
            case Opened(welcome=welcome):
                if not self._opened.done():
                    self._opened.set_result(welcome)
            case Answered() | Unanswered():
                self._exchange.handle(event)
            case NewsReceived(news=news):
                self._deliver(news)
            case MatchLost():
                self._deliver(event)
            case Disconnected(code=code, reason=reason):
                shown = printable.line(reason)
                _log.info("connection lost (%s %s); reconnecting", code, shown)
            case SessionEnded(error=error):
                self._news_queue.close(error)
                if not self._opened.done():
                    self._opened.set_exception(error)

    def _deliver(self, news: News | MatchLost) -> None:
        if not self._news_queue.put(news):
            unread = self._news_queue.capacity
            self._connection.close(BacklogError(f"{unread} unread news messages"))


def _millis(seconds: float | None) -> int | None:
    return None if seconds is None else int(seconds * 1000)


def _first_request_id(identity: ClientIdentity) -> int:
    """Return 1, or the current time if an earlier session of the player may have used small ids."""
    if identity.token is None and identity.resume is None:
        return 1
    return int(time.time() * 1000)


Connector: TypeAlias = Callable[[], contextlib.AbstractAsyncContextManager[Client]]
"""Returns a new client, which connects on ``async with``."""


@contextlib.asynccontextmanager
async def connect_again(
    make: Callable[[str | None], Client],
    resume: str | None,
    forget: Callable[[HelloRefusedError], None],
) -> AsyncIterator[Client]:
    """Connect with a resume secret; if the server does not recognize it, connect as a new player.

    `make` creates a client from the secret, or a new player from None. `forget` is called before
    the new player connects.
    """
    async with contextlib.AsyncExitStack() as stack:
        try:
            client = await stack.enter_async_context(make(resume))
        except HelloRefusedError as error:
            if resume is None or error.code is not Code.UNAUTHORIZED:
                raise
            forget(error)
            client = await stack.enter_async_context(make(None))
        yield client
