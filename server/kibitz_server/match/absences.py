"""Absent seats: which one is given up next, when, and with what cause.

A player who is away has a grace period, unless it left for good. When the grace is over, the seat
is given up or a substitute is asked for. When every seat that could still play is away, the match
is abandoned as soon as the last grace is over.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, NamedTuple

from kibitz_protocol.wire.records import Cause
from kibitz_server.match.saved_state import Absence
from kibitz_server.match.state import MatchState

DEPARTURE_TEXTS: Final = {
    "left": "left the match",
    "disconnect": "disconnected and did not come back",
    "crash": "crashed and did not come back",
    "kicked": "was removed by the host",
}
"""The text in the result for a seat that was given up, by cause."""


_CAUSES: Final = {"crash": Cause.CRASH, "kicked": Cause.KICKED}
GONE_FOR_GOOD: Final = frozenset({"left", "kicked"})
"""Absences without a grace."""


class Due(NamedTuple):
    """A seat that is to be given up at `at_ms`, in the match's time."""

    at_ms: int
    seat: int
    cause: Cause


def next_due(state: MatchState, substituted: Collection[int]) -> Due | None:
    """Return which absent seat is to be given up next; `substituted` wait for a substitute."""
    away = {seat: gone for seat, gone in state.away.items() if state.still_plays(seat)}
    waiting = [seat for seat in away if seat not in substituted]
    for seat in waiting:
        if away[seat].reason in GONE_FOR_GOOD:
            return Due(away[seat].until_ms, seat, cause_of(away[seat]))
    if _all_are_away(state):
        seat = max(away, key=lambda seat: away[seat].until_ms)
        return Due(away[seat].until_ms, seat, Cause.ABANDONED)
    if not waiting:
        return None
    seat = min(waiting, key=lambda seat: away[seat].until_ms)
    return Due(away[seat].until_ms, seat, cause_of(away[seat]))


def cause_of(absence: Absence) -> Cause:
    return _CAUSES.get(absence.reason, Cause.DISCONNECT)


def _all_are_away(state: MatchState) -> bool:
    """Return whether every seat that could still play is away."""
    if state.to_act not in state.away:
        return False
    there = set(range(len(state.players))) - state.away.keys()
    return not any(state.still_plays(seat) for seat in there)
