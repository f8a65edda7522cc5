"""How much of one turn of the event loop requests may take. What is beyond it waits its turn.

A crowd of strangers may ask for more at one moment than their rate limits let through in the long
run: fifty connections that each spend their whole burst at once are seconds of work. A loop
that did it all before it looks at its sockets again would let every player wait for all of it. So
what everybody asks for together in one turn is bounded, in the units in which it is charged
(`rate_limit`); the rest is done in the turns that follow, in the order in which it came, and
between two turns the loop reads what has come meanwhile. Moves never wait: turns set their pace.

A connection whose request waits is not read from (`Peer`), so one request of each waits at most.
"""

from __future__ import annotations

import logging
from asyncio import AbstractEventLoop
from collections import deque
from collections.abc import Callable

LOG = logging.getLogger("kibitz.net")
UNITS_A_TURN = 24.0
"""What a turn may cost; a unit is 30 to 100 us of work."""


class TurnBudget:
    """What is left of the present turn of an event loop, and who waits for the next one."""

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
        """Whether what is asked for now has to wait."""
        return self._spent >= self._units

    def spend(self, cost: float) -> None:
        """Say what something costs that is done in this turn."""
        self._spent += cost
        self._arm()

    def wait(self, call: Callable[[], None]) -> None:
        """Call something in a later turn, after all that waits already."""
        self._waiting.append(call)
        self._arm()

    def run(self, cost: float, call: Callable[[], None]) -> None:
        """Call something now, or in a later turn where this one is spent."""
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
