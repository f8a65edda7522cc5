"""The server's clock: monotonic time without the time during which the event loop did not run.

A server that was stopped (SIGSTOP, a debugger, a container without CPU time) or that is overloaded
has not read its players' input. That time counts against no one: not against the clock of a turn,
the grace of a seat, or a peer that owes a pong. All of these use this clock, which leaves it out.

A callback, the beat, is due every `BEAT_NS`. While it is overdue by more than `TOLERANCE_NS`, the
loop is behind, and the clock stands: until the beat has run, every reading returns the time at
which the beat was due. Then the clock goes on from there.

    real time   0----25----50--(stopped for 5 s)-----------5050---5075
    beats       |     |     |                                |      |
    clock       0----25----50                               50-----75

If nothing at all has run for `STANDSTILL_NS`, the clock goes on from its last reading instead,
because the loop may have stopped at any time since. So input sent before a flag fell is in time,
whenever the server was stopped. This favors the players by at most one beat, and not twice in a
row. A permanently overloaded server has a slow clock, but it advances by at least a beat for every
two callbacks, so every deadline comes.

The clocks of all matches stand at the same time, and players to move may think meanwhile. The log
has with a turn's entry how long the clock stood during the turn (`lag_ms`). A match forgives a
limited total (`kibitz_protocol.wire.lag`), beyond which it is aborted.

When the machine is suspended, the monotonic clock of Linux and macOS stands by itself. That of
Windows goes on, and the beat is as late as the machine slept. Neither time counts.
"""

from __future__ import annotations

import time
from asyncio import AbstractEventLoop, Handle, TimerHandle
from collections.abc import Callable
from typing import Final

BEAT_NS: Final = 25_000_000
"""Time between two beats; with the tolerance, the precision of a measured lag."""
TOLERANCE_NS: Final = 5_000_000
"""The lateness of a beat that does not count, as timers are that coarse."""
STANDSTILL_NS: Final = 100_000_000
"""A loop in which nothing has run for this long was stopped, whatever its beat shows."""
_NEVER: Final = 1 << 62
_POLLS: Final = 2
"""Turns of the loop after which all input now in the sockets has been handled."""


class ServerClock:
    """The clock of one server. It leaves nothing out before `start` or after `stop`."""

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
        """When the next beat is overdue."""
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
        now = self._read()
        if now > self._beat_due:
            self._leave_out(now)
        self._last_read = now
        return (now - self._excluded_ns) // 1_000_000

    def seconds(self) -> float:
        return (self._now() - self._excluded_ns) / 1e9

    def lag_ms(self) -> int:
        """Return the time left out so far, as of the last reading."""
        return self._excluded_ns // 1_000_000

    def _now(self) -> int:
        """Return real time, after updating how far it is ahead of the clock."""
        now = self._read()
        if now > self._beat_due:
            self._leave_out(now)
        self._last_read = now
        return now

    def _leave_out(self, now: int) -> None:
        """Leave out the time since the beat was due, or since the last reading."""
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
    """Calls `call` once all input that is in the sockets now was handled.

    A loop may run a due timer without having polled its sockets since it became due: after a stop
    its wait returns empty-handed. So a deadline with a penalty waits for a whole poll. A callback
    scheduled now runs before the results of the next poll; one that this callback schedules in turn
    runs after them. (That holds for asyncio's selector loops and for uvloop;
    `tests/server/net/test_loop_clock.py` checks it.)
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
            self._handle = None  # breaks the reference cycle, which would wait for a collection
            self._call()


class Deadline:
    """Calls `call` when a server's clock reaches `due` and all earlier input was read."""

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
        if now < self._due:  # the clock stood for a while, but the loop's timers did not
            self._wait(now)
        else:
            self._handle = AfterInput(self._loop, self._call)
