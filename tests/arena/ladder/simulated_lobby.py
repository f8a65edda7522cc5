"""A server's arranged lobby in memory: real lobby rules with fake matches that only take time.

It uses the event loop's clock and outlives connections. It can be killed and is then restored from
its log.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field

from kibitz_protocol.client.errors import RefusedError
from kibitz_protocol.wire.lobbies import (
    Arrangement,
    HouseSeat,
    LobbySettings,
    LobbyView,
    MatchBrief,
)
from kibitz_protocol.wire.messages import (
    Arranged,
    Capabilities,
    LobbyClosed,
    LobbyNews,
    MatchEnded,
    MatchStarted,
)
from kibitz_protocol.wire.records import Cause, Engine, Player, Result, SeatResult
from kibitz_protocol.wire.refusals import Code
from kibitz_server.lobby import commands
from kibitz_server.lobby.commands import Command, Effect
from kibitz_server.lobby.engine import LobbyEngine
from kibitz_server.lobby.entries import Entry, Opened
from kibitz_server.lobby.views import arranged_briefs, changing_part, lobby_view, match_brief

LOBBY = "L1"
HOST = Player(player="h1", name="ladder evening", kind="human")
ANSWER_SECONDS = 0.01


@dataclass
class Behaviour:
    """The properties of simulated matches."""

    strength: dict[str, float] = field(default_factory=dict)
    """Strengths by name, in Elo; 0 for others."""
    seconds: tuple[float, float] = (2.0, 20.0)
    fails: Callable[[str], bool] = lambda name: False
    """Whether a player crashes."""
    trouble: float = 0.0
    """The share of matches with a server failure."""


class SimulatedLobby:
    """A simulated server's lobby; `connect` returns the host's connection."""

    def __init__(self, settings: LobbySettings, rng: random.Random, how: Behaviour) -> None:
        self.rng = rng
        self.how = how
        self.log: list[Entry] = []
        self.begun: Counter[str] = Counter()
        """How often the match of each tag was completed with a counted result, or started."""
        self.results: dict[str, tuple[str, tuple[str, ...], Result]] = {}
        """The finished matches by key: tag, players by seat, result."""
        self.last_busy: dict[str, float] = {}
        """The time of each player's last match."""
        self.connection: FakeHost | None = None
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._tick: asyncio.TimerHandle | None = None
        self.running = asyncio.Event()
        self.running.set()
        opened = Opened(
            lobby=LOBBY,
            host=HOST,
            settings=settings,
            invite="x",
            created="2026-01-01T00:00:00Z",
            seed=1,
            hidden=[],
            balanced=[],
        )
        self._durable: dict[str, Result] = {}
        """Results of matches whose log is on disk, whether or not the lobby knows them."""
        self.engine, step = LobbyEngine.new(opened, self._now())
        self._apply(step.effects, step.deadline)
        self._come_house()

    def _now(self) -> int:
        return round(asyncio.get_running_loop().time() * 1000)

    def _come_house(self) -> None:
        for seat, spec in enumerate(self.engine.state.settings.seats):
            if isinstance(spec, HouseSeat):
                name = spec.personality.partition("/")[2]
                player = Player(player=f"b{seat}", name=f"house {name}", kind="house")
                self.command(commands.Join(player, Capabilities(), house_seat=seat))
                self.command(commands.Ready(player.player))

    # Members

    def come(self, name: str, version: str = "", key: str = "") -> str:
        """Make a bot join and report ready; return its key."""
        player = Player(player=key or f"p-{name}", name=name, kind="bot")
        engine = Engine(name=name, version=version)
        self.command(commands.Join(player, Capabilities(engine=engine)))
        self.command(commands.Ready(player.player))
        return player.player

    def leave(self, name: str) -> None:
        self.command(commands.Leave(f"p-{name}"))

    def command(self, command: Command) -> list[Effect]:
        step = self.engine.handle(command, self._now())
        self._apply(step.effects, step.deadline)
        self.tell()
        return step.effects

    # The life of the server

    def kill(self) -> None:
        """Kill the server: matches stop, connections are lost."""
        self.running.clear()
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
        if self._tick is not None:
            self._tick.cancel()

    def restart(self) -> None:
        """Restart the server with the data on disk; all clients reconnect."""
        self.engine = LobbyEngine.restore(self.log, self._now())
        self.running.set()
        running = dict(self.engine.state.round.running)
        self.command(commands.Resume(list(running)))
        for match in running:
            if match in self._durable:
                self.command(commands.MatchFinished(match, self._durable[match]))
            elif match not in self._timers:
                self._schedule(match)
        for player in [HOST.player, *self.engine.state.seats.members]:
            self.command(commands.Connected(player))

    # Matches

    def _apply(self, effects: Sequence[Effect], deadline: int | None) -> None:
        for effect in effects:
            match effect:
                case commands.Append(entry):
                    self.log.append(entry)
                case commands.BeginMatch(match, planned):
                    assert planned.tag is not None
                    if match not in self._durable and match not in self._timers:
                        self._schedule(match)
                        self._send(
                            MatchStarted(lobby=LOBBY, match=match_brief(self.engine.state, match))
                        )
                case commands.LobbyOver(reason):
                    self._send(LobbyClosed(lobby=LOBBY, reason=reason))
                case commands.VacateSeat(match, _):
                    self._timers.pop(match).cancel()
                    self._schedule(match, at_once=True)
                case _:
                    pass
        if self._tick is not None:
            self._tick.cancel()
        if deadline is not None:
            loop = asyncio.get_running_loop()
            self._tick = loop.call_at(deadline / 1000 + 0.001, self._do_tick)

    def _do_tick(self) -> None:
        step = self.engine.tick(self._now())
        self._apply(step.effects, step.deadline)
        self.tell()

    def _schedule(self, match: str, *, at_once: bool = False) -> None:
        seconds = 0.0 if at_once else self.rng.uniform(*self.how.seconds)
        loop = asyncio.get_running_loop()
        self._timers[match] = loop.call_later(seconds, self._end, match)

    def _end(self, match: str) -> None:
        del self._timers[match]
        planned = self.engine.state.round.running[match]
        assert planned.tag is not None
        result = self._result(planned.players)
        self._durable[match] = result
        brief = match_brief(self.engine.state, match).model_copy(update={"result": result})
        self._send(MatchEnded(lobby=LOBBY, match=brief))
        if result.cause is not Cause.INFRASTRUCTURE:
            self.begun[planned.tag] += 1
            names = tuple(each.name for each in planned.players)
            self.results[match] = (planned.tag, names, result)
        self.command(commands.MatchFinished(match, result))

    def _result(self, players: Sequence[Player]) -> Result:
        if self.rng.random() < self.how.trouble:
            seats = [SeatResult(rank=1, score=0) for _ in players]
            return Result(seats=seats, cause=Cause.INFRASTRUCTURE, plies=0)
        members = self.engine.state.seats.members
        gone = [each.player not in members for each in players]
        crashed = [self.how.fails(each.name) for each in players]
        luck = [
            (lost, crash, -self.how.strength.get(each.name, 0.0) - self.rng.gauss(0, 200))
            for lost, crash, each in zip(gone, crashed, players, strict=True)
        ]
        order = sorted(range(len(players)), key=lambda seat: luck[seat])
        causes = [
            Cause.ABANDONED if lost else Cause.CRASH if crash else None
            for lost, crash in zip(gone, crashed, strict=True)
        ]
        seats = [
            SeatResult(rank=order.index(seat) + 1, score=0, cause=causes[seat])
            for seat in range(len(players))
        ]
        return Result(seats=seats, cause=Cause.RULES, plies=7)

    # The host's connection

    def connect(self, *, lossy: float = 0.0) -> FakeHost:
        self.connection = FakeHost(self, lossy)
        self.command(commands.Connected(HOST.player))
        return self.connection

    def view(self) -> LobbyView:
        state, connected = self.engine.state, self.engine.presence.connected
        return lobby_view(state, HOST.player, changing_part(state, connected, 0))

    def tell(self) -> None:
        if self.connection is not None and self.running.is_set():
            self.connection.put(LobbyNews(lobby=self.view()))

    def _send(self, message: object) -> None:
        if self.connection is not None and self.rng.random() >= self.connection.lossy:
            self.connection.put(message)

    def could_play(self) -> set[str]:
        """Return the players who are connected, ready and have no match."""
        state = self.engine.state
        busy = {each.player for planned in state.round.running.values() for each in planned.players}
        return {
            each.player.name
            for key, each in state.seats.members.items()
            if each.ready and key not in busy and key in self.engine.presence.connected
        }


class FakeHost:
    """The host's connection to a lobby, as used by the keeper."""

    def __init__(self, lobby: SimulatedLobby, lossy: float) -> None:
        self.hosting = self
        self.lobby = lobby
        self.lossy = lossy
        self.refusals: list[Code] = []
        self.asked: list[list[str]] = []
        self._news: asyncio.Queue[object] = asyncio.Queue()

    def put(self, message: object) -> None:
        self._news.put_nowait(message)

    async def news(self) -> AsyncIterator[object]:
        while (message := await self._news.get()) is not None:
            yield message

    async def start(self, lobby: str) -> None:
        self._command(commands.Start(HOST.player))

    async def close_lobby(self, lobby: str) -> None:
        self._command(commands.Close(HOST.player))

    async def arrange(self, lobby: str, matches: Sequence[Arrangement]) -> Arranged:
        assert lobby == LOBBY
        self.asked.append([each.tag for each in matches])
        await self._travel()
        if self.refusals:
            raise RefusedError(self.refusals.pop(0), "not now")
        self._command(commands.Arrange(HOST.player, matches))
        tags = [each.tag for each in matches]
        await self._travel()
        state = self.lobby.engine.state
        briefs: list[MatchBrief | None] = arranged_briefs(state, tags)
        return Arranged(re=1, matches=briefs)

    async def _travel(self) -> None:
        """Delay a request or an answer, and wait for a server that is down."""
        await asyncio.sleep(ANSWER_SECONDS * self.lobby.rng.random())
        await self.lobby.running.wait()

    def _command(self, command: Command) -> None:
        for effect in self.lobby.command(command):
            if isinstance(effect, commands.Refuse):
                raise RefusedError(effect.code, effect.message)
