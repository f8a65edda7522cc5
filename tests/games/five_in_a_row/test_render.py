from __future__ import annotations

from typing import Any

import pytest

from kibitz_games.core.position import Position
from kibitz_games.core.scene import Label, Mark, Scene
from kibitz_games.five_in_a_row import GAME
from kibitz_games.five_in_a_row import models as five_in_a_row_models


def _play(*moves: str, **options: Any) -> Position:
    play = Position(
        GAME, five_in_a_row_models.Options.model_validate({"first": "seat-0"} | options)
    )
    for move in moves:
        play.push_move(move)
    return play


def _owners(scene: Scene) -> dict[str, int]:
    return {cell.name: cell.owner for cell in scene.cells if cell.owner is not None}


def _colours(scene: Scene) -> dict[str, str]:
    return {cell.name: cell.colour for cell in scene.cells if cell.colour is not None}


@pytest.mark.parametrize("size", [5, 10, 20])
def test_the_empty_board(size: int) -> None:
    scene = _play(size=size).scene()
    assert scene.lattice == "square"
    assert len(scene.cells) == len({cell.name for cell in scene.cells}) == size**2
    assert {cell.kind for cell in scene.cells} == {"point"}
    assert not scene.marks
    assert _owners(scene) == {}
    assert scene.text == ("black: 0 stones, seat 1, to move", "white: 0 stones, seat 2")


@pytest.mark.parametrize("size", [5, 20])
def test_labels_name_the_cells_that_they_stand_beside(size: int) -> None:
    scene = _play(size=size).scene()
    columns = {label.x: label.text for label in scene.labels if label.y == -1}
    rows = {label.y: label.text for label in scene.labels if label.x == -1}
    assert len(scene.labels) == len(columns) + len(rows) == 2 * size
    for cell in scene.cells:
        assert cell.name == columns[cell.x] + rows[cell.y]
    assert Label("a", 0, -1) in scene.labels


def test_stones_belong_to_seats_and_the_last_one_is_marked() -> None:
    scene = _play("e5", "d4", "f6", first="seat-1").scene()
    assert _owners(scene) == {"e5": 1, "d4": 0, "f6": 1}
    assert scene.marks == (Mark("to", ("f6",), 1),)
    assert scene.text == ("black: 2 stones, seat 2", "white: 1 stone, seat 1, to move")
    assert scene.colours == ("white", "black")
    assert _colours(scene) == {"e5": "black", "d4": "white", "f6": "black"}


def test_an_opening_is_drawn_but_not_marked() -> None:
    scene = _play(opening=["e5", "d4"]).scene()
    assert _owners(scene) == {"e5": 0, "d4": 1}
    assert not scene.marks


def test_the_row_that_wins_is_marked() -> None:
    scene = _play("a1", "a2", "b1", "b2", "c1", "c2", "e1", "d2", "d1").scene()
    row = Mark("win", ("a1", "b1", "c1", "d1", "e1"), 0)
    assert scene.marks == (row, Mark("to", ("d1",), 0))
    assert scene.text == ("black: 5 stones, seat 1, wins", "white: 4 stones, seat 2, lost")


def test_buttons_are_there_only_while_a_colour_is_to_be_chosen() -> None:
    play = _play(swap=True)
    texts = []
    for move in ("a1", "b1", "c1", "black", "d1"):
        scene = play.scene()
        buttons = [cell for cell in scene.cells if cell.kind == "button"]
        assert [cell.name for cell in buttons] == (["black", "white"] if move == "black" else [])
        assert all(cell.x > 10 and 0 <= cell.y < 10 for cell in buttons)
        texts.append(scene.text[0])
        play.push_move(move)
    assert texts[0] == "seat 1 places both colors (stones left: 3), then the other chooses"
    assert texts[3] == "seat 2 chooses black or white (white moves next)"
    assert texts[4] == "black: 2 stones, seat 2"


def test_colours_follow_the_choice() -> None:
    play = _play("a1", "b1", "c1", swap=True)
    colours = {"a1": "black", "b1": "white", "c1": "black"}
    assert _owners(play.scene()) == {}
    assert play.scene().colours == ()
    assert play.scene().marks == (Mark("to", ("c1",), None),)
    assert _colours(play.scene()) == colours
    play.push_move("black")
    assert _owners(play.scene()) == {"a1": 1, "b1": 0, "c1": 1}
    assert play.scene().colours == ("white", "black")
    assert _colours(play.scene()) == colours
    assert play.scene().marks == (Mark("to", ("c1",), 1),)


@pytest.mark.parametrize("moves", [(), ("a1",), ("a1", "b1", "c1")])
def test_a_play_that_ends_before_the_choice(moves: tuple[str, ...]) -> None:
    play = _play(*moves, swap=True)
    play.forfeit(0)
    scene = play.scene()
    assert not [cell for cell in scene.cells if cell.kind == "button"]
    assert [line.rpartition(", ")[2] for line in scene.text] == ["out", "wins"]


def test_a_draw_is_told() -> None:
    board = [(x, y) for y in range(5) for x in range(5)]
    black = [at for at in board if (at[0] // 2 + at[1]) % 2 == 0]
    white = [at for at in board if at not in black]
    play = Position(GAME, five_in_a_row_models.Options(size=5, first="seat-0"))
    while play.outcome is None:
        x, y = (black if play.to_act == 0 else white).pop()
        play.push_move(five_in_a_row_models.move(x, y))
    assert [line.rpartition(", ")[2] for line in play.scene().text] == ["draw", "draw"]


def test_lines_of_text_are_short() -> None:
    for play in (_play(swap=True), _play("a1", "b1", "c1", swap=True), _play(size=20)):
        assert max(map(len, play.scene().text)) <= 76
