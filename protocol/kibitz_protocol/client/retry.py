"""The pauses between connection attempts, and how long to keep trying."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

RandomSource = Callable[[], float]
"""A source of numbers in [0, 1), such as `random.random`."""


@dataclass(frozen=True)
class Backoff:
    """The pauses before a client tries to connect again."""

    first_ms: int = 100
    """The longest pause after the first failure."""
    max_ms: int = 5_000
    """The maximum pause. It is short because a seat's grace period may be running."""
    factor: float = 2.0
    """The factor by which the bound grows with each failure."""
    stable_ms: int = 5_000
    """How long a connection must last to reset the pause."""

    def pause_ms(self, failures: int, chance: RandomSource) -> int:
        """Return the pause after this many failures in a row (1 or more), with random jitter.

        The pause is between half and all of the bound, so that clients do not all reconnect at the
        same moment after an outage.
        """
        # After 64 doublings any bound is exceeded; more would overflow a float.
        bound = min(float(self.max_ms), self.first_ms * self.factor ** min(failures - 1, 64))
        return round(bound * (0.5 + chance() / 2))


@dataclass(frozen=True, kw_only=True)
class SessionTimeouts:
    """Timeouts for a server, in milliseconds; None means no limit."""

    opening_ms: int | None = 10_000
    """From the start to the first welcome."""
    away_ms: int | None = 120_000
    """From losing a connection to the next welcome."""
    hello_ms: int = 10_000
    """From hello to its answer, on an open connection."""
