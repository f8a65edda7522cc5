"""A ladder's file: valid content, and errors for invalid content."""

from __future__ import annotations

import pytest

from kibitz_arena.config_error import ConfigError
from kibitz_arena.ladder.config import Ladder, load

WHOLE = """
name: evening
game: five-in-a-row:size=10
time-control: 10+0.1
openings:
  - {size: 12}
house:
  - {bot: five-in-a-row/random, rating: 1000}
  - {bot: five-in-a-row/greedy}
places: 20
at-once: 4
pause: {after: 2, minutes: 0.5}
webhook: http://127.0.0.1:9000/results
rated: true
"""


def problems(text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        load(text, "l.yaml")
    return str(caught.value)


def test_a_whole_file() -> None:
    ladder = load(WHOLE, "l.yaml")
    assert ladder.game.options == {"size": 10}
    assert ladder.anchors == {"five-in-a-row/random": 1000}
    assert ladder.lobby_name == "ladder evening"
    assert ladder.item().time_control.main_ms == 10_000
    assert (ladder.pause.after, ladder.rated, ladder.at_once) == (2, True, 4)
    assert Ladder.model_validate(ladder.dump()) == ladder


def test_openings_come_in_turn() -> None:
    ladder = Ladder.model_validate(
        {"name": "a", "game": "line-nim:free=12", "openings": [{"free": 10}, {"free": 14}]}
    )
    options = [ladder.item(block).options["free"] for block in range(3)]
    assert options == [10, 14, 10]
    assert ladder.item(1, 77).seed == 77


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "expected keys and values"),
        ("name: a", "game: expected a value, found none"),
        ("name: a\ngame: five-in-a-roww", "did you mean 'five-in-a-row'?"),
        ("name: a\ngame: five-in-a-row\nplaces: 3000", "l.yaml:3: places: expected less than"),
        ("name: a\ngame: five-in-a-row\nhouses: []", "unknown key 'houses'; did you mean 'house'?"),
        ("name: a\ngame: five-in-a-row\npause: {afer: 2}", "unknown key 'afer'"),
        ("name: a/b\ngame: five-in-a-row", "name: expected"),
        ("name: a\ngame: five-in-a-row\nseats: 3", "seats: expected a supported number"),
        ("name: a\ngame: five-in-a-row:sise=3", "unknown option"),
        ("name: a\ngame: five-in-a-row\nopenings: [{sise: 3}]", "openings.0"),
        (
            "name: a\ngame: five-in-a-row\nhouse: [{bot: line-nim/random}]",
            "house.0.bot: expected a house bot of 'five-in-a-row'",
        ),
        (
            "name: a\ngame: line-nim\nhouse: [{bot: line-nim/random}, {bot: line-nim/random}]",
            "house.1.bot: duplicate house bot 'line-nim/random'",
        ),
        (
            "name: a\ngame: line-nim\nplaces: 64\nhouse: [{bot: line-nim/random}]",
            "places: expected at most 63 besides 1 house bots",
        ),
        ("name: a\ngame: line-nim\nwebhook: file:///etc/passwd", "webhook: expected a URL"),
        ("name: a\ngame: line-nim\npatience: 60", "patience: expected"),
        ("name: a\nname: b", "l.yaml:2: "),
    ],
)
def test_what_is_wrong_is_named(text: str, sentence: str) -> None:
    assert sentence in problems(text)
