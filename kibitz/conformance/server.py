"""A scripted server for one bot: one lobby with the matches that the checks start.

It uses the real protocol over a real socket and the real match engine
(`kibitz_server.match.engine`). It does nothing that a correct server could not do. The checks
control when a connection breaks, when an answer is late, and what time it is.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import AsyncIterator
from typing import Protocol, TypeAlias

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from kibitz_protocol.wire import messages
from kibitz_protocol.wire.codec import DecodeError, decode_request, encode
from kibitz_protocol.wire.lobbies import LobbySettings, LobbyView, Member, OpenSeat, ProgrammeItem
from kibitz_protocol.wire.messages import ClientMessage, Hello, ServerMessage
from kibitz_protocol.wire.records import Player
from kibitz_protocol.wire.refusals import HINTS, Code
from kibitz_protocol.wire.values import Fields
from kibitz_protocol.wire.visibility import WantedViews

LOBBY = "doctor"
NAME = "tested-bot"
SECRET = "the-secret-of-the-tested-bot"
LIMITS = messages.Limits(frame_bytes=16_384, messages_per_second=50, burst=100, lobbies=1)
PONG_TIMEOUT_S = 5.0

_MatchRequest: TypeAlias = (
    messages.Move
    | messages.Resign
    | messages.LeaveMatch
    | messages.Note
    | messages.Rejoin
    | messages.History
)


class MatchHandler(Protocol):
    """The server's interface to a match."""

    @property
    def running(self) -> bool:
        """Whether the match is still running."""

    def handle(self, message: _MatchRequest) -> None:
        """Handle a request of the bot."""

    def connection_lost(self) -> None:
        """Handle the loss of the bot's connection."""


class ConformanceServer:
    """The state of the scripted server, created by `start_conformance_server`."""

    def __init__(self) -> None:
        self.player = Player(player="p1", name=NAME, kind="bot")
        self.hello: Hello | None = None
        """The first accepted hello."""
        self.views: WantedViews = "turn"
        """Which messages include the view, from the latest hello."""
        self.matches: dict[str, MatchHandler] = {}
        self.programme: list[ProgrammeItem] = []
        """The programme that the lobby announces."""
        self.connected = asyncio.Event()
        """Set while the bot is connected and welcomed."""
        self.ready = asyncio.Event()
        self.violations: list[str] = []
        """The bot's protocol violations outside of matches."""
        self.url = ""
        self._numbers = itertools.count(1)
        self._socket: ServerConnection | None = None
        self._outgoing: asyncio.Queue[str] = asyncio.Queue()
        self._writers: dict[ServerConnection, asyncio.Task[None]] = {}
        self._member = False
        self._closed = False

    # --- interface for the checks ---------------------------------------------------------------

    def next_number(self) -> int:
        """Return an unused match number."""
        return next(self._numbers)

    def send(self, message: ServerMessage) -> None:
        """Send a message if the bot is connected."""
        if self._socket is None:
            return
        text = encode(message).decode()
        self._outgoing.put_nowait(text)

    def refuse(self, request: int, code: Code, message: str, **more: int | None) -> None:
        """Answer a request with a refusal."""
        hint = HINTS[code]
        self.send(messages.Refused(re=request, code=code, message=message, hint=hint, **more))

    def abort_connection(self) -> None:
        """Break the connection, as a network failure would."""
        if self._socket is not None:
            self._socket.transport.abort()
            self._connection_lost(self._socket)

    async def flush(self) -> None:
        """Return when everything that the bot has sent so far has been read."""
        if self._socket is not None:
            with contextlib.suppress(ConnectionClosed, TimeoutError):
                async with asyncio.timeout(PONG_TIMEOUT_S):
                    await (await self._socket.ping())

    def send_lobby(self) -> None:
        """Send the lobby's state if the bot has joined it."""
        if self._member:
            self.send(messages.LobbyNews(lobby=self._view()))

    def close_lobby(self) -> None:
        """Close the lobby, as a host would."""
        self._closed = True
        self.send(messages.LobbyClosed(lobby=LOBBY, reason="closed"))

    # --- one connection -------------------------------------------------------------------------

    async def serve(self, socket: ServerConnection) -> None:
        """Serve one connection to its end."""
        try:
            async for frame in socket:
                self._read(socket, frame)
        except ConnectionClosed:
            pass
        finally:
            self._connection_lost(socket)
            if (writer := self._writers.pop(socket, None)) is not None:
                writer.cancel()

    async def _write(self, socket: ServerConnection, outgoing: asyncio.Queue[str]) -> None:
        with contextlib.suppress(ConnectionClosed):
            while True:
                await socket.send(await outgoing.get())

    def _connection_lost(self, socket: ServerConnection) -> None:
        if socket is not self._socket:
            return
        self._socket = None
        self.connected.clear()
        for match in self.matches.values():
            match.connection_lost()

    def _read(self, socket: ServerConnection, frame: str | bytes) -> None:
        try:
            request = decode_request(frame)
        except DecodeError as error:
            self.violations.append(f"an invalid message ({error}): {frame!r:.200}")
            self.refuse(error.request, error.code, str(error))
            return
        if isinstance(request, Hello):
            self._handle_hello(socket, request)
        elif socket in self._writers and socket is not self._socket:
            pass  # it was in transit when the connection broke
        elif socket is not self._socket:
            self.violations.append(f"{request.type} before hello")
        else:
            self._handle_request(request)

    def _handle_hello(self, socket: ServerConnection, hello: Hello) -> None:
        """Welcome the first player; later, accept only the same player with its secret."""
        self._socket, self._outgoing = socket, asyncio.Queue()
        self._writers[socket] = asyncio.create_task(self._write(socket, self._outgoing))
        if self.hello is not None and hello.resume != SECRET:
            self.violations.append("it reconnected without the secret of its first welcome")
            self.refuse(hello.id, Code.NAME_TAKEN, f"the name {NAME!r} is already taken")
            return
        self.hello = self.hello or hello
        self.views = hello.views
        self.player = Player(player="p1", name=self.player.name, kind=hello.kind)
        self.send(
            messages.Welcome(
                re=hello.id,
                version=1,
                player=self.player.player,
                name=self.player.name,
                kind=hello.kind,
                resume=SECRET,
                server="kibitz bot check",
                limits=LIMITS,
                seats=[key for key, match in self.matches.items() if match.running],
                lobbies=[LOBBY] if self._member and not self._closed else [],
            )
        )
        self.connected.set()
        self.send_lobby()

    def _handle_request(self, request: ClientMessage) -> None:
        if isinstance(request, _MatchRequest):
            self._handle_match_request(request)
            return
        match request:
            case messages.Join() | messages.Ready() | messages.Leave():
                self._handle_lobby_request(request)
            case messages.ListGames():
                self.send(messages.GameList(re=request.id, games=[], personalities=[]))
            case messages.ListLobbies():
                self.send(messages.LobbyList(re=request.id, lobbies=[]))
            case messages.ListMatches():
                self.send(messages.MatchList(re=request.id, matches=[]))
            case messages.Hello():
                self.refuse(request.id, Code.WRONG_STATE, "this connection has already said hello")
            case messages.Watch() | messages.Unwatch():
                self.refuse(request.id, Code.NOT_WATCHABLE, "nothing to watch")
            case _:
                self.refuse(request.id, Code.NOT_HOST, "only the host may do this")

    def _handle_lobby_request(
        self, request: messages.Join | messages.Ready | messages.Leave
    ) -> None:
        if request.lobby != LOBBY or self._closed:
            self.refuse(request.id, Code.NO_SUCH_LOBBY, f"no lobby {request.lobby!r}")
            return
        lobby = LOBBY if isinstance(request, messages.Join) else None
        self.send(messages.Done(re=request.id, lobby=lobby))
        self._member = not isinstance(request, messages.Leave)
        match request:
            case messages.Join():
                self.send_lobby()
            case messages.Ready():
                self.ready.set()
                self._send_patch(
                    {"state": "running", "members": {self.player.player: {"ready": True}}}
                )
            case messages.Leave():
                self._send_patch({"members": {self.player.player: None}})

    def _send_patch(self, patch: Fields) -> None:
        self.send(messages.LobbyChanged(lobby=LOBBY, patch=patch))

    def _handle_match_request(self, request: _MatchRequest) -> None:
        match = self.matches.get(request.match)
        if match is None:
            self.refuse(request.id, Code.NO_SUCH_MATCH, f"no match {request.match!r}")
        else:
            match.handle(request)

    def _view(self) -> LobbyView:
        ready = self.ready.is_set()
        me = Member(
            player=self.player.player,
            name=self.player.name,
            kind=self.player.kind,
            seat=0,
            ready=ready,
            connected=True,
        )
        return LobbyView(
            lobby=LOBBY,
            settings=LobbySettings(name="doctor", seats=[OpenSeat()], programme=self.programme),
            host="host",
            state="running" if ready else "gathering",
            round=1,
            members={me.player: me},
            planned=len(self.programme),
            done=0,
            live={},
            standings={},
        )


@contextlib.asynccontextmanager
async def start_conformance_server() -> AsyncIterator[ConformanceServer]:
    """Run a conformance server on a free port of this machine for the length of the block."""
    server = ConformanceServer()
    async with serve(server.serve, "127.0.0.1", 0, compression=None, max_size=16_384) as listening:
        server.url = f"ws://127.0.0.1:{_port(listening)}"
        yield server


def _port(server: Server) -> int:
    port: int = next(iter(server.sockets)).getsockname()[1]
    return port
