"""The clients of a simulated world: real sessions, and what they make of the news.

An `Actor` keeps a session and its connection and writes down what it was told. A `Seated` one
plays, now and then a move twice or somebody else's; a `Watcher` watches; a `Meeting` is how two
players come to a lobby.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

from kibitz_protocol.audit import Acknowledged, Declined, Sent, Shown
from kibitz_protocol.clocks import TimeControl
from kibitz_protocol.codec import encode
from kibitz_protocol.messages import (
    Answer,
    Capabilities,
    Done,
    Event,
    Finished,
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
    Watch,
    YourTurn,
)
from kibitz_protocol.records import Conduct
from kibitz_protocol.rooms import LobbySettings, OpenSeat, ProgrammeItem
from kibitz_protocol.session import (
    Answered,
    Ended,
    Identity,
    Lost,
    Opened,
    Patience,
    Session,
    State,
    Told,
    Unanswered,
)
from kibitz_protocol.values import Scalar
from tests.tools.crowd import HANDSHAKE
from tests.tools.fleet import chosen
from tests.tools.mutants import CLOSE, PONG, framed

if TYPE_CHECKING:
    from tests.tools.agenda import Handle
    from tests.tools.simulation import Link, World

CLOCK = TimeControl(main_ms=120_000, increment_ms=50)


class Actor:
    """A client: a session, its connection, and what it makes of the news."""

    def __init__(self, world: World, name: str, *, resume: str | None = None, life: int = 0):
        self.world = world
        self.name = name
        self.number = len(world.actors)
        self.chance = random.Random(f"{world.seed} {name} {life}")
        self.session = Session(
            Identity(name=name, resume=resume, capabilities=Capabilities(at_once=100)),
            world.milliseconds(),
            chance=self.chance.random,
            patience=Patience(opening_ms=None, away_ms=None),
            first_id=1 + life * 1_000_000,
        )
        self.life = life
        self.player = ""
        self.link: Link | None = None
        self._buffer = b""
        self._shaken = False
        self._then: dict[int, tuple[Request, Callable[[Answer | None], None]]] = {}
        self._since: dict[str, int] = {}
        self._seen: dict[str, int] = {}
        """The newest number of each match that came on this connection."""
        self._timer: Handle | None = None
        world.actors.append(self)
        self._wake()

    # --- what it does ---

    def opened(self) -> None:
        """It has come in for the first time."""

    def told(self, news: object) -> None:
        """It has heard something."""

    def ask(
        self, build: Callable[[int], Request], then: Callable[[Answer | None], None]
    ) -> Request | None:
        """Ask something; `then` gets the answer, or None where there will never be any."""
        if self.session.state is State.ENDED:
            return None
        request = build(self.session.new_id())
        self._then[request.id] = (request, then)
        self.session.ask(request)
        self._flush()
        return request

    def whisper(self, request: Request) -> None:
        """Send something behind the session's back."""
        if self.link is not None and self.session.state is State.ONLINE:
            self.link.say(framed(encode(request)))

    # --- the connection ---

    def heard(self, link: Link, data: bytes) -> None:
        if link is not self.link:
            return
        self._buffer += data
        if not self._shaken:
            head, found, rest = self._buffer.partition(b"\r\n\r\n")
            if not found:
                return
            assert b" 101 " in head, head
            self._buffer, self._shaken = rest, True
            self.session.connected(self.world.milliseconds())
            self._flush()
        while link is self.link and (frame := self._frame()) is not None:
            self._take(link, *frame)

    def cut_off(self, link: Link, code: int | None, reason: str) -> None:
        if link is self.link:
            self.link = None
            self._heed(self.session.lost(self.world.milliseconds(), code, reason))

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

    def _take(self, link: Link, opcode: int, data: bytes) -> None:
        if opcode == 9:
            link.say(framed(data, PONG))
        elif opcode == 8:
            link.say(framed(data, CLOSE))
            code = int.from_bytes(data[:2], "big") if data else None
            link.end_client(code, data[2:].decode())
        elif opcode == 1:
            self.world.said(self, "<", data)
            self._look_for_holes(data)
            self._heed(self.session.receive(data, self.world.milliseconds()))
            self._flush()

    def _look_for_holes(self, data: bytes) -> None:
        """Before the session repairs anything: every connection hears unbroken numbers."""
        if not data.startswith((b'{"type":"event"', b'{"type":"snapshot"')):
            return
        news = json.loads(data)
        match = news["match"]
        if news["type"] == "snapshot":
            self._seen[match] = news["seq"]
            return
        seq = news["entry"]["seq"]
        if self._seen.get(match) != seq - 1:
            had = self._seen.get(match)
            self.world.wrongs.append(f"{self.name} heard {seq} of {match} after {had}")
        self._seen[match] = seq

    def _flush(self) -> None:
        now = self.world.milliseconds()
        if self.link is not None and self._shaken:
            for frame in self.session.frames(now):
                self.world.said(self, ">", frame)
                self.link.say(framed(frame))
        self._wake()

    def _wake(self) -> None:
        """See to it that the session is looked at when it wants to be."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        due = self.session.deadline()
        if due is not None and not (self.link is not None and not self._shaken):
            wait = max(0, due - self.world.milliseconds()) / 1000 + 0.0005
            self._timer = self.world.agenda.after(wait, self._tick)

    def _tick(self) -> None:
        self._timer = None
        if self.session.state is State.AWAY:
            self._connect()
            return
        self._heed(self.session.tick(self.world.milliseconds()))
        self._flush()

    def _connect(self) -> None:
        link = self.world.connect(self)
        if link is None:
            self._heed(self.session.lost(self.world.milliseconds(), None, "refused"))
            return
        self.link, self._buffer, self._shaken = link, b"", False
        self._seen.clear()
        link.say(HANDSHAKE.format(path="/", more="").encode())

    def _heed(self, happened: Sequence[object]) -> None:
        for one in happened:
            match one:
                case Opened(welcome, again):
                    self.player = welcome.player
                    self.world.secrets[self.name] = welcome.resume
                    if not again:
                        self.opened()
                case Answered(id, answer):
                    self._settle(id, answer)
                case Unanswered(id, _):
                    self._settle(id, None)
                case Told(news):
                    self._tell(news)
                case Lost() | Ended():
                    self._drop()
                case _:
                    pass
        self._wake()

    def _drop(self) -> None:
        link, self.link = self.link, None
        if link is not None:
            link.end_client(None, "")

    def _settle(self, id: int, answer: Answer | None) -> None:
        request, then = self._then.pop(id)
        if isinstance(answer, Refused) and answer.code == "internal":
            self.world.wrongs.append(f"{request!r} was answered {answer!r}")
        then(answer)

    def _tell(self, news: object) -> None:
        world = self.world
        match news:
            case Snapshot():
                self._since[news.match] = news.seq
                world.seats[news.match] = [seat.player for seat in news.seats]
            case Event():
                viewer = f"{self.player} {self.life}"
                shown = Shown(news.match, viewer, self._since[news.match], news.entry)
                world.history.append(shown)
                world.shown.append((self.player, news))
            case Finished():
                world.ended[news.match] = news
            case _:
                pass
        self.told(news)


class Seated(Actor):
    """A player that moves at random, and not only when and as it should."""

    def __init__(self, world: World, name: str, lobby: Meeting, **known: Any) -> None:
        self._lobby = lobby
        self._answered: set[tuple[str, int]] = set()
        super().__init__(world, name, **known)

    def opened(self) -> None:
        if self.life == 0:
            self._lobby.came(self)

    def told(self, news: object) -> None:
        if isinstance(news, YourTurn) and (news.match, news.ply) not in self._answered:
            self._answered.add((news.match, news.ply))
            self.world.agenda.after(self.chance.random() ** 3, lambda: self._play(news))

    def _play(self, turn: YourTurn) -> None:
        climate = self.world.climate
        if self.chance.random() < climate.wrong and self.world.stormy:
            self._misbehave(turn)
        if self.chance.random() < 0.01:
            self.ask(lambda id: Resign(id=id, match=turn.match), lambda answer: None)
            return
        self._move(turn.match, turn.ply, chosen(turn, self.chance))

    def _move(self, match: str, ply: int, action: dict[str, Scalar]) -> None:
        world, player = self.world, self.player

        def answered(answer: Answer | None) -> None:
            assert asked is not None
            match answer:
                case Done(seq=int(seq)):
                    now = world.agenda.now
                    world.history.append(Acknowledged(match_, player, asked.id, seq, now))
                case Refused() if world.present(self) is self:
                    # A newer client of this player may have played on: then a move that was
                    # made before it is stale, and the older client cannot know.
                    world.history.append(Declined(match_, player, asked.id))
                case _:
                    pass

        match_ = match
        asked = self.ask(
            lambda id: Move(id=id, match=match_, ply=ply, action=dict(action)), answered
        )
        if asked is None:
            return
        world.history.append(Sent(match_, player, asked.id, ply, action, world.agenda.now))
        if self.chance.random() < world.climate.twice:
            again = cast(Move, asked)
            self.whisper(again)
            world.agenda.after(self.chance.random(), lambda: self.whisper(again))

    def _misbehave(self, turn: YourTurn) -> None:
        """Send what must have no effect: nobody has recorded that it was sent."""
        others = [match for match in self.world.seats if match != turn.match]
        match = self.chance.choice([*others, turn.match])
        ply = turn.ply if match != turn.match else turn.ply + 1
        id = 500_000_000 + self.chance.randrange(1 << 20)
        if match == turn.match or self.player not in self.world.seats[match]:
            self.whisper(Move(id=id, match=match, ply=ply, action={"cell": 0}))
        self.whisper(Move(id=id, match=turn.match, ply=turn.ply, action={"cell": 224}))
        if self.chance.random() < 0.5:
            self.whisper(Note(id=id, match=turn.match, text="a note"))


class Watcher(Actor):
    """A spectator of every match of a lobby."""

    def __init__(self, world: World, name: str, **known: Any) -> None:
        self._watched: set[str] = set()
        super().__init__(world, name, **known)

    def enter(self, lobby: str) -> None:
        self.ask(lambda id: Join(id=id, lobby=lobby, role="spectator"), lambda answer: None)

    def told(self, news: object) -> None:
        match news:
            case MatchStarted(match=brief):
                self._watch(brief.match)
            case LobbyNews(lobby=lobby):
                for brief in lobby.live:
                    self._watch(brief.match)
            case _:
                pass

    def _watch(self, match: str) -> None:
        if match not in self._watched:
            self._watched.add(match)
            self.ask(lambda id: Watch(id=id, match=match), lambda answer: None)


class Meeting:
    """How a lobby comes about: its host opens it, everybody joins, everybody is ready."""

    def __init__(self, world: World, number: int, watcher: Watcher) -> None:
        self._world = world
        self._watcher = watcher
        self._grace_ms = 300 if number == 0 and world.chance.random() < 0.3 else 120_000
        self._clock = CLOCK if world.chance.random() < 0.7 else TimeControl()
        self.name = f"lobby {number}"
        self.key: str | None = None
        self._here: list[Seated] = []
        self.players = [Seated(world, f"p{number}.{seat}", self) for seat in range(2)]

    def came(self, player: Seated) -> None:
        self._here.append(player)
        if len(self._here) == 2:
            self._open()

    def _open(self) -> None:
        climate = self._world.climate
        item = ProgrammeItem(
            game="mnk",
            options={"columns": 3, "rows": 3, "row": 3},
            games=climate.games,
            time_control=self._clock,
        )
        settings = LobbySettings(
            name=self.name,
            seats=[OpenSeat(), OpenSeat()],
            programme=[item],
            conduct=Conduct(grace_ms=self._grace_ms, max_illegal=1000),
        )
        self._host().ask(lambda id: Host(id=id, settings=settings), self._opened)

    def _host(self) -> Actor:
        return self._world.present(self.players[0])

    def _opened(self, answer: Answer | None) -> None:
        if not isinstance(answer, Done):
            self._world.agenda.after(0.2, self._open)
            return
        self.key = lobby = answer.lobby or ""
        self._watcher.enter(lobby)
        for player in self.players:
            self._join(player)

    def _join(self, player: Seated) -> None:
        key = self.key or ""

        def joined(answer: Answer | None) -> None:
            if not isinstance(answer, Done):
                self._world.agenda.after(0.2, lambda: self._join(player))
                return
            self._ready(player)

        self._world.present(player).ask(lambda id: Join(id=id, lobby=key), joined)

    def _ready(self, player: Seated) -> None:
        key = self.key or ""

        def ready(answer: Answer | None) -> None:
            if not isinstance(answer, Done):
                self._world.agenda.after(0.2, lambda: self._ready(player))

        self._world.present(player).ask(lambda id: Ready(id=id, lobby=key), ready)
