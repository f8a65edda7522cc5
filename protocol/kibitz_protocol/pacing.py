"""When to try again and when to wait: the pause between connections, the pace of requests.

Both are pure: time comes in as integer milliseconds, chance as a function.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

Chance = Callable[[], float]
"""A source of numbers from 0 up to, and without, 1, such as `random.random`."""


@dataclass(frozen=True)
class Backoff:
    """How long to wait before a connection is tried again."""

    first_ms: int = 100
    """The longest pause after the first failure."""
    most_ms: int = 5_000
    """The longest pause of all; short, because a seat's grace runs while we wait."""
    factor: float = 2.0
    """How much longer each pause may be than the one before."""
    steady_ms: int = 5_000
    """A connection that lasted this long counts as a success: the next pause is a first one."""

    def pause_ms(self, failures: int, chance: Chance) -> int:
        """The pause after so many failures in a row (1 or more).

        Between half and all of the bound, so that the clients of a server that went down do
        not all come back at the same moment.
        """
        # 64 doublings are past any bound; a higher power would overflow a float.
        bound = min(float(self.most_ms), self.first_ms * self.factor ** min(failures - 1, 64))
        return round(bound * (0.5 + chance() / 2))


class Pace:
    """A token bucket as the server keeps one for this socket, so that it is never overdrawn."""

    def __init__(self, per_second: float, burst: int, now: int) -> None:
        self._per_ms = per_second / 1000
        self._most = float(max(1, burst))
        self._tokens = self._most
        self._wanted = 0.0
        self._counted = now

    def take(self, now: int, cost: int = 1) -> bool:
        """Whether a message of this cost may go now; it counts as sent if so."""
        self._refill(now)
        self._wanted = min(float(cost), self._most)
        # Refills are sums of floats: a hair below enough is enough.
        if self._tokens < self._wanted - 1e-9:
            return False
        self._tokens -= self._wanted
        self._wanted = 0
        return True

    def ready_at(self) -> int:
        """When the message may go for which the last `take` had too little."""
        missing = max(0.0, self._wanted - self._tokens)
        return self._counted + math.ceil(missing / self._per_ms)

    def drain(self, now: int, wait: int) -> None:
        """The server counts otherwise: nothing may go for so long, and then one at a time."""
        self._refill(now)
        self._tokens = 1 - wait * self._per_ms

    def _refill(self, now: int) -> None:
        self._tokens = min(self._most, self._tokens + (now - self._counted) * self._per_ms)
        self._counted = now
