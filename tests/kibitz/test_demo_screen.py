from __future__ import annotations

import pytest

from kibitz.builtin_games import load_games
from kibitz.demo_screen import DemoApp, next_match
from kibitz_clients.tui.screens.lobby import LobbyScreen
from kibitz_clients.tui.screens.match import MatchScreen
from kibitz_games.core.game import Game
from kibitz_protocol.wire.lobbies import MatchBrief
from kibitz_protocol.wire.messages import MatchEnded
from kibitz_protocol.wire.recordfile import Record
from kibitz_protocol.wire.records import Cause, Result
from tests.clients.pilots import settle, until
from tests.tools import fake_connection as testing
from tests.tools.fake_connection import FakeServerConnection


def brief(number: int, game: str) -> MatchBrief:
    return MatchBrief(match=f"M{number}", lobby="L1", number=number, game=game, seats=[])


RESULT = Result(seats=[], cause=Cause.RULES, reason="goal", plies=4)
RUNNING = [brief(3, "nim"), brief(1, "star"), brief(2, "star"), brief(4, "go")]


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        ([], "M1"),
        (["star"], "M3"),
        (["star", "nim"], "M4"),
        (["star", "nim", "go"], "M1"),
        (["nim", "go", "star", "nim"], "M4"),
    ],
)
def test_the_kind_that_was_shown_the_longest_ago_comes_next(seen: list[str], expected: str) -> None:
    stop = next_match(RUNNING, seen)
    assert stop is not None
    assert stop.match == expected


def test_where_nothing_runs_there_is_nowhere_to_go() -> None:
    assert next_match([], ["star"]) is None


@pytest.fixture
def game() -> Game:
    return load_games("plain")["chinese-checkers"]


@pytest.fixture
def record(game: Game) -> Record:
    return testing.play_record(game, ["ada", "bo"], 4, lambda play: play.legal[0])


async def test_it_goes_from_the_lobby_to_one_kind_after_the_other_and_back(
    game: Game, record: Record
) -> None:
    link = FakeServerConnection()
    tour = DemoApp({game.info.name: game}, link.connect, lobby="L1", where="here")
    first, other = testing.brief(record), brief(9, "nim")
    async with tour.run_test(size=(80, 24)) as pilot:
        link.push(testing.lobby_news(first, other, state="gathering"))
        await until(pilot, lambda: isinstance(tour.screen, LobbyScreen))
        await until(pilot, lambda: "L1" in tour.client_state.lobbies)
        tour.advance_tour()
        await settle(pilot)
        assert isinstance(tour.screen, LobbyScreen)
        link.push(testing.lobby_news(first, other))
        await until(pilot, lambda: tour.client_state.lobbies["L1"].state == "running")
        tour.advance_tour()
        await settle(pilot)
        assert isinstance(tour.screen, LobbyScreen)
        tour.advance_tour()
        await until(pilot, lambda: ("watch", first.match) in link.requests)
        link.push(testing.snapshot(game, record, 0))
        await until(pilot, lambda: isinstance(tour.screen, MatchScreen))
        tour.advance_tour()
        await until(pilot, lambda: ("watch", other.match) in link.requests)
        assert ("unwatch", first.match) in link.requests
        assert [asked[0] for asked in link.requests].count("join") == 1
        for each in (first, other):
            ended = each.model_copy(update={"result": RESULT})
            link.push(MatchEnded(lobby="L1", match=ended))
        await until(pilot, lambda: all(b.result for b in tour.client_state.briefs.values()))
        tour.advance_tour()
        await until(pilot, lambda: isinstance(tour.screen, LobbyScreen))


async def test_the_first_key_ends_the_tour(game: Game, record: Record) -> None:
    link = FakeServerConnection()
    tour = DemoApp({game.info.name: game}, link.connect, lobby="L1", where="here")
    async with tour.run_test(size=(80, 24)) as pilot:
        link.push(testing.lobby_news(testing.brief(record)))
        await until(pilot, lambda: "L1" in tour.client_state.lobbies)
        assert not tour.navigation.follow
        await pilot.press("up")
        assert tour.navigation.follow
        tour.advance_tour()
        await settle(pilot)
        assert not any(request[0] == "watch" for request in link.requests)
