"""The past of a match as a viewer may see it: its log folded again, entry by entry.

A page in the middle needs the fold of everything before it. `Positions` keeps copies of the
fold at every `EVERY`-th entry, whoever has asked: the fold is the same for every viewer, and what
was durable once never changes. So a page costs its own entries, at most `EVERY` before
them, and the whole way to it only the first time.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kibitz_games.api import Game
from kibitz_protocol.codec import encode
from kibitz_protocol.messages import Event
from kibitz_protocol.records import Noted, Setup
from kibitz_server.match import Match
from kibitz_server.recent import Recent
from kibitz_server.record import read_entry
from kibitz_server.view import Sight, Viewer

PAGE_BYTES = 256 * 1024
"""About how long an answer gets; clients ask for the rest."""
EVERY = 64
"""Entries between two positions that are kept."""
POSITION_BYTES = 4096
"""About what a position costs besides the game's state."""
KEPT_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Page:
    """Events of a match, whether there are more, and about how long they are as JSON."""

    events: list[Event]
    more: bool
    size: int


class Positions:
    """Folds of matches at some of their entries, the ones that were used last."""

    def __init__(self, capacity: int = KEPT_BYTES) -> None:
        self._kept: Recent[tuple[str, int], Match] = Recent(capacity)

    def before(self, game: Game, setup: Setup, first: int) -> Match:
        """Return a match that stands before entry `first`, as near to it as is known."""
        for seq in range((first - 1) // EVERY * EVERY, 0, -EVERY):
            kept = self._kept.get((setup.match, seq))
            if kept is not None:
                return kept.copy()
        return Match.new(game, setup)

    def passed(self, match: Match) -> None:
        """Keep the position of a match that is on its way, where it is one to keep."""
        if match.seq % EVERY == 0 and match.result is None:
            weight = match.state.nbytes + POSITION_BYTES
            self._kept.put((match.setup.match, match.seq), match.copy(), weight)


def events(
    game: Game,
    setup: Setup,
    lines: Iterable[bytes],
    viewer: Viewer,
    first: int,
    count: int,
    *,
    own: int | None = None,
) -> tuple[list[Event], bool]:
    """Return up to `count` events from number `first` on, and whether there are more.

    `lines` are all entries from the first one on. A note is for the seat that wrote it, `own`,
    even when all else is revealed.
    """
    told = page(Match.new(game, setup), lines, viewer, first, count, own=own)
    return told.events, told.more


def page(
    match: Match,
    lines: Iterable[bytes],
    viewer: Viewer,
    first: int,
    count: int,
    *,
    own: int | None = None,
    positions: Positions | None = None,
) -> Page:
    """As `events`, from a match that stands before `first`; `lines` are the entries after it.

    The match goes on, so it must be the caller's own.
    """
    told: list[Event] = []
    size = 0
    for line in lines:
        if len(told) == count or size >= PAGE_BYTES:
            return Page(told, True, size)
        sight = match.advance(read_entry(line))
        if match.seq >= first:
            event = _event(sight, viewer, own)
            told.append(event)
            size += len(encode(event))
        if positions is not None:
            positions.passed(match)
    return Page(told, False, size)


def _event(sight: Sight, viewer: Viewer, own: int | None) -> Event:
    if own is not None and type(sight.entry) is Noted:
        return sight.event(own)
    return sight.shown(viewer)
