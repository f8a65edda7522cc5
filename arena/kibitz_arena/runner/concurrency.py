"""Adaptive concurrency: limit the number of concurrent games by measured latency.

On an overloaded machine responses are late, and bots lose games on time. So latency is measured
continuously: the limit is halved if one response in twenty is later than the clocks allow, and
grows by one after a period without late responses.
"""

from __future__ import annotations

import os
from collections import deque
from dataclasses import dataclass, field
from typing import Final, Literal

from kibitz_protocol.wire.clocks import TimeControl

WINDOW_SIZE: Final = 20
"""The number of measurements per window; with twenty, the second largest is the 95th percentile."""
WINDOWS_BEFORE_GROWTH: Final = 3
"""The number of consecutive windows without lateness after which the limit grows."""
MIN_BOUND_MS: Final = 5.0
"""The minimum bound; schedulers of common operating systems cannot guarantee less."""
LATENCY_SHARE: Final = 0.25
"""The share of a move's time that lateness may use up."""


def latency_bound_ms(clock: TimeControl) -> float | None:
    """Return the maximum acceptable lateness, None without a clock.

    It is a quarter of the time that every move is guaranteed: the time per move plus the increment
    or a byo-yomi period.
    """
    if not clock.limited:
        return None
    assured = clock.move_ms + max(clock.increment_ms, clock.period_ms)
    return max(MIN_BOUND_MS, LATENCY_SHARE * assured)


def cpu_count() -> int:
    """Return the number of processors available to this process."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def percentile(values: list[float] | deque[float], share: float) -> float:
    """Return a percentile of `values` for a share from 0 to 1; 0 if there are no values."""
    ranked = sorted(values)
    return ranked[max(0, -(-round(share * 1000) * len(ranked) // 1000) - 1)] if ranked else 0.0


@dataclass
class ConcurrencyLimit:
    """The maximum number of outstanding games; pass every measurement to `record_latency`."""

    maximum: int
    latency_bound_ms: float | None = None
    """The lateness in milliseconds at which the limit is halved; None for a fixed limit."""
    current: int = 0
    p95: float = 0.0
    """The 95th percentile of the last measurements, in milliseconds."""
    worst_p95: float = 0.0
    """The largest `p95` so far."""
    reductions: int = 0
    """How often the limit was halved."""
    _quiet_windows: int = 0
    _window: deque[float] = field(default_factory=lambda: deque(maxlen=WINDOW_SIZE))
    _new_samples: int = 0

    def __post_init__(self) -> None:
        self.current = self.current or self.maximum

    @classmethod
    def of(cls, concurrency: int | Literal["auto"], clock: TimeControl) -> ConcurrencyLimit:
        """Return the limit for a tournament's setting; an explicit number is fixed."""
        if concurrency == "auto":
            return cls(cpu_count(), latency_bound_ms(clock))
        return cls(concurrency)

    def record_latency(self, late_ms: float) -> None:
        """Record the lateness of a response."""
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
        """Adjust the limit at the end of a window."""
        if self.p95 > bound:
            self.reductions += self.current > 1
            self.current, self._quiet_windows = max(1, self.current // 2), 0
            return
        self._quiet_windows += 1
        if self._quiet_windows >= WINDOWS_BEFORE_GROWTH:
            self.current, self._quiet_windows = min(self.maximum, self.current + 1), 0
