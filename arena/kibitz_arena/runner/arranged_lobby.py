"""A lobby whose games this process arranges, tracked by updates and responses.

Updates from the server say which games run and which have ended. All outstanding games are also
polled every `POLL_SECONDS`, so a lost update causes only a short delay. Callers record the games in
`over` and then call `forget`.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Final

from kibitz_protocol.client.client import Client
from kibitz_protocol.wire.lobbies import Arrangement, LobbyView, MatchBrief
from kibitz_protocol.wire.messages import LobbyClosed, LobbyNews, MatchEnded, MatchStarted
from kibitz_protocol.wire.records import Cause

POLL_SECONDS: Final = 10.0
"""How often all outstanding games are polled, in seconds."""


class LobbyGoneError(Exception):
    """The lobby is closed; its games can continue in another one."""


class ArrangedLobby:
    """The arranged lobby with the key `key`.

    `outstanding` returns the tags of games that were requested and are not in the journal yet;
    `viewed` is called with each new view before `view` changes.
    """

    def __init__(
        self,
        client: Client,
        key: str,
        outstanding: Callable[[], Collection[str]],
        viewed: Callable[[LobbyView], None],
    ) -> None:
        self._client = client
        self._key = key
        self._outstanding = outstanding
        self._viewed = viewed
        self.view: LobbyView | None = None
        """The latest view of the lobby."""
        self.started: set[str] = set()
        """Tags of outstanding games that are running."""
        self.over: dict[str, MatchBrief] = {}
        """Games that are over but not in the journal yet, by tag."""
        self.closed: str | None = None
        """Why the lobby no longer exists, None while it does."""
        self._wake = asyncio.Event()
        self._poll_at = -math.inf
        """When to poll all outstanding games next."""

    @property
    def running(self) -> bool:
        """Whether games can be arranged."""
        return self.view is not None and self.view.state == "running"

    async def play(self, step: Callable[[], Awaitable[None]], is_done: Callable[[], bool]) -> None:
        """Call `step` repeatedly until `is_done`, and process updates in parallel."""
        async with asyncio.TaskGroup() as group:
            listening = group.create_task(self._listen())
            while not is_done():
                self._wake.clear()
                await step()
            listening.cancel()

    def wake(self) -> None:
        """End `wait` because something has changed."""
        self._wake.set()

    async def wait(self, seconds: float) -> None:
        """Wait until something changes or a poll is due, up to a timeout."""
        moment = asyncio.get_running_loop().time()
        until = min(moment + seconds, self._poll_at if self.running else math.inf)
        try:
            async with asyncio.timeout_at(until):
                await self._wake.wait()
        except TimeoutError:
            if until == self._poll_at:  # the poll is due even if the timer fired slightly early
                self.poll_in(0)

    def poll_in(self, seconds: float) -> None:
        """Schedule the next poll after a delay."""
        self._poll_at = asyncio.get_running_loop().time() + seconds

    def take_poll(self) -> bool:
        """Return whether a poll is due, and mark it as done; the caller must then poll."""
        moment = asyncio.get_running_loop().time()
        if not self.running or moment < self._poll_at:
            return False
        self._poll_at = moment + POLL_SECONDS
        return True

    async def arrange(self, games: Sequence[Arrangement]) -> None:
        """Request new and outstanding games, and process those that are over."""
        answer = await self._client.hosting.arrange(self._key, games)
        for game, brief in zip(games, answer.matches, strict=True):
            if brief is not None:
                self._report(game.tag, brief)

    def forget(self, tags: Collection[str]) -> None:
        """Forget games that have been journaled."""
        for tag in tags:
            del self.over[tag]
        self.started.difference_update(tags)

    # Updates

    async def _listen(self) -> None:
        async for message in self._client.news():
            self._apply_message(message)
        self.closed = "the connection has ended"
        self._wake.set()

    def _apply_message(self, message: object) -> None:
        match message:
            case LobbyNews(lobby=view) if view.lobby == self._key:
                self._apply_view(view)
            case MatchStarted(lobby=self._key, match=brief) if brief.tag is not None:
                self.started.add(brief.tag)
            case MatchEnded(lobby=self._key, match=brief) if brief.tag is not None:
                self._apply_end(brief.tag, brief)
            case LobbyClosed(lobby=self._key, reason=reason):
                self.closed = reason
            case _:
                return
        self._wake.set()

    def _apply_view(self, view: LobbyView) -> None:
        self._viewed(view)
        self.view = view
        live = {match.tag for match in view.live.values() if match.tag is not None}
        if self.started - live - self.over.keys():  # a game has ended, and its update was lost
            self.poll_in(0)
        self.started = live

    def _apply_end(self, tag: str, brief: MatchBrief) -> None:
        """Accept a result; poll failed games, since the server may have replayed them."""
        self.started.discard(tag)
        if brief.result is None or brief.result.cause is Cause.INFRASTRUCTURE:
            self.poll_in(0)
        else:
            self._report(tag, brief)

    def _report(self, tag: str, brief: MatchBrief) -> None:
        """Store a game in `over` if it has ended and is not journaled yet."""
        if brief.result is None and not brief.void:
            self.started.add(tag)
        elif tag in self._outstanding():
            self.over[tag] = brief


async def uninterrupted(work: Awaitable[None]) -> None:
    """Wait for work to finish even if this task is canceled."""
    working = asyncio.ensure_future(work)
    try:
        await asyncio.shield(working)
    except asyncio.CancelledError:
        await asyncio.wait({working})
        raise
