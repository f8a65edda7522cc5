"""The wall: boards side by side, results, and opening and leaving a match with one key."""

from __future__ import annotations

import pytest
from rich.text import Text

from kibitz_clients.tui.kibitz_app import KibitzApp
from kibitz_clients.tui.screens.match import MatchScreen
from kibitz_clients.tui.screens.wall import Preparation, WallPlan, WallScreen
from kibitz_clients.tui.widgets.match_grid import MatchGrid
from kibitz_games.core.game import Game
from kibitz_protocol.client.events import MatchLost
from kibitz_protocol.wire.messages import Finished, MatchEnded, MatchStarted
from kibitz_protocol.wire.recordfile import Record
from kibitz_protocol.wire.records import Cause, Result, SeatResult
from kibitz_protocol.wire.refusals import Code
from tests.clients.pilots import settle, until
from tests.tools import fake_connection as testing
from tests.tools.fake_connection import FakeServerConnection


def wall_app(
    game: Game, link: FakeServerConnection, plan: WallPlan, lobby: str | None = "L1"
) -> KibitzApp:
    return KibitzApp({game.info.name: game}, link.connect, lobby=lobby, wall=plan, now=link.now)


def lines(app: KibitzApp) -> list[str]:
    grid = app.screen.query_one(MatchGrid)
    return [grid.render_line(y).text for y in range(grid.size.height)]


def shown(app: KibitzApp, id: str) -> str:
    screen = app.screen
    assert isinstance(screen, WallScreen)
    return str(screen._static_contents[id])


@pytest.fixture
def record(game: Game) -> Record:
    return testing.play_record(game, ["ada", "bo"], 9, lambda play: play.legal[0])


@pytest.mark.parametrize("size", [(80, 24), (200, 60), (40, 12), (24, 8)])
async def test_a_match_is_a_board_with_names_clocks_and_its_last_move(
    game: Game, record: Record, size: tuple[int, int]
) -> None:
    link = FakeServerConnection()
    app = wall_app(game, link, WallPlan())
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: isinstance(app.screen, WallScreen))
        await settle(pilot)
        assert any("no running matches" in line for line in lines(app))
        link.push(testing.lobby_news(testing.brief(record)))
        await until(pilot, lambda: ("watch", "M1") in link.requests)
        link.push(testing.snapshot(game, record, 8), testing.events(game, record)[8])
        await until(pilot, lambda: any("ply 9" in line for line in lines(app)))
        text = "\n".join(lines(app))
        assert "ada" in text
        assert "bo" in text
        move = game.notation.format(game.Move.model_validate(record.entries[8].action))  # type: ignore[union-attr]
        assert lines(app)[-1].strip() == f"● ada {move}"
        assert all(len(line) == size[0] for line in lines(app))
        assert app.screen.query_one(MatchGrid)._strip(Text("ada and bo"), 5).text == "ada …"


async def test_one_key_opens_a_board_and_another_one_goes_back(game: Game, record: Record) -> None:
    link = FakeServerConnection()
    app = wall_app(game, link, WallPlan())
    async with app.run_test(size=(80, 24)) as pilot:
        link.push(testing.lobby_news(testing.brief(record)), testing.snapshot(game, record, 9))
        await until(pilot, lambda: "M1" in app.client_state.matches)
        await settle(pilot)
        await pilot.press("1")
        await until(pilot, lambda: isinstance(app.screen, MatchScreen))
        await pilot.press("b")
        await until(pilot, lambda: isinstance(app.screen, WallScreen))
        await pilot.press("2", "b", "escape")
        await settle(pilot)
        assert isinstance(app.screen, WallScreen)
        await pilot.click(MatchGrid, offset=(5, 5))
        await until(pilot, lambda: isinstance(app.screen, MatchScreen))
        assert [asked for asked in link.requests if asked[0] == "unwatch"] == []


async def test_results_run_along_while_the_next_match_has_a_board(
    game: Game, record: Record
) -> None:
    link = FakeServerConnection()
    app = wall_app(game, link, WallPlan())
    brief = testing.brief(record)
    seats = [SeatResult(rank=1, score=1), SeatResult(rank=2, score=0)]
    result = Result(seats=seats, cause=Cause.RULES, reason="goal", plies=9)
    after = brief.model_copy(update={"match": "M2", "number": 2})
    async with app.run_test(size=(80, 24)) as pilot:
        link.push(testing.lobby_news(brief), testing.snapshot(game, record, 9))
        await until(pilot, lambda: "M1" in app.client_state.matches)
        assert shown(app, "results") == "results appear here as matches end"
        view = testing.snapshot(game, record, 9).view
        link.push(
            Finished(match="M1", seq=9, result=result, view=view, record="", seed=testing.SEED),
            MatchEnded(lobby="L1", match=brief.model_copy(update={"result": result})),
            MatchStarted(lobby="L1", match=after),
        )
        await until(pilot, lambda: "1 match played" in shown(app, "title"))
        assert "● ada wins by filling the goal, 9 plies" in shown(app, "results")
        assert lines(app)[-1].startswith("● ada wins by filling the goal")
        await until(pilot, lambda: ("watch", "M2") in link.requests)


async def test_a_board_is_kept_for_each_game_while_a_bar_tells_what_is_ready(
    game: Game, record: Record
) -> None:
    preparation = Preparation(total=4, done=1, doing="starting the bots of go")
    link = FakeServerConnection()
    app = wall_app(game, link, WallPlan([game.info.name, "go"], preparation))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, WallScreen))
        await settle(pilot)
        assert sum(line.count("preparing") for line in lines(app)) == 2
        assert "1/4 ready, starting the bots of go" in shown(app, "results")
        preparation.done = 4
        app.screen.refresh_content()  # type: ignore[attr-defined]
        assert "ready" not in shown(app, "results")


async def test_without_a_lobby_it_is_all_matches_of_the_server(game: Game, record: Record) -> None:
    link = FakeServerConnection()
    link.hall.match_list = [testing.brief(record)]
    app = wall_app(game, link, WallPlan(), lobby=None)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: app.online and isinstance(app.screen, WallScreen))
        app.screen._ask()  # type: ignore[attr-defined]
        await until(pilot, lambda: "M1" in app.client_state.briefs)
        app.screen.refresh_content()  # type: ignore[attr-defined]
        await until(pilot, lambda: ("watch", "M1") in link.requests)


async def test_a_match_that_ended_while_it_was_asked_for_again_is_no_notice(
    game: Game, record: Record
) -> None:
    link = FakeServerConnection()
    app = wall_app(game, link, WallPlan())
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        link.push(testing.lobby_news(testing.brief(record)), testing.snapshot(game, record, 8))
        await until(pilot, lambda: "M1" in app.client_state.matches)
        await until(pilot, lambda: ("watch", "M1") in link.requests)
        link.push(
            MatchLost("M8", Code.OVER, "the match is over"),
            MatchLost("M1", Code.OVER, "the match is over"),
        )
        await until(pilot, lambda: "M1" in app.client_state.lost)
        await settle(pilot)
        told = [each.message for each in app._notifications]
        assert told == ["match M8: the match is over"]


async def test_more_boards_than_fit_are_on_further_pages(game: Game, record: Record) -> None:
    link = FakeServerConnection()
    app = wall_app(game, link, WallPlan([f"game-{number}" for number in range(8)]))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, WallScreen))
        await settle(pilot)
        assert "6 of 8 boards" in shown(app, "title")
        assert "game-0" in lines(app)[0]
        await pilot.press("space")
        assert "game-6" in lines(app)[0]
        await pilot.press("space")
        assert "game-0" in lines(app)[0]
