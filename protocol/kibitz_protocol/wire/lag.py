"""Lag: what a match forgives for delays of the network and of the server. Pure.

*The network.* A peer's round trip is measured by pings, and a peer can delay its pongs, so no
measurement proves that the network was slow. What it takes off a turn's charge is therefore paid
from a bank, as on lichess: each seat begins with `bank_ms`, every move takes its allowance out,
and every move puts `refill_ms` back, up to `bank_ms`. After n moves of a seat at most

    bank_ms + n * refill_ms

was forgiven, whatever its pongs did, and a peer whose round trip is at most `refill_ms` (and
`bank_ms`) is never charged for it.

*The server.* Its clock stands while it is stopped or overloaded, and a restart begins the open turn
anew. Whoever has the turn may think meanwhile, so a match forgives at most

    standstill_ms + at_ms / STANDSTILL_SHARE

in all, `at_ms` being the time of the match: the share is for a server that is overloaded for
hours. A restart counts `RESTART_MS`, because nobody knows how long the turn had been open. Beyond
that the match is aborted. To charge players instead would let a peer that can stop the server run
its opponent's clock down.
"""

from __future__ import annotations

from typing import Final

from pydantic import Field

from kibitz_protocol.wire.values import Strict

ALLOWANCE_CAP_MS: Final = 100
"""The most that the network may take off what one turn is charged."""
RESTART_MS: Final = 1_000
"""What a restart of the server counts of what a match forgives."""
STANDSTILL_SHARE: Final = 4
"""One part in so many of a match's time may be standstill, besides `standstill_ms`."""


class Lag(Strict):
    """What a match forgives for delays of the network and of the server."""

    bank_ms: int = Field(
        1_000,
        ge=0,
        le=60_000,
        description="the bank of each seat for its network's round trips; 0 forgives none",
    )
    refill_ms: int = Field(
        40,
        ge=0,
        le=ALLOWANCE_CAP_MS,
        description="what each own move puts back into the bank, which never exceeds `bank_ms`",
    )
    standstill_ms: int = Field(
        30_000,
        ge=0,
        le=3_600_000,
        description="how long the server may stand still while turns are open before a match with"
        " clocks is aborted, besides a quarter of the match's time; a restart counts 1000",
    )


def allowance(elapsed_ms: int, rtt_ms: int, left_ms: int) -> int:
    """Return what a measured round trip takes off `elapsed_ms`; `left_ms` is in the bank."""
    return max(0, min(elapsed_ms, rtt_ms, ALLOWANCE_CAP_MS, left_ms))


def after_move(lag: Lag, left_ms: int, allowed_ms: int) -> int:
    """Return what is in a seat's bank after a move that was allowed `allowed_ms`."""
    return min(lag.bank_ms, max(0, left_ms - allowed_ms) + lag.refill_ms)


def standstill_cap(lag: Lag, at_ms: int) -> int:
    """Return how long the server may have stood still in a match by its time `at_ms`."""
    return lag.standstill_ms + at_ms // STANDSTILL_SHARE
