"""Time budgets: from the clocks of a turn to milliseconds of thinking, less a margin for the wire.

The rule
--------
Without a clock a bot may use `UNTIMED_MS`. With one::

    free  = the move's free time, or a whole byo-yomi period once main time and bank are used up
    share = (main time + bank) / HORIZON + 3/4 of the increment, at most half of what is there
    ms    = free + share - overhead, at least 1 and at most (time until the flag) - overhead

`overhead` is the cost of a move beside the planned thinking: the wire, the server's commit, the
reading of the message, and the bot's own delay. It is learned from the moves themselves, as TCP
learns its retransmission timeout (RFC 6298): smoothed mean plus four times the smoothed deviation.
So a search that ends late, or a machine that is busy with others, is noticed with the first move
and planned for from the second. Unlike TCP's, the first measurement counts no more than the others:
it may be the worst, taken while all programs of an event were starting.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from kibitz_protocol.wire.clocks import Clock, TimeControl

UNTIMED_MS = 1000
"""The thinking time for a move without a clock."""
HORIZON = 30
"""A bot plans as if the main time had to last for so many more moves."""
INITIAL_MEAN_MS, INITIAL_DEVIATION_MS = 10.0, 10.0
"""The initial estimate, before any round trip was measured: an overhead of 50 ms."""
MIN_OVERHEAD_MS = 10
"""Never plan with less: a search itself may overrun its time by so much."""
MAX_OVERHEAD_MS = 1000
"""The largest measured overhead; a longer one was a reconnect, and counts as this much."""

ClockFunction = Callable[[], float]
"""A monotonic clock, in seconds."""


@dataclass(frozen=True, slots=True)
class Overhead:
    """The cost of a move beside the planned thinking, learned from move to move."""

    mean_ms: float = INITIAL_MEAN_MS
    deviation_ms: float = INITIAL_DEVIATION_MS

    @property
    def ms(self) -> int:
        """The milliseconds to leave unused on every move."""
        estimate = self.mean_ms + 4 * self.deviation_ms
        return int(min(max(estimate, MIN_OVERHEAD_MS), MAX_OVERHEAD_MS))

    def learn(self, round_trip_ms: float, late_ms: float = 0.0) -> Overhead:
        """Return the estimate after one more move.

        `round_trip_ms` passed from sending it until it was accepted; it was sent `late_ms` after
        the budget's deadline, which is ignored if it was sent before.
        """
        sample = min(max(round_trip_ms, 0.0) + max(late_ms, 0.0), float(MAX_OVERHEAD_MS))
        deviation = 0.75 * self.deviation_ms + 0.25 * abs(sample - self.mean_ms)
        return Overhead(0.875 * self.mean_ms + 0.125 * sample, deviation)


@dataclass(frozen=True, slots=True)
class Budget:
    """The time of one turn; it runs from the moment the turn arrived."""

    ms: int
    """How long to think, in milliseconds from the arrival of the turn."""
    flag_ms: int | None
    """When the own flag falls, in milliseconds from the arrival; None without a clock."""
    arrived: float
    """The reading of the clock when the turn arrived."""
    clock: ClockFunction = time.monotonic
    nodes: int = 0
    """The number of positions to look at instead of a time, for repeatable matches; 0 for as many
    as the time allows. The searches of this package respect it."""

    @property
    def deadline(self) -> float:
        """The reading of the clock when the answer should be on its way."""
        return self.arrived + self.ms / 1000

    @property
    def left(self) -> float:
        """Seconds until the deadline; never below 0."""
        return max(0.0, self.deadline - self.clock())

    def at_most(self, seconds: float | None) -> Budget:
        """Return this budget cut to at most `seconds` of thinking; unchanged for None."""
        if seconds is None:
            return self
        return replace(self, ms=min(self.ms, max(1, int(seconds * 1000))))


@dataclass(slots=True)
class CountingClock:
    """A clock that moves on by `step` seconds whenever it is read, and stands still otherwise.

    A bot that thinks until its budget is used up then looks at the clock as often on every machine.
    """

    step: float
    now: float = field(default_factory=time.monotonic)

    def __call__(self) -> float:
        self.now += self.step
        return self.now


def plan(
    control: TimeControl,
    own: Clock | None,
    left_ms: int | None,
    *,
    overhead: Overhead,
    clock: ClockFunction = time.monotonic,
) -> Budget:
    """Return the budget of a turn that arrives now.

    `own` is the clock of the seat to act and `left_ms` the time until its flag falls; both are None
    if the match has no clock.
    """
    arrived = clock()
    if left_ms is None:
        return Budget(UNTIMED_MS, None, arrived, clock)
    wanted = _free_ms(control, own) + _share_ms(control, own) - overhead.ms
    most = left_ms - overhead.ms
    return Budget(int(max(1, min(wanted, most))), left_ms, arrived, clock)


def _stock_ms(own: Clock | None) -> int:
    return own.main_ms + own.bank_ms if own else 0


def _free_ms(control: TimeControl, own: Clock | None) -> float:
    """Return the time that is free: a period that is not used up starts over."""
    in_periods = own is not None and own.periods > 0 and _stock_ms(own) == 0
    return control.move_ms + (control.period_ms if in_periods else 0)


def _share_ms(control: TimeControl, own: Clock | None) -> float:
    stock = _stock_ms(own)
    return min(stock / HORIZON + 0.75 * control.increment_ms, stock / 2)
