"""Adaptive concurrency: the number of games at the same time, limited by measured latency.

An overloaded machine answers late, and its bots lose on time games that they did not lose on the
board. So latency is measured all the time, and the limit follows: it halves if one answer in twenty
is later than the clocks allow, and grows by one after a while without late answers.
"""

from __future__ import annotations

import os
from collections import deque
from dataclasses import dataclass, field
from typing import Final, Literal

from kibitz_protocol.wire.clocks import TimeControl

WINDOW_SIZE: Final = 20
"""Measurements that are looked at together: with twenty the second worst is the 95th percentile."""
WINDOWS_BEFORE_GROWTH: Final = 3
"""Windows in a row without a late one after which the width grows."""
MIN_BOUND_MS: Final = 5.0
"""No scheduler of a system that people use keeps less than this."""
LATENCY_SHARE: Final = 0.25
"""The part of a move's time that lateness may take."""


def latency_bound_ms(clock: TimeControl) -> float | None:
    """Return the latest that an answer may be, None if there is no clock.

    It is a quarter of the least time that every move is sure to have: its own time, a period
    of byo-yomi, or the increment.
    """
    if not clock.limited:
        return None
    assured = clock.move_ms + max(clock.increment_ms, clock.period_ms)
    return max(MIN_BOUND_MS, LATENCY_SHARE * assured)


def cpu_count() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def percentile(values: list[float] | deque[float], share: float) -> float:
    """Return the value that so great a share of `values` does not exceed; 0 of none."""
    ranked = sorted(values)
    return ranked[max(0, -(-round(share * 1000) * len(ranked) // 1000) - 1)] if ranked else 0.0


@dataclass
class ConcurrencyLimit:
    """The number of games that may be outstanding; `record_latency` is given every measurement."""

    maximum: int
    latency_bound_ms: float | None = None
    """Milliseconds of lateness at which the width halves; None keeps it as it is."""
    current: int = 0
    p95: float = 0.0
    """The 95th percentile of the last measurements, in milliseconds."""
    worst_p95: float = 0.0
    """The greatest `p95` so far."""
    reductions: int = 0
    """How often it was halved."""
    _quiet_windows: int = 0
    _window: deque[float] = field(default_factory=lambda: deque(maxlen=WINDOW_SIZE))
    _new_samples: int = 0

    def __post_init__(self) -> None:
        self.current = self.current or self.maximum

    @classmethod
    def of(cls, concurrency: int | Literal["auto"], clock: TimeControl) -> ConcurrencyLimit:
        """Return the width for what a tournament says; a number that it says is kept."""
        if concurrency == "auto":
            return cls(cpu_count(), latency_bound_ms(clock))
        return cls(concurrency)

    def record_latency(self, late_ms: float) -> None:
        """Take in how late an answer was."""
        self._window.append(late_ms)
        self._new_samples += 1
        self.p95 = percentile(self._window, 0.95)
        if self._new_samples < WINDOW_SIZE:
            return
        self._new_samples = 0
        self.worst_p95 = max(self.worst_p95, self.p95)
        if self.latency_bound_ms is not None:
            self._adjust(self.latency_bound_ms)

    def _adjust(self, bound: float) -> None:
        """Decide at the end of a window."""
        if self.p95 > bound:
            self.reductions += self.current > 1
            self.current, self._quiet_windows = max(1, self.current // 2), 0
            return
        self._quiet_windows += 1
        if self._quiet_windows >= WINDOWS_BEFORE_GROWTH:
            self.current, self._quiet_windows = min(self.maximum, self.current + 1), 0
