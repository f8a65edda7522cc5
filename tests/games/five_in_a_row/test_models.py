from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from kibitz_games.core.game import IllegalAction, InvalidSetup, State
from kibitz_games.five_in_a_row import GAME, geometry, rules
from kibitz_games.five_in_a_row import models as five_in_a_row_models
from tests.games.five_in_a_row import cases


def _start(**options: Any) -> State:
    model = five_in_a_row_models.Options.model_validate({"first": "seat-0"} | options)
    return GAME.start(model, 2, {})


def _do(state: State, *moves: str) -> None:
    for move in moves:
        GAME.play(state, GAME.decode(state, GAME.notation.parse(move)))


@pytest.mark.parametrize(
    "raw",
    [
        {"size": 4},
        {"size": 21},
        {"exact": 2},
        {"first": "seat-2"},
        {"opening": "h8"},
        {"opening": [3]},
        {"swap": None},
        {"komi": 6},
    ],
)
def test_what_is_no_option_is_no_model(raw: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        five_in_a_row_models.Options.model_validate_json(json.dumps(raw))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"opening": ["k1"]}, "expected cells a1 to j10, not 'k1'"),
        ({"opening": ["a11"]}, "expected cells a1 to j10, not 'a11'"),
        ({"opening": ["pass"]}, "expected cells a1 to j10, not 'pass'"),
        ({"opening": ["h8", "g7", "H8"]}, "expected different cells, but 'H8' occurs twice"),
        (
            {"opening": ["a1", "a9", "b1", "b9", "c1", "c9", "d1", "d9", "e1"]},
            "expected no five, but 'e1' makes one",
        ),
        ({"opening": ["a1"], "swap": True}, "an opening and a swap cannot be combined"),
    ],
)
def test_setups_that_are_refused(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InvalidSetup) as refusal:
        _start(**options)
    assert refusal.value.path == "options.opening"
    assert str(refusal.value) == f"options.opening: {sentence}"


def test_an_opening_must_leave_something_to_win() -> None:
    rows = ("xxoox", "ooxxo", "xxoox", "ooxxo", "xxoox")
    stones = {(x, y): what for y, row in enumerate(rows) for x, what in enumerate(row)}
    black, white = ([geometry.name(*at) for at in stones if stones[at] == c] for c in "xo")
    order = [stone for pair in zip(black, white, strict=False) for stone in pair]
    for some in (order + black[len(white) :], order):
        with pytest.raises(
            InvalidSetup, match="expected an opening after which a player can still win"
        ):
            _start(size=5, opening=some)
    _start(size=5, opening=order[:10])


def test_a_five_that_the_opening_makes_longer_again_is_seen() -> None:
    """If exactly five win, the end of the opening shows only a six; the five was earlier."""
    six = ["a1", "a9", "b1", "b9", "c1", "c9", "d1", "d9", "e1", "f9", "f1"]
    with pytest.raises(InvalidSetup, match="'e1' makes one"):
        _start(opening=six, exact=True)
    late = ["a1", "a9", "b1", "b9", "c1", "c9", "d1", "d9", "f1", "f9", "e1"]
    assert GAME.outcome(_start(opening=late, exact=True)) is None


@pytest.mark.parametrize("seats", [1, 3])
def test_it_is_for_two(seats: int) -> None:
    with pytest.raises(InvalidSetup, match=f"seats: expected 2 players, not {seats}"):
        GAME.start(five_in_a_row_models.Options(), seats, {"first": 0})


@pytest.mark.parametrize(
    "raw",
    [
        {},
        {"x": 3},
        {"y": 3},
        {"x": 3, "y": 3, "colour": "black"},
        {"x": 3, "colour": "black"},
        {"x": -1, "y": 3},
        {"x": 20, "y": 3},
        {"x": 3.5, "y": 3},
        {"colour": "red"},
        {"colour": "Black"},
        {"x": 3, "y": 3, "z": 3},
    ],
)
def test_what_is_no_move_is_no_model(raw: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        five_in_a_row_models.Move.model_validate_json(json.dumps(raw))


@pytest.mark.parametrize(
    ("moves", "move", "reason"),
    [
        ("", "k1", "expected a cell from a1 to j10, not k1"),
        ("", "a11", "expected a cell from a1 to j10, not a11"),
        ("", "black", "expected an empty cell, not black"),
        ("e5", "e5", "expected an empty cell, but there is a stone on e5"),
    ],
)
def test_a_refusal_says_why(moves: str, move: str, reason: str) -> None:
    state = _start()
    _do(state, *moves.split())
    with pytest.raises(IllegalAction) as refusal:
        GAME.decode(state, GAME.notation.parse(move))
    assert str(refusal.value) == reason


def test_a_stone_while_a_colour_is_to_be_chosen_is_refused() -> None:
    state = _start(swap=True)
    with pytest.raises(IllegalAction, match="expected an empty cell, not white"):
        GAME.decode(state, GAME.notation.parse("white"))
    _do(state, "a1", "b1", "c1")
    with pytest.raises(IllegalAction, match="expected a color, black or white, not d1"):
        GAME.decode(state, GAME.notation.parse("d1"))
    _do(state, "white")
    with pytest.raises(IllegalAction, match="expected an empty cell, not white"):
        GAME.decode(state, GAME.notation.parse("white"))


@pytest.mark.parametrize("move", ["e5", "k1", "white"])
def test_after_the_end_everything_is_refused(move: str) -> None:
    state = _start()
    GAME.forfeit(state, 0)
    with pytest.raises(IllegalAction, match="the game is over"):
        GAME.decode(state, GAME.notation.parse(move))


@pytest.mark.parametrize("text", ["", "h", "8", "h0", "h21", "u1", "7,7", "h8 g7", "red", "h٣"])
def test_what_is_no_text_of_a_move_is_refused(text: str) -> None:
    with pytest.raises(IllegalAction, match="expected a cell such as h8, or black or white, not"):
        GAME.notation.parse(text)


@pytest.mark.parametrize("text", ["h8", " H8 ", "T20", "black", "White "])
def test_text_is_read_with_patience(text: str) -> None:
    move = GAME.notation.parse(text)
    assert GAME.notation.format(move) == text.strip().lower()
    assert GAME.notation.cells(move) == (text.strip().lower(),)


def test_coordinates_are_those_of_the_gomocup() -> None:
    assert GAME.notation.parse("c1").to_wire() == {"x": 2, "y": 0}
    state = _start()
    GAME.play(state, GAME.decode(state, five_in_a_row_models.move(2, 0)))
    assert GAME.view(state, None).board[0] == "..x......."


def test_moves_as_they_travel() -> None:
    state = _start(size=5)
    travelling = [GAME.encode(state, action).to_wire() for action in GAME.legal(state)]
    assert travelling == [{"x": x, "y": y} for y in range(5) for x in range(5)]


def test_a_view_as_it_travels() -> None:
    state = _start(size=5, opening=["C3"])
    _do(state, "b3", "a1")
    assert GAME.view(state, None).to_wire() == {
        "options": {
            "size": 5,
            "exact": False,
            "first": "seat-0",
            "dead_board_draw": False,
            "opening": ["c3"],
            "swap": False,
        },
        "ply": 2,
        "to_act": 1,
        "opener": 0,
        "colours": ["black", "white"],
        "board": ["x....", ".....", ".ox..", ".....", "....."],
        "moves": [[2, 2], [1, 2], [0, 0]],
        "opening": 1,
        "last": {"x": 0, "y": 0},
    }


def test_a_view_of_the_end() -> None:
    state = _start(size=5)
    _do(state, "a1", "a2", "b1", "b2", "c1", "c2", "d1", "d2", "e1")
    view = GAME.view(state, None).to_wire()
    assert (view["over"], view["winner"], view["to_act"]) == ("five", 0, -1)
    assert view["line"] == [[0, 0], [1, 0], [2, 0], [3, 0], [4, 0]]


@given(
    raw=st.sampled_from(cases.OPTIONS),
    seed=st.integers(0, 2**32),
    plies=st.integers(0, 80),
    leaver=st.sampled_from([None, 0, 1]),
)
@settings(deadline=None)  # the first example may compile
def test_a_view_says_everything(
    raw: dict[str, Any], seed: int, plies: int, leaver: int | None
) -> None:
    """A state rebuilt from a view is the same, byte for byte."""
    options, source = five_in_a_row_models.Options.model_validate(raw), random.Random(seed)
    state = GAME.start(options, 2, GAME.deal(options, 2, seed))
    for _ in range(plies):
        if legal := GAME.legal(state):
            GAME.play(state, source.choice(legal))
    if leaver is not None:
        GAME.forfeit(state, leaver)
    sent = five_in_a_row_models.View.model_validate_json(
        json.dumps(GAME.view(state, None).to_wire())
    )
    assert GAME.sample(sent, 0).tobytes() == state.tobytes()


def test_views_are_what_the_model_would_make() -> None:
    state = _start(swap=True)
    for move in ("a1", "b1", "c1", "black", "d1"):
        view = GAME.view(state, None)
        assert five_in_a_row_models.View.model_validate(view.model_dump()) == view
        assert view.to_wire() == view.model_dump(mode="json", by_alias=True, exclude_none=True)
        _do(state, move)


def test_the_longest_play_is_the_largest_board_and_a_choice() -> None:
    assert GAME.info.max_plies == rules.MAX_PLIES == 401
