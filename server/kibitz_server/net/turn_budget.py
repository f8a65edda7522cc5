"""Limits the share of a turn of the event loop that requests may use; the rest waits.

A crowd of strangers may ask for more at one moment than their rate limits allow in the long run:
fifty connections that each spend their whole burst at once are seconds of work. A loop that did it
all before it looked at its sockets again would delay every player. So all requests of one turn
together are limited, in the units in which they are charged (`rate_limit`). The rest follow in the
next turns, in order of arrival, and between two turns the loop reads its new input. Moves never
wait: turns set their pace.

A connection whose request waits is not read from (`Connection`), so at most one request of each
waits.
"""

from __future__ import annotations

import logging
from asyncio import AbstractEventLoop
from collections import deque
from collections.abc import Callable

LOG = logging.getLogger("kibitz.net")
UNITS_A_TURN = 24.0
"""The budget of a turn; a unit is 30 to 100 us of work."""


class TurnBudget:
    """The rest of the budget of the present turn of an event loop, and the queue of calls."""

    __slots__ = ("_armed", "_loop", "_spent", "_units", "_waiting")

    def __init__(self, loop: AbstractEventLoop, units: float = UNITS_A_TURN) -> None:
        self._loop = loop
        self._units = units
        self._spent = 0.0
        self._armed = False
        """Whether the end of this turn is scheduled."""
        self._waiting: deque[Callable[[], None]] = deque()

    @property
    def is_spent(self) -> bool:
        """Whether new requests have to wait."""
        return self._spent >= self._units

    def spend(self, cost: float) -> None:
        """Charge something done in this turn to the budget."""
        self._spent += cost
        self._arm()

    def wait(self, call: Callable[[], None]) -> None:
        """Call a function in a later turn, after all that are waiting."""
        self._waiting.append(call)
        self._arm()

    def run(self, cost: float, call: Callable[[], None]) -> None:
        """Call a function now, or in a later turn if this one is spent."""
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
                LOG.exception("what had waited for its turn failed")
        if self._waiting:
            self._arm()
