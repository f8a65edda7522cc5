from __future__ import annotations

import base64
import json
from itertools import pairwise
from typing import Any

import pytest
from pydantic import ValidationError

from kibitz_games.chinese_checkers import GAME, geometry
from kibitz_games.chinese_checkers import models as chinese_checkers_models
from kibitz_games.core.game import IllegalAction, InvalidSetup


def _start(seats: int = 2, **options: Any) -> Any:
    return GAME.start(chinese_checkers_models.Options.model_validate(options), seats, {})


@pytest.mark.parametrize(
    ("options", "seats", "path"),
    [
        ({}, 1, "seats"),
        ({}, 7, "seats"),
        ({"board": "rhombus"}, 3, "seats"),
        ({"size": 6}, 2, "options.size"),
        ({"board": "rhombus", "size": 2}, 2, "options.size"),
        ({"pegs": 9}, 2, "options.pegs"),
        ({"board": "rhombus", "size": 3, "pegs": 5}, 2, "options.pegs"),
        ({"corners": [0, 0]}, 2, "options.corners"),
        ({"corners": [0, 6]}, 2, "options.corners"),
        ({"corners": [0, 1, 2]}, 2, "options.corners"),
        ({"board": "rhombus", "corners": [0, 1]}, 2, "options.corners"),
        ({"opening": ["3-14", "3-14"]}, 2, "options.opening"),
        ({"opening": ["three"]}, 2, "options.opening"),
        ({"size": 1, "opening": ["0-2", "12-9", "2-9"]}, 2, "options.opening"),
    ],
)
def test_a_setup_that_is_not_offered_is_refused_by_name(
    options: dict[str, Any], seats: int, path: str
) -> None:
    with pytest.raises(InvalidSetup) as refusal:
        _start(seats, **options)
    assert refusal.value.path == path
    assert str(refusal.value).startswith(f"{path}: ")


@pytest.mark.parametrize("options", [{}, {"opening": ["3-14"]}])
def test_what_is_played_in_one_match_is_in_no_other_of_the_same_options(
    options: dict[str, Any],
) -> None:
    played, other = _start(**options), _start(**options)
    begun = other.tobytes()
    assert played.tobytes() == begun
    GAME.play(played, GAME.legal(played)[0])
    assert played.tobytes() != begun
    assert other.tobytes() == _start(**options).tobytes() == begun


def test_play_begins_after_an_opening_as_if_nothing_had_been_before() -> None:
    played, opened = _start(), _start(opening=["3-14", "117-106", "4-15"])
    for written in ("3-14", "117-106", "4-15"):
        GAME.play(played, GAME.decode(played, chinese_checkers_models.NOTATION.parse(written)))
    then, now = GAME.view(played, None), GAME.view(opened, None)
    assert (now.ply, now.to_act, now.last, now.idle, now.repeats) == (0, 1, None, 0, 1)
    assert (now.pegs, now.options) == (then.pegs, then.options)
    assert GAME.legal(opened) == GAME.legal(played)
    assert int(opened.key) == int(played.key)


@pytest.mark.parametrize("seats", [2, 3, 4, 5, 6])
def test_usual_corners(seats: int) -> None:
    layouts = {2: [0, 3], 3: [0, 2, 4], 4: [1, 2, 4, 5], 5: [0, 1, 2, 3, 4], 6: list(range(6))}
    assert GAME.view(_start(seats), None).corners == layouts[seats]


def test_a_host_may_choose_corners() -> None:
    assert GAME.view(_start(3, corners=[5, 0, 1]), None).corners == [5, 0, 1]


@pytest.mark.parametrize(
    "raw",
    [
        {},
        {"from": 3},
        {"from": 3, "to": 14, "pass": True},
        {"from": -1, "to": 14},
        {"from": 3, "to": 181},
        {"from": 3.5, "to": 14},
        {"pass": False},
        {"from": 3, "to": 14, "path": [3, 14]},
    ],
)
def test_what_is_no_move_is_no_model(raw: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        chinese_checkers_models.Move.model_validate_json(json.dumps(raw))


@pytest.mark.parametrize(
    ("move", "reason"),
    [
        ("60-61", "hole 60 is empty"),
        ("116-105", "the peg in hole 116 belongs to seat 2, not to seat 1"),
        ("0-1", "hole 1 is occupied"),
        ("3-30", "no step or chain of jumps leads from 3 to 30"),
        ("3-121", "holes are numbered 0 to 120; got 3-121"),
        ("pass", "a pass is legal only if there is no other move"),
    ],
)
def test_a_refusal_says_why(move: str, reason: str) -> None:
    with pytest.raises(IllegalAction) as refusal:
        GAME.decode(_start(), GAME.notation.parse(move))
    assert str(refusal.value) == reason


@pytest.mark.parametrize("move", ["3-14", "pass"])
def test_after_the_end_everything_is_refused(move: str) -> None:
    state = _start()
    GAME.forfeit(state, 0)
    with pytest.raises(IllegalAction, match="the game is over"):
        GAME.decode(state, GAME.notation.parse(move))


@pytest.mark.parametrize("text", ["", "3", "3-", "3-14-16", "a-b", "3-999", "3-1444", "٣-٤"])
def test_what_is_no_text_of_a_move_is_refused(text: str) -> None:
    with pytest.raises(IllegalAction, match="expected two holes"):
        GAME.notation.parse(text)


@pytest.mark.parametrize("text", ["3-14", " 3 - 14 ", "pass", "PASS"])
def test_text_is_read_with_patience(text: str) -> None:
    assert GAME.notation.format(GAME.notation.parse(text)) == text.replace(" ", "").lower()


def test_touches() -> None:
    assert GAME.notation.cells(GAME.notation.parse("3-14")) == ("3", "14")
    assert GAME.notation.cells(GAME.notation.parse("pass")) == ()


def test_a_view_as_it_travels() -> None:
    state = _start()
    for move in ("3-14", "116-105", "0-16"):
        GAME.play(state, GAME.decode(state, GAME.notation.parse(move)))
    view = GAME.view(state, None).to_wire()
    assert view == {
        "options": {
            "board": "star",
            "size": 4,
            "pegs": 10,
            "stop": "any",
            "pass": True,
            "sticky_goal": False,
            "long_jumps": False,
            "win": "own-or-parked",
            "repetition": "draw",
        },
        "ply": 3,
        "to_act": 1,
        "turn": 1,
        "idle": 0,
        "repeats": 1,
        "past": "eQE9NxAA",
        "corners": [0, 3],
        "ranks": [0, 0],
        "best": [114, 118],
        "pegs": [
            [1, 2, 4, 5, 6, 7, 8, 9, 14, 16],
            [105, 111, 112, 113, 114, 115, 117, 118, 119, 120],
        ],
        "last": {"from": 0, "to": 16, "path": [0, 3, 16]},
    }


@pytest.mark.parametrize("long_jumps", [False, True])
def test_a_path_is_made_of_one_step_or_of_jumps(long_jumps: bool) -> None:
    shape = geometry.geometry("star", 3)
    state, longest = _start(6, size=3, long_jumps=long_jumps), 0
    for action in range(120):
        legal = GAME.legal(state)
        before = set(state["pegs"][:6, :6].ravel().tolist())
        GAME.play(state, legal[7 * action % len(legal)])
        last = GAME.view(state, None).last
        assert last is not None
        assert last.path is not None
        assert (last.path[0], last.path[-1]) == (last.source, last.target)
        longest = max(longest, len(last.path))
        if len(last.path) == 2 and shape.steps(*last.path) == 1:
            continue
        for here, there in pairwise(last.path):
            way = _between(shape, here, there)
            middle = way[len(way) // 2]
            assert len(way) == 1 or long_jumps
            assert [hole for hole in way if hole in before - {last.path[0]}] == [middle]
    assert longest > 3


def _between(shape: geometry.Geometry, here: int, there: int) -> list[int]:
    """Return the holes strictly between two holes on a line."""
    for d in range(6):
        way = [shape.away(here, d, k) for k in range(1, 20)]
        if there in way:
            return [hole for hole in way[: way.index(there)] if hole is not None]
    raise AssertionError(f"{here} and {there} are on no line")


def test_five_seats_and_every_option_survive_the_wire() -> None:
    options = {"size": 3, "stop": "no-active", "pass": False, "long_jumps": True}
    options |= {"win": "full", "repetition": "adjudicate"}
    state = _start(5, **options)
    view = GAME.view(state, None)
    sent = chinese_checkers_models.View.model_validate_json(json.dumps(view.to_wire()))
    again = GAME.sample(sent, 0)
    assert sent == view
    assert GAME.legal(again) == GAME.legal(state)
    kept = ("stop", "through", "long_jumps", "win", "repetition")
    assert [int(again[name]) for name in kept] == [2, 0, 1, 1, 1]


def _to_and_fro(state: Any, plies: int) -> list[int]:
    """Return moves in which every seat repeatedly moves a peg forth and back."""
    seats, moves = int(state["seats"]), list[int]()
    st, holes = state.copy(), int(state["holes"])
    for ply in range(plies):
        if ply < seats:
            action = GAME.legal(st)[0]
        else:
            source, target = divmod(moves[ply - seats], holes)
            action = target * holes + source
        moves.append(action)
        GAME.play(st, action)
    return moves


@pytest.mark.parametrize(
    ("seats", "options"), [(2, {}), (3, {}), (6, {}), (2, {"board": "rhombus", "size": 5})]
)
def test_a_state_made_of_a_view_sees_every_repetition_coming(
    seats: int, options: dict[str, Any]
) -> None:
    """Built after each move that repeats a position for the third time."""
    state = _start(seats, **options)
    moves, worlds = _to_and_fro(state, 4 * seats), list[Any]()
    for ply, action in enumerate(moves):
        sent = json.loads(GAME.view_json(state, None))
        worlds.append(GAME.sample(GAME.View.model_validate(sent), 0))
        for each in (state, *worlds):
            GAME.play(each, action)
        over = ply == len(moves) - 1
        assert (GAME.outcome(state) is not None) == over
        for world in worlds:
            assert GAME.outcome(world) == GAME.outcome(state)
            assert GAME.view(world, None) == GAME.view(state, None)
    assert GAME.view(state, None).repeats == 3


def test_the_past_ends_where_nothing_can_recur() -> None:
    state = _start(3, size=2)
    for action in _to_and_fro(state, 5):
        GAME.play(state, action)
    past = GAME.view(state, None).past
    assert past is not None
    assert len(past) == len(base64.b64encode(bytes(2 * 5)))
    GAME.forfeit(state, 0)
    assert GAME.view(state, None).past is None


@pytest.mark.parametrize("past", ["AAAAAAA", "no base64", "//8=", "AAAA" * 10])
def test_a_past_that_cannot_be_is_refused(past: str) -> None:
    state = _start()
    GAME.play(state, GAME.legal(state)[0])
    view = GAME.view(state, None).to_wire() | {"past": past}
    with pytest.raises(ValueError, match="past"):
        GAME.sample(GAME.View.model_validate(view), 0)


def test_a_view_without_a_past_still_counts_the_present_position() -> None:
    """As sent by servers before views contained a history."""
    state = _start()
    for action in _to_and_fro(state, 4):
        GAME.play(state, action)
    seen = GAME.view(state, None)
    assert seen.repeats == 2
    world = GAME.sample(seen.model_copy(update={"past": None}), 0)
    assert GAME.view(world, None).repeats == 2
    for action in _to_and_fro(state, 4):
        GAME.play(world, action)
    end = GAME.outcome(world)
    assert end is not None
    assert end.reason == "repetition"
