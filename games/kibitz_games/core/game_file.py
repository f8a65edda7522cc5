"""Games and openings read from other programs' files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


class GameFileError(ValueError):
    """A file could not be parsed; the message gives the line and what was expected there."""

    def __init__(self, line: int, sentence: str) -> None:
        super().__init__(f"line {line}: {sentence}")
        self.line = line
        self.sentence = sentence


@dataclass(frozen=True, kw_only=True)
class GameFile:
    """A match read from a file."""

    options: Mapping[str, Any]
    """The game's options in the wire format; the first player moves first."""
    players: tuple[str, ...]
    """The player's name for each seat; empty if the file has none."""
    moves: tuple[Any, ...]
    """Moves as instances of the game's model; all are legal."""


@dataclass(frozen=True)
class Opening:
    """A sequence of moves read from a file, as people write them."""

    line: int
    """The line number in the file."""
    moves: tuple[str, ...]
