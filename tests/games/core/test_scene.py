from __future__ import annotations

import pytest

from kibitz_games.core import registry
from kibitz_games.core.position import Position
from kibitz_games.core.scene import Scene, seat_name, with_names


def test_players_are_counted_from_one_and_named_where_their_names_are_known() -> None:
    text = (f"{seat_name(0)} to move", f"{seat_name(1)} lost to {seat_name(0)}", "seat 12: out")
    scene = Scene("square", (), text=text)
    assert scene.text[0] == "seat 1 to move"
    assert with_names(scene, ["ada", "seat 1"]).text == (
        "ada to move",
        "seat 1 lost to ada",
        "seat 12: out",
    )


@pytest.mark.parametrize("name", registry.names())
def test_every_game_names_its_players_so(name: str) -> None:
    play = Position(registry.get(name))
    assert play.seats is not None
    scene = play.scene(0)
    named = with_names(scene, [f"<{seat}>" for seat in range(play.seats)])
    assert any("<" in line for line in named.text)
    assert not any("seat" in line for line in named.text)


@pytest.mark.parametrize("name", registry.names())
def test_a_game_has_words_for_every_way_to_end_or_for_none(name: str) -> None:
    game = registry.get(name)
    assert game.reason_texts.keys() in ({*game.reasons} - {"", "dropped"}, set())
