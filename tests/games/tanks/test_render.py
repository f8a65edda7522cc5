from __future__ import annotations

from typing import Any

import pytest

from kibitz_games.core.position import Position
from kibitz_games.core.scene import Cell, Mark, Scene
from kibitz_games.tanks import GAME
from kibitz_games.tanks import geometry as geo
from kibitz_games.tanks import models as tanks_models
from tests.games.tanks.test_rules import TABLE_2


def _play(*words: str, **options: Any) -> Position:
    play = Position(GAME, GAME.Options(**options))
    for word in words:
        play.push_move(word)
    return play


def _cells(scene: Scene) -> dict[str, Cell]:
    return {cell.name: cell for cell in scene.cells}


def _grounds(scene: Scene) -> list[str]:
    return [cell.kind for cell in scene.cells]


def test_a_seat_sees_fog_but_what_it_has_seen() -> None:
    scene = _play().scene(0)
    assert scene.lattice == "square"
    grounds = _grounds(scene)
    seen = sum(len(codes) for codes in TABLE_2.values())
    assert grounds.count("fog") == 225 - seen
    assert grounds.count("rock") == 5
    assert grounds.count("seen") == 1
    assert grounds.count("button") == 7


def test_the_own_tank_has_a_heading_and_those_of_others_have_none() -> None:
    play = _play("tr", "u", "u", "u", start="table1", rocks="none")
    cells = _cells(play.scene(0))
    assert (cells["13,2"].owner, cells["13,2"].heading) == (0, 90)
    assert (cells["13,14"].owner, cells["13,14"].heading) == (None, None)
    play.push_move("l")
    fresh = _cells(play.scene(1))
    assert (fresh["2,14"].owner, fresh["2,14"].heading) == (1, 180)
    assert [cell.heading for cell in fresh.values() if cell.owner == 3] == [None]


def test_the_cone_is_marked_while_the_tank_acts() -> None:
    play = _play()
    (mark,) = play.scene(0).marks
    assert mark.kind == "vision"
    expected = {f"{row},{c}" for row, codes in TABLE_2.items() for c in range(1, 1 + len(codes))}
    assert set(mark.cells) == expected
    assert not play.scene(None).marks


def test_a_hit_is_marked_from_the_shooter_to_the_wreck() -> None:
    scene = _play("fire", start="table1", rocks="none").scene(None)
    way = tuple(f"{row},2" for row in range(12, 1, -1))
    expected = (Mark("path", way, 0), Mark("to", ("1,2",), 0), Mark("from", ("13,2",), 0))
    assert scene.marks == expected
    cells = _cells(scene)
    assert cells["1,2"].kind == "wreck"
    assert (cells["13,2"].owner, cells["13,2"].heading) == (0, None)
    assert [cell.owner for cell in scene.cells if cell.owner is not None] == [0]


def test_a_miss_is_drawn_as_far_as_it_went_for_who_knows_the_hull() -> None:
    play = _play("fire")
    way = tuple(f"{row},1" for row in range(14, 8, -1))  # a rock at 8,1
    for seen in (GAME.referee_view(play.state), GAME.view(play.state, 0)):
        marks = GAME.scene(seen).marks
        assert Mark("path", way, 0) in marks
        assert Mark("from", ("15,1",), 0) in marks
    for seat in (None, 1):
        assert [mark.kind for mark in play.scene(seat).marks if mark.kind == "path"] == []


def test_what_comes_into_the_line_after_a_miss_does_not_shorten_it() -> None:
    play = _play("right", "up", "fire", "up", "right", "up", start="table1", rocks="none")
    view = GAME.referee_view(play.state)
    assert view.tanks is not None
    assert (view.tanks[1].row, view.tanks[1].column) == (1, 14)
    way = tuple(f"1,{column}" for column in range(3, 16))
    assert Mark("path", way, 2) in GAME.scene(view).marks


def test_the_tank_that_acted_last_is_marked_also_after_a_turn() -> None:
    play = _play("turn-left")
    assert Mark("to", ("15,1",), 0) in GAME.scene(GAME.referee_view(play.state)).marks
    assert Mark("to", ("15,1",), 0) in play.scene(0).marks
    for seat in (None, 1):
        assert [mark for mark in play.scene(seat).marks if mark.kind == "to"] == []


def test_the_public_sees_rocks_and_no_buttons() -> None:
    scene = _play().scene(None)
    assert _grounds(scene).count("rock") == 29
    assert _grounds(scene).count("floor") == 196
    assert len(scene.cells) == 225


def test_a_referee_sees_all_tanks_and_whose_floor_it_is() -> None:
    play = _play("r", "fire")
    scene = GAME.scene(GAME.referee_view(play.state))
    cells = _cells(scene)
    assert [cells[f"{r},{c}"].owner for r, c in ((15, 2), (1, 15), (1, 1), (15, 15))] == [
        0,
        1,
        2,
        3,
    ]
    assert [cells[f"{r},{c}"].heading for r, c in ((15, 2), (1, 15), (1, 1), (15, 15))] == [
        0,
        180,
        90,
        270,
    ]
    assert cells["15,1"].tint == 0
    assert cells["8,5"].tint is None
    assert scene.text[1] == "seat 1: 20"
    assert scene.text[2] == "seat 2: 10"
    assert play.scene(2).text[2] == "seat 2: fired from 1,15"


@pytest.mark.parametrize("seat", [0, 1])
def test_who_acts_no_more_has_no_buttons(seat: int) -> None:
    play = _play("fire", "fire", start="table1", rocks="none")
    play.forfeit(0)
    buttons = {cell.name for cell in play.scene(seat).cells if cell.kind == "button"}
    assert buttons == (set(tanks_models.WORDS) if seat == 1 else set())
    assert "seat 3: destroyed by seat 1" in play.scene(1).text


def test_the_buttons_are_beside_the_board_and_hold_short_glyphs() -> None:
    scene = _play().scene(0)
    for cell in scene.cells:
        assert (cell.x > geo.SIDE) == (cell.kind == "button")
        assert len(cell.glyph) <= 3
    places = {(cell.x, cell.y) for cell in scene.cells}
    assert len(places) == len(scene.cells)
    assert max(x for x, _ in places) * 3 + 3 <= 52
    assert not places & {(label.x, label.y) for label in scene.labels}


@pytest.mark.parametrize("seat", [None, 0, 3])
def test_lines_are_short(seat: int | None) -> None:
    play = _play(*["fire"] * 4, *["up"] * 40, start="table1", rocks="none")
    state = play.state
    view = GAME.referee_view(state) if seat is None else GAME.view(state, seat)
    lines = GAME.scene(view).text
    assert max(map(len, lines)) <= 76
    assert len(lines) <= 6
    assert lines[0].startswith("slot ")
