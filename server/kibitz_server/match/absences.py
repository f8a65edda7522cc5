"""Decides which absent seat the match gives up next, when, and with which cause.

An absent player has a grace period, unless it left for good. When the grace period ends, the match
forfeits the seat or asks for a substitute. If every seat that could still play is absent, the match
is abandoned as soon as the last grace period ends.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, NamedTuple

from kibitz_protocol.wire.records import Cause
from kibitz_server.match.state import Absence, MatchState

DEPARTURE_TEXTS: Final = {
    "left": "left the match",
    "disconnect": "disconnected and did not reconnect",
    "crash": "crashed and did not reconnect",
    "kicked": "was removed by the host",
}
"""The text that a result contains about a seat that was given up, by the reason for the absence."""


_CAUSES: Final = {"crash": Cause.CRASH, "kicked": Cause.KICKED}
GONE_FOR_GOOD: Final = frozenset({"left", "kicked"})
"""The reasons for absence without a grace period."""


class Due(NamedTuple):
    """A seat to be given up at `at_ms`, in the match's time."""

    at_ms: int
    seat: int
    cause: Cause


def next_due(state: MatchState, substituted: Collection[int]) -> Due | None:
    """Return the absent seat to give up next; those in `substituted` wait for a substitute."""
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
    """Return whether every seat that could still play is absent."""
    if state.to_act not in state.away:
        return False
    there = set(range(len(state.players))) - state.away.keys()
    return not any(state.still_plays(seat) for seat in there)
