"""Clocks of a match: pure functions over immutable values, one ledger for every time control.

What a turn is charged comes, in this order, out of the free time of the move, the main time,
the overage bank and the byo-yomi periods. A period that is used up is lost, one that is not
is whole again on the next turn. The flag falls when the charge reaches all there is: time
used up to the last millisecond is up.

The server measures from the moment a turn is open to the arrival of the move, and takes an
allowance for the network off. The allowance is the socket's own round trip as the server
measured it (the shortest of its last pings), at most `ALLOWANCE_CAP_MS`, so a slow line costs
nothing and a peer that delays its pongs gains a tenth of a second at most. The timer that looks
for fallen flags waits that tenth longer than the clock, so that nobody is flagged by the network
inside the allowance.
"""

from __future__ import annotations

from typing import Final

from kibitz_protocol.clocks import Clock, TimeControl
from kibitz_protocol.values import MAX_SAFE_INT
from kibitz_server.trusted import trusted

EMPTY: Final = Clock(main_ms=0, bank_ms=0, periods=0)
"""What is left when the flag has fallen."""

ALLOWANCE_CAP_MS: Final = 100
"""The most that the network may take off what a turn is charged."""

MOST_MS: Final = MAX_SAFE_INT
"""The most that any number of a clock is, which is what the wire carries: controls whose parts are
near it, and increments on top of them, come to no more."""


def full(control: TimeControl) -> Clock:
    """Return the clock of a seat before its first turn."""
    return _clock(control.main_ms, control.bank_ms, control.periods)


def until_flag(control: TimeControl, clock: Clock) -> int:
    """Return the milliseconds that a turn started with `clock` may be charged before the flag."""
    rest = clock.periods * control.period_ms if clock.periods else 0
    return min(MOST_MS, control.move_ms + clock.main_ms + clock.bank_ms + rest)


def allowance(elapsed_ms: int, rtt_ms: int) -> int:
    """Return what a measured round trip takes off `elapsed_ms`."""
    return max(0, min(elapsed_ms, rtt_ms, ALLOWANCE_CAP_MS))


def spend(control: TimeControl, clock: Clock, charged_ms: int) -> Clock | None:
    """Return the clock after a move that was charged `charged_ms`, or None if the flag fell."""
    if charged_ms >= until_flag(control, clock):
        return None
    main, bank, periods = clock.main_ms, clock.bank_ms, clock.periods
    over = charged_ms - control.move_ms
    if over > main + bank:
        periods -= (over - main - bank) // control.period_ms
        main = bank = 0
    elif over > main:
        main, bank = 0, bank - (over - main)
    elif over > 0:
        main -= over
    return _clock(main + control.increment_ms, bank, periods)


def flagged(control: TimeControl) -> Clock:
    """Return the clock after the turn of a seat whose flag fell: skipped, or moved by the server.

    All that the seat had is gone; the increment comes after every turn, this one too.
    """
    return _clock(control.increment_ms, 0, 0)


def _clock(main_ms: int, bank_ms: int, periods: int) -> Clock:
    main_ms = min(MOST_MS, main_ms)
    return trusted(Clock, {"main_ms": main_ms, "bank_ms": bank_ms, "periods": periods})
