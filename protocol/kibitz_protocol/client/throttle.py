"""The client's own rate limit for requests. Pure: callers pass the time in milliseconds."""

from __future__ import annotations

import math


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
