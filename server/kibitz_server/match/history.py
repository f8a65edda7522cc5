"""Past events of a match as a viewer may see them, computed by replaying its log."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from pydantic_core import to_json

from kibitz_protocol.wire.codec import encode
from kibitz_protocol.wire.drawing import Stage
from kibitz_protocol.wire.messages import Event
from kibitz_protocol.wire.records import Noted
from kibitz_protocol.wire.values import Fields
from kibitz_protocol.wire.visibility import Viewer, WantedViews
from kibitz_server.match.record import read_entry
from kibitz_server.match.state import MatchState
from kibitz_server.match.visibility import EntryView, MatchViews

PAGE_BYTES = 256 * 1024
"""The approximate length at which an answer ends; clients then request the rest."""


@dataclass(frozen=True, slots=True)
class Page:
    """Events of a match, and whether more follow."""

    view: Fields | None
    """The viewer's view right before the first event, or None."""
    stage: Stage | None
    """The drawing of the same view, for viewers that want drawings."""
    events: list[Event]
    more: bool


NO_EVENTS: Final = Page(None, None, [], False)
"""The answer to a request for events after the last entry."""


def read_page(
    match: MatchState,
    lines: Iterable[bytes],
    viewer: Viewer,
    first: int,
    count: int,
    *,
    own: int | None = None,
    wanted: WantedViews = "turn",
) -> Page:
    """Return up to `count` events from number `first` on.

    `match` is at its start, and `lines` are its entries; this advances the match. `own` is the
    viewer's seat, None for a spectator. Only the seat that wrote a note gets it, even after the
    match, when everything else is revealed.
    """
    views = MatchViews(match)
    seen: Fields | None = None
    stage: Stage | None = None
    events: list[Event] = []
    size = 0
    for line in lines:
        if len(events) == count or (events and size >= PAGE_BYTES):
            return Page(seen, stage, events, True)
        if match.seq == first - 1:
            if wanted == "drawn":
                stage = views.begin_drawing(viewer)
            elif wanted != "none":
                seen = views.view(viewer)
            size = len(to_json(seen or stage))
        entry = read_entry(line)
        if match.seq < first - 1:
            match.apply(entry)
            continue
        event = _event(views.advance(entry), viewer, own, wanted)
        events.append(event)
        size += len(encode(event))
        views.release()
    return Page(seen, stage, events, False)


def _event(view: EntryView, viewer: Viewer, own: int | None, wanted: WantedViews) -> Event:
    if own is None:
        return view.spectator_event(viewer, wanted)
    return view.event(own if type(view.entry) is Noted else viewer, wanted)
