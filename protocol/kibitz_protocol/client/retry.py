"""The pauses between connection attempts, and the client's own rate limit for requests.

Both are pure: callers pass the time in integer milliseconds, and a source of random numbers.
"""

from __future__ import annotations

import math
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


class RequestThrottle:
    """A copy of the server's token bucket for this connection, to stay within its limit."""

    def __init__(self, per_second: float, burst: int, now: int) -> None:
        self._per_ms = per_second / 1000
        self._capacity = float(max(1, burst))
        self._tokens = self._capacity
        self._needed = 0.0
        self._refilled_at = now

    def try_take(self, now: int, cost: float = 1) -> bool:
        """Return whether a message of this cost may be sent now; if so, count it as sent."""
        self._refill(now)
        self._needed = min(float(cost), self._capacity)
        # Refills are sums of floats, so allow for rounding errors.
        if self._tokens < self._needed - 1e-9:
            return False
        self._tokens = max(0.0, self._tokens - self._needed)
        self._needed = 0
        return True

    def ready_at(self) -> int:
        """Return when the message that the last `try_take` rejected may be sent."""
        missing = max(0.0, self._needed - self._tokens)
        return self._refilled_at + math.ceil(missing / self._per_ms)

    def drain(self, now: int, wait: int) -> None:
        """Empty the bucket after a refusal, and send nothing for `wait` milliseconds."""
        self._refill(now)
        self._tokens = 1 - wait * self._per_ms

    def _refill(self, now: int) -> None:
        self._tokens = min(self._capacity, self._tokens + (now - self._refilled_at) * self._per_ms)
        self._refilled_at = now
