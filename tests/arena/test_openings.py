from __future__ import annotations

import pytest

from kibitz_arena.openings import random_opening
from kibitz_games.core import registry
from kibitz_games.core.game import GameError

RULES = registry.get("five-in-a-row")


def test_an_opening_is_drawn_from_its_seed() -> None:
    first = random_opening(RULES, {"size": 15}, 2, 6, 1)
    assert first == random_opening(RULES, {"size": 15}, 2, 6, 1)
    assert first != random_opening(RULES, {"size": 15}, 2, 6, 2)
    moves = first["opening"]
    assert isinstance(moves, list)
    assert len(set(moves)) == 6


@pytest.mark.parametrize("seed", range(20))
def test_an_opening_leaves_something_to_play(seed: int) -> None:
    opening = random_opening(RULES, {"size": 5}, 2, 9, seed)
    options = RULES.Options.model_validate({"size": 5, **opening})
    assert RULES.legal(RULES.start(options, 2, RULES.deal(options, 2, 0)))


def test_an_opening_that_nothing_can_follow_is_refused() -> None:
    with pytest.raises(
        GameError, match="found no opening of 26 plies that 'five-in-a-row' accepts"
    ):
        random_opening(RULES, {"size": 5}, 2, 26, 0)
