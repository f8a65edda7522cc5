"""Limit searches by CPU time, so that other load on the machine does not affect results."""

from __future__ import annotations

from contextlib import AbstractContextManager

from kibitz.local.engine_pairs import EngineLimit
from kibitz_search.algorithms.limits import SearchLimits


def limits(seconds: float, seed: int | str) -> AbstractContextManager[SearchLimits]:
    """Provide limits that cancel a search after `seconds` of this thread's CPU time."""
    return EngineLimit(seconds=seconds).limits(str(seed))
