"""A client that maintains the view of one match as described on the protocol page.

It stores the view after each entry from snapshots, events with a view or a change, turns, and pages
of history. Views of the same entry must agree.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from kibitz_protocol.wire.merge_patch import apply
from kibitz_protocol.wire.values import Fields
from kibitz_protocol.wire.visibility import EVENT_FIELDS, WantedViews


class ViewFollower:
    """One viewer's views of a match with hidden information, by entry number."""

    def __init__(self) -> None:
        self.views: dict[int, Fields] = {}
        """The known views, by the number of the preceding entry."""
        self.compared = 0
        """The number of repeated views of the same entry."""
        self.wrong: list[str] = []
        """Messages that contradict earlier ones or were not requested."""
        self._wanted: WantedViews = "turn"
        self._seq = -1

    def follow(self, messages: Iterable[dict[str, Any]], wanted: Iterable[WantedViews]) -> None:
        """Process all messages to a client; `wanted` lists the views its connections requested."""
        asked = iter(wanted)
        for message in messages:
            if message["type"] == "welcome":
                self._wanted, self._seq = next(asked), -1
            self.take(message)

    def take(self, message: dict[str, Any]) -> None:
        """Process a message; ignore it if it is not about the view."""
        match message["type"]:
            case "snapshot":
                self._seq = message["seq"]
                self._know(self._seq, message["view"])
            case "event":
                self._take_event(message)
            case "your_turn":
                self._check(("view" in message) == (self._wanted in ("turn", "every")), message)
                self._check(("picks" in message) == (self._wanted == "drawn"), message)
                if "view" in message:
                    self._know(self._seq, message["view"])
            case "events":
                self._take_page(message)

    def _take_event(self, event: dict[str, Any]) -> None:
        seq = event["entry"]["seq"]
        self._check(seq == self._seq + 1, event)
        self._seq = seq
        self._apply(event)

    def _take_page(self, page: dict[str, Any]) -> None:
        events = page["events"]
        self._check(("view" in page) == (bool(events) and self._wanted in ("turn", "every")), page)
        self._check(("stage" in page) == (bool(events) and self._wanted == "drawn"), page)
        if "view" in page:
            self._know(events[0]["entry"]["seq"] - 1, page["view"])
        for event in events:
            self._apply(event)

    def _apply(self, event: dict[str, Any]) -> None:
        """Apply the view changes of an event."""
        told = EVENT_FIELDS[True][self._wanted]
        self._check({"view", "patch"} & event.keys() <= {told}, event)
        seq, before = event["entry"]["seq"], self.views.get(event["entry"]["seq"] - 1)
        if "view" in event:
            self._know(seq, event["view"])
        elif self._wanted == "turn" and before is not None:
            self._know(seq, apply(before, event.get("patch", {})))

    def _know(self, seq: int, view: Fields) -> None:
        if seq not in self.views:
            self.views[seq] = view
            return
        self.compared += 1
        if as_text(view) != as_text(self.views[seq]):
            self.wrong.append(f"after {seq}: {as_text(view)}, not {as_text(self.views[seq])}")

    def _check(self, holds: bool, message: dict[str, Any]) -> None:
        if not holds:
            self.wrong.append(f"to a connection with views {self._wanted}: {json.dumps(message)}")


def as_text(view: Fields) -> str:
    """Return a view as text, which distinguishes 0 from false."""
    return json.dumps(view, sort_keys=True)
