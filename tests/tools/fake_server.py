"""A scripted server for testing bots and the runner without sockets.

server = FakeServer(seats=["m1"])
run = asyncio.create_task(run_bot(MyBot, server, lobby="L1"))
server.send(snapshot("m1"), your_turn("m1", legal=[{"take": 1}]))
call = await server.expect("move")      # Call(name="move", about="m1", details=(0, {...}, None))
server.send(finished("m1"))
"""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TextIO

from kibitz_bots.budget import ClockFunction
from kibitz_bots.running.connection import BotConnection, RunConfig, RunStats, Shutdown
from kibitz_bots.spec import BotFactory
from kibitz_protocol.client.client import Client
from kibitz_protocol.client.events import MatchLost, News
from kibitz_protocol.client.hall import Hall
from kibitz_protocol.client.hosting import Hosting
from kibitz_protocol.wire.clocks import TimeControl
from kibitz_protocol.wire.lobbies import LobbyBrief, SeekTerms
from kibitz_protocol.wire.messages import (
    Done,
    Finished,
    Limits,
    LobbyList,
    Snapshot,
    Welcome,
    YourTurn,
)
from kibitz_protocol.wire.records import (
    Cause,
    Comment,
    Conduct,
    Player,
    Result,
    SeatResult,
    Spectating,
)

PLAYER = "me"
"""The id of the player under test, which has seat 0 in every match."""


@dataclass(frozen=True)
class Call:
    """A request from the bot's side."""

    name: str
    about: str
    """The match or the lobby."""
    details: tuple[Any, ...] = ()


class _FakeHall(Hall):
    def __init__(self, server: FakeServer) -> None:
        self._server = server

    async def lobbies(self) -> LobbyList:
        await self._server.record("lobbies", "")
        return LobbyList(re=1, lobbies=self._server.open_lobbies)


class _FakeHosting(Hosting):
    def __init__(self, server: FakeServer) -> None:
        self._server = server

    async def rematch(self, lobby: str) -> Done:
        return await self._server.record("rematch", lobby)


class FakeServer(Client):
    """A `Client` without a server: delivers the given messages and records every call.

    A call is answered immediately, unless `refuse` has set an error for it, or `holding` an event
    to wait for.
    """

    def __init__(self, seats: Sequence[str] = (), lobbies: Sequence[str] = ()) -> None:
        super().__init__("ws://127.0.0.1:1", name=PLAYER)
        self._welcome = Welcome(
            re=1,
            version=1,
            player=PLAYER,
            name=PLAYER,
            kind="bot",
            resume="a secret",
            server="fake",
            limits=Limits(frame_bytes=16384, messages_per_second=100, burst=100, lobbies=10),
            seats=list(seats),
            lobbies=list(lobbies),
        )
        self.hall = _FakeHall(self)
        self.hosting = _FakeHosting(self)
        self.open_lobbies: list[LobbyBrief] = []
        self.sought = "L1"
        """The lobby in the answer to a seek."""
        self.calls: list[Call] = []
        self.holding: dict[str, asyncio.Event] = {}
        self._errors: dict[str, list[Exception]] = {}
        self._news: asyncio.Queue[News | MatchLost | None] = asyncio.Queue()
        self._changed = asyncio.Condition()
        # The number of calls that `expect` has consumed.
        self._seen = 0

    @property
    def welcome(self) -> Welcome:
        """The server's welcome to the player under test."""
        return self._welcome

    def send(self, *messages: News | MatchLost | None) -> None:
        """Send a message; None ends the connection."""
        for message in messages:
            self._news.put_nowait(message)

    def refuse(self, name: str, *errors: Exception) -> None:
        """Raise these errors, one per call, instead of answering."""
        self._errors.setdefault(name, []).extend(errors)

    async def expect(self, name: str) -> Call:
        """Wait for the next call with this name, skipping others."""
        async with self._changed:
            while True:
                for call in self.calls[self._seen :]:
                    self._seen += 1
                    if call.name == name:
                        return call
                await self._changed.wait()

    def calls_of(self, name: str) -> list[Call]:
        """Return all calls with this name so far."""
        return [call for call in self.calls if call.name == name]

    async def news(self) -> AsyncIterator[News | MatchLost]:
        """Yield the messages in order."""
        while (message := await self._news.get()) is not None:
            yield message

    async def record(self, name: str, about: str, *details: object) -> Done:
        """Record a call and answer it."""
        async with self._changed:
            self.calls.append(Call(name, about, details))
            self._changed.notify_all()
        if gate := self.holding.get(name):
            await gate.wait()
        if errors := self._errors.get(name):
            raise errors.pop(0)
        return Done(re=1)

    async def move(
        self, match: str, ply: int, action: Mapping[str, Any], comment: Comment | None = None
    ) -> Done:
        return await self.record("move", match, ply, dict(action), comment)

    async def resign(self, match: str, fault: str | None = None, detail: str = "") -> Done:
        return await self.record("resign", match, fault, detail)

    async def note(self, match: str, text: str) -> Done:
        return await self.record("note", match, text)

    async def leave_match(self, match: str) -> Done:
        return await self.record("leave_match", match)

    async def join(
        self,
        lobby: str,
        *,
        invite: str | None = None,
        role: Literal["player", "spectator"] = "player",
    ) -> Done:
        return await self.record("join", lobby, invite)

    async def seek(self, terms: SeekTerms, *, wait_s: int = 300) -> Done:
        await self.record("seek", terms.item.game, wait_s)
        return Done(re=1, lobby=self.sought)

    async def leave(self, lobby: str) -> Done:
        return await self.record("leave", lobby)

    async def ready(self, lobby: str, ready: bool = True) -> Done:
        return await self.record("ready", lobby, ready)


async def run_bot(
    make: BotFactory,
    peer: FakeServer,
    *,
    stop: Shutdown | None = None,
    terminal: TextIO | None = None,
    clock: ClockFunction | None = None,
    **aim: Any,
) -> RunStats:
    """Run a bot against a scripted server; `aim` contains fields of `RunConfig`."""
    run = BotConnection(peer, make, RunConfig(**aim), make(), terminal or io.StringIO(), clock)
    return await run.until(stop or Shutdown())


def snapshot(match: str, *, game: str = "nim", ply: int = 0, **fields: Any) -> Snapshot:
    """Return a two-player match with the player under test in seat 0."""
    seats = [
        Player(player=PLAYER, name=PLAYER, kind="bot"),
        Player(player="they", name="they", kind="bot"),
    ]
    defaults: dict[str, Any] = {
        "why": "started",
        "rules_version": 1,
        "options": {},
        "seats": seats,
        "you": 0,
        "seq": 0,
        "to_act": 0,
        "view": {},
        "time_control": TimeControl(),
        "conduct": Conduct(),
        "spectating": Spectating(),
        "commitment": "",
    }
    return Snapshot(match=match, game=game, ply=ply, **(defaults | fields))


def your_turn(
    match: str, *, game: str = "nim", ply: int = 0, legal: Sequence[Mapping[str, Any]] = ({},)
) -> YourTurn:
    """Return the announcement of a turn of seat 0, without a clock."""
    moves = [dict(move) for move in legal]
    return YourTurn(
        match=match, game=game, seat=0, ply=ply, view={}, legal=moves, legal_count=len(moves)
    )


def finished(match: str, plies: int = 1) -> Finished:
    """Return the end of a match won by seat 0."""
    seats = [SeatResult(rank=1, score=1.0), SeatResult(rank=2, score=0.0)]
    result = Result(seats=seats, cause=Cause.RULES, reason="goal", plies=plies)
    return Finished(match=match, seq=1, result=result, view={}, seed="0", record="")
