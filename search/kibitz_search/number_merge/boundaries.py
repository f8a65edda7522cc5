"""A position of number merge as a set of boundaries, and the gain of every merge.

Between ``n`` numbers stand ``n - 1`` boundaries, and a merge takes one of them away. Its gain
depends on the sum of the two numbers, and so only on the boundaries next to it on either side.
A row is the boundaries that one position has; every later position
of the play is a set of them, a bit each, the leftmost lowest. With both ends they are counted
from 0, the left end, so bit ``i`` is the boundary ``i + 1``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

MAX_BOUNDARIES = 64
"""Boundaries of the longest row, with one end."""

Gains = np.ndarray[Any, np.dtype[np.int8]]
"""``[left, right]``: what a merge earns whose sum reaches from one boundary to another."""


class BoundarySet:
    """The boundaries of one position, and the gains between them."""

    def __init__(self, state: Any) -> None:
        count = int(state.count)
        self.salt = int(state.salt)
        self.edges: tuple[int, ...] = tuple(int(edge) for edge in state.edge[: count + 1])
        sums = np.asarray(state.prefix, np.int64)[list(self.edges)]
        self.ends: tuple[int, ...] = tuple(sums.tolist())
        """The sum of the numbers to the left of each boundary."""
        beyond = (sums[None, :] - sums[:, None]) * int(state.below) - int(state.above)
        self.gains: Gains = np.sign(beyond).astype(np.int8)

    @property
    def boundaries(self) -> int:
        """How many boundaries there are, the ends left out: as many as plies to the end."""
        return len(self.edges) - 2

    def mask(self, state: Any) -> int | None:
        """Return the set of boundaries of a position, or None if it is none of this row's."""
        if int(state.salt) != self.salt:
            return None
        places = {edge: place for place, edge in enumerate(self.edges[1:-1])}
        present = [int(edge) for edge in state.edge[1 : int(state.count)]]
        if any(edge not in places for edge in present):
            return None
        return sum(1 << places[edge] for edge in present)

    def gain(self, mask: int, place: int) -> int:
        """Return what it earns to take boundary `place` out of a set that has it."""
        kept = set_bits(mask)
        at = kept.index(place)
        left = kept[at - 1] + 1 if at else 0
        right = kept[at + 1] + 1 if at + 1 < len(kept) else len(self.edges) - 1
        return int(self.gains[left, right])


def set_bits(mask: int) -> list[int]:
    """Return the places of the bits of a set, ascending; action `i` takes the i-th away."""
    return [place for place in range(mask.bit_length()) if mask >> place & 1]


def actions(mask: int, line: Sequence[int]) -> tuple[int, ...]:
    """Return the actions that take these boundaries out of a set, one after the other."""
    taken = []
    for place in line:
        taken.append(set_bits(mask).index(place))
        mask ^= 1 << place
    return tuple(taken)
