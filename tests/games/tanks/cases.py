"""Test data of Tanks, in addition to the laws that hold for every game."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kibitz_games.core.game import Game, Model
from kibitz_games.tanks import models as tanks_models

OPTIONS: list[dict[str, Any]] = [
    {},
    {"start": "table1"},
    {"start": "table1", "rocks": "none"},
    {"rocks": "none", "turns": 200},
    {"turns": 50},
    {"memory": "report", "start": "table1", "rocks": "none"},
    {"memory": "also-destroyed", "start": "table1"},
]


def spellings(game: Game, state: Any) -> Iterable[Model]:
    """Return the seven wire moves that the model accepts."""
    return tanks_models.MOVES
