"""Limits of a search: time, depth, nodes, and how it is stopped."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from kibitz_search.algorithms.result import SearchResult
from kibitz_search.cancellation import CancelToken

ResultListener = Callable[[SearchResult], object]
"""A callback that receives the result that a search would return if it stopped now."""
StateSampler = Callable[[int], np.record]
"""A function of a number to a state that is consistent with the view of the seat to act, in games
with hidden information; the same number gives the same state."""


class UnsupportedLimit(ValueError):
    """A limit that a search cannot keep."""


@dataclass(frozen=True)
class SearchLimits:
    """The limits of a search, the seed for ties, and callbacks.

    Every search keeps to `seconds`, `depth` and `nodes`, or raises `UnsupportedLimit`. It returns a
    result however low they are: it looks at each move once, one ply ahead, before it checks them.
    Searches that do no more than that keep to all limits. Lookups in a book or a database count
    toward no limit.
    """

    seconds: float = math.inf
    """The time to search, from the call on; without a limit the search ends when it is complete.
    Compiling machine code, which the first search of a process may do, does not count."""
    depth: int = 0
    """The greatest depth, in plies or in the search's own unit; 0 for no limit."""
    seed: int | str = 0
    """The seed that breaks ties; equal seeds give equal results unless time runs out."""
    cancelled: CancelToken = field(default_factory=CancelToken)
    """An event that is set once the result is no longer needed."""
    sample: StateSampler | None = None
    """A source of other states that are consistent with the seat's view (hidden information)."""
    nodes: int = 0
    """The most positions to look at, as `SearchResult.nodes` counts them; 0 for no limit. The
    result of a search with this limit alone does not depend on the machine."""
    on_improvement: ResultListener | None = None
    """A callback that long searches call with the best result so far, whenever it is certain. It
    must return soon."""

    def refuse(self, search: object, *names: Literal["depth", "nodes"]) -> None:
        """Raise `UnsupportedLimit` if a limit is set that `search` cannot keep."""
        for name in names:
            if getattr(self, name):
                kind = type(search).__name__
                raise UnsupportedLimit(f"{kind} cannot limit its {name}: limit its seconds")

    def report(self, result: SearchResult) -> None:
        """Report the best result so far to the callback, if there is one."""
        if self.on_improvement is not None:
            self.on_improvement(result)
