"""The server's clock: monotonic time, excluding time when the event loop did not run.

A server cannot read its players' input while it is stopped (SIGSTOP, a debugger, a container
without CPU time) or overloaded. That time must not count toward a player's turn, a grace period or
the timeout of a pong. All of these use this clock.

A callback, the beat, is due every `BEAT_NS`. If it is overdue by more than `TOLERANCE_NS`, the loop
is behind, and the clock stops: until the beat runs, every reading returns the time at which the
beat was due. Then the clock continues from there.

    real time   0----25----50--(stopped for 5 s)-----------5050---5075
    beats       |     |     |                                |      |
    clock       0----25----50                               50-----75

If nothing at all has run for `STANDSTILL_NS`, the clock continues from its last reading instead,
because the loop may have stopped at any time since then. So a move sent before its flag fell is in
time, no matter when the server was stopped. The players gain at most one beat by this rule, and
never twice in a row. The clock of a permanently overloaded server is slow, but it advances by at
least one beat for every two callbacks, so every deadline is eventually reached.

The clocks of all matches stop together, and players can use the pause to think. A turn's
log entry records how long the clock stood still during the turn (`lag_ms`). A match forgives a
limited total of such time (`kibitz_protocol.wire.lag`); if there is more, the match is aborted.

While the machine is suspended, the monotonic clock of Linux and macOS stops anyway. On Windows it
continues, so the beat is overdue afterwards. Either way that time does not count.
"""

from __future__ import annotations

import time
from asyncio import AbstractEventLoop, Handle, TimerHandle
from collections.abc import Callable
from typing import Final

BEAT_NS: Final = 25_000_000
"""The time between two beats. With the tolerance, it limits the precision of a measured lag."""
TOLERANCE_NS: Final = 5_000_000
"""A beat may be this late without effect, because timers are not more precise."""
STANDSTILL_NS: Final = 100_000_000
"""Time without any callbacks after which the loop counts as stopped, however late the beat is."""
_NEVER: Final = 1 << 62
_POLLS: Final = 2
"""The number of event loop iterations after which all input now in the sockets was handled."""


class ServerClock:
    """The clock of one server. It excludes no time before `start` or after `stop`."""

    __slots__ = (
        "_beat_due",
        "_excluded_ns",
        "_last_beat_on_time",
        "_last_read",
        "_loop",
        "_read",
        "_timer",
    )

    def __init__(
        self, loop: AbstractEventLoop, read: Callable[[], int] = time.monotonic_ns
    ) -> None:
        self._loop = loop
        self._read = read
        """Returns monotonic nanoseconds."""
        self._excluded_ns = 0
        self._last_read = read()
        """When the clock was last read."""
        self._beat_due = _NEVER
        """The time after which the next beat counts as overdue."""
        self._last_beat_on_time = True
        """Whether the last beat was not overdue."""
        self._timer: TimerHandle | None = None

    def start(self) -> None:
        self._schedule(self._now())

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._beat_due = _NEVER

    def milliseconds(self) -> int:
        return (self._now() - self._excluded_ns) // 1_000_000

    def seconds(self) -> float:
        return (self._now() - self._excluded_ns) / 1e9

    def lag_ms(self) -> int:
        """Return the milliseconds excluded so far, as of the last reading."""
        return self._excluded_ns // 1_000_000

    def _now(self) -> int:
        """Update the excluded time, and return the monotonic time including it."""
        now = self._read()
        if now > self._beat_due:
            self._leave_out(now)
        self._last_read = now
        return now

    def _leave_out(self, now: int) -> None:
        """Exclude the time since the beat was due, or since the last reading."""
        gap = now - self._last_read
        stopped = self._last_beat_on_time and gap >= STANDSTILL_NS
        self._excluded_ns += gap if stopped else min(gap, now - self._beat_due)

    def _beat(self) -> None:
        now = self._now()
        self._last_beat_on_time = now <= self._beat_due
        self._schedule(now)

    def _schedule(self, now: int) -> None:
        self._beat_due = now + BEAT_NS + TOLERANCE_NS
        self._timer = self._loop.call_later(BEAT_NS / 1e9, self._beat)


class AfterInput:
    """Calls `call` once all input now in the sockets has been handled.

    After the process was stopped, an event loop may run a timer before it reads input that arrived
    earlier. So a deadline that penalizes somebody must wait until the loop has polled its sockets.
    A callback scheduled now runs before the results of the next poll are handled. A second
    callback, scheduled by the first, runs after them. (This holds for asyncio's selector loops and
    for uvloop; `tests/server/net/test_loop_clock.py` checks it.)
    """

    __slots__ = ("_call", "_handle", "_left", "_loop")

    def __init__(self, loop: AbstractEventLoop, call: Callable[[], object]) -> None:
        self._loop = loop
        self._call = call
        self._left = _POLLS
        self._handle: Handle | None = loop.call_soon(self._turn)

    def cancel(self) -> None:
        if self._handle is not None:
            self._handle.cancel()

    def _turn(self) -> None:
        self._left -= 1
        if self._left:
            self._handle = self._loop.call_soon(self._turn)
        else:
            self._handle = (
                None  # breaks a reference cycle that would last until a garbage collection
            )
            self._call()


class Deadline:
    """Calls `call` when a server's clock has reached `due` and all earlier input was read."""

    __slots__ = ("_call", "_clock", "_due", "_handle", "_loop")

    def __init__(
        self,
        loop: AbstractEventLoop,
        clock: Callable[[], int],
        due: int,
        call: Callable[[], object],
    ) -> None:
        self._loop = loop
        self._clock = clock
        self._due = due
        self._call = call
        self._handle: Handle | AfterInput
        self._wait(clock())

    def cancel(self) -> None:
        self._handle.cancel()

    def _wait(self, now: int) -> None:
        self._handle = self._loop.call_later(max(0, self._due - now) / 1000, self._ring)

    def _ring(self) -> None:
        now = self._clock()
        if now < self._due:  # the clock stopped for a while, but the loop's timers did not
            self._wait(now)
        else:
            self._handle = AfterInput(self._loop, self._call)
