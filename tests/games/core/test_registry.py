from __future__ import annotations

import pytest

from kibitz_games.core import registry
from kibitz_games.core.game import Game, GameError


@pytest.mark.parametrize("name", registry.names())
def test_a_game_is_registered_under_its_own_name(name: str) -> None:
    game = registry.get(name)
    assert isinstance(game, Game)
    assert game.info.name == name
    assert registry.get(name) is game


def test_an_unknown_game_is_named_with_the_known_ones() -> None:
    with pytest.raises(GameError, match=r"unknown game 'chess'; known are .*chinese-checkers"):
        registry.get("chess")


@pytest.mark.parametrize("name", registry.names())
def test_every_option_has_a_default_and_a_description(name: str) -> None:
    for field in registry.get(name).Options.model_fields.values():
        assert not field.is_required()
        assert field.description
