"""Every registered game is displayed correctly and playable with keys, mouse and text."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass

import pytest
from textual.widgets import Static

from kibitz_clients.matches import recorded_match
from kibitz_clients.render import match_picture
from kibitz_clients.render.svg import document
from kibitz_clients.render.terminal import canvas
from kibitz_clients.tui.kibitz_app import KibitzApp
from kibitz_clients.tui.screens.play import PlayScreen
from kibitz_clients.tui.widgets.board import Board
from kibitz_clients.wording import move_input
from kibitz_clients.wording.move_input import MoveOption
from kibitz_games.core import registry
from kibitz_games.core.game import Game, GameError
from kibitz_games.core.position import Position
from kibitz_games.core.scene import Scene
from kibitz_protocol.client.errors import RefusedError
from kibitz_protocol.wire.messages import YourTurn
from kibitz_protocol.wire.recordfile import Record
from kibitz_protocol.wire.refusals import Code
from tests.clients.pilots import settle, type_at_once, until
from tests.tools import fake_connection as testing
from tests.tools.fake_connection import FakeServerConnection
from tests.tools.profiles import some

BOARD = (52, 21)
"""The columns and rows of the board in a terminal of 80x24."""


@dataclass(frozen=True)
class Sat:
    """A user in a match, at their turn."""

    game: Game
    record: Record
    turn: YourTurn
    link: FakeServerConnection

    @property
    def choices(self) -> tuple[MoveOption, ...]:
        return move_input.move_options(self.game, self.turn)

    def app(self) -> KibitzApp:
        return KibitzApp({self.game.info.name: self.game}, self.link.connect, now=self.link.now)

    @property
    def sent(self) -> list[object]:
        """The sent moves in wire format."""
        return [asked[3] for asked in self.link.requests if asked[0] == "move"]


def spread(play: Position) -> int:
    return play.legal[(len(play.history) * 7 + 3) % len(play.legal)]


def names(game: Game) -> list[str]:
    return [f"bot-{seat}" for seat in range(game.info.seats[0])]


@pytest.fixture(params=some(registry.names(), 2))
def game(request: pytest.FixtureRequest) -> Game:
    return registry.get(request.param)


def sit(game: Game, plies: int) -> Sat:
    """Start the turn after some plies."""
    record = testing.play_record(game, names(game), plies, spread)
    turn = testing.your_turn(game, record)
    link = FakeServerConnection(player=f"p{turn.seat}")
    link.push(testing.snapshot(game, record, plies, you=turn.seat), turn)
    return Sat(game, record, turn, link)


@pytest.fixture
def sat(game: Game) -> Sat:
    return sit(game, 0)


def legal(sat: Sat, wire: object) -> bool:
    """Return whether the rules accept a move after the record's entries."""
    options = sat.game.Options.model_validate(sat.record.setup.options)
    play = Position(sat.game, options, len(sat.record.setup.seats), deal=sat.record.setup.deal)
    for entry in sat.record.entries:
        play.push_move(sat.game.Move.model_validate(entry.action))  # type: ignore[union-attr]
    return sat.game.decode(play.state, sat.game.Move.model_validate(wire)) in play.legal


def status(app: KibitzApp) -> str:
    return str(app.screen.query_one("#status", Static).visual)


# ------------------------------------------------------------------------------------- playing


async def test_a_first_move_is_made_with_tab_and_enter_alone(sat: Sat) -> None:
    app = sat.app()
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, PlayScreen))
        await until(pilot, lambda: "Your turn" in status(app))
        for _ in range(4):
            if not sat.sent:
                await pilot.press("tab", "enter")
                await settle(pilot)
        if not sat.sent:
            await pilot.press("enter")
        await until(pilot, lambda: bool(sat.sent))
        assert len(sat.sent) == 1
        assert legal(sat, sat.sent[0])


async def test_a_move_is_made_by_clicking_its_places(sat: Sat) -> None:
    """Its places in order, then the last one again, unless a key was pressed."""
    choice = sat.choices[len(sat.choices) // 2]
    app = sat.app()
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, PlayScreen))
        await until(pilot, lambda: "Your turn" in status(app))
        board = app.screen.query_one(Board)
        for place in (*choice.cells, *choice.cells[-1:]):
            if not sat.sent:
                x, y = at(board, place)
                await pilot.click(Board, offset=(x, y))
                await settle(pilot)
        await until(pilot, lambda: bool(sat.sent))
        assert sat.sent == [choice.action]


def at(board: Board, place: str) -> tuple[int, int]:
    """Return the position of a place on the widget."""
    for y in range(board.size.height):
        for x in range(board.size.width):
            left, top = board._corner()
            if board.drawn_board.at(x - left, y - top) == place:
                return x, y
    raise AssertionError(f"{place} is not on the board")


async def test_a_move_is_made_by_typing_it_at_once(game: Game) -> None:
    """All characters arrive together, including enter, and no letter acts as a command."""
    sat = sit(game, 4)
    sat.link.refusals["move"] = RefusedError(Code.ILLEGAL, "and so the turn stands")
    typed = sat.choices[:: max(1, len(sat.choices) // 8)]
    app = sat.app()
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "Your turn" in status(app))
        for number, choice in enumerate(typed, 1):
            type_at_once(app, choice.text + "\r")
            await until(pilot, lambda number=number: len(sat.sent) == number)  # type: ignore[misc]
            await until(pilot, lambda: "the turn stands" in status(app))
            assert isinstance(app.screen, PlayScreen)
        assert sat.sent == [choice.action for choice in typed]


@pytest.mark.parametrize("plies", [0, 6, 40])
def test_spellings_that_are_clear_are_understood(game: Game, plies: int) -> None:
    record = testing.play_record(game, names(game), plies, spread)
    if record.footer is not None:
        record = testing.play_record(game, names(game), len(record.entries) - 1, spread)
    turn = testing.your_turn(game, record)
    picker = move_input.MoveSelector(move_input.move_options(game, turn))
    for choice in picker.options:
        model = game.Move.model_validate(choice.action)
        for way in game.notation.spellings(model):
            parts = re.findall(r"[a-z]+[0-9]*|[0-9]+", way)
            for written in (way, way.upper(), f" {way} ", " ".join(parts), ", ".join(parts)):
                assert move_input.parse_typed(game, picker, written, turn) == choice, written
            if not reads(game, "".join(parts)):
                answer = move_input.parse_typed(game, picker, "".join(parts), turn)
                # Without separators it may match several moves, which are then listed.
                assert answer == choice or (isinstance(answer, str) and choice.text in answer)


def reads(game: Game, text: str) -> bool:
    """Return whether the game's parser accepts a text."""
    try:
        game.notation.parse(text)
    except GameError:
        return False
    return True


def test_what_is_no_legal_move_is_answered_with_legal_ones(game: Game) -> None:
    sat = sit(game, 4)
    picker = move_input.MoveSelector(sat.choices)
    for written in ("zzz", "99-98", "h99", "?", "-", "1" * 80, "\x1b[31m"):
        answer = move_input.parse_typed(game, picker, written, sat.turn)
        assert isinstance(answer, str), written
        near = answer.rpartition("similar legal moves: ")[2].split(", ")
        assert near
        assert set(near) <= {choice.text for choice in picker.options}


async def test_arrows_lead_to_every_place_that_may_be_picked(sat: Sat) -> None:
    scene = sat.game.scene(sat.game.View.model_validate(sat.turn.view))
    first = {choice.cells[0] for choice in sat.choices if choice.cells}
    reached, edge = {min(first)}, [min(first)]
    while edge:
        here = edge.pop()
        for across, down in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            there = move_input.neighbour_towards(scene, here, across, down)
            if there is not None and there not in reached:
                reached.add(there)
                edge.append(there)
    assert first <= reached


@pytest.mark.parametrize("plies", [0, 5, 40])
def test_all_legal_moves_can_be_picked(game: Game, plies: int) -> None:
    record = testing.play_record(game, names(game), plies, spread)
    if record.footer is not None:
        record = testing.play_record(game, names(game), len(record.entries) - 1, spread)
    turn = testing.your_turn(game, record)
    choices = move_input.move_options(game, turn)
    assert len(choices) == turn.legal_count
    for choice in choices[:60]:
        picker = move_input.MoveSelector(choices)
        for place in choice.cells:
            assert picker.pick(place)
        assert picker.ready == choice


# ------------------------------------------------------------------------------------- looking


@pytest.fixture(params=[0, 12, 400])
def shown(game: Game, request: pytest.FixtureRequest) -> list[Scene]:
    """Return the scenes of the referee, each seat and the public after some plies."""
    record = testing.play_record(game, names(game), request.param, spread)
    viewpoints = [None, *range(-1, len(names(game)))] if game.info.hidden else [None]
    folds = [recorded_match.build_timeline(game, record, viewpoint=seat) for seat in viewpoints]
    return [match_picture.frame_scene(game, timeline.newest) for timeline in folds]


def test_the_board_fits_a_terminal_of_80_columns_with_nothing_cut(shown: list[Scene]) -> None:
    for scene in shown:
        picture = canvas.draw(scene, canvas.fit_tile_size(scene, *BOARD))
        assert picture.width <= BOARD[0]
        assert picture.height <= BOARD[1]
        assert set(picture.places.values()) == {cell.name for cell in scene.cells}
        assert "…" not in picture.plain()
        glyphs = [cell.glyph for cell in scene.cells if cell.kind in {"number", "button"}]
        assert all(glyph in picture.plain() for glyph in glyphs)
        assert all(len(line) <= 76 for line in scene.text)


def test_every_position_is_a_picture(shown: list[Scene]) -> None:
    for scene in shown:
        drawn = document.render_svg(scene, document.Caption("title", "", ["a", "b"]))
        assert ET.fromstring(drawn).tag.endswith("svg")
        assert drawn == document.render_svg(scene, document.Caption("title", "", ["a", "b"]))


async def test_a_record_is_stepped_through(game: Game) -> None:
    record = testing.play_record(game, names(game), 12, spread)
    timeline = recorded_match.build_timeline(game, record)
    app = KibitzApp({game.info.name: game}, recorded=timeline)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("home")
        board = app.screen.query_one(Board)
        for frame in timeline.steps:
            assert board.scene == match_picture.frame_scene(game, frame, record.setup.seats)
            assert board.drawn_board.height <= board.size.height
            await pilot.press("right")
