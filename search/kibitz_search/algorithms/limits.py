"""Limits of a search: time, depth, nodes, and how it is stopped."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from kibitz_search.algorithms.result import SearchResult
from kibitz_search.cancellation import CancelToken

ResultListener = Callable[[SearchResult], object]
"""Is told what a search would answer if it had to stop now."""
StateSampler = Callable[[int], np.record]
"""Gives, where something is hidden, a position that the seat to act may believe in: for the same
number the same one."""


@dataclass(frozen=True)
class SearchLimits:
    """How long and how far to search, and what decides where the evaluation does not.

    A search that has no use for one of them pays it no heed.
    """

    seconds: float = math.inf
    """The time to search, from the call on; without a limit it ends when there is no more to see.
    However short it is there is an answer."""
    depth: int = 0
    """How far to look ahead, in plies or whatever the search counts; 0 for as far as it can."""
    seed: int | str = 0
    """Decides among equals; the same seed finds the same, as far as the time does not matter."""
    cancelled: CancelToken = field(default_factory=CancelToken)
    """Set when nobody waits for the answer any more."""
    sample: StateSampler | None = None
    """Where something is hidden, gives other positions that agree with what the seat knows."""
    nodes: int = 0
    """How many positions to look at, from searches that can stop so exactly; 0 for no limit. What
    they find within it does not depend on the machine."""
    on_improvement: ResultListener | None = None
    """Called with the best so far, each time that something is known for sure, by searches that
    take long; it must return soon."""

    def report(self, found: SearchResult) -> None:
        """Tell whoever wants to hear it the best so far."""
        if self.on_improvement is not None:
            self.on_improvement(found)
