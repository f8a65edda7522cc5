"""The terminal application, driven by keys with a fake connection."""

from __future__ import annotations

import asyncio
import contextlib
import html
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from rich.style import Style
from rich.text import Text
from textual.app import ComposeResult
from textual.events import Paste
from textual.screen import Screen
from textual.widgets import DataTable, OptionList, Static

from kibitz_clients.matches import recorded_match
from kibitz_clients.palette import DARK, LIGHT
from kibitz_clients.render import match_picture
from kibitz_clients.tui.kibitz_app import THEME_VARIABLE, KibitzApp
from kibitz_clients.tui.screens.dialogs import Confirm, Keys, Rules
from kibitz_clients.tui.screens.lobby import LobbyScreen
from kibitz_clients.tui.screens.match import MatchScreen
from kibitz_clients.tui.screens.play import PlayScreen
from kibitz_clients.tui.screens.server_browser import ServerBrowserScreen
from kibitz_clients.tui.widgets.board import Board, pack_lines
from kibitz_clients.tui.widgets.move_line import MoveLine
from kibitz_clients.tui.widgets.moves import Moves, step_line
from kibitz_clients.wording import move_input
from kibitz_games.core.game import Game
from kibitz_protocol import printable
from kibitz_protocol.client.errors import RefusedError, UnreachableError
from kibitz_protocol.client.events import MatchLost
from kibitz_protocol.wire.lobbies import LobbyBrief
from kibitz_protocol.wire.messages import Finished, LobbyClosed, MatchStarted
from kibitz_protocol.wire.recordfile import Record, RecordError
from kibitz_protocol.wire.records import Comment, Left, Noted
from kibitz_protocol.wire.refusals import Code
from tests.clients.pilots import settle, type_at_once, until
from tests.tools import fake_connection as testing
from tests.tools.fake_connection import FakeServerConnection

LOBBY = LobbyBrief(
    lobby="L1",
    name="evening",
    host="ada",
    state="running",
    joinable="open",
    watchable=True,
    games=["chinese-checkers"],
    members=3,
    places=3,
)


def told(app: KibitzApp, words: str) -> bool:
    """Return whether the screen shows these words."""
    pieces = re.findall(r">([^<]*)</text>", app.export_screenshot())
    return words in html.unescape("".join(pieces)).replace("\xa0", " ")


def shown(app: KibitzApp, id: str) -> str:
    """Return the text of a line of the screen."""
    content = app.screen.query_one(f"#{id}", Static).visual
    return str(content) if not isinstance(content, Text) else content.plain


def typed(app: KibitzApp) -> str:
    return app.screen.query_one(MoveLine).value


def match_of(app: KibitzApp) -> MatchScreen:
    assert isinstance(app.screen, MatchScreen)
    return app.screen


def ending(game: Game, record: Record, link: FakeServerConnection) -> None:
    """Report the end of a running match: seat 1 wins because the others have dropped out."""
    last = recorded_match.build_timeline(game, record).newest
    seats = [{"rank": rank, "score": 0.0} for rank in (2, 1, 3)]
    link.push(
        Finished.model_validate(
            {
                "match": record.setup.match,
                "lobby": "L1",
                "seq": last.seq,
                "result": {"seats": seats, "cause": "resignation", "plies": last.ply},
                "view": last.view,
                "seed": "s",
                "record": "/records/M1.jsonl",
            }
        )
    )


# ------------------------------------------------------------------------------------ the browser


async def test_the_browser_lists_lobbies_and_matches(
    games: dict[str, Game], running: Record
) -> None:
    link = FakeServerConnection()
    link.hall.lobby_list, link.hall.match_list = [LOBBY], [testing.brief(running)]
    app = KibitzApp(games, link.connect, now=link.now, server_label="ws://here")
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert isinstance(app.screen, ServerBrowserScreen)
        rows = {
            id: [str(cell) for cell in app.screen.query_one(f"#{id}", DataTable).get_row_at(0)]
            for id in ("lobbies", "matches")
        }
        assert rows["lobbies"] == ["evening", "running", "chinese-checkers", "3/3", "ada", "L1"]
        assert rows["matches"][:4] == ["1", "chinese-checkers", "30", "running"]
        assert rows["matches"][5] == "● ada  ▲ bo  ■ cy"
        assert "● connected" in shown(app, "title")
        link.online = False
        app.screen.refresh_content()
        await settle(pilot)
        assert "reconnecting" in shown(app, "title")
        await pilot.press("question_mark")
        await settle(pilot)
        assert isinstance(app.screen, Keys)


async def test_a_screen_says_that_it_connects_for_the_first_time() -> None:
    @contextlib.asynccontextmanager
    async def connect() -> AsyncIterator[Any]:
        await asyncio.Event().wait()
        yield None

    app = KibitzApp({}, connect)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert shown(app, "title").endswith(" connecting …")


async def test_enter_in_the_browser_opens_the_lobby_and_then_the_match(
    game: Game, games: dict[str, Game], running: Record
) -> None:
    link = FakeServerConnection()
    link.hall.lobby_list, link.hall.match_list = [LOBBY], [testing.brief(running)]
    app = KibitzApp(games, link.connect, now=link.now)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("enter")
        link.push(testing.lobby_news(testing.brief(running)))
        await settle(pilot)
        assert isinstance(app.screen, LobbyScreen)
        assert link.requests == [("join", "L1", None, "spectator")]
        await pilot.press("enter")
        link.push(testing.snapshot(game, running, 30))
        await settle(pilot)
        assert match_of(app).match == "M1"
        assert ("watch", "M1") in link.requests
        await pilot.press("b")
        await settle(pilot)
        assert isinstance(app.screen, LobbyScreen)
        assert ("unwatch", "M1") in link.requests
        await pilot.press("b")
        await settle(pilot)
        assert isinstance(app.screen, ServerBrowserScreen)


@pytest.mark.filterwarnings("error")
async def test_asking_again_before_the_first_request_starts_leaves_nothing_behind(
    games: dict[str, Game], running: Record
) -> None:
    link = FakeServerConnection()
    link.hall.match_list = [testing.brief(running)]
    app = KibitzApp(games, link.connect, now=link.now)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        asked: list[int] = []
        for _ in range(2):
            app.requests.ask_lists(lambda _, matches: asked.append(len(matches)), pytest.fail)
        await until(pilot, lambda: asked == [1])


async def test_the_browser_keeps_its_row_when_the_lists_change(
    games: dict[str, Game], running: Record
) -> None:
    link = FakeServerConnection()
    brief = testing.brief(running)
    link.hall.match_list = [
        brief.model_copy(update={"match": f"M{number}", "number": number}) for number in (1, 2)
    ]
    app = KibitzApp(games, link.connect, now=link.now)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("tab", "down")
        link.hall.match_list.insert(0, brief.model_copy(update={"match": "M0", "number": 9}))
        await pilot.press("r")
        await settle(pilot)
        await pilot.press("enter")
        await settle(pilot)
        assert link.requests[-1] == ("watch", "M2")


# ----------------------------------------------------------------------------------- the lobby


async def test_lobby_shows_members_standings_and_running_matches(
    games: dict[str, Game], running: Record
) -> None:
    link = FakeServerConnection()
    app = KibitzApp(games, link.connect, now=link.now, lobby="L1")
    link.push(testing.lobby_news(testing.brief(running), invite="abcd"))
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert isinstance(app.screen, LobbyScreen)
        title = shown(app, "title")
        assert "evening · L1 · running · round 1 · 0 of 1 matches" in title
        assert "invite" not in title  # the lobby is open and needs no code
        assert app.screen.query_one(OptionList).get_option_at_index(0).id == "M1"
        svg = app.export_screenshot()
        for word in ("Standings", "points", "ready", "1.5"):
            assert word in svg


async def test_a_lobby_that_was_stopped_says_why_and_counts_what_was_played(
    games: dict[str, Game], running: Record
) -> None:
    link = FakeServerConnection()
    app = KibitzApp(games, link.connect, now=link.now, lobby="L1")
    why = "6 matches in a row could not be played"
    link.push(testing.lobby_news(state="finished", planned=50, done=50, void=42, stopped=why))
    async with app.run_test(size=(110, 24)) as pilot:
        await settle(pilot)
        assert "8 of 50 matches, 42 will not be played" in shown(app, "title")
        assert f"the rest of the programme will not be played: {why}" in shown(app, "status")


async def test_a_lobby_shows_a_code_that_is_needed_and_no_matches_where_none_are_planned(
    games: dict[str, Game], running: Record
) -> None:
    link = FakeServerConnection()
    app = KibitzApp(games, link.connect, now=link.now, lobby="L1")
    news = testing.lobby_news(testing.brief(running), invite="abcd", planned=0, done=0)
    settings = news.lobby.settings.model_copy(update={"joinable": "invite"})
    lobby = news.lobby.model_copy(update={"settings": settings})
    link.push(news.model_copy(update={"lobby": lobby}))
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert shown(app, "title") == "evening · L1 · running · round 1 · invite abcd"


async def test_a_player_says_ready_and_asks_for_a_rematch(
    games: dict[str, Game], running: Record
) -> None:
    link = FakeServerConnection(player="p1")
    link.refusals["rematch"] = RefusedError(Code.NOT_HOST, "bo is not the host", "ask ada")
    app = KibitzApp(games, link.connect, now=link.now, lobby="L1", invite="abcd", play=True)
    link.push(testing.lobby_news(testing.brief(running), state="gathering"))
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert link.requests == [("join", "L1", "abcd", "player")]
        assert "waiting for the other players" in shown(app, "status")
        await pilot.press("r", "s", "m")
        await settle(pilot)
        assert link.requests[1:] == [("ready", "L1", False), ("start", "L1"), ("rematch", "L1")]
        assert shown(app, "status") == "bo is not the host; ask ada"


async def test_a_house_bot_that_failed_is_shown_in_the_lobby(
    games: dict[str, Game], running: Record
) -> None:
    link = FakeServerConnection(player="p1")
    app = KibitzApp(games, link.connect, now=link.now, lobby="L1")
    trouble = {
        "seat": 1,
        "personality": "tanks/seer",
        "failures": 1,
        "reason": "it did not come",
        "given_up": False,
    }
    brief = testing.brief(running)
    link.push(testing.lobby_news(brief, state="gathering", house_trouble=[trouble]))
    async with app.run_test(size=(100, 24)) as pilot:
        await settle(pilot)
        assert shown(app, "status") == (
            "tanks/seer in seat 2 failed: it did not come; it will be restarted"
        )


async def test_who_has_no_seat_is_told_so(games: dict[str, Game], running: Record) -> None:
    link = FakeServerConnection(player="p77")
    app = KibitzApp(games, link.connect, now=link.now, lobby="L1")
    link.push(testing.lobby_news(testing.brief(running)))
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("r")
        await settle(pilot)
        assert shown(app, "status") == "you have no seat in this lobby"
        assert [asked[0] for asked in link.requests] == ["join"]


# ----------------------------------------------------------------------------- following a match


async def test_a_match_steps_back_and_forth_while_it_goes_on(
    game: Game, games: dict[str, Game], running: Record
) -> None:
    link = FakeServerConnection()
    events = testing.events(game, running)
    link.events["M1"] = events
    app = KibitzApp(games, link.connect, now=link.now, match="M1")
    link.push(testing.snapshot(game, running, 20))
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        screen = match_of(app)
        assert screen.timeline_cursor.position == (20, 20)
        assert "● live" in shown(app, "title")
        await pilot.press("left", "left")
        assert screen.timeline_cursor.position == (18, 20)
        link.push(*events[20:])
        await settle(pilot)
        assert screen.timeline_cursor.position == (18, 30)
        assert "step 18 of 30" in shown(app, "title")
        await pilot.press("home")
        assert screen.timeline_cursor.frame.seq == 0
        await pilot.press("right", "full_stop")
        assert screen.timeline_cursor.frame.seq == 2
        await pilot.press("space")
        assert screen.timeline_cursor.position == (30, 30)
        newest, players = screen.timeline.newest, screen.timeline.info.seats
        assert screen.query_one(Board).scene == match_picture.frame_scene(game, newest, players)


async def test_clicking_a_step_goes_there(
    game: Game, games: dict[str, Game], running: Record
) -> None:
    app = KibitzApp(games, recorded=recorded_match.build_timeline(game, running))
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("home")
        await settle(pilot)
        await pilot.click(Moves, offset=(3, 5))
        await settle(pilot)
        assert match_of(app).timeline_cursor.frame.seq == 5


async def test_the_board_is_whole_at_every_size(
    game: Game, games: dict[str, Game], running: Record
) -> None:
    app = KibitzApp(games, recorded=recorded_match.build_timeline(game, running))
    async with app.run_test(size=(110, 40)) as pilot:
        await settle(pilot)
        for size in ((80, 24), (100, 30), (120, 45), (60, 20)):
            await pilot.resize_terminal(*size)
            await settle(pilot)
            board = app.screen.query_one(Board)
            drawn = board.drawn_board
            assert set(drawn.places.values()) == {cell.name for cell in board.scene.cells}, size
            steps = app.screen.query_one(Moves)
            assert steps.scroll_y <= 30 < steps.scroll_y + steps.size.height, "the newest is shown"
            assert drawn.width <= board.size.width
            assert drawn.height <= board.size.height
            pegs = sum(cell.owner == 0 for cell in board.scene.cells)
            assert drawn.plain().count("●") == pegs


async def test_clocks_tick_and_away_seats_count_down(
    game: Game, games: dict[str, Game], running: Record
) -> None:
    link = FakeServerConnection()
    app = KibitzApp(games, link.connect, now=link.now, match="M1")
    left = Left(seq=31, at_ms=15_000, seat=1, reason="disconnect", grace_ms=60_000)
    event = testing.events(game, running)[29].model_copy(update={"entry": left, "view": None})
    link.push(testing.snapshot(game, running, 30), event)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert "disconnected, 60 s to return" in shown(app, "seats")
        before = shown(app, "seats").splitlines()[0]
        link.clock += 5_000
        match_of(app).refresh_content()
        await settle(pilot)
        assert "disconnected, 55 s to return" in shown(app, "seats")
        after = shown(app, "seats").splitlines()[0]
        assert (before[-4:], after[-4:]) == ("1:05", "1:00")
        link.online = False
        match_of(app).refresh_content()
        await settle(pilot)
        assert "reconnecting" in shown(app, "title")


async def test_the_next_match_opens_by_itself_when_following(
    game: Game, games: dict[str, Game], running: Record, finished: Record
) -> None:
    link = FakeServerConnection()
    app = KibitzApp(games, link.connect, now=link.now, match="M1", follow=True)
    second = testing.brief(finished).model_copy(update={"result": None})
    link.push(
        testing.snapshot(game, running, 30),
        testing.lobby_news(testing.brief(running)),
        MatchStarted(lobby="L1", match=second),
    )
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        ending(game, running, link)
        await settle(pilot)
        assert ("watch", "M2") not in link.requests
        link.clock += 4_000
        await until(pilot, lambda: ("watch", "M2") in link.requests)
        link.push(testing.snapshot(game, finished, 3))
        await until(pilot, lambda: match_of(app).match == "M2")
        await pilot.press("f")
        assert not app.navigation.follow


async def test_n_goes_to_the_next_match_and_says_when_there_is_none(
    game: Game, games: dict[str, Game], running: Record, finished: Record
) -> None:
    link = FakeServerConnection()
    app = KibitzApp(games, link.connect, now=link.now, match="M1")
    link.push(testing.snapshot(game, running, 30), testing.lobby_news(testing.brief(running)))
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await settle(pilot)
        await pilot.press("n")
        await settle(pilot)
        await until(pilot, lambda: told(app, "no other match"))
        second = testing.brief(finished).model_copy(update={"result": None})
        link.push(MatchStarted(lobby="L1", match=second))
        await settle(pilot)
        await pilot.press("n")
        link.push(testing.snapshot(game, finished, 3))
        await settle(pilot)
        assert match_of(app).match == "M2"
        assert ("unwatch", "M1") in link.requests


async def test_the_result_is_shown_with_ranks_and_causes(
    game: Game, games: dict[str, Game], running: Record
) -> None:
    link = FakeServerConnection()
    app = KibitzApp(games, link.connect, now=link.now, match="M1")
    link.push(testing.snapshot(game, running, 30))
    ending(game, running, link)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert shown(app, "status") == "▲ bo wins, resigned, 30 plies"
        assert "2nd" in shown(app, "seats")
        assert "■ over" in shown(app, "title")


async def test_a_match_that_is_over_opens_from_its_record(
    games: dict[str, Game], finished: Record
) -> None:
    link = FakeServerConnection()
    link.hall.match_list = [testing.brief(finished)]
    link.refusals["watch"] = RefusedError(Code.OVER, "the match is over")

    async def fetch(url: str, match: str) -> Record:
        assert (url, match) == (link.url, "M2")
        return finished

    app = KibitzApp(games, link.connect, now=link.now, fetch=fetch)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("tab", "enter")
        await until(pilot, lambda: isinstance(app.screen, MatchScreen))
        await settle(pilot)
        assert shown(app, "status") == "▲ bo wins by filling the goal, 27 plies"
        await pilot.press("home")
        assert match_of(app).timeline_cursor.frame.seq == 0


async def test_a_record_that_cannot_be_fetched_is_a_sentence(
    games: dict[str, Game], finished: Record
) -> None:
    link = FakeServerConnection()
    link.hall.match_list = [testing.brief(finished)]
    link.refusals["watch"] = RefusedError(Code.OVER, "the match is over")

    async def fetch(url: str, match: str) -> Record:
        raise OSError("the server answers 404")

    app = KibitzApp(games, link.connect, now=link.now, fetch=fetch)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await settle(pilot)
        await pilot.press("tab", "enter")
        await until(pilot, lambda: told(app, "the server answers 404"))
        assert isinstance(app.screen, ServerBrowserScreen)


async def test_a_game_that_is_not_known_is_followed_without_a_board(
    game: Game, running: Record
) -> None:
    link = FakeServerConnection()
    app = KibitzApp({}, link.connect, now=link.now, match="M1")
    link.push(testing.snapshot(game, running, 30))
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        board = app.screen.query_one(Board)
        assert board.scene.text == ("unknown game 'chinese-checkers'",)


async def test_names_help_and_playing_the_steps(
    game: Game, games: dict[str, Game], running: Record
) -> None:
    clock = FakeServerConnection()
    app = KibitzApp(games, recorded=recorded_match.build_timeline(game, running), now=clock.now)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await settle(pilot)
        await pilot.press("number_sign")
        await settle(pilot)
        assert " 60 " in app.screen.query_one(Board).drawn_board.plain()
        await pilot.press("v")
        await until(pilot, lambda: told(app, "everybody sees the same position"))
        await pilot.press("question_mark")
        await settle(pilot)
        assert isinstance(app.screen, Keys)
        await pilot.press("escape")
        await settle(pilot)
        await pilot.press("p")
        screen = match_of(app)
        assert screen.timeline_cursor.frame.seq == 0
        clock.clock += 600
        screen.refresh_content()
        assert screen.timeline_cursor.frame.seq == 1
        await pilot.press("p")
        clock.clock += 600
        screen.refresh_content()
        assert screen.timeline_cursor.frame.seq == 1


# ---------------------------------------------------------------------------------- playing


@pytest.fixture
def my_turn(game: Game, running: Record) -> FakeServerConnection:
    """A connection of the player to act."""
    link = FakeServerConnection(player="p0")
    turn = testing.your_turn(game, running)
    link.push(testing.snapshot(game, running, 30, you=turn.seat), turn)
    return link


async def test_a_person_picks_a_move_by_keys_and_it_is_sent(
    game: Game, games: dict[str, Game], running: Record, my_turn: FakeServerConnection
) -> None:
    turn = testing.your_turn(game, running)
    app = KibitzApp(games, my_turn.connect, now=my_turn.now)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert isinstance(app.screen, PlayScreen)
        assert "Your turn: pick one of" in shown(app, "status")
        assert "(you)" in shown(app, "seats")
        await pilot.press("tab", "enter")
        assert "picked; now pick one of" in shown(app, "status")
        await pilot.press("tab", "enter")
        assert "enter to play" in shown(app, "status")
        assert not any(asked[0] == "move" for asked in my_turn.requests)
        await pilot.press("enter")
        await settle(pilot)
        method, match, ply, action = my_turn.requests[-1]
        assert (method, match, ply) == ("move", "M1", 30)
        assert action in (turn.legal or [])


async def test_a_person_picks_a_move_by_mouse(
    game: Game, games: dict[str, Game], running: Record, my_turn: FakeServerConnection
) -> None:
    turn = testing.your_turn(game, running)
    assert turn.legal is not None
    wire = turn.legal[0]
    app = KibitzApp(games, my_turn.connect, now=my_turn.now)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        board = app.screen.query_one(Board)
        where = {name: at for at, name in board.drawn_board.places.items()}
        left = (board.size.width - board.drawn_board.width) // 2
        rows = [board.render_line(y).text.strip() for y in range(board.size.height)]
        top = next(y for y, row in enumerate(rows) if row)
        for place in (wire["from"], wire["to"], wire["to"]):
            x, y = where[str(place)]
            await pilot.click(Board, offset=(left + x, top + y))
            await settle(pilot)
        assert my_turn.requests[-1] == ("move", "M1", 30, wire)


async def test_a_person_types_a_move(
    game: Game, games: dict[str, Game], running: Record, my_turn: FakeServerConnection
) -> None:
    turn = testing.your_turn(game, running)
    assert turn.legal is not None
    wire = turn.legal[-1]
    app = KibitzApp(games, my_turn.connect, now=my_turn.now)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press(*"0-120", "enter")
        await settle(pilot)
        assert shown(app, "status").startswith("0-120 is not a legal move: ")
        type_at_once(app, f"{wire['from']} {wire['to']}")
        await settle(pilot)
        assert shown(app, "typed").endswith(f"enter to play {wire['from']}-{wire['to']}")
        type_at_once(app, "\r")
        await settle(pilot)
        assert my_turn.requests[-1] == ("move", "M1", 30, wire)


async def test_no_letter_is_a_command_while_one_plays(
    game: Game, games: dict[str, Game], running: Record, my_turn: FakeServerConnection
) -> None:
    """Not on the own turn, and not on another's, which may end while the user types."""
    app = KibitzApp(games, my_turn.connect, now=my_turn.now, follow=True)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        screen = app.screen
        letters = "abcdefghijklmnopqrstuvwxyzBFLNOPQRV"
        for mine in (True, False):
            if not mine:
                app.client_state.turns.clear()
                match_of(app).refresh_content()
            type_at_once(app, letters)
            await settle(pilot)
            assert app.screen is screen
            assert app.is_running
            assert typed(app) == letters
            await pilot.press("escape")
        assert app.navigation.follow
        assert not any(asked[0] in {"resign", "unwatch"} for asked in my_turn.requests)


async def test_what_is_typed_before_the_turn_waits_for_it(
    game: Game, games: dict[str, Game], running: Record
) -> None:
    link = FakeServerConnection(player="p0")
    turn = testing.your_turn(game, running)
    assert turn.legal is not None
    move = f"{turn.legal[0]['from']}-{turn.legal[0]['to']}"
    app = KibitzApp(games, link.connect, now=link.now)
    link.push(testing.snapshot(game, running, 30, you=turn.seat))
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        type_at_once(app, f"{move}\r")
        await settle(pilot)
        assert shown(app, "status") == "it is not your turn yet"
        assert typed(app) == move
        link.push(turn)
        await settle(pilot)
        assert shown(app, "typed").endswith(f"enter to play {move}")
        await pilot.press("enter")
        await settle(pilot)
        assert link.requests[-1] == ("move", "M1", 30, turn.legal[0])


async def test_a_game_that_is_not_known_cannot_be_played_and_says_so(
    game: Game, running: Record, my_turn: FakeServerConnection
) -> None:
    app = KibitzApp({}, my_turn.connect, now=my_turn.now)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        type_at_once(app, "3-14\r")
        await settle(pilot)
        assert shown(app, "status") == "this game is not installed here, so you cannot play it"
        assert not any(asked[0] == "move" for asked in my_turn.requests)


async def test_a_pasted_move_waits_for_enter(
    game: Game, games: dict[str, Game], running: Record, my_turn: FakeServerConnection
) -> None:
    turn = testing.your_turn(game, running)
    assert turn.legal is not None
    wire = turn.legal[0]
    app = KibitzApp(games, my_turn.connect, now=my_turn.now)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        app.post_message(Paste(f"\n{wire['from']}-{wire['to']}\n\x1b[31mand more\n"))
        await settle(pilot)
        assert not any(asked[0] == "move" for asked in my_turn.requests)
        await pilot.press("enter")
        await settle(pilot)
        assert my_turn.requests[-1] == ("move", "M1", 30, wire)


async def test_a_typed_place_is_picked(
    game: Game, games: dict[str, Game], running: Record, my_turn: FakeServerConnection
) -> None:
    turn = testing.your_turn(game, running)
    assert turn.legal is not None
    place = turn.legal[0]["from"]
    app = KibitzApp(games, my_turn.connect, now=my_turn.now)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        type_at_once(app, f"{place}\r")
        await settle(pilot)
        assert f"{place} picked; now pick one of" in shown(app, "status")


async def test_commands_are_typed_after_a_colon(
    game: Game, games: dict[str, Game], running: Record, my_turn: FakeServerConnection
) -> None:
    app = KibitzApp(games, my_turn.connect, now=my_turn.now, rules=lambda name: f"# All of {name}")
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        type_at_once(app, ":r\r")
        await settle(pilot)
        assert shown(app, "status") == ":r is ambiguous: :resign, :rules"
        type_at_once(app, "/zz\r")
        await settle(pilot)
        assert shown(app, "status").startswith("unknown command :zz; commands: :back, ")
        type_at_once(app, ":names\r")
        await until(pilot, lambda: match_of(app).show_names)
        type_at_once(app, ":rul\r")
        await until(pilot, lambda: isinstance(app.screen, Rules))
        await until(pilot, lambda: told(app, "All of chinese-checkers"))
        await pilot.press("escape")
        type_at_once(app, ":res\r")
        await until(pilot, lambda: isinstance(app.screen, Confirm))
        await pilot.press("n")
        await settle(pilot)
        type_at_once(app, ":q\r")
        await until(pilot, lambda: not app.is_running)


async def test_the_rules_and_the_keys_are_one_key_away(
    games: dict[str, Game], my_turn: FakeServerConnection
) -> None:
    app = KibitzApp(games, my_turn.connect, now=my_turn.now)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert "F1 keys  F2 rules" in str(app.screen.query_one(MoveLine).placeholder)
        await pilot.press("f2")
        await until(pilot, lambda: isinstance(app.screen, Rules))
        await pilot.press("f2")
        await pilot.press("f1")
        await until(pilot, lambda: isinstance(app.screen, Keys))


async def test_a_refused_move_is_a_sentence_and_the_turn_is_still_there(
    game: Game, games: dict[str, Game], running: Record, my_turn: FakeServerConnection
) -> None:
    my_turn.refusals["move"] = RefusedError(Code.ILLEGAL, "no step ends in 14", "choose another")
    app = KibitzApp(games, my_turn.connect, now=my_turn.now)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("tab", "enter", "tab", "enter", "enter")
        await settle(pilot)
        assert shown(app, "status") == "no step ends in 14; choose another"
        await pilot.press("escape")
        await settle(pilot)
        assert "Your turn" in shown(app, "status")


async def test_arrows_move_the_cursor_and_commas_step_on_the_own_turn(
    game: Game, games: dict[str, Game], running: Record, my_turn: FakeServerConnection
) -> None:
    my_turn.events["M1"] = testing.events(game, running)
    app = KibitzApp(games, my_turn.connect, now=my_turn.now)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        before = app.screen.query_one(Board).drawn_board.plain()
        await pilot.press("right", "down")
        assert match_of(app).timeline_cursor.is_live
        assert app.screen.query_one(Board).drawn_board.plain() != before
        await pilot.press("comma")
        assert match_of(app).timeline_cursor.frame.seq == 29
        assert "Your turn" not in shown(app, "status")


async def test_resigning_asks_first(games: dict[str, Game], my_turn: FakeServerConnection) -> None:
    app = KibitzApp(games, my_turn.connect, now=my_turn.now)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("ctrl+r")
        await settle(pilot)
        assert isinstance(app.screen, Confirm)
        await pilot.press("n")
        await settle(pilot)
        assert ("resign", "M1") not in my_turn.requests
        await pilot.press("ctrl+r")
        await settle(pilot)
        await pilot.press("y")
        await settle(pilot)
        assert ("resign", "M1") in my_turn.requests


async def test_own_matches_open_by_themselves_but_do_not_push_each_other_away(
    game: Game,
    games: dict[str, Game],
    running: Record,
    finished: Record,
    my_turn: FakeServerConnection,
) -> None:
    app = KibitzApp(games, my_turn.connect, now=my_turn.now)
    my_turn.push(testing.snapshot(game, finished, 3, you=0))
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert match_of(app).match == "M1"
        assert set(app.client_state.matches) == {"M1", "M2"}


async def test_how_an_own_match_ended_is_told_over_the_next_one(
    game: Game,
    games: dict[str, Game],
    running: Record,
    finished: Record,
    my_turn: FakeServerConnection,
) -> None:
    app = KibitzApp(games, my_turn.connect, now=my_turn.now)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await settle(pilot)
        ending(game, running, my_turn)
        my_turn.push(testing.snapshot(game, finished, 0, you=0))
        await until(pilot, lambda: match_of(app).match == "M2")
        await until(pilot, lambda: told(app, "bo wins, resigned"))


async def test_a_match_of_ones_own_is_not_watched_but_opens_when_it_is_told(
    game: Game, games: dict[str, Game], running: Record
) -> None:
    link = FakeServerConnection(player="p0")
    app = KibitzApp(games, link.connect, now=link.now, lobby="L1", play=True, follow=True)
    started = testing.brief(running)
    link.push(testing.lobby_news(started, live={}), MatchStarted(lobby="L1", match=started))
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert link.requests == [("join", "L1", None, "player")]
        link.push(testing.snapshot(game, running, 0, you=0))
        await settle(pilot)
        assert isinstance(app.screen, PlayScreen)
        assert not any(asked[0] == "watch" for asked in link.requests)


# ----------------------------------------------------------------------------------------- failures


async def test_a_lost_server_ends_the_application_with_its_error(games: dict[str, Game]) -> None:
    link = FakeServerConnection()
    link.push(UnreachableError("nobody listens"))
    app = KibitzApp(games, link.connect, now=link.now)
    async with app.run_test() as pilot:
        await settle(pilot)
    assert isinstance(app.failure, UnreachableError)
    assert app.return_code == 1
    assert app.return_value == "the connection to the server has ended: nobody listens"


async def test_an_unknown_match_or_lobby_ends_the_application_with_the_refusal(
    games: dict[str, Game],
) -> None:
    link = FakeServerConnection()
    link.refusals["watch"] = RefusedError(Code.NO_SUCH_MATCH, "no match 'M7'")
    app = KibitzApp(games, link.connect, now=link.now, match="M7")
    async with app.run_test() as pilot:
        await settle(pilot)
    assert isinstance(app.failure, RefusedError)


async def test_news_that_lead_nowhere_are_told(games: dict[str, Game]) -> None:
    link = FakeServerConnection()
    app = KibitzApp(games, link.connect, now=link.now)
    link.push(
        LobbyClosed(lobby="L1", reason="expired"), MatchLost("M1", Code.NO_SUCH_MATCH, "it is over")
    )
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await until(pilot, lambda: told(app, "lobby L1: you were"))
        await until(pilot, lambda: told(app, "match M1: it is over"))


def test_a_wrong_record_is_named_before_the_screen_opens(
    games: dict[str, Game], tmp_path: Path
) -> None:
    path = tmp_path / "m.jsonl"
    path.write_text("{}\n", encoding="utf-8")
    with pytest.raises(RecordError, match=r"m\.jsonl:1: "):
        recorded_match.load_record(path, games)


# ---------------------------------------------------------------------------------- the pieces


def test_lines_of_text_are_packed_beside_each_other() -> None:
    assert list(pack_lines(["aa", "bb", "cccc"], 8)) == ["aa   bb", "cccc"]
    assert list(pack_lines([], 8)) == []


def test_step_lines_name_the_seat_the_move_and_the_comment(game: Game, running: Record) -> None:
    frames = recorded_match.build_timeline(game, running).frames
    assert step_line(game, frames[0], DARK).plain == "    start"
    assert step_line(game, frames[1], DARK).plain == "  1 ● 3-14    +0.00 d2 3-14"
    assert step_line(game, frames[2], DARK).plain.startswith("  2 ▲ ")
    assert Noted(seq=1, at_ms=0, seat=0, text="x").kind == "note"


# -------------------------------------------------------------------------------- untrusted texts

EVIL = "[red]\x1b[31m\x9b1m\u202eb\u200b\n2026 forged\x07[/red][/nothing]"


def poisoned(record: Record) -> Record:
    """Return a record in which every text is hostile."""
    seats = [seat.model_copy(update={"name": EVIL}) for seat in record.setup.seats]
    entries = [
        entry.model_copy(update={"comment": Comment.model_construct(text=EVIL, line=[EVIL])})
        for entry in record.entries
    ]
    setup = record.setup.model_copy(update={"seats": seats})
    return Record(setup, tuple(entries), record.footer, record.link)


def harmless(app: KibitzApp) -> None:
    """Check the complete terminal output of the current screen."""
    for strip in app.screen._compositor.render_strips():
        assert all(printable.is_safe(c) for segment in strip for c in segment.text), strip.text


async def test_hostile_texts_do_nothing_on_any_screen(
    game: Game, games: dict[str, Game], running: Record
) -> None:
    record = poisoned(running)
    brief = testing.brief(record)
    link = FakeServerConnection(player="p0")
    link.hall.lobby_list = [LOBBY.model_copy(update={"name": EVIL, "host": EVIL, "games": [EVIL]})]
    link.hall.match_list = [brief]
    news = testing.lobby_news(brief, invite=EVIL)
    members, standings = (
        {key: each.model_copy(update={"name": EVIL}) for key, each in named.items()}
        for named in (news.lobby.members, news.lobby.standings)
    )
    settings = news.lobby.settings.model_copy(update={"name": EVIL, "joinable": "invite"})
    lobby = news.lobby.model_copy(
        update={"members": members, "standings": standings, "settings": settings}
    )
    link.refusals["move"] = RefusedError(Code.ILLEGAL, EVIL, EVIL)
    app = KibitzApp(games, link.connect, now=link.now, greetings=lambda: [EVIL])
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        await settle(pilot)
        harmless(app)
        link.push(news.model_copy(update={"lobby": lobby}))
        app.navigation.enter_lobby("L1")
        await until(pilot, lambda: isinstance(app.screen, LobbyScreen))
        await settle(pilot)
        harmless(app)
        assert "\\x1b[31m" in shown(app, "title")
        assert "\n" not in shown(app, "title")
        turn = testing.your_turn(game, record)
        link.push(testing.snapshot(game, record, 30, you=turn.seat), turn)
        link.push(MatchLost("M9", Code.OVER, EVIL), LobbyClosed(lobby="L9", reason="expired"))
        await until(pilot, lambda: isinstance(app.screen, PlayScreen))
        await settle(pilot)
        harmless(app)
        assert shown(app, "seats").count("\n") == len(brief.seats) - 1
        type_at_once(app, f"{move_input.move_options(game, turn)[0].text}\r")
        await until(pilot, lambda: "\\x1b[31m" in shown(app, "status"))
        harmless(app)
        assert "[red]" in shown(app, "status")


async def test_a_widget_that_filters_nothing_does_no_harm(games: dict[str, Game]) -> None:
    class Careless(Screen[None]):
        def compose(self) -> ComposeResult:
            yield Static(Text("one\x1b[31mtwo\u202ethree\x9b4\u200b"))

    app = KibitzApp(games)
    async with app.run_test(size=(60, 5)) as pilot:
        await app.push_screen(Careless())
        await settle(pilot)
        harmless(app)
        assert "one" in app.screen._compositor.render_strips()[0].text


@pytest.mark.parametrize("seq", [0, 7])
async def test_a_record_opens_where_it_is_told_to(
    game: Game, games: dict[str, Game], running: Record, seq: int
) -> None:
    app = KibitzApp(games, recorded=recorded_match.build_timeline(game, running), at=seq)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert match_of(app).timeline_cursor.frame.seq == seq
        await pilot.press("right")
        assert match_of(app).timeline_cursor.frame.seq == seq + 1


# --------------------------------------------------------------------------------------- themes


@pytest.mark.parametrize(("wanted", "dark"), [(None, True), ("kibitz-light", False), ("no", True)])
async def test_the_environment_sets_the_theme_and_f3_switches_it(
    wanted: str | None,
    dark: bool,
    game: Game,
    games: dict[str, Game],
    running: Record,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if wanted is not None:
        monkeypatch.setenv(THEME_VARIABLE, wanted)
    app = KibitzApp(games, recorded=recorded_match.build_timeline(game, running))
    async with app.run_test(size=(80, 24)) as pilot:
        for is_dark in (dark, not dark):
            await settle(pilot)
            colors = DARK if is_dark else LIGHT
            assert app.screen.styles.background.hex.lower() == colors.background
            strip = app.screen.query_one(Board).render_line(0)
            assert next(segment.style for segment in strip) == Style(
                color=colors.dim, bgcolor=colors.background
            )
            await pilot.press("f3")
