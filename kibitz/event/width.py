"""How many games at the same time: as many as the machine plays without being late.

A machine that is asked for too much answers late, and a bot that is answered late loses on time
what it did not lose at the board. So the lateness of everything is measured all the time, and
the width follows: it halves when one answer in twenty is later than the clocks can bear, and
grows again by one after a while without.
"""

from __future__ import annotations

import os
from collections import deque
from dataclasses import dataclass, field
from typing import Final, Literal

from kibitz_protocol.clocks import TimeControl

WINDOW: Final = 20
"""Measurements that are looked at together: with twenty the second worst is the 95th percentile."""
PATIENCE: Final = 3
"""Windows in a row without a late one after which the width grows."""
LEAST_BOUND_MS: Final = 5.0
"""No scheduler of a system that people use keeps less than this."""
SHARE: Final = 0.25
"""The part of a move's time that lateness may take."""


def bound_ms(clock: TimeControl) -> float | None:
    """Return how late an answer may be, None where there is no clock.

    It is a quarter of the least time that every move is sure to have: its own time, a period
    of byo-yomi, or the increment.
    """
    if not clock.limited:
        return None
    assured = clock.move_ms + max(clock.increment_ms, clock.period_ms)
    return max(LEAST_BOUND_MS, SHARE * assured)


def cores() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def percentile(values: list[float] | deque[float], share: float) -> float:
    """Return the value that so great a share of `values` does not exceed; 0 of none."""
    ranked = sorted(values)
    return ranked[max(0, -(-round(share * 1000) * len(ranked) // 1000) - 1)] if ranked else 0.0


@dataclass
class Width:
    """The number of games that may be outstanding; `heed` is given every measurement."""

    most: int
    bound: float | None = None
    """Milliseconds of lateness at which the width halves; None keeps it as it is."""
    now: int = 0
    p95: float = 0.0
    """The 95th percentile of the last measurements, in milliseconds."""
    worst: float = 0.0
    """The greatest `p95` so far."""
    narrowed: int = 0
    """How often it was halved."""
    _calm: int = 0
    _window: deque[float] = field(default_factory=lambda: deque(maxlen=WINDOW))
    _fresh: int = 0

    def __post_init__(self) -> None:
        self.now = self.now or self.most

    @classmethod
    def of(cls, concurrency: int | Literal["auto"], clock: TimeControl) -> Width:
        """Return the width for what an event says; a number that it says is kept."""
        if concurrency == "auto":
            return cls(cores(), bound_ms(clock))
        return cls(concurrency)

    def heed(self, late_ms: float) -> None:
        """Take in how late an answer was."""
        self._window.append(late_ms)
        self._fresh += 1
        self.p95 = percentile(self._window, 0.95)
        if self._fresh < WINDOW:
            return
        self._fresh = 0
        self.worst = max(self.worst, self.p95)
        if self.bound is not None:
            self._follow(self.bound)

    def _follow(self, bound: float) -> None:
        """Decide at the end of a window."""
        if self.p95 > bound:
            self.narrowed += self.now > 1
            self.now, self._calm = max(1, self.now // 2), 0
            return
        self._calm += 1
        if self._calm >= PATIENCE:
            self.now, self._calm = min(self.most, self.now + 1), 0
