from __future__ import annotations

from typing import Any

import pytest

from kibitz_arena import game_spec
from kibitz_games.core import registry


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("five-in-a-row", {}),
        ("five-in-a-row:size=10", {"size": 10}),
        ("five-in-a-row:swap=yes,exact=off", {"swap": True, "exact": False}),
        ("five-in-a-row:opening=h8+g7", {"opening": ["h8", "g7"]}),
        ("five-in-a-row:opening=h8", {"opening": ["h8"]}),
        ("five-in-a-row:size=big", {"size": "big"}),
        ("five-in-a-row:sise=3", {"sise": 3}),
    ],
)
def test_options_are_read_as_what_the_game_takes(text: str, options: dict[str, Any]) -> None:
    name, typed = game_spec.split_spec(text)
    assert game_spec.parse_options(registry.get(name), typed) == options


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "expected a game like NAME"),
        ("name:", "expected a game like NAME"),
        (":size=3", "expected a game like NAME"),
        ("name:size", "expected an option like size=3, not 'size'"),
        ("name:=3", "expected an option like size=3, not '=3'"),
        ("name:a=1,a=2", "option 'a' is given twice"),
    ],
)
def test_what_is_no_game_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        game_spec.split_spec(text)
