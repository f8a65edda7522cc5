"""Test data of Connect Four, in addition to the laws that hold for every game."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kibitz_games.connect_four import Move, rules
from kibitz_games.core.game import Game, Model

OPTIONS: list[dict[str, Any]] = [{}]


def spellings(game: Game, state: Any) -> Iterable[Model]:
    """Return every move that the model accepts."""
    return [Move(column=column) for column in range(rules.COLUMNS)]
