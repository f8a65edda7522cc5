"""Lag: how much time a match forgives for delays of the network and of the server.

*The network.* The server measures a peer's round trip by pings. A peer can delay its pongs, so no
measurement proves that the network was slow. Allowances are therefore paid from a bank, as on
lichess: each seat begins with `bank_ms`; every move withdraws its allowance and deposits
`refill_ms`, up to `bank_ms` in all.

So a seat is forgiven at most `bank_ms + n * refill_ms` in n moves, however long it delays pongs. A
peer whose round trip is at most `refill_ms` (and `bank_ms`) is never charged for it.

*The server.* The server's clock stops while the server is down or overloaded, and after a restart
the open turn starts again. The seat to move gains time to think, so a match forgives at most
`standstill_ms + at_ms / STANDSTILL_SHARE` in total, where `at_ms` is the time of the match. The
second term is for a server that is overloaded for hours. A restart counts as `RESTART_MS`, because
the server cannot know how long the turn had been open. Beyond the limit the match is aborted.

Charging players instead would let a peer that can stop the server run down its opponent's clock.
"""

from __future__ import annotations

from typing import Final

from pydantic import Field

from kibitz_protocol.wire.values import Strict

ALLOWANCE_CAP_MS: Final = 100
"""The largest network allowance of one turn."""
RESTART_MS: Final = 1_000
"""Each restart of the server counts as a standstill of this length."""
STANDSTILL_SHARE: Final = 4
"""A match may stand still for its time divided by this, in addition to `standstill_ms`."""


class Lag(Strict):
    """Limits on the time that a match forgives for delays of the network and of the server."""

    bank_ms: int = Field(
        1_000,
        ge=0,
        le=60_000,
        description="initial and maximum bank of each seat for network round trips; 0 forgives"
        " none",
    )
    refill_ms: int = Field(
        40,
        ge=0,
        le=ALLOWANCE_CAP_MS,
        description="amount added to a seat's bank after each of its moves, up to `bank_ms`",
    )
    standstill_ms: int = Field(
        30_000,
        ge=0,
        le=3_600_000,
        description="how long the server may stand still during turns, in addition to a quarter of"
        " the match's time, before it aborts a match with clocks; a restart counts as 1000",
    )


def allowance(elapsed_ms: int, rtt_ms: int, left_ms: int) -> int:
    """Return the allowance for a turn: the round trip, up to the cap and the bank's `left_ms`."""
    return max(0, min(elapsed_ms, rtt_ms, ALLOWANCE_CAP_MS, left_ms))


def after_move(lag: Lag, left_ms: int, allowed_ms: int) -> int:
    """Return a seat's bank after a move whose allowance was `allowed_ms`."""
    return min(lag.bank_ms, max(0, left_ms - allowed_ms) + lag.refill_ms)


def standstill_cap(lag: Lag, at_ms: int) -> int:
    """Return the total standstill that a match allows until its time `at_ms`."""
    return lag.standstill_ms + at_ms // STANDSTILL_SHARE
