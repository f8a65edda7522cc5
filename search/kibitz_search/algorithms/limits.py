"""The limits of a search: time, depth, nodes and cancellation."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from kibitz_search.algorithms.result import SearchResult
from kibitz_search.cancellation import CancelToken

ResultListener = Callable[[SearchResult], object]
"""A callback that receives the result that the search would return if it stopped now."""
StateSampler = Callable[[int], np.record]
"""Returns a state that is consistent with the view of the seat to act, for games with hidden
information. Each number gives its own state, and always the same one."""


class UnsupportedLimit(ValueError):
    """A limit that a search does not support."""


@dataclass(frozen=True)
class SearchLimits:
    """The limits of a search, the seed for ties, and callbacks.

    Every search respects `seconds`, `depth` and `nodes`, or raises `UnsupportedLimit`. It returns a
    result even if the limits are very low, because it evaluates each move one ply ahead before it
    checks them. Searches that only look one ply ahead therefore accept all limits. Lookups in a
    book or a database are not limited.
    """

    seconds: float = math.inf
    """The time limit, from the start of the call; without a limit, the search runs to completion.
    Time spent compiling, which the first search of a process may have to do, does not count."""
    depth: int = 0
    """The maximum depth, in plies or in the search's own unit; 0 for no limit."""
    seed: int | str = 0
    """The seed for breaking ties; equal seeds give equal results unless time runs out."""
    cancelled: CancelToken = field(default_factory=CancelToken)
    """A token that is set when the result is no longer needed."""
    sample: StateSampler | None = None
    """A source of other states that are consistent with the seat's view, for hidden information."""
    nodes: int = 0
    """The maximum number of positions, as counted by `SearchResult.nodes`; 0 for no limit. With
    only this limit, the result of a search does not depend on the machine."""
    excluded: frozenset[int] = frozenset()
    """Legal actions that the search must not choose, for finding the second best move. Only
    searches with iterative deepening (`deepening`) support it; others ignore it."""
    on_improvement: ResultListener | None = None
    """A callback that long searches call with the best result so far. It must return quickly."""

    def refuse(self, search: object, *names: Literal["depth", "nodes"]) -> None:
        """Raise `UnsupportedLimit` if a limit is set that `search` does not support."""
        for name in names:
            if getattr(self, name):
                kind = type(search).__name__
                raise UnsupportedLimit(
                    f"{kind} does not support a limit on {name}; limit the time instead"
                )

    def report(self, result: SearchResult) -> None:
        """Call the callback, if any, with the best result so far."""
        if self.on_improvement is not None:
            self.on_improvement(result)
