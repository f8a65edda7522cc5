"""The free cells of a position as bits, and the lines among them.

All later positions are subsets of its cells. *Isolated* cells have no free neighbor; only the
parity of their number matters, because two of them cancel in any sum. One bit, `spare`, therefore
represents all cells that are isolated in the first position; it is set if their number is odd.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from kibitz_games.line_nim import geometry as geo
from kibitz_games.line_nim import rules

MAX_CELLS = 64
"""The maximum number of cells."""


def free_cells(state: Any) -> tuple[int, ...]:
    """Return the numbers of the free cells of a state."""
    return tuple(np.flatnonzero(np.asarray(state.board) == rules.FREE).tolist())


class CellBitboard:
    """A set of cells, with one bit per cell in ascending order, and the lines among them."""

    def __init__(self, cells: Iterable[int]) -> None:
        given = set(cells)
        self.isolated = frozenset(c for c in given if given.isdisjoint(geo.neighbours(c)))
        self.cells = tuple(sorted((given - self.isolated) | set(sorted(self.isolated)[:1])))
        """The cells with bits; one isolated cell represents all of them."""
        self._place = {cell: place for place, cell in enumerate(self.cells)}
        if self.isolated:
            self._place |= dict.fromkeys(self.isolated, self._place[min(self.isolated)])
        inside = (line for line in geo.LINES if given.issuperset(line))
        self.lines = tuple({self.bits(line): None for line in inside})

    @property
    def size(self) -> int:
        """The number of bits."""
        return len(self.cells)

    @property
    def full(self) -> int:
        """The mask of all bits."""
        return (1 << self.size) - 1

    @property
    def spare(self) -> int:
        """The bit that represents the isolated cells, or 0."""
        return self.bits(sorted(self.isolated)[:1])

    def covers(self, cells: Iterable[int]) -> bool:
        """Return whether all of these cells are in the set."""
        return all(cell in self._place for cell in cells)

    def bits(self, cells: Iterable[int]) -> int:
        """Return the mask of `cells`; isolated cells cancel in pairs."""
        mask = 0
        for cell in cells:
            mask ^= 1 << self._place[cell]
        return mask


def lines(cells: Iterable[int]) -> list[int]:
    """Return the actions of a position with these free cells in ascending order."""
    given = set(cells)
    return [action for action, line in enumerate(geo.LINES) if given.issuperset(line)]
