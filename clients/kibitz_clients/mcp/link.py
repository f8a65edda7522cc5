"""The connection of a player whose moves are tool calls; it opens at the first call.

A task keeps the `ClientState` up to date between calls. The calls use this module to wait for
messages and answers.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, TypeVar

from kibitz_clients.matches.client_state import ClientState
from kibitz_clients.mcp.progress import PROGRESS_SECONDS, Progress
from kibitz_clients.wording import descriptions
from kibitz_games.core.game import Game
from kibitz_protocol import printable
from kibitz_protocol.client.client import Client, Connector
from kibitz_protocol.client.errors import KibitzError
from kibitz_protocol.client.events import MatchLost, News
from kibitz_protocol.wire.messages import LobbyClosed

ANSWER_SECONDS: Final = 20.0
"""The timeout of a call for the server's answer in seconds.

Requests survive a server restart, but agents need an answer sooner.
"""
_T = TypeVar("_T")
Explain = Callable[[Exception], str]
"""A function that turns an error into a sentence for the caller."""


class CallError(Exception):
    """A call that failed; the message is a sentence for the caller."""


class ServerLink:
    """The connection to the server, opened by the first call that needs it.

    An agent can therefore start before the server.

    `connection` is None until `keep_connected` has opened it.
    """

    def __init__(
        self, connection: Client | None, games: Mapping[str, Game], now: Callable[[], int]
    ) -> None:
        self.state = ClientState(games)
        self.notices: list[str] = []
        """Sentences that no call has returned yet."""
        self._connection = connection
        self._now = now
        self._changed = asyncio.Event()
        """Set and replaced at every message; waiting calls wait for the current one."""
        self._ended: str | None = None
        """The reason why the connection ended."""
        self._attempt: asyncio.Future[str | None] | None = None
        """The current attempt to connect; its result is None, or the reason why it failed."""
        self._wanted = asyncio.Event()
        """The event that requests an attempt to connect."""

    async def keep_connected(self, connect: Connector, explain: Explain) -> None:
        """Connect when a call needs it, and process messages until the session ends.

        `explain` turns the error of a failed attempt into a sentence.
        """
        while self._connection is None:
            await self._wanted.wait()
            problem: str | None = "the connection to the server failed"
            try:
                async with connect() as self._connection:
                    self._answer_attempt(None)
                    await self.follow()
            except (KibitzError, OSError, ValueError) as error:
                problem = explain(error)
            finally:
                self._answer_attempt(problem)

    def _answer_attempt(self, problem: str | None) -> None:
        self._wanted.clear()
        if self._attempt is not None and not self._attempt.done():
            self._attempt.set_result(problem)
        self._attempt = None

    async def server(self) -> Client:
        """Return the connection; try to open it if there is none.

        Raises `CallError` with the reason if that fails.
        """
        if self._connection is None:
            if self._ended is not None:
                raise CallError(self._ended)
            problem = await asyncio.shield(self.begin_to_connect())
            if self._connection is None:
                raise CallError(problem or "not connected to the server")
        return self._connection

    def begin_to_connect(self) -> asyncio.Future[str | None]:
        """Make `keep_connected` try to connect once; return a future with the outcome."""
        if self._attempt is None:
            self._attempt = asyncio.get_running_loop().create_future()
            self._wanted.set()
        return self._attempt

    async def follow(self) -> None:
        """Process messages until the session ends."""
        assert self._connection is not None, "follow() needs a connection"
        try:
            async for message in self._connection.news():
                self.take_in(message)
        except KibitzError as error:
            self._ended = descriptions.explain_error(error)
        else:
            self._ended = "the connection to the server has ended"
        self._notify()

    def take_in(self, message: News | MatchLost) -> None:
        """Process one message from the server."""
        self.state.apply(message, self._now())
        match message:
            case LobbyClosed(lobby=lobby, reason=reason):
                self.notices.append(descriptions.lost_lobby(lobby, reason))
            case MatchLost(match=match, message=sentence):
                self.notices.append(f"match {match}: {printable.line(sentence)}")
        self._notify()

    def end(self, why: str) -> None:
        """Fail waiting and future calls with the sentence `why`."""
        self._ended = why
        self._notify()

    def _notify(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    async def wait_until(
        self, happened: Callable[[], bool], seconds: float, progress: Progress | None = None
    ) -> bool:
        """Wait for messages until `happened` is true; return whether it is."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        while not happened():
            self.require_connection()
            left = began + seconds - loop.time()
            if left <= 0:
                return False
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), min(left, PROGRESS_SECONDS))
                continue
            if progress is not None:
                await progress(loop.time() - began)
        return True

    def require_connection(self) -> None:
        """Raise `CallError` if the session has ended."""
        if self._ended is not None:
            raise CallError(self._ended)

    async def ask(self, request: Awaitable[_T]) -> _T:
        """Return the answer to a request; raises `CallError` if it is refused or late."""
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                return await request
        except TimeoutError:
            where = "slow" if self._connection and self._connection.online else "unreachable"
            raise CallError(
                f"the server is {where} and has not answered within {ANSWER_SECONDS:g} s; it may"
                " still carry out your request, so look before you repeat it"
            ) from None
        except (KibitzError, OSError, ValueError) as error:
            raise CallError(descriptions.explain_error(error)) from None
