from __future__ import annotations

import pytest

from kibitz.box import games
from kibitz.tour import Tour, next_stop
from kibitz_clients import testing
from kibitz_clients.screens.lobby import LobbyScreen
from kibitz_clients.screens.match import MatchScreen
from kibitz_clients.testing import FakeLink
from kibitz_games.api import Game
from kibitz_protocol.messages import MatchEnded
from kibitz_protocol.recordfile import Record
from kibitz_protocol.records import Cause, Result
from kibitz_protocol.rooms import MatchBrief
from tests.clients.pilots import settle, until


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
    stop = next_stop(RUNNING, seen)
    assert stop is not None
    assert stop.match == expected


def test_where_nothing_runs_there_is_nowhere_to_go() -> None:
    assert next_stop([], ["star"]) is None


@pytest.fixture
def game() -> Game:
    return games("plain")["chinese-checkers"]


@pytest.fixture
def record(game: Game) -> Record:
    return testing.played(game, ["ada", "bo"], 4, lambda play: play.legal[0])


async def test_it_goes_from_the_lobby_to_one_kind_after_the_other_and_back(
    game: Game, record: Record
) -> None:
    link = FakeLink()
    tour = Tour({game.info.name: game}, link.connect, lobby="L1", where="here")
    first, other = testing.brief(record), brief(9, "nim")
    async with tour.run_test(size=(80, 24)) as pilot:
        link.tell(testing.lobby_news(first, other, state="gathering"))
        await until(pilot, lambda: isinstance(tour.screen, LobbyScreen))
        await until(pilot, lambda: "L1" in tour.gallery.lobbies)
        tour.go_round()
        await settle(pilot)
        assert isinstance(tour.screen, LobbyScreen)
        link.tell(testing.lobby_news(first, other))
        await until(pilot, lambda: tour.gallery.lobbies["L1"].state == "running")
        tour.go_round()
        await settle(pilot)
        assert isinstance(tour.screen, LobbyScreen)
        tour.go_round()
        await until(pilot, lambda: ("watch", first.match) in link.asked)
        link.tell(testing.snapshot(game, record, 0))
        await until(pilot, lambda: isinstance(tour.screen, MatchScreen))
        tour.go_round()
        await until(pilot, lambda: ("watch", other.match) in link.asked)
        assert ("unwatch", first.match) in link.asked
        assert [asked[0] for asked in link.asked].count("join") == 1
        for each in (first, other):
            ended = each.model_copy(update={"result": RESULT})
            link.tell(MatchEnded(lobby="L1", match=ended))
        await until(pilot, lambda: all(b.result for b in tour.gallery.briefs.values()))
        tour.go_round()
        await until(pilot, lambda: isinstance(tour.screen, LobbyScreen))


async def test_the_first_key_ends_the_tour(game: Game, record: Record) -> None:
    link = FakeLink()
    tour = Tour({game.info.name: game}, link.connect, lobby="L1", where="here")
    async with tour.run_test(size=(80, 24)) as pilot:
        link.tell(testing.lobby_news(testing.brief(record)))
        await until(pilot, lambda: "L1" in tour.gallery.lobbies)
        assert not tour.follow
        await pilot.press("up")
        assert tour.follow
        tour.go_round()
        await settle(pilot)
        assert not any(asked[0] == "watch" for asked in link.asked)
