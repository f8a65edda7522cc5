"""The difficulty levels for playing against the computer: house bots, weakest first.

`levels.json` lists them by game and number of seats, each with its share of points against the
level below. `python -m benchmarks.levels` measures the shares and writes the file.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

FILE: Final = Path(__file__).with_name("levels.json")


class Level(BaseModel):
    """One level: a house bot with its parameters."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    bot: str
    """``game/name``, with parameters after a colon."""
    score: Annotated[float, Field(ge=0, le=1)] | None = None
    """Its share of points against the level below; None for the lowest level."""
    games: int = 0
    """The number of games played for the measurement."""
    commit: str = ""
    """The commit that was measured."""
    date: str = ""
    """The date of the measurement."""


class LevelTable(BaseModel):
    """The levels by name of the game, then by number of seats."""

    model_config = ConfigDict(extra="forbid")

    games: dict[str, dict[int, tuple[Level, ...]]]


@functools.cache
def table() -> LevelTable:
    """Load the levels from the file."""
    return LevelTable.model_validate_json(FILE.read_bytes())


def levels(game: str, seats: int) -> tuple[Level, ...]:
    """Return a game's levels for a number of seats, weakest first; empty if there are none."""
    return table().games.get(game, {}).get(seats, ())
