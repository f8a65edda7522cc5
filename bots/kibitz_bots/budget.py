"""Time budgets: compute a turn's thinking time from its clocks, minus a margin for overhead.

The rule
--------
Without a clock a bot may use `UNTIMED_MS`. With one::

    free  = the move's free time, or a full byo-yomi period once main time and bank are used up
    share = (main time + bank) / HORIZON + 3/4 of the increment, at most half of the remaining time
    ms    = free + share - overhead, at least 1 and at most (time until the flag) - overhead

`overhead` is the cost of a move beyond the planned thinking: network latency, the server's commit,
parsing, and the bot's own delay. It is estimated from the moves, as TCP estimates its
retransmission timeout (RFC 6298): the smoothed mean plus four times the smoothed deviation. So the
plan adapts from the second move on if searches overrun or the machine is busy. Unlike in TCP, the
first measurement has no extra weight: it may be an outlier, taken while all programs of an event
were starting.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from kibitz_protocol.wire.clocks import Clock, TimeControl

UNTIMED_MS = 1000
"""The thinking time for a move without a clock, in milliseconds."""
HORIZON = 30
"""The number of moves that the main time is planned to last."""
INITIAL_MEAN_MS, INITIAL_DEVIATION_MS = 10.0, 10.0
"""The initial overhead estimate, 50 ms, used until a round trip has been measured."""
MIN_OVERHEAD_MS = 10
"""The minimum overhead in ms: a search may overrun its time by this much."""
MAX_OVERHEAD_MS = 1000
"""The maximum overhead of one measurement in ms; longer ones are reconnects and are clipped to
this."""

ClockFunction = Callable[[], float]
"""A monotonic clock, in seconds."""


@dataclass(frozen=True, slots=True)
class Overhead:
    """The estimated cost of a move beyond the planned thinking, updated after each move."""

    mean_ms: float = INITIAL_MEAN_MS
    deviation_ms: float = INITIAL_DEVIATION_MS

    @property
    def ms(self) -> int:
        """The milliseconds to leave unused per move."""
        estimate = self.mean_ms + 4 * self.deviation_ms
        return int(min(max(estimate, MIN_OVERHEAD_MS), MAX_OVERHEAD_MS))

    def learn(self, round_trip_ms: float, late_ms: float = 0.0) -> Overhead:
        """Return the estimate updated with one more move.

        `round_trip_ms` is the time from sending the move to its acceptance. `late_ms` is how long
        after the budget's deadline it was sent; negative values count as 0.
        """
        sample = min(max(round_trip_ms, 0.0) + max(late_ms, 0.0), float(MAX_OVERHEAD_MS))
        deviation = 0.75 * self.deviation_ms + 0.25 * abs(sample - self.mean_ms)
        return Overhead(0.875 * self.mean_ms + 0.125 * sample, deviation)


@dataclass(frozen=True, slots=True)
class Budget:
    """The time budget of one turn, counted from the turn's arrival."""

    ms: int
    """How long to think, in milliseconds from the arrival of the turn."""
    flag_ms: int | None
    """When the bot's flag falls, in milliseconds from the arrival; None without a clock."""
    arrived: float
    """The reading of the clock when the turn arrived."""
    clock: ClockFunction = time.monotonic
    nodes: int = 0
    """The number of positions to search instead of a time limit, for repeatable matches; 0 for no
    limit. Only this package's searches respect it."""

    @property
    def deadline(self) -> float:
        """The clock reading by which the answer should be sent."""
        return self.arrived + self.ms / 1000

    @property
    def left(self) -> float:
        """Seconds until the deadline; never below 0."""
        return max(0.0, self.deadline - self.clock())

    def at_most(self, seconds: float | None) -> Budget:
        """Return this budget with the thinking time limited to `seconds`; unchanged for None."""
        if seconds is None:
            return self
        return replace(self, ms=min(self.ms, max(1, int(seconds * 1000))))


@dataclass(slots=True)
class CountingClock:
    """A clock that advances by `step` seconds each time it is read.

    A bot that thinks until its budget is used up then reads the clock equally often on every
    machine.
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

    `own` is the clock of the seat to act, and `left_ms` the time until its flag falls; both are
    None if the match has no clock.
    """
    arrived = clock()
    if own is None or left_ms is None:
        return Budget(UNTIMED_MS, None, arrived, clock)
    wanted = _free_ms(control, own) + _share_ms(control, own) - overhead.ms
    most = left_ms - overhead.ms
    return Budget(int(max(1, min(wanted, most))), left_ms, arrived, clock)


def _stock_ms(own: Clock) -> int:
    return own.main_ms + own.bank_ms


def _free_ms(control: TimeControl, own: Clock) -> float:
    """Return a move's free time, plus a byo-yomi period if one runs: each move restarts it."""
    in_periods = own.periods > 0 and _stock_ms(own) == 0
    return control.move_ms + (control.period_ms if in_periods else 0)


def _share_ms(control: TimeControl, own: Clock) -> float:
    stock = _stock_ms(own)
    return min(stock / HORIZON + 0.75 * control.increment_ms, stock / 2)
