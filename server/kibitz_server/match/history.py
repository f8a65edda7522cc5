"""Past events of a match as a viewer may see them, computed by replaying its log.

To make a page of events, the server needs the state before its first entry. `PositionCache` keeps
copies of the state at every `POSITION_INTERVAL`-th entry. All viewers share them. The first request
for a page replays the match from its start; later ones replay at most `POSITION_INTERVAL` entries
before the page.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from pydantic_core import to_json

from kibitz_games.core.game import Game
from kibitz_protocol.wire.codec import encode
from kibitz_protocol.wire.drawing import Stage
from kibitz_protocol.wire.messages import Event
from kibitz_protocol.wire.records import Noted, Setup
from kibitz_protocol.wire.values import Fields
from kibitz_protocol.wire.visibility import Viewer, WantedViews
from kibitz_server.match.lru_cache import LRUCache
from kibitz_server.match.record import read_entry
from kibitz_server.match.state import MatchState
from kibitz_server.match.visibility import EntryView, MatchViews

PAGE_BYTES = 256 * 1024
"""The approximate length at which an answer ends; clients then request the rest."""
POSITION_INTERVAL = 64
"""The number of entries between two cached positions."""
POSITION_BYTES = 4096
"""The approximate size of a position, excluding the game's state."""
CACHE_BYTES = 16 * 1024 * 1024


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


class PositionCache:
    """An LRU cache of match snapshots, each a copy of a match as of some entry of its log."""

    def __init__(self, capacity: int = CACHE_BYTES) -> None:
        self._cache: LRUCache[tuple[str, int], MatchState] = LRUCache(capacity)

    def match_before(self, game: Game, setup: Setup, first: int) -> MatchState:
        """Return a copy of the match at the latest cached position before entry `first`."""
        for seq in range(
            (first - 1) // POSITION_INTERVAL * POSITION_INTERVAL, 0, -POSITION_INTERVAL
        ):
            kept = self._cache.get((setup.match, seq))
            if kept is not None:
                return kept.copy()
        return MatchState(game, setup)

    def offer(self, match: MatchState) -> None:
        """Cache a match's position if its entry is a multiple of the interval."""
        if match.seq % POSITION_INTERVAL == 0 and match.result is None:
            weight = match.game_state.nbytes + POSITION_BYTES
            self._cache.put((match.setup.match, match.seq), match.copy(), weight)


def read_events(
    game: Game,
    setup: Setup,
    lines: Iterable[bytes],
    viewer: Viewer,
    first: int,
    count: int,
    *,
    own: int | None = None,
    wanted: WantedViews = "turn",
) -> tuple[list[Event], bool]:
    """Return up to `count` events from number `first` on, and whether more follow.

    `lines` are all entries of the match. `own` is the viewer's seat, None for a spectator. Only the
    seat that wrote a note gets it, even after the match, when everything else is revealed.
    """
    match = MatchState(game, setup)
    page = read_page(match, lines, viewer, first, count, own=own, wanted=wanted)
    return page.events, page.more


def read_page(
    match: MatchState,
    lines: Iterable[bytes],
    viewer: Viewer,
    first: int,
    count: int,
    *,
    own: int | None = None,
    wanted: WantedViews = "turn",
    positions: PositionCache | None = None,
) -> Page:
    """Like `read_events`, given a match at a position before `first` and the entries after it.

    This advances the match, so the caller must own it.
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
        view = views.advance(read_entry(line))
        if match.seq >= first:
            event = _event(view, viewer, own, wanted)
            events.append(event)
            size += len(encode(event))
        views.release()
        if positions is not None:
            positions.offer(match)
    return Page(seen, stage, events, False)


def _event(view: EntryView, viewer: Viewer, own: int | None, wanted: WantedViews) -> Event:
    if own is None:
        return view.spectator_event(viewer, wanted)
    return view.event(own if type(view.entry) is Noted else viewer, wanted)
