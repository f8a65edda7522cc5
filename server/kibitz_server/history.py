"""The past of a match as a viewer may see it: its log folded again, entry by entry."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from kibitz_games.api import Game
from kibitz_protocol.codec import encode
from kibitz_protocol.messages import Event
from kibitz_protocol.records import Noted, Setup
from kibitz_server.match import Match
from kibitz_server.record import read_entry
from kibitz_server.view import Sight, Viewer

PAGE_BYTES = 256 * 1024
"""About how long an answer gets; clients ask for the rest."""


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

    A note is for the seat that wrote it, `own`, even when all else is revealed.
    """
    sights = Match.replay(game, setup, map(read_entry, lines))
    wanted = islice(sights, max(0, first - 1), None)
    told: list[Event] = []
    size = 0
    for sight in wanted:
        if len(told) == count or size >= PAGE_BYTES:
            return told, True
        event = _event(sight, viewer, own)
        told.append(event)
        size += len(encode(event))
    return told, False


def _event(sight: Sight, viewer: Viewer, own: int | None) -> Event:
    if own is not None and type(sight.entry) is Noted:
        return sight.event(own)
    return sight.shown(viewer)
