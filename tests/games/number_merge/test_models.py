from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from kibitz_games.core.game import IllegalAction, InvalidSetup, Json
from kibitz_games.core.position import Position
from kibitz_games.number_merge import GAME
from kibitz_games.number_merge import models as number_merge_models


def _play(seed: int = 1, **options: Any) -> Position:
    return Position(GAME, number_merge_models.Options.model_validate(options), seed=seed)


@pytest.mark.parametrize(
    ("options", "seats", "path"),
    [
        ({}, 1, "seats"),
        ({}, 3, "seats"),
        ({"row": [1, 2, 3], "length": 4}, 2, "options.length"),
        ({"row": [500, 500]}, 2, "options.row"),
        ({"threshold": 0}, 2, "options.threshold"),
        ({"threshold": -3}, 2, "options.threshold"),
        ({"threshold": 1000}, 2, "options.threshold"),
        ({"threshold": "average"}, 2, "options.threshold"),
        ({"threshold": "0.4"}, 2, "options.threshold"),
        ({"threshold": "2/0"}, 2, "options.threshold"),
        ({"threshold": "0/2"}, 2, "options.threshold"),
        ({"threshold": "-1/2"}, 2, "options.threshold"),
        ({"threshold": "1/1000"}, 2, "options.threshold"),
        ({"threshold": "1/2\n"}, 2, "options.threshold"),
        ({"threshold": ""}, 2, "options.threshold"),
        ({"threshold": "15"}, 2, "options.threshold"),
    ],
)
def test_a_setup_that_is_not_offered_is_refused_by_name(
    options: dict[str, Any], seats: int, path: str
) -> None:
    chosen = number_merge_models.Options.model_validate(options)
    with pytest.raises(InvalidSetup) as refusal:
        GAME.start(chosen, seats, GAME.deal(chosen, seats, 0))
    assert refusal.value.path == path
    assert str(refusal.value).startswith(f"{path}: ")
    assert "expected" in str(refusal.value) or path == "options.length"


@pytest.mark.parametrize(
    "raw",
    [
        {"preset": "quick"},
        {"length": 1},
        {"length": 65},
        {"row": [1]},
        {"row": [1] * 65},
        {"row": [0, 1]},
        {"row": [1, 1000]},
        {"row": 31},
        {"first": "seat-2"},
        {"threshold": [2, 5]},
        {"threshold": 0.4},
    ],
)
def test_what_is_no_option_is_no_model(raw: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        number_merge_models.Options.model_validate_json(json.dumps(raw))


@pytest.mark.parametrize("raw", [{}, {"index": -1}, {"index": 63}, {"index": 1.5}, {"i": 1}])
def test_what_is_no_move_is_no_model(raw: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        number_merge_models.Move.model_validate_json(json.dumps(raw))


@pytest.mark.parametrize(
    ("options", "length", "threshold", "rule"),
    [
        ({}, 8, [86, 5], "2/5 of the total 43"),
        ({"preset": "classic"}, 6, [14, 3], "the mean of 6 numbers with the total 28"),
        ({"preset": "long"}, 12, [58, 3], "1/3 of the total 58"),
        ({"preset": "open"}, 40, [199, 3], "1/3 of the total 199"),
        ({"length": 3}, 3, [4, 1], "2/5 of the total 10"),
        ({"threshold": 12}, 8, [12, 1], "as chosen"),
        ({"preset": "long", "threshold": "mean", "length": 3}, 3, [10, 3], None),
        ({"preset": "open", "row": [1, 2, 3]}, 3, [2, 1], "1/3 of the total 6"),
        ({"row": [1, 2, 3], "length": 3}, 3, [12, 5], "2/5 of the total 6"),
    ],
)
def test_a_preset_and_what_differs_from_it(
    options: dict[str, Any], length: int, threshold: list[int], rule: str | None
) -> None:
    view = GAME.view(_play(**options).state, None)
    assert len(view.row) == view.options.length == length
    assert view.threshold == threshold
    assert rule is None or view.rule == rule


@pytest.mark.parametrize("options", [{}, {"preset": "open", "threshold": 9}, {"row": [7, 8]}])
def test_options_with_everything_filled_in_start_the_same_play(options: dict[str, Any]) -> None:
    view = GAME.view(_play(**options).state, None)
    assert GAME.deal(view.options, 2, 5) == {}
    assert GAME.view(GAME.start(view.options, 2, {}), None) == view


def test_what_the_options_leave_open_is_drawn_and_nothing_else() -> None:
    deals: list[Mapping[str, Json]] = [
        GAME.deal(number_merge_models.Options.model_validate(options), 2, 1)
        for options in (
            {},
            {"first": "random"},
            {"row": [1, 2]},
            {"row": [1, 2], "first": "random"},
        )
    ]
    assert [set(deal) for deal in deals] == [{"row"}, {"row", "first"}, set(), {"first"}]
    assert deals[0]["row"] == deals[1]["row"] == [3, 2, 5, 2, 8, 8, 8, 7]


def test_who_begins_is_drawn_or_chosen() -> None:
    firsts = [_play(seed, first="random").to_act for seed in range(40)]
    assert {firsts.count(0), firsts.count(1)} <= set(range(8, 33))
    assert [_play(seed, first="seat-1").to_act for seed in range(3)] == [1, 1, 1]
    assert [_play(seed).to_act for seed in range(3)] == [0, 0, 0]


def test_a_refusal_says_why() -> None:
    play = _play(row=[1, 2, 3])
    expected = "expected the index of the left one of two neighbors, 0 to 1, not 2"
    with pytest.raises(IllegalAction, match=expected):
        GAME.decode(play.state, GAME.notation.parse("2+3"))
    play.push_move("0")
    play.push_move("0+1")
    with pytest.raises(IllegalAction, match="the game is over"):
        GAME.decode(play.state, GAME.notation.parse("0+1"))


@pytest.mark.parametrize(
    "text", ["", "a", "3+5", "4+3", "3-4", "63+64", "3+4+5", "+4", "٣+٤", "3+"]
)
def test_what_is_no_text_of_a_move_is_refused(text: str) -> None:
    with pytest.raises(IllegalAction, match="expected the indices of two neighbors such as 3"):
        GAME.notation.parse(text)


@pytest.mark.parametrize("text", ["3+4", " 3 + 4 ", "3", " 3"])
def test_text_is_read_with_patience(text: str) -> None:
    assert GAME.notation.parse(text) == number_merge_models.Move(index=3)
    assert GAME.notation.format(GAME.notation.parse(text)) == "3+4"


def test_touches_are_the_two_neighbours() -> None:
    assert GAME.notation.cells(number_merge_models.Move(index=3)) == ("3", "4")


def shown() -> list[Any]:
    """Return the JSON examples on the rules page: options, a deal, a move, a view."""
    page = Path(__file__).parents[3] / "docs" / "games" / "number-merge.md"
    blocks = re.findall(r"^```json\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
    return [json.loads(block) for block in blocks]


def test_the_page_shows_a_deal_and_a_move_as_they_travel() -> None:
    options, deal, move, _ = shown()
    assert GAME.deal(number_merge_models.Options.model_validate(options), 2, 1) == deal
    assert number_merge_models.Move.model_validate(move).to_wire() == move


def test_a_view_as_it_travels() -> None:
    play = _play(row=[3, 1, 4, 1], threshold="1/2", first="seat-1")
    play.push_move("1+2")
    assert (
        play.view().to_wire()
        == shown()[3]
        == {
            "options": {
                "preset": "fair",
                "length": 4,
                "threshold": "1/2",
                "row": [3, 1, 4, 1],
                "first": "seat-1",
            },
            "threshold": [9, 2],
            "rule": "1/2 of the total 9",
            "ply": 1,
            "to_act": 0,
            "first": 1,
            "row": [3, 5, 1],
            "scores": [0, 1],
            "last": {"seat": 1, "index": 1, "left": 1, "right": 4, "gain": 1},
        }
    )
    play.forfeit(1)
    left = play.view().to_wire()
    assert (left["over"], left["out"], left["to_act"]) == ("dropped", 1, -1)
