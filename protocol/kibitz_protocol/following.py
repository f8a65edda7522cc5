"""Which matches a client follows, and whether it has missed anything of them.

Each event carries the number of its entry, one more than the event before it. So an event
is the next one, or a duplicate, or it proves that some were lost; a snapshot says from which
number the events go on.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from kibitz_protocol.messages import Event, Snapshot


class Step(Enum):
    """What an event is to a follower."""

    NEXT = "next"
    OLD = "old"
    GAP = "gap"
    UNKNOWN = "unknown"


@dataclass(slots=True)
class _Place:
    """How far a match was followed; `seen` is None while a snapshot is awaited."""

    seated: bool
    seen: int | None


class Following:
    """The matches that are followed; `seated` ones are played, the others watched."""

    def __init__(self) -> None:
        self._places: dict[str, _Place] = {}

    def __contains__(self, match: str) -> bool:
        return match in self._places

    def seated(self) -> list[str]:
        """Matches in which this client has a seat."""
        return [match for match, place in self._places.items() if place.seated]

    def watched(self) -> list[str]:
        """Matches that this client looks at from outside."""
        return [match for match, place in self._places.items() if not place.seated]

    def is_seated(self, match: str) -> bool:
        place = self._places.get(match)
        return place is not None and place.seated

    def snapshot(self, snapshot: Snapshot) -> None:
        """Go on from here. A match that is over is not followed any longer."""
        if snapshot.result is not None:
            self.drop(snapshot.match)
            return
        self._places[snapshot.match] = _Place(snapshot.you is not None, snapshot.seq)

    def event(self, event: Event) -> Step:
        """Place an event; after a `GAP` all is `OLD` until the next snapshot."""
        place = self._places.get(event.match)
        if place is None:
            return Step.UNKNOWN
        if place.seen is None or event.entry.seq <= place.seen:
            return Step.OLD
        if event.entry.seq > place.seen + 1:
            place.seen = None
            return Step.GAP
        place.seen = event.entry.seq
        return Step.NEXT

    def interrupt(self) -> None:
        """The connection is gone: every match waits for a snapshot."""
        for place in self._places.values():
            place.seen = None

    def drop(self, match: str) -> None:
        """Stop following; dropping twice is no mistake."""
        self._places.pop(match, None)
