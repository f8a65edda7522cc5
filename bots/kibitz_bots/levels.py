"""The levels at which the computer plays against people: house bots, the weakest first.

`levels.json` has them by game and number of seats, with the share of points that each has scored
against the level below. `python -m benchmarks.levels` measures the shares and writes the file.
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
    """Its share of the points against the level below; None for the lowest one."""
    games: int = 0
    """The games in which that was measured ..."""
    commit: str = ""
    """... the commit ..."""
    date: str = ""
    """... and the day."""


class LevelTable(BaseModel):
    """The levels of every game: by its name, then by the number of seats."""

    model_config = ConfigDict(extra="forbid")

    games: dict[str, dict[int, tuple[Level, ...]]]


@functools.cache
def table() -> LevelTable:
    """Return the levels in the file."""
    return LevelTable.model_validate_json(FILE.read_bytes())


def levels(game: str, seats: int) -> tuple[Level, ...]:
    """Return the levels of a game with a number of seats, the weakest first; empty for none."""
    return table().games.get(game, {}).get(seats, ())
