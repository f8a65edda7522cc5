"""The free cells of a position as bits, and the lines among them.

Every later position of a play is a subset of its cells. *Isolated* cells have no free
neighbor; only their number matters, and only whether it is even, because two of them cancel in
any sum. So an island has one bit for all that are isolated in its first position, in `spare`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from kibitz_games.line_nim import geometry as geo
from kibitz_games.line_nim import rules

MAX_CELLS = 64
"""Cells that an island may have."""


def free_cells(state: Any) -> tuple[int, ...]:
    """Return the numbers of the free cells of a state."""
    return tuple(np.flatnonzero(np.asarray(state.board) == rules.FREE).tolist())


class CellBitboard:
    """Cells, a bit each in ascending order, and which lines there are among them."""

    def __init__(self, cells: Iterable[int]) -> None:
        given = set(cells)
        self.isolated = frozenset(c for c in given if given.isdisjoint(geo.neighbours(c)))
        self.cells = tuple(sorted((given - self.isolated) | set(sorted(self.isolated)[:1])))
        """One isolated cell stands for all of them."""
        self._place = {cell: place for place, cell in enumerate(self.cells)}
        if self.isolated:
            self._place |= dict.fromkeys(self.isolated, self._place[min(self.isolated)])
        inside = (line for line in geo.LINES if given.issuperset(line))
        self.lines = tuple({self.bits(line): None for line in inside})

    @property
    def size(self) -> int:
        """How many bits there are."""
        return len(self.cells)

    @property
    def full(self) -> int:
        """The set of all bits."""
        return (1 << self.size) - 1

    @property
    def spare(self) -> int:
        """The bit that stands for the isolated cells, or 0."""
        return self.bits(sorted(self.isolated)[:1])

    def covers(self, cells: Iterable[int]) -> bool:
        """Return whether all of these cells are cells of the island."""
        return all(cell in self._place for cell in cells)

    def bits(self, cells: Iterable[int]) -> int:
        """Return the set of bits of some cells; isolated ones cancel in pairs."""
        mask = 0
        for cell in cells:
            mask ^= 1 << self._place[cell]
        return mask


def lines(cells: Iterable[int]) -> list[int]:
    """Return the actions of a position with these free cells, ascending."""
    given = set(cells)
    return [action for action, line in enumerate(geo.LINES) if given.issuperset(line)]
