"""Clients of a simulated server: real sessions over simulated connections.

A `SimulatedClient` maintains a session and its connection and records the messages it receives. A
`SimulatedPlayer` plays, and occasionally resends a move or sends another player's move. A
`SimulatedSpectator` watches every match of a lobby, a `SimulatedHallSpectator` every match of the
hall. A `LobbySetup` brings two players into a lobby.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

from kibitz_protocol.client.credentials import ClientIdentity
from kibitz_protocol.client.events import (
    Answered,
    Disconnected,
    NewsReceived,
    Opened,
    SessionEnded,
    Unanswered,
)
from kibitz_protocol.client.retry import SessionTimeouts
from kibitz_protocol.client.session import Session, SessionState
from kibitz_protocol.wire.clocks import TimeControl
from kibitz_protocol.wire.codec import encode
from kibitz_protocol.wire.lobbies import LobbySettings, OpenSeat, ProgrammeItem
from kibitz_protocol.wire.messages import (
    Answer,
    Capabilities,
    Done,
    Event,
    Finished,
    HallNews,
    Host,
    Join,
    LobbyNews,
    MatchStarted,
    Move,
    Note,
    Ready,
    Refused,
    Request,
    Resign,
    Snapshot,
    Subscribe,
    Watch,
    YourTurn,
)
from kibitz_protocol.wire.records import Conduct
from kibitz_protocol.wire.values import Scalar
from kibitz_protocol.wire.visibility import WantedViews
from tests.tools.fleet import random_action
from tests.tools.log_audit import Acknowledged, Declined, Sent, Shown
from tests.tools.message_fuzzer import CLOSE, PONG, zero_masked_frame
from tests.tools.raw_connection import HANDSHAKE

if TYPE_CHECKING:
    from tests.tools.simulation import SimulatedConnection, Simulation
    from tests.tools.virtual_time import TimerHandle

CLOCK = TimeControl(main_ms=120_000, increment_ms=50)


class SimulatedClient:
    """A client: a session, its connection, and its reactions to events."""

    def __init__(
        self, simulation: Simulation, name: str, *, resume: str | None = None, life: int = 0
    ):
        self.simulation = simulation
        self.name = name
        self.number = len(simulation.clients)
        self.random = random.Random(f"{simulation.seed} {name} {life}")
        self.wanted: WantedViews = "every" if self.number % 2 else "turn"
        self.session = Session(
            ClientIdentity(
                name=name,
                resume=resume,
                instance=f"program {life} of {name}",
                capabilities=Capabilities(at_once=100),
                views=self.wanted,
            ),
            simulation.milliseconds(),
            chance=self.random.random,
            patience=SessionTimeouts(opening_ms=None, away_ms=None),
            first_id=1 + life * 1_000_000,
        )
        self.life = life
        self.player = ""
        self.connection: SimulatedConnection | None = None
        self._buffer = b""
        self._upgraded = False
        self._callbacks: dict[int, tuple[Request, Callable[[Answer | None], None]]] = {}
        self._snapshot_seq: dict[str, int] = {}
        self._last_seq: dict[str, int] = {}
        """The latest number of each match received on this connection."""
        self._timer: TimerHandle | None = None
        simulation.clients.append(self)
        self._arm_timer()

    # --- behavior ---

    def on_opened(self) -> None:
        """Handle the first sign-in."""

    def on_news(self, news: object) -> None:
        """Handle an event."""

    def ask(
        self, build: Callable[[int], Request], then: Callable[[Answer | None], None]
    ) -> Request | None:
        """Send a request; `then` receives the answer, or None if there will never be one."""
        if self.session.state is SessionState.ENDED:
            return None
        request = build(self.session.new_id())
        self._callbacks[request.id] = (request, then)
        self.session.ask(request)
        self._flush()
        return request

    def send_unsolicited(self, request: Request) -> None:
        """Send a message that bypasses the session."""
        if self.connection is not None and self.session.state is SessionState.ONLINE:
            self.connection.send(zero_masked_frame(encode(request)))

    # --- the connection ---

    def data_received(self, link: SimulatedConnection, data: bytes) -> None:
        if link is not self.connection:
            return
        self._buffer += data
        if not self._upgraded:
            head, found, rest = self._buffer.partition(b"\r\n\r\n")
            if not found:
                return
            if b" 503 " in head:  # the node has stopped serving since the proxy checked
                link.end_client(None, "refused")
                return
            assert b" 101 " in head, head
            self._buffer, self._upgraded = rest, True
            self.session.connected(self.simulation.milliseconds())
            self._flush()
        while link is self.connection and (frame := self._frame()) is not None:
            self._handle_frame(link, *frame)

    def connection_lost(self, link: SimulatedConnection, code: int | None, reason: str) -> None:
        if link is self.connection:
            self.connection = None
            self._handle_events(self.session.lost(self.simulation.milliseconds(), code, reason))

    def _frame(self) -> tuple[int, bytes] | None:
        data = self._buffer
        if len(data) < 2:
            return None
        length, start = data[1] & 127, 2
        if length > 125:
            start += 2 if length == 126 else 8
            if len(data) < start:
                return None
            length = int.from_bytes(data[2:start], "big")
        if len(data) < start + length:
            return None
        self._buffer = data[start + length :]
        return data[0] & 15, data[start : start + length]

    def _handle_frame(self, link: SimulatedConnection, opcode: int, data: bytes) -> None:
        if opcode == 9:
            link.send(zero_masked_frame(data, PONG))
        elif opcode == 8:
            link.send(zero_masked_frame(data, CLOSE))
            code = int.from_bytes(data[:2], "big") if data else None
            link.end_client(code, data[2:].decode())
        elif opcode == 1:
            self.simulation.trace_message(self, "<", data)
            self._check_sequence(data)
            self._handle_events(self.session.receive(data, self.simulation.milliseconds()))
            self._flush()

    def _check_sequence(self, data: bytes) -> None:
        """Check for consecutive numbers per connection before the session repairs gaps."""
        if not data.startswith((b'{"type":"event"', b'{"type":"snapshot"')):
            return
        news = json.loads(data)
        match = news["match"]
        if news["type"] == "snapshot":
            self._last_seq[match] = news["seq"]
            return
        seq = news["entry"]["seq"]
        if self._last_seq.get(match) != seq - 1:
            had = self._last_seq.get(match)
            self.simulation.violations.append(f"{self.name} received {seq} of {match} after {had}")
        self._last_seq[match] = seq

    def _flush(self) -> None:
        now = self.simulation.milliseconds()
        if self.connection is not None and self._upgraded:
            for frame in self.session.frames(now):
                self.simulation.trace_message(self, ">", frame)
                self.connection.send(zero_masked_frame(frame))
        self._arm_timer()

    def _arm_timer(self) -> None:
        """Schedule the session's next timeout."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        due = self.session.deadline()
        if due is not None and not (self.connection is not None and not self._upgraded):
            wait = max(0, due - self.simulation.milliseconds()) / 1000 + 0.0005
            self._timer = self.simulation.scheduler.call_after(wait, self._tick)

    def _tick(self) -> None:
        self._timer = None
        if self.session.state is SessionState.AWAY:
            self._connect()
            return
        self._handle_events(self.session.tick(self.simulation.milliseconds()))
        self._flush()

    def _connect(self) -> None:
        link = self.simulation.connect(self)
        if link is None:
            self._handle_events(self.session.lost(self.simulation.milliseconds(), None, "refused"))
            return
        self.connection, self._buffer, self._upgraded = link, b"", False
        self._last_seq.clear()
        link.send(HANDSHAKE.format(path="/", more="").encode())

    def _handle_events(self, happened: Sequence[object]) -> None:
        for one in happened:
            match one:
                case Opened(welcome, again):
                    self.player = welcome.player
                    self.simulation.secrets[self.name] = welcome.resume
                    if not again:
                        self.on_opened()
                case Answered(id, answer):
                    self._resolve(id, answer)
                case Unanswered(id, _):
                    self._resolve(id, None)
                case NewsReceived(news):
                    self._handle_news(news)
                case Disconnected() | SessionEnded():
                    self._disconnect()
                case _:
                    pass
        self._arm_timer()

    def _disconnect(self) -> None:
        link, self.connection = self.connection, None
        if link is not None:
            link.end_client(None, "")

    def _resolve(self, id: int, answer: Answer | None) -> None:
        request, then = self._callbacks.pop(id)
        if isinstance(answer, Refused) and answer.code == "internal":
            self.simulation.violations.append(f"{request!r} was answered {answer!r}")
        then(answer)

    def _handle_news(self, news: object) -> None:
        simulation = self.simulation
        match news:
            case Snapshot():
                self._snapshot_seq[news.match] = news.seq
                simulation.seats[news.match] = [seat.player for seat in news.seats]
            case Event():
                viewer = f"{self.player} {self.life}"
                shown = Shown(news.match, viewer, self._snapshot_seq[news.match], news.entry)
                simulation.history.append(shown)
                simulation.shown.append((self.player, self.wanted, news))
            case Finished():
                simulation.ended[news.match] = news
            case _:
                pass
        self.on_news(news)


class SimulatedPlayer(SimulatedClient):
    """A player that makes random moves, and also sends moves at wrong times."""

    def __init__(self, simulation: Simulation, name: str, lobby: LobbySetup, **known: Any) -> None:
        self._lobby = lobby
        self._answered: set[tuple[str, int]] = set()
        super().__init__(simulation, name, **known)

    def on_opened(self) -> None:
        if self.life == 0:
            self._lobby.player_arrived(self)

    def on_news(self, news: object) -> None:
        if isinstance(news, YourTurn) and (news.match, news.ply) not in self._answered:
            self._answered.add((news.match, news.ply))
            self.simulation.scheduler.call_after(
                self.random.random() ** 3, lambda: self._play(news)
            )

    def _play(self, turn: YourTurn) -> None:
        rates = self.simulation.rates
        if self.random.random() < rates.invalid_requests and self.simulation.faults_active:
            self._send_invalid(turn)
        if self.random.random() < 0.01:
            self.ask(lambda id: Resign(id=id, match=turn.match), lambda answer: None)
            return
        self._move(turn.match, turn.ply, random_action(turn, self.random))

    def _move(self, match: str, ply: int, action: dict[str, Scalar]) -> None:
        simulation, player = self.simulation, self.player

        def answered(answer: Answer | None) -> None:
            assert asked is not None
            match answer:
                case Done(seq=int(seq)):
                    now = simulation.scheduler.now
                    simulation.history.append(Acknowledged(match_, player, asked.id, seq, now))
                case Refused() if simulation.declines(answer, self):
                    # A newer client of this player may have continued the match. Then an earlier
                    # move is stale, which the older client cannot know.
                    simulation.history.append(Declined(match_, player, asked.id))
                case _:
                    pass

        match_ = match
        asked = self.ask(
            lambda id: Move(id=id, match=match_, ply=ply, action=dict(action)), answered
        )
        if asked is None:
            return
        simulation.history.append(
            Sent(match_, player, asked.id, ply, action, simulation.scheduler.now)
        )
        if self.random.random() < simulation.rates.duplicate_moves:
            again = cast(Move, asked)
            self.send_unsolicited(again)
            simulation.scheduler.call_after(
                self.random.random(), lambda: self.send_unsolicited(again)
            )

    def _send_invalid(self, turn: YourTurn) -> None:
        """Send a message that must have no effect; it is not recorded as sent."""
        others = [match for match in self.simulation.seats if match != turn.match]
        match = self.random.choice([*others, turn.match])
        ply = turn.ply if match != turn.match else turn.ply + 1
        id = 500_000_000 + self.random.randrange(1 << 20)
        if match == turn.match or self.player not in self.simulation.seats[match]:
            self.send_unsolicited(Move(id=id, match=match, ply=ply, action={"cell": 0}))
        self.send_unsolicited(Move(id=id, match=turn.match, ply=turn.ply, action={"cell": 224}))
        if self.random.random() < 0.5:
            self.send_unsolicited(Note(id=id, match=turn.match, text="a note"))


class SimulatedSpectator(SimulatedClient):
    """A spectator of every match of a lobby."""

    def __init__(self, simulation: Simulation, name: str, **known: Any) -> None:
        self._watched: set[str] = set()
        super().__init__(simulation, name, **known)

    def enter(self, lobby: str) -> None:
        self.ask(lambda id: Join(id=id, lobby=lobby, role="spectator"), lambda answer: None)

    def on_news(self, news: object) -> None:
        match news:
            case MatchStarted(match=brief):
                self._watch(brief.match)
            case LobbyNews(lobby=lobby):
                for match in lobby.live:
                    self._watch(match)
            case _:
                pass

    def _watch(self, match: str) -> None:
        if match not in self._watched:
            self._watched.add(match)
            self.ask(lambda id: Watch(id=id, match=match), lambda answer: None)


class SimulatedHallSpectator(SimulatedClient):
    """A spectator of every match in the hall; it stays with its first server."""

    def __init__(self, simulation: Simulation, name: str, **known: Any) -> None:
        self._watched: set[str] = set()
        super().__init__(simulation, name, **known)

    def on_opened(self) -> None:
        self.ask(lambda id: Subscribe(id=id, topic="hall"), lambda answer: None)

    def on_news(self, news: object) -> None:
        if isinstance(news, HallNews):
            for match in news.matches:
                if match not in self._watched:
                    self._watched.add(match)
                    self._watch(match)

    def _watch(self, match: str) -> None:
        self.ask(lambda id: Watch(id=id, match=match), lambda answer: None)


class LobbySetup:
    """Sets up a lobby: its host opens it, all players join, and all report ready."""

    def __init__(self, simulation: Simulation, number: int, watcher: SimulatedSpectator) -> None:
        self._simulation = simulation
        self._spectator = watcher
        self._grace_ms = 300 if number == 0 and simulation.random.random() < 0.3 else 120_000
        self._clock = CLOCK if simulation.random.random() < 0.7 else TimeControl()
        self.name = f"lobby {number}"
        self.key: str | None = None
        self._arrived: list[SimulatedPlayer] = []
        self.players = [SimulatedPlayer(simulation, f"p{number}.{seat}", self) for seat in range(2)]

    def player_arrived(self, player: SimulatedPlayer) -> None:
        self._arrived.append(player)
        if len(self._arrived) == 2:
            self._open()

    def _open(self) -> None:
        rates = self._simulation.rates
        item = ProgrammeItem(
            game="mnk",
            options={"columns": 3, "rows": 3, "row": 3},
            games=rates.games,
            time_control=self._clock,
        )
        settings = LobbySettings(
            name=self.name,
            seats=[OpenSeat(), OpenSeat()],
            programme=[item],
            conduct=Conduct(grace_ms=self._grace_ms, max_illegal=1000),
        )
        self._host().ask(lambda id: Host(id=id, settings=settings), self._opened)

    def _host(self) -> SimulatedClient:
        return self._simulation.current_client(self.players[0])

    def _opened(self, answer: Answer | None) -> None:
        if not isinstance(answer, Done):
            self._simulation.scheduler.call_after(0.2, self._open)
            return
        self.key = lobby = answer.lobby or ""
        self._spectator.enter(lobby)
        for player in self.players:
            self._join(player)

    def _join(self, player: SimulatedPlayer) -> None:
        key = self.key or ""

        def joined(answer: Answer | None) -> None:
            if not isinstance(answer, Done):
                self._simulation.scheduler.call_after(0.2, lambda: self._join(player))
                return
            self._ready(player)

        self._simulation.current_client(player).ask(lambda id: Join(id=id, lobby=key), joined)

    def _ready(self, player: SimulatedPlayer) -> None:
        key = self.key or ""

        def ready(answer: Answer | None) -> None:
            if not isinstance(answer, Done):
                self._simulation.scheduler.call_after(0.2, lambda: self._ready(player))

        self._simulation.current_client(player).ask(lambda id: Ready(id=id, lobby=key), ready)
