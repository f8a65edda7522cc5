"""Test data of Chinese Checkers, in addition to the laws that hold for every game."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kibitz_games.chinese_checkers import ChineseCheckers, geometry
from kibitz_games.chinese_checkers import models as chinese_checkers_models
from kibitz_games.core.game import Game, Model

OPTIONS: list[dict[str, Any]] = [
    {},
    {"size": 2, "stop": "no-active", "pass": False},
    {"size": 3, "stop": "no-foreign", "sticky_goal": True},
    {"size": 2, "long_jumps": True},
    {"size": 1},
    {"board": "rhombus", "size": 5},
    {"board": "rhombus", "size": 7, "pegs": 2},
    {"size": 2, "corners": [0, 1]},
    {"size": 5},
    {"size": 2, "opening": ["0-5"]},
    {"size": 1, "win": "full", "repetition": "adjudicate"},
    {"size": 2, "win": "any"},
]


def spellings(game: Game, state: Any) -> Iterable[Model]:
    """Return every wire move that the model accepts."""
    assert isinstance(game, ChineseCheckers)
    holes = min(int(state["holes"]) + 1, geometry.MAX_HOLES)
    yield chinese_checkers_models.PASS
    for source in range(holes):
        for target in range(holes):
            yield chinese_checkers_models.move(source, target)
