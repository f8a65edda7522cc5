"""Sequence numbers of the matches that a client follows: they order events and reveal lost ones.

Each event has the number of its entry, which is one more than that of the previous event. So the
number shows whether an event is the next one, a duplicate, or comes after lost ones. A snapshot
sets the number from which events continue.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from kibitz_protocol.wire.messages import Event, Snapshot


class EventOrder(Enum):
    """The place of an event in the sequence of its match."""

    NEXT = "next"
    OLD = "old"
    GAP = "gap"
    UNKNOWN = "unknown"


@dataclass(slots=True)
class _Position:
    """The last event received for a match; `last_seq` is None while waiting for a snapshot."""

    seated: bool
    last_seq: int | None


class SequenceTracker:
    """The matches that a client follows: it plays those that are `seated`, and watches the
    others."""

    def __init__(self) -> None:
        self._positions: dict[str, _Position] = {}

    def __contains__(self, match: str) -> bool:
        return match in self._positions

    def seated(self) -> list[str]:
        """Matches in which this client has a seat."""
        return [match for match, place in self._positions.items() if place.seated]

    def watched(self) -> list[str]:
        """Matches that this client watches as a spectator."""
        return [match for match, place in self._positions.items() if not place.seated]

    def is_seated(self, match: str) -> bool:
        place = self._positions.get(match)
        return place is not None and place.seated

    def expect(self, match: str, *, seated: bool) -> None:
        """Follow a match whose first snapshot has not arrived yet."""
        place = self._positions.setdefault(match, _Position(seated, None))
        place.seated |= seated

    def reset_to(self, snapshot: Snapshot) -> None:
        """Continue from a snapshot. Stop following the match if it is over."""
        if snapshot.result is not None:
            self.drop(snapshot.match)
            return
        self._positions[snapshot.match] = _Position(snapshot.you is not None, snapshot.seq)

    def classify(self, event: Event) -> EventOrder:
        """Return an event's place; after a `GAP` all events are `OLD` until the next snapshot."""
        place = self._positions.get(event.match)
        if place is None:
            return EventOrder.UNKNOWN
        if place.last_seq is None or event.entry.seq <= place.last_seq:
            return EventOrder.OLD
        if event.entry.seq > place.last_seq + 1:
            place.last_seq = None
            return EventOrder.GAP
        place.last_seq = event.entry.seq
        return EventOrder.NEXT

    def await_snapshots(self) -> None:
        """Make every match wait for a snapshot, because the connection is lost."""
        for place in self._positions.values():
            place.last_seq = None

    def drop(self, match: str) -> None:
        """Stop following a match, if it was followed."""
        self._positions.pop(match, None)
