"""Tools for tests of clients: sample matches, and a connection without a server.

    link = FakeServerConnection()
    app = KibitzApp(games, connect=link.connect, now=link.now)
    async with app.run_test() as pilot:
        link.push(snapshot(game, record, 0))
        await pilot.pause()

Nothing here blocks: events arrive immediately, requests are stored in
`FakeServerConnection.requests`, and time advances only when `FakeServerConnection.clock` is set.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Literal

from kibitz_clients.matches import recorded_match
from kibitz_clients.matches.viewer_events import Viewpoint
from kibitz_games.core.game import Game, Model
from kibitz_games.core.position import Position
from kibitz_protocol.client.client import Client
from kibitz_protocol.client.errors import RefusedError
from kibitz_protocol.client.events import MatchLost, News
from kibitz_protocol.client.hall import Hall
from kibitz_protocol.client.hosting import Hosting
from kibitz_protocol.wire.clocks import TimeControl
from kibitz_protocol.wire.lobbies import LobbyBrief, LobbyView, MatchBrief
from kibitz_protocol.wire.messages import (
    Done,
    Event,
    EventList,
    LobbyList,
    LobbyNews,
    MatchList,
    Snapshot,
    YourTurn,
)
from kibitz_protocol.wire.recordfile import Record, seed_commitment
from kibitz_protocol.wire.records import (
    Comment,
    Conduct,
    Entry,
    Footer,
    Moved,
    Player,
    Result,
    SeatResult,
    Setup,
    Spectating,
)

SEED = "00000000000000ff"

ActionChooser = Callable[[Position], int]
"""Chooses one of the legal actions in a position."""


def players(*names: str) -> list[Player]:
    """Return bots with these names and the ids ``p0``, ``p1``, ..."""
    return [Player(player=f"p{seat}", name=name, kind="bot") for seat, name in enumerate(names)]


def play_record(
    game: Game,
    names: Sequence[str],
    plies: int,
    choose: ActionChooser,
    *,
    options: Model | None = None,
    control: TimeControl | None = None,
    number: int = 1,
) -> Record:
    """Return the record of a match after `plies` moves, half a second each."""
    play = Position(game, options, len(names), seed=1)
    entries: list[Entry] = []
    while len(entries) < plies and play.legal:
        entries.append(_move(play, len(entries), choose(play)))
    setup = Setup(
        match=f"M{number}",
        lobby="L1",
        number=number,
        game=game.info.name,
        rules_version=game.info.rules_version,
        options=(options or game.Options()).to_wire(),
        seats=players(*names),
        deal=dict(play.deal or {}),
        seed=SEED,
        commitment=seed_commitment(SEED, ""),
        time_control=control or TimeControl(main_ms=60_000, increment_ms=1_000),
        started="2026-01-01T00:00:00Z",
    )
    return Record(setup, tuple(entries), _footer(play), "")


def _move(play: Position, ply: int, action: int) -> Moved:
    move = play.game.encode(play.state, action)
    wire = move.to_wire()
    line = [play.game.notation.format(move)]
    said = Comment(value=ply / 10, depth=2, line=line) if ply % 2 == 0 else None
    seat = play.to_act
    play.push(action)
    return Moved(
        seq=ply + 1,
        at_ms=(ply + 1) * 500,
        ply=ply,
        seat=seat,
        action=wire,
        elapsed_ms=500,
        comment=said,
    )


def _footer(play: Position) -> Footer | None:
    outcome = play.outcome
    if outcome is None:
        return None
    seats = [
        SeatResult(rank=rank, score=score)
        for rank, score in zip(outcome.ranks, outcome.scores, strict=True)
    ]
    result = Result(
        seats=seats,
        cause="rules",
        reason=outcome.reason,
        plies=len(play.history),
    )
    return Footer(result=result, hash="")


def events(game: Game, record: Record, viewpoint: Viewpoint = None) -> list[Event]:
    """Return the events sent to a viewer of the match, by default a referee."""
    return list(recorded_match.events(game, record, viewpoint))


def snapshot(game: Game, record: Record, seq: int, you: int | None = None) -> Snapshot:
    """Return the match as seen by the seat `you`, or a referee, after entry `seq`."""
    frame = recorded_match.build_timeline(game, record, viewpoint=you).frame(seq)
    assert frame is not None, "a record has a frame for every entry"
    assert frame.view is not None, "a replay knows every view"
    setup = record.setup
    return Snapshot(
        why="watching",
        match=setup.match,
        lobby=setup.lobby,
        number=setup.number,
        game=setup.game,
        rules_version=setup.rules_version,
        options=setup.options,
        seats=setup.seats,
        you=you,
        seq=seq,
        ply=frame.ply,
        to_act=frame.to_act,
        view=frame.view,
        time_control=setup.time_control,
        clocks=None if frame.clocks is None else list(frame.clocks),
        conduct=Conduct(),
        spectating=Spectating(),
        commitment=setup.commitment,
    )


def your_turn(game: Game, record: Record) -> YourTurn:
    """Return the turn after the last entry of a record."""
    options = game.Options.model_validate(record.setup.options)
    play = Position(game, options, len(record.setup.seats), deal=record.setup.deal)
    for entry in record.entries:
        if isinstance(entry, Moved):
            play.push_move(game.Move.model_validate(entry.action))
    rule = game.info.legal_rule or None
    legal = [play.move(action).to_wire() for action in play.legal]
    return YourTurn(
        match=record.setup.match,
        game=record.setup.game,
        seat=play.to_act,
        ply=len(record.entries),
        view=play.view(play.to_act).to_wire(),
        legal=None if rule else legal,
        legal_rule=rule,
        legal_count=len(legal),
    )


class FakeHall(Hall):
    """The lobby and match lists that a `FakeServerConnection` returns."""

    def __init__(self) -> None:
        self.lobby_list: list[LobbyBrief] = []
        self.match_list: list[MatchBrief] = []

    async def lobbies(self) -> LobbyList:
        return LobbyList(re=1, lobbies=self.lobby_list)

    async def matches(self, lobby: str | None = None) -> MatchList:
        return MatchList(re=1, matches=self.match_list)


class FakeHosting(Hosting):
    """The requests that only hosts make; each is passed to `request`."""

    def __init__(self, request: Callable[[str, str], Done]) -> None:
        self._request = request

    async def start(self, lobby: str) -> Done:
        return self._request("start", lobby)

    async def rematch(self, lobby: str) -> Done:
        return self._request("rematch", lobby)


class FakeServerConnection(Client):
    """A `Client` whose server is simulated by the test."""

    # Plain attributes that a real client derives from the server's welcome.
    player: str = ""
    name: str = ""
    online: bool = True
    hall: FakeHall

    def __init__(self, player: str = "p9", name: str = "ada") -> None:
        super().__init__("ws://127.0.0.1:1", name=name)
        self.player = player
        self.name = name
        self.clock = 0
        """The result of `now`, in milliseconds."""
        self.requests: list[tuple[object, ...]] = []
        """Requests in order, as method name and arguments."""
        self.refusals: dict[str, RefusedError] = {}
        """The refusals to answer with, by method."""
        self.ended: Exception | None = None
        """The exception to raise once all events have been read."""
        self.hall = FakeHall()
        self.hosting = FakeHosting(self._request)
        self.events: dict[str, list[Event]] = {}
        """The records that `history` answers from, by match."""
        self._news: asyncio.Queue[News | MatchLost | Exception] = asyncio.Queue()

    @property
    def seats(self) -> list[str]:
        return []

    def now(self) -> int:
        return self.clock

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[FakeServerConnection]:
        """Enter the connection; the application uses this method as its `Connector`."""
        yield self

    def push(self, *messages: News | MatchLost | Exception) -> None:
        """Send an event; an exception ends the session."""
        for message in messages:
            self._news.put_nowait(message)

    async def news(self) -> AsyncIterator[News | MatchLost]:
        while True:
            message = await self._news.get()
            if isinstance(message, Exception):
                raise message
            yield message

    def _request(self, method: str, *arguments: object) -> Done:
        self.requests.append((method, *arguments))
        if method in self.refusals:
            raise self.refusals[method]
        return Done(re=len(self.requests))

    async def join(
        self,
        lobby: str,
        *,
        invite: str | None = None,
        role: Literal["player", "spectator"] = "player",
    ) -> Done:
        return self._request("join", lobby, invite, role)

    async def leave(self, lobby: str) -> Done:
        return self._request("leave", lobby)

    async def ready(self, lobby: str, ready: bool = True) -> Done:
        return self._request("ready", lobby, ready)

    async def watch(self, match: str) -> Done:
        return self._request("watch", match)

    async def unwatch(self, match: str) -> Done:
        return self._request("unwatch", match)

    async def move(
        self,
        match: str,
        ply: int,
        action: Mapping[str, bool | int | str],
        comment: Comment | None = None,
    ) -> Done:
        return self._request("move", match, ply, dict(action))

    async def resign(
        self, match: str, fault: Literal["crash", "illegal"] | None = None, detail: str = ""
    ) -> Done:
        return self._request("resign", match)

    async def comment(self, match: str, text: str) -> Done:
        return self._request("comment", match, text)

    async def history(self, match: str, first: int = 1, count: int = 200) -> EventList:
        self._request("history", match, first, count)
        known = self.events.get(match, [])
        given = [event for event in known if first <= event.entry.seq < first + count]
        return EventList(re=1, match=match, events=given, more=False)


def lobby_news(*live: MatchBrief, **changes: object) -> LobbyNews:
    """Return an update of lobby ``L1`` with the first match's members and these running matches."""
    who = live[0].seats if live else []
    fields: dict[str, object] = {
        "lobby": "L1",
        "settings": {
            "name": "evening",
            "seats": [{"kind": "open"}] * max(1, len(who)),
            "programme": [{"game": live[0].game if live else "chinese-checkers"}],
        },
        "host": who[0].player if who else "p0",
        "state": "running",
        "round": 1,
        "members": {
            player.player: {
                "player": player.player,
                "name": player.name,
                "kind": player.kind,
                "seat": seat,
                "ready": True,
                "connected": True,
            }
            for seat, player in enumerate(who)
        },
        "planned": len(live),
        "done": 0,
        "live": {brief.match: brief.model_dump() for brief in live},
        "standings": {
            player.player: {
                "player": player.player,
                "name": player.name,
                "played": 2,
                "wins": 1,
                "draws": 0,
                "losses": 1,
                "points": 1.5 - seat,
            }
            for seat, player in enumerate(who)
        },
    }
    return LobbyNews(lobby=LobbyView.model_validate(fields | changes))


def brief(record: Record) -> MatchBrief:
    """Return a match's summary as it appears in match lists."""
    setup = record.setup
    return MatchBrief(
        match=setup.match,
        lobby=setup.lobby,
        number=setup.number,
        game=setup.game,
        seats=setup.seats,
        ply=len(record.entries),
        time_control=setup.time_control,
        result=record.footer.result if record.footer else None,
    )
