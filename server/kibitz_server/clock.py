"""Clocks of a match: pure functions over immutable values, one ledger for every time control.

What a turn is charged comes, in this order, out of the free time of the move, the main time,
the overage bank and the byo-yomi periods. A period that is used up is lost, one that is not
is whole again on the next turn. The flag falls when the charge reaches all there is: time
used up to the last millisecond is up.

The server measures from the moment a turn is open to the arrival of the move, and takes an
allowance for the network off. The allowance is the socket's own round trip as the server
measured it, at most `ALLOWANCE_CAP_MS`, so a slow line costs nothing and a peer that delays
its pongs gains a tenth of a second at most. The timer that looks for fallen flags waits that
tenth longer than the clock, so that nobody is flagged by the network inside the allowance.
"""

from __future__ import annotations

from typing import Final

from kibitz_protocol.clocks import Clock, TimeControl

ALLOWANCE_CAP_MS: Final = 100
"""The most that the network may take off what a turn is charged."""


def full(control: TimeControl) -> Clock:
    """Return the clock of a seat before its first turn."""
    return Clock(main_ms=control.main_ms, bank_ms=control.bank_ms, periods=control.periods)


def until_flag(control: TimeControl, clock: Clock) -> int:
    """Return the milliseconds that a turn started with `clock` may be charged before the flag."""
    rest = clock.periods * control.period_ms if clock.periods else 0
    return control.move_ms + clock.main_ms + clock.bank_ms + rest


def allowance(elapsed_ms: int, rtt_ms: int) -> int:
    """Return what a measured round trip takes off `elapsed_ms`."""
    return max(0, min(elapsed_ms, rtt_ms, ALLOWANCE_CAP_MS))


def spend(control: TimeControl, clock: Clock, charged_ms: int) -> Clock | None:
    """Return the clock after a turn that cost `charged_ms`, or None if the flag has fallen.

    The increment is not in it yet: `reward` adds it when the move stands.
    """
    if charged_ms >= until_flag(control, clock):
        return None
    over = charged_ms - control.move_ms
    if over <= 0:
        return clock
    if over <= clock.main_ms:
        return Clock(main_ms=clock.main_ms - over, bank_ms=clock.bank_ms, periods=clock.periods)
    over -= clock.main_ms
    if over <= clock.bank_ms:
        return Clock(main_ms=0, bank_ms=clock.bank_ms - over, periods=clock.periods)
    lost = (over - clock.bank_ms) // control.period_ms
    return Clock(main_ms=0, bank_ms=0, periods=clock.periods - lost)


def emptied(clock: Clock) -> Clock:
    """Return the clock of a seat whose flag fell: nothing is left of it."""
    return clock.model_copy(update={"main_ms": 0, "bank_ms": 0, "periods": 0})


def reward(control: TimeControl, clock: Clock) -> Clock:
    """Return the clock after a move that stands: the increment goes to the main time."""
    if not control.increment_ms:
        return clock
    return Clock(
        main_ms=clock.main_ms + control.increment_ms,
        bank_ms=clock.bank_ms,
        periods=clock.periods,
    )
