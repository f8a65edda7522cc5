from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from pydantic_core import to_json

from kibitz_games.core.game import IllegalAction, InvalidSetup
from kibitz_games.core.position import Position
from kibitz_games.line_nim import GAME, maps
from kibitz_games.line_nim import geometry as geo
from kibitz_games.line_nim import models as line_nim_models
from tests.games.line_nim import reference
from tests.games.line_nim.cases import SPELLINGS
from tests.tools import profiles


def _play(*moves: str, **options: Any) -> Position:
    play = Position(GAME, line_nim_models.Options.model_validate(options))
    for move in moves:
        play.push_move(move)
    return play


@pytest.mark.parametrize(
    ("options", "seats", "path"),
    [
        ({}, 1, "seats"),
        ({}, 3, "seats"),
        ({"map": ["f7", "h7"]}, 2, "options.map"),
        ({"map": ["f7-m7"]}, 2, "options.map"),
        ({"map": ["f7"], "free": 12}, 2, "options.free"),
    ],
)
def test_a_setup_that_is_not_offered_is_refused_by_name(
    options: dict[str, Any], seats: int, path: str
) -> None:
    chosen = line_nim_models.Options.model_validate(options)
    with pytest.raises(InvalidSetup) as refusal:
        GAME.start(chosen, seats, GAME.deal(chosen, seats, 1))
    assert refusal.value.path == path
    assert str(refusal.value).startswith(f"{path}: ")


@pytest.mark.parametrize("raw", [{"free": 11}, {"free": 34}, {"map": []}, {"map": "f7"}])
def test_what_are_no_options_is_no_model(raw: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        line_nim_models.Options.model_validate(raw)


@pytest.mark.parametrize(
    "raw",
    [
        {},
        {"x": 1, "y": 1},
        {"x": 12, "y": 1, "length": 1},
        {"x": 1, "y": -1, "length": 1},
        {"x": 1, "y": 1, "length": 0},
        {"x": 1, "y": 1, "length": 4, "direction": 1},
        {"x": 1, "y": 1, "length": 2},
        {"x": 1, "y": 1, "length": 1, "direction": 0},
        {"x": 1, "y": 1, "length": 2, "direction": 7},
        {"x": 1, "y": 1, "length": 1, "way": 4},
    ],
)
def test_what_is_no_move_is_no_model(raw: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        line_nim_models.Move.model_validate_json(json.dumps(raw))


def test_there_are_2736_spellings() -> None:
    assert len(SPELLINGS) == 144 * 7 + 2 * 144 * 6
    assert len(set(SPELLINGS)) == len(SPELLINGS)


@settings(deadline=None, max_examples=profiles.examples(25))
@given(
    seed=st.integers(0, 2**31), source=st.randoms(use_true_random=False), plies=st.integers(0, 9)
)
def test_every_spelling_of_a_legal_set_is_accepted_and_no_other(
    seed: int, source: Any, plies: int
) -> None:
    play = Position(GAME, seed=seed)
    for _ in range(plies):
        if play.outcome is None:
            play.push(source.choice(play.legal))
    free = reference.position(play.view().model_dump()["rows"])
    lines = reference.lines(free)
    found: dict[reference.Line, set[int]] = {}
    for move in SPELLINGS:
        meant = reference.spelt(move.x, move.y, move.length, move.direction)
        if meant in lines:
            found.setdefault(meant, set()).add(GAME.decode(play.state, move))
        else:
            with pytest.raises(IllegalAction, match=_why(play, move, meant)):
                GAME.decode(play.state, move)
    assert set(found) == set(lines)
    assert all(len(actions) == 1 for actions in found.values())
    assert {action for actions in found.values() for action in actions} == set(play.legal)


def _why(play: Position, move: line_nim_models.Move, meant: reference.Line) -> str:
    """Return the expected message for the refusal of a line."""
    if play.outcome is not None:
        return "^the game is over$"
    if not meant <= reference.BOARD:
        return "^the line leaves the board: [23] cells from [a-l][0-9]+ [a-z-]+$"
    return "^cell [a-l][0-9]+ is (an obstacle|already crossed out)$"


@pytest.mark.parametrize(
    ("move", "reason"),
    [
        ({"x": 0, "y": 0, "length": 1}, "cell a1 is an obstacle"),
        ({"x": 7, "y": 6, "length": 2, "direction": 4}, "cell i7 is an obstacle"),
        ({"x": 5, "y": 6, "length": 2, "direction": 4}, "cell g7 is already crossed out"),
        (
            {"x": 11, "y": 0, "length": 2, "direction": 2},
            "the line leaves the board: 2 cells from l1 up-right",
        ),
        (
            {"x": 0, "y": 3, "length": 3, "direction": 3},
            "the line leaves the board: 3 cells from a4 left",
        ),
    ],
)
def test_a_refusal_says_why(move: dict[str, Any], reason: str) -> None:
    play = _play("g7", map=["f7-h7"])
    with pytest.raises(IllegalAction) as refusal:
        play.push_move(line_nim_models.Move.model_validate(move))
    assert str(refusal.value) == reason


@pytest.mark.parametrize(
    "move",
    [
        {"x": 5, "y": 6, "length": 3, "direction": 4},
        {"x": 7, "y": 6, "length": 3, "direction": 3},
    ],
)
def test_both_ends_spell_one_move(move: dict[str, Any]) -> None:
    play, spelt = _play(map=["f7-h7"]), line_nim_models.Move.model_validate(move)
    assert GAME.notation.format(spelt) == "f7-h7"
    assert GAME.notation.cells(spelt) == ("f7", "h7")
    usual = {"x": 5, "y": 6, "length": 3, "direction": 4}
    assert GAME.encode(play.state, GAME.decode(play.state, spelt)).to_wire() == usual


def test_moves_travel_as_encode_and_dump_make_them() -> None:
    play = _play(map=[f"a{y}-l{y}" for y in range(1, 13)])
    made = [GAME.encode(play.state, action).to_wire() for action in play.legal]
    assert GAME.legal_json(play.state, len(made)) == (to_json(made), len(made))
    assert made[0] == {"x": 0, "y": 0, "length": 1}


@pytest.mark.parametrize("text", ["", "f", "7f", "f13", "f7-i7", "f7-f9", "f7 g7", "f7-g7-h7"])
def test_what_is_no_text_of_a_move_is_refused(text: str) -> None:
    with pytest.raises(IllegalAction, match="expected a cell such as f7, or the ends"):
        GAME.notation.parse(text)


@pytest.mark.parametrize("text", ["f7-h7", "h7-f7", " F7 - H7 "])
def test_text_is_read_with_patience(text: str) -> None:
    assert GAME.notation.format(GAME.notation.parse(text)) == "f7-h7"


def test_no_touches_begin_the_touches_of_another_move() -> None:
    touches = [GAME.notation.cells(line_nim_models.encode(action)) for action in range(869)]
    assert len(set(touches)) == 869
    assert {len(each) for each in touches} == {2}
    for action in (0, geo.LINE_OF[frozenset((77,))]):
        first, last = touches[action]
        assert first == last


def test_a_line_off_the_board_has_a_text_and_no_touches() -> None:
    move = line_nim_models.Move(x=0, y=0, length=2, direction=3)
    assert GAME.notation.format(move) == "2 cells from a1 left"
    with pytest.raises(IllegalAction, match="leaves the board"):
        GAME.notation.cells(move)


def test_a_view_as_it_travels() -> None:
    play = _play("f7-f8", "h7", map=["e7-h7", "f8"])
    empty = "############"
    assert play.view().to_wire() == {
        "options": {"map": ["e7-h7", "f8"]},
        "ply": 2,
        "to_act": 0,
        "free": 2,
        "rows": [*[empty] * 6, "####.0.1####", "#####0######", *[empty] * 4],
        "last": {"x": 7, "y": 6, "length": 1},
    }
    play.push_move("e7")
    play.push_move("g7")
    view = play.view().to_wire()
    assert (view["over"], view["loser"], view["to_act"]) == ("last cell", 1, -1)


def test_the_number_of_free_cells_is_filled_in() -> None:
    for seed in range(20):
        play = Position(GAME, seed=seed)
        view: Any = play.view()
        assert view.options == line_nim_models.Options(free=maps.size(seed))
        play.push(play.legal[-1])
        assert play.view().model_dump()["options"]["free"] == maps.size(seed)


def test_a_bot_without_the_rules_finds_the_free_cells() -> None:
    view = Position(GAME, seed=5).view().to_wire()
    free = [(x, y) for y in range(12) for x in range(12) if view["rows"][y][x] == "."]
    assert len(free) == view["free"]


def test_a_state_out_of_a_view_goes_on_as_the_match_does() -> None:
    play = _play("f7-f8", map=["e7-h7", "f8"])
    again: Any = GAME.sample(line_nim_models.View.model_validate(play.view().to_wire()), 0)
    assert GAME.legal(again) == play.legal
    assert int(again["key"]) == int(play.state["key"])
    play.forfeit(1)
    lost = GAME.sample(line_nim_models.View.model_validate(play.view().to_wire()), 0)
    assert GAME.outcome(lost) == play.outcome


def test_a_deal_without_a_map_is_a_mistake_of_ours() -> None:
    with pytest.raises(TypeError, match="expected the rows of a map"):
        GAME.start(line_nim_models.Options(), 2, {"rows": None})
