"""A position of number merge as a set of boundaries, and the gain of each merge.

There are ``n - 1`` boundaries between ``n`` numbers, and a merge removes one of them. Its gain
depends on the sum of the two numbers, and therefore only on the neighboring boundaries. A row
consists of the boundaries of one position; all later positions are subsets of these, with one bit
per boundary, the leftmost lowest. Boundaries are counted from 0, including both ends, so bit ``i``
is boundary ``i + 1``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Gains = np.ndarray[Any, np.dtype[np.int8]]
"""``[left, right]``: the gain of a merge whose sum extends from one boundary to another."""


class BoundarySet:
    """The boundaries of one position, and the gains between them."""

    def __init__(self, state: Any) -> None:
        count = int(state.count)
        self.salt = int(state.salt)
        self.edges: tuple[int, ...] = tuple(int(edge) for edge in state.edge[: count + 1])
        sums = np.asarray(state.prefix, np.int64)[list(self.edges)]
        beyond = (sums[None, :] - sums[:, None]) * int(state.below) - int(state.above)
        self.gains: Gains = np.sign(beyond).astype(np.int8)

    @property
    def boundaries(self) -> int:
        """The number of boundaries without the two ends, equal to the number of remaining plies."""
        return len(self.edges) - 2

    def mask(self, state: Any) -> int | None:
        """Return the mask of a position's boundaries, or None if it does not belong to this row."""
        if int(state.salt) != self.salt:
            return None
        places = {edge: place for place, edge in enumerate(self.edges[1:-1])}
        present = [int(edge) for edge in state.edge[1 : int(state.count)]]
        if any(edge not in places for edge in present):
            return None
        return sum(1 << places[edge] for edge in present)

    def gain(self, mask: int, place: int) -> int:
        """Return the gain of removing boundary `place` from a set that contains it."""
        kept = set_bits(mask)
        at = kept.index(place)
        left = kept[at - 1] + 1 if at else 0
        right = kept[at + 1] + 1 if at + 1 < len(kept) else len(self.edges) - 1
        return int(self.gains[left, right])


def set_bits(mask: int) -> list[int]:
    """Return the indices of the set bits in ascending order; action `i` removes the i-th."""
    return [place for place in range(mask.bit_length()) if mask >> place & 1]


def actions(mask: int, line: Sequence[int]) -> tuple[int, ...]:
    """Return the actions that remove these boundaries from a set in order."""
    taken = []
    for place in line:
        taken.append(set_bits(mask).index(place))
        mask ^= 1 << place
    return tuple(taken)
