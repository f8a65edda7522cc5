"""How people write and click moves."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Generic

from kibitz_games.core.model import MoveT


class Notation(ABC, Generic[MoveT]):
    """The notation of a game's wire moves."""

    @abstractmethod
    def format(self, move: MoveT) -> str:
        """Return a wire move as a person writes it: ``"3-14"``."""

    @abstractmethod
    def parse(self, text: str) -> MoveT:
        """Parse a move written by `format`; raise `IllegalAction` with what was expected."""

    def spellings(self, move: MoveT) -> tuple[str, ...]:
        """Return all accepted spellings of a move, that of `format` first.

        Callers ignore case and separators when comparing them.
        """
        return (self.format(move),)

    def cells(self, move: MoveT) -> tuple[str, ...]:
        """Return the names of the scene's cells to click, in order, to make a move.

        Within a turn, the cells of one move are never a prefix of another move's cells, so the last
        click completes the move. A move without cells, such as a pass, must be the only legal one.
        """
        return (self.format(move),)
