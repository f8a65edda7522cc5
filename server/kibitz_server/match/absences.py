"""Absent seats: which one is given up next, when, and with what cause.

A seat whose player is away has a grace, except after leaving for good. When it is over the seat is
given up, or a substitute is asked for. When every seat that could still play is away, nobody waits
for anybody: the match is abandoned when the last grace is over.
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
"""What the result says of a seat that was given up."""


_CAUSES: Final = {"crash": Cause.CRASH, "kicked": Cause.KICKED}
GONE_FOR_GOOD: Final = frozenset({"left", "kicked"})
"""Absences that have no grace."""


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
    """Whether every seat that could still play is away."""
    if state.to_act not in state.away:
        return False
    there = set(range(len(state.players))) - state.away.keys()
    return not any(state.still_plays(seat) for seat in there)
