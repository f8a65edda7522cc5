"""Test data of tic-tac-toe, in addition to the laws that hold for every game."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kibitz_games.core.game import Game, Model
from kibitz_games.tic_tac_toe import Move, rules

OPTIONS: list[dict[str, Any]] = [{}]


def spellings(game: Game, state: Any) -> Iterable[Model]:
    """Return every move that the model accepts."""
    return [Move(cell=cell) for cell in range(rules.CELLS)]
