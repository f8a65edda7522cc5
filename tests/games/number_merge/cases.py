"""Test data of number merge, in addition to the laws that hold for every game."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kibitz_games.core.game import Game, Model
from kibitz_games.number_merge import models as number_merge_models
from kibitz_games.number_merge import rules

OPTIONS: list[dict[str, Any]] = [
    {},
    {"preset": "classic"},
    {"preset": "long", "first": "random"},
    {"preset": "open", "first": "seat-1"},
    {"length": 2},
    {"length": 64, "threshold": "mean"},
    {"length": 9, "threshold": 10},
    {"preset": "classic", "threshold": "17/23"},
    {"row": [5, 5, 5, 5], "threshold": 10},
    {"row": [1, 997, 1], "threshold": 999, "first": "random"},
]


def spellings(game: Game, state: Any) -> Iterable[Model]:
    """Return every wire move that the model accepts."""
    return (number_merge_models.Move(index=index) for index in range(rules.MAX_PLIES))
