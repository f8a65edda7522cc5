"""Games and openings from files of other programs, as the games that know such files read them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


class GameFileError(ValueError):
    """A file that cannot be read: the line, and what was expected there."""

    def __init__(self, line: int, sentence: str) -> None:
        super().__init__(f"line {line}: {sentence}")
        self.line = line
        self.sentence = sentence


@dataclass(frozen=True, kw_only=True)
class GameFile:
    """A match that a file holds."""

    options: Mapping[str, Any]
    """The game's options, as they travel; the first player begins."""
    players: tuple[str, ...]
    """A name for each seat; empty if the file has none."""
    moves: tuple[Any, ...]
    """Moves of the game's model, all of them legal."""


@dataclass(frozen=True)
class Opening:
    """A line of moves that a file holds, as people write them."""

    line: int
    """The line in the file."""
    moves: tuple[str, ...]
