"""What a search is given beside the position and its evaluation."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from kibitz_bots.search.found import Found
from kibitz_bots.threads import Flag

Hear = Callable[[Found], object]
"""Is told what a search would answer if it had to stop now."""
Sample = Callable[[int], np.record]
"""Gives, where something is hidden, a position that the seat to act may believe in: for the same
number the same one."""


@dataclass(frozen=True)
class Limits:
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
    called_off: Flag = field(default_factory=Flag)
    """Set when nobody waits for the answer any more."""
    sample: Sample | None = None
    """Where something is hidden, gives other positions that agree with what the seat knows."""
    nodes: int = 0
    """How many positions to look at, from searches that can stop so exactly; 0 for no limit. What
    they find within it does not depend on the machine."""
    hear: Hear | None = None
    """Called with the best so far, each time that something is known for sure, by searches that
    take long; it must return soon."""

    def heard(self, found: Found) -> None:
        """Tell whoever wants to hear it the best so far."""
        if self.hear is not None:
            self.hear(found)
