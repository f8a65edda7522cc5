"""A server's arranged lobby in memory, for tests of the code that arranges its games."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field

from kibitz_arena.tournament import Tournament
from kibitz_protocol.client.errors import RefusedError
from kibitz_protocol.wire.lobbies import (
    Arrangement,
    LobbyPhase,
    LobbySettings,
    LobbyView,
    MatchBrief,
    Member,
    ReservedSeat,
)
from kibitz_protocol.wire.messages import Arranged, LobbyNews, MatchEnded
from kibitz_protocol.wire.records import Cause, Player, Result, SeatResult
from kibitz_protocol.wire.refusals import Code

LOBBY = "L1"


@dataclass
class FakeLobby:
    """The server's state, which outlives connections."""

    event: Tournament
    rng: random.Random
    seconds: float = 5.0
    """The maximum duration of a match."""
    lossy: float = 0.0
    """The share of lost updates."""
    fails: Callable[[str], bool] = lambda tag: False
    """Returns whether the server fails to play the match of a tag."""
    state: LobbyPhase = "running"
    away: set[str] = field(default_factory=set)
    briefs: dict[str, MatchBrief] = field(default_factory=dict)
    ends: dict[str, float] = field(default_factory=dict)
    """When each match ends, by the clock of the loop that last requested it."""
    begun: list[str] = field(default_factory=list)
    """Tags in the order in which their matches started, without duplicates."""
    most: int = 0
    """The maximum number of concurrent matches so far."""

    def view(self) -> LobbyView:
        members = [
            Member(
                player=f"g{seat}",
                name=name,
                kind="bot",
                seat=seat,
                ready=True,
                connected=name not in self.away,
            )
            for seat, name in enumerate(self.event.names)
        ]
        seats = [ReservedSeat(name=name) for name in self.event.names]
        return LobbyView(
            lobby=LOBBY,
            settings=LobbySettings(seats=list(seats), programme=[], arranged=True),
            host="host",
            state=self.state,
            round=1,
            members={member.player: member for member in members},
            planned=0,
            done=0,
            live={},
            standings={},
        )

    def take(self, wanted: Arrangement) -> MatchBrief | None:
        """Start a match unless its tag is known, and return its state."""
        if wanted.tag not in self.briefs:
            self.begun.append(wanted.tag)
            self.briefs[wanted.tag] = MatchBrief(
                match=f"m{len(self.begun)}",
                lobby=LOBBY,
                number=len(self.begun),
                game=wanted.item.game,
                seats=[Player(player=each, name=each, kind="bot") for each in wanted.players],
                tag=wanted.tag,
            )
            self.most = max(self.most, len(self.live))
        return self.briefs[wanted.tag]

    @property
    def live(self) -> list[MatchBrief]:
        return [brief for brief in self.briefs.values() if brief.result is None and not brief.void]

    def end(self, tag: str) -> MatchBrief:
        brief = self.briefs[tag]
        trouble = self.fails(tag)
        order = list(range(1, len(brief.seats) + 1))
        self.rng.shuffle(order)
        result = Result(
            seats=[SeatResult(rank=rank, score=0) for rank in order],
            cause=Cause.INFRASTRUCTURE if trouble else Cause.RULES,
            plies=7,
        )
        self.briefs[tag] = brief.model_copy(update={"result": result})
        return self.briefs[tag]

    def void(self, tag: str) -> None:
        self.briefs[tag] = self.briefs[tag].model_copy(update={"void": True})


class FakeConnection:
    """The host's connection to a lobby; matches also end while there is none."""

    def __init__(self, lobby: FakeLobby) -> None:
        self.hosting = self
        self.lobby = lobby
        self.asked: list[list[str]] = []
        self.refusals: list[Code] = []
        self._news: asyncio.Queue[object] = asyncio.Queue()
        self._tasks: set[asyncio.Task[None]] = set()
        for brief in lobby.live:
            assert brief.tag is not None
            self._schedule(brief.tag)
        self.tell()

    def tell(self) -> None:
        """Send the current lobby."""
        self._news.put_nowait(LobbyNews(lobby=self.lobby.view()))

    def put(self, message: object) -> None:
        self._news.put_nowait(message)

    async def news(self) -> AsyncIterator[object]:
        while (message := await self._news.get()) is not None:
            yield message

    async def arrange(self, lobby: str, matches: Sequence[Arrangement]) -> Arranged:
        assert lobby == LOBBY
        self.asked.append([each.tag for each in matches])
        await asyncio.sleep(0.01 * self.lobby.rng.random())
        if self.refusals:
            raise RefusedError(self.refusals.pop(0), "not now")
        fresh = [each.tag for each in matches if each.tag not in self.lobby.briefs]
        briefs = [self.lobby.take(each) for each in matches]
        for tag in fresh:
            self._schedule(tag)
        await asyncio.sleep(0.01 * self.lobby.rng.random())
        return Arranged(re=1, matches=briefs)

    def _schedule(self, tag: str) -> None:
        task = asyncio.create_task(self._play(tag))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _play(self, tag: str) -> None:
        await asyncio.sleep(self.lobby.seconds * self.lobby.rng.random())
        brief = self.lobby.end(tag)
        if self.lobby.rng.random() >= self.lobby.lossy:
            self._news.put_nowait(MatchEnded(lobby=LOBBY, match=brief))
