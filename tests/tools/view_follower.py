"""A client that keeps the view of one match from what it is sent, as the protocol page says.

Everything that is said of the view after an entry is kept: by snapshots, by events with a view or
a change, by turns and by pages of history. Two things that were said of one moment have to agree.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from kibitz_protocol.wire.merge_patch import apply
from kibitz_protocol.wire.values import Fields
from kibitz_protocol.wire.visibility import WantedViews, event_field


class ViewFollower:
    """One viewer's view of a match with hidden information, by the numbers of its entries."""

    def __init__(self) -> None:
        self.views: dict[int, Fields] = {}
        """The view after each entry that something was said of."""
        self.compared = 0
        """How often something was said of a moment that was known already."""
        self.wrong: list[str] = []
        """Messages that contradict earlier ones, or were not requested."""
        self._wanted: WantedViews = "turn"
        self._seq = -1

    def follow(self, messages: Iterable[dict[str, Any]], wanted: Iterable[WantedViews]) -> None:
        """Take all that a client was sent; `wanted` is what each of its connections asked for."""
        asked = iter(wanted)
        for message in messages:
            if message["type"] == "welcome":
                self._wanted, self._seq = next(asked), -1
            self.take(message)

    def take(self, message: dict[str, Any]) -> None:
        """Take one message; those that are not about the view are passed over."""
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
        told = event_field(self._wanted, hidden=True)
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
    """Return a view as text, which tells 0 from false."""
    return json.dumps(view, sort_keys=True)
