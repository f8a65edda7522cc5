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
"""Is told what a search would answer if it had to stop now."""
StateSampler = Callable[[int], np.record]
"""Gives, where something is hidden, a position that the seat to act may believe in: for the same
number the same one."""


class UnsupportedLimit(ValueError):
    """A search was given a limit that it cannot keep."""


@dataclass(frozen=True)
class SearchLimits:
    """How long and how far to search, and what decides where the evaluation does not.

    Every search keeps to `seconds`, `depth` and `nodes`, or raises `UnsupportedLimit`. There is an
    answer however low they are: a search looks at each move once, one ply ahead, before it heeds
    them. Searches that do no more than that keep to all of them. What is known already, as in a
    book or a database, counts for none of them.
    """

    seconds: float = math.inf
    """The time to search, from the call on; without a limit it ends when there is no more to see.
    Compiling machine code, as the first search of a process may have to, does not count."""
    depth: int = 0
    """How far to look ahead, in plies or whatever the search counts; 0 for as far as it can."""
    seed: int | str = 0
    """Decides among equals; the same seed finds the same, as far as the time does not matter."""
    cancelled: CancelToken = field(default_factory=CancelToken)
    """Set when nobody waits for the answer any more."""
    sample: StateSampler | None = None
    """Where something is hidden, gives other positions that agree with what the seat knows."""
    nodes: int = 0
    """How many positions to look at, as `SearchResult.nodes` counts them; 0 for no limit. What is
    found within it does not depend on the machine."""
    on_improvement: ResultListener | None = None
    """Called with the best so far, each time that something is known for sure, by searches that
    take long; it must return soon."""

    def refuse(self, search: object, *names: Literal["depth", "nodes"]) -> None:
        """Raise `UnsupportedLimit` if a limit is set that `search` cannot keep."""
        for name in names:
            if getattr(self, name):
                kind = type(search).__name__
                raise UnsupportedLimit(f"{kind} cannot limit its {name}: limit its seconds")

    def report(self, found: SearchResult) -> None:
        """Tell whoever wants to hear it the best so far."""
        if self.on_improvement is not None:
            self.on_improvement(found)
