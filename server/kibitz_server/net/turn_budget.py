"""Limits the work of requests in one iteration ("turn") of the event loop.

If fifty connections send their whole burst of requests at once, they cause seconds of work,
although each stays within its rate limit. An event loop that did all of this work before polling
its sockets again would delay every player. So the requests of one iteration share a limit, in the
units of `rate_limit`. Requests over the limit run in the next iterations, in order of arrival, and
the loop reads new input in between.

Moves never wait, because there can only be one for each turn of a match. The server does not read
from a connection whose request waits (`Connection`), so each has at most one waiting request.
"""

from __future__ import annotations

import logging
from asyncio import AbstractEventLoop
from collections import deque
from collections.abc import Callable

LOG = logging.getLogger("kibitz.net")
UNITS_A_TURN = 24.0
"""The budget per iteration; a unit is 30 to 100 us of work."""


class TurnBudget:
    """The remaining budget of the current event loop iteration, and the queue of waiting calls."""

    def __init__(self, loop: AbstractEventLoop, units: float = UNITS_A_TURN) -> None:
        self._loop = loop
        self._units = units
        self._spent = 0.0
        self._armed = False
        """Whether the end of this iteration is scheduled."""
        self._waiting: deque[Callable[[], None]] = deque()

    @property
    def is_spent(self) -> bool:
        """Whether new requests have to wait."""
        return self._spent >= self._units

    def spend(self, cost: float) -> None:
        """Charge work done in this iteration to the budget."""
        self._spent += cost
        self._arm()

    def wait(self, call: Callable[[], None]) -> None:
        """Call a function in a later iteration, after all waiting ones."""
        self._waiting.append(call)
        self._arm()

    def run(self, cost: float, call: Callable[[], None]) -> None:
        """Call a function now, or in a later iteration if the budget is spent."""
        if self.is_spent:
            self.wait(lambda: self.run(cost, call))
        else:
            self.spend(cost)
            call()

    def _arm(self) -> None:
        if not self._armed:
            self._armed = True
            self._loop.call_soon(self._next_turn)

    def _next_turn(self) -> None:
        self._armed = False
        self._spent = 0.0
        while self._waiting and not self.is_spent:
            call = self._waiting.popleft()
            try:
                call()
            except Exception:
                LOG.exception("a delayed call failed")
        if self._waiting:
            self._arm()
