"""Test data of Line-Nim, in addition to the laws that hold for every game."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kibitz_games.core.game import Game, Model
from kibitz_games.line_nim import LineNim
from kibitz_games.line_nim.models import Move

OPTIONS: list[dict[str, Any]] = [
    {},
    {"free": 12},
    {"free": 33},
    {"map": ["a1-l1"]},
    {"map": ["e5-h5", "E6", "d7-g7", "f8-f8", "h5-f9"]},
    {"map": [f"a{y}-l{y}" for y in range(1, 13)]},
]

SPELLINGS: list[Move] = [
    Move(x=x, y=y, length=length, direction=direction)
    for y in range(12)
    for x in range(12)
    for length in (1, 2, 3)
    for direction in (None, 1, 2, 3, 4, 5, 6)
    if length == 1 or direction is not None
]
"""Every wire move that the model accepts."""


def spellings(game: Game, state: Any) -> Iterable[Model]:
    """Return every wire move that the model accepts, for any state."""
    assert isinstance(game, LineNim)
    return SPELLINGS
