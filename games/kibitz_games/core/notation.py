"""Moves as people write them and click them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Generic

from kibitz_games.core.model import MoveT


class Notation(ABC, Generic[MoveT]):
    """The notation of a game's wire moves."""

    @abstractmethod
    def format(self, move: MoveT) -> str:
        """Write a wire move as a person would: ``"3-14"``."""

    @abstractmethod
    def parse(self, text: str) -> MoveT:
        """Parse a move written by `format`; `IllegalAction` says what was expected."""

    def spellings(self, move: MoveT) -> tuple[str, ...]:
        """Return all ways in which a person may write a move; `format`'s comes first.

        Callers that compare them ignore case and separators.
        """
        return (self.format(move),)

    def cells(self, move: MoveT) -> tuple[str, ...]:
        """Return the names of the scene's cells to click, in order, to make a move.

        The cells of one move never begin with all the cells of another move of the same turn, so
        the last cell decides. Only a move that is the only one, such as a pass, may have no cells.
        """
        return (self.format(move),)
