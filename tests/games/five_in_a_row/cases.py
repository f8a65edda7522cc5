"""Test data of five in a row, in addition to the laws that hold for every game."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kibitz_games.core.game import Game, Model
from kibitz_games.five_in_a_row import FiveInARow, geometry
from kibitz_games.five_in_a_row import models as five_in_a_row_models

OPTIONS: list[dict[str, Any]] = [
    {},
    {"size": 5, "dead_board_draw": True},
    {"size": 6, "exact": True, "dead_board_draw": True, "first": "seat-1"},
    {"size": 7, "swap": True},
    {"size": 20, "first": "seat-0", "exact": True},
    {"size": 15, "opening": ["h8", "g7", "i9"]},
    {"size": 8, "swap": True, "first": "seat-1", "dead_board_draw": True, "exact": True},
    {"size": 9, "opening": ["E5", "a9"], "first": "seat-1", "dead_board_draw": True},
]


def spellings(game: Game, state: Any) -> Iterable[Model]:
    """Return every wire move that the model accepts."""
    assert isinstance(game, FiveInARow)
    yield from five_in_a_row_models.CHOICES
    for y in range(geometry.LARGEST):
        for x in range(geometry.LARGEST):
            yield five_in_a_row_models.move(x, y)
