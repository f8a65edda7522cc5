"""The interface between the screens and a server: the part of `Client` that they use.

It is a protocol class, so that tests can replace the connection without a server.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Literal, Protocol, TypeAlias

from kibitz_protocol.client.session import MatchLost, News
from kibitz_protocol.wire.messages import Done, EventList, LobbyList, MatchList
from kibitz_protocol.wire.records import Comment


class ServerConnection(Protocol):
    """A connection to a server that keeps itself up; requests raise `KibitzError`."""

    url: str
    """The websocket address of the server."""

    @property
    def player(self) -> str: ...

    @property
    def name(self) -> str: ...

    @property
    def seats(self) -> Sequence[str]:
        """The running matches in which this player had a seat at the welcome."""
        ...

    @property
    def online(self) -> bool:
        """Whether requests are answered now, rather than after a reconnect."""
        ...

    def news(self) -> AsyncIterator[News | MatchLost]: ...

    async def lobbies(self) -> LobbyList: ...

    async def matches(self, lobby: str | None = None) -> MatchList: ...

    async def join(
        self,
        lobby: str,
        *,
        invite: str | None = None,
        role: Literal["player", "spectator"] = "player",
    ) -> Done: ...

    async def leave(self, lobby: str) -> Done: ...

    async def ready(self, lobby: str, ready: bool = True) -> Done: ...

    async def start(self, lobby: str) -> Done: ...

    async def rematch(self, lobby: str) -> Done: ...

    async def watch(self, match: str) -> Done: ...

    async def unwatch(self, match: str) -> Done: ...

    async def move(
        self,
        match: str,
        ply: int,
        action: Mapping[str, bool | int | str],
        comment: Comment | None = None,
    ) -> Done: ...

    async def resign(self, match: str) -> Done: ...

    async def comment(self, match: str, text: str) -> Done: ...

    async def history(self, match: str, first: int = 1, count: int = 200) -> EventList: ...


Connector: TypeAlias = Callable[[], AbstractAsyncContextManager[ServerConnection]]
"""Makes a connection when it is entered."""
