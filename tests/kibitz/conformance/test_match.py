"""A bot in a scripted match receives the same messages as from a server."""

from __future__ import annotations

import json
from typing import get_args

import pytest

from kibitz.builtin_games import load_games
from kibitz.conformance.match import ConformanceMatch
from kibitz.conformance.results import FailedError
from kibitz.conformance.server import ConformanceServer
from kibitz_protocol.wire import messages
from kibitz_protocol.wire.clocks import TimeControl
from kibitz_protocol.wire.codec import encode
from kibitz_protocol.wire.messages import ServerMessage
from kibitz_protocol.wire.visibility import WantedViews
from tests.tools.view_follower import ViewFollower


class ListeningServer(ConformanceServer):
    """A scripted server that stores its messages."""

    def __init__(self, views: WantedViews) -> None:
        super().__init__()
        self.views = views
        self.sent: list[ServerMessage] = []

    def send(self, message: ServerMessage) -> None:
        self.sent.append(message)


@pytest.mark.parametrize("views", get_args(WantedViews))
async def test_a_bot_is_told_of_the_view_what_it_asked_for(views: WantedViews) -> None:
    server = ListeningServer(views)
    game = load_games("plain")["tanks"]
    match = ConformanceMatch(server, game, key="m1", seats=4, seat=0, seed=7)
    match._send_snapshot("started")
    for _ in range(20):
        if match.engine.state.to_act == match.seat:
            match._send_turn()
        match._act(game.legal(match.engine.state.game_state)[0])
    match.handle(messages.History(id=9, match="m1", first=0, count=1000))
    match.handle(messages.History(id=9, match="m1", first=11, count=5))
    follower = ViewFollower()
    follower.follow(
        [{"type": "welcome"}, *(json.loads(encode(message)) for message in server.sent)], [views]
    )
    assert follower.wrong == []
    assert views in ("none", "drawn") or follower.compared > 20
    whole, part = (each for each in server.sent if isinstance(each, messages.EventList))
    assert [event.entry.seq for event in whole.events] == list(range(1, 21))
    assert ([event.entry.seq for event in part.events], part.more) == ([11, 12, 13, 14, 15], True)
    assert [each for each in server.sent if isinstance(each, messages.Event)] == whole.events


async def test_a_fault_that_arrives_with_the_end_of_the_match_is_found() -> None:
    class LateFault(ListeningServer):
        async def flush(self) -> None:
            self.violations.append("nonsense after the last move")

    server = LateFault("turn")
    game = load_games("plain")["line-nim"]
    match = ConformanceMatch(server, game, key="m1", seats=2, seat=0, seed=7)
    match.others_resign()
    with pytest.raises(FailedError, match="nonsense after the last move"):
        await match.play()


@pytest.mark.parametrize(("seat", "flags"), [(0, 1), (1, 0)])
async def test_only_the_flags_of_the_bot_are_noted(seat: int, flags: int) -> None:
    server, control = ListeningServer("turn"), TimeControl.parse("10+0")
    game = load_games("plain")["chinese-checkers"]
    match = ConformanceMatch(server, game, key="m1", seats=2, seat=seat, seed=7, control=control)
    for _ in range(2):  # clocks do not run in the opening
        match._act(game.legal(match.engine.state.game_state)[0])
    match._send_snapshot("started")
    match._send_turn()
    match.advance_time(11_000)
    assert not match.running
    assert len(match.flags) == flags
