"""The one gate: everything that a viewer learns of a match is built here.

A viewer is a seat, `PUBLIC` or `REFEREE`. What it may know of a state is what the game's
`view` says, and what it may know of an entry is decided by three rules that hold for every
game:

1. A note is seen by the seat that wrote it and by nobody else: spectators are never that seat,
   whoever's eyes they look through.
2. In a game with hidden information a move, or a flag, is seen by the seat whose turn it was
   and by the referee; whatever of it is public is in the view. Why a seat was dropped is
   public, but what its bot said of it is not.
3. What a bot says of its own move is not shown to the other seats while the match runs.
4. When the match is over, a forensic report (`inquest.py`) tells the player of a seat about that
   seat, notes and refused moves included, and the host of the lobby about every seat: whoever runs
   an event has to find out what went wrong in it. Nobody else is told, and nobody before the end.

An entry that a viewer may not see is a `Hidden` one with the same number, so the numbers that
a viewer gets never have a hole. Whose turn it is, how many plies were played, the clocks, and
when something happened are public in every game: who is connected can see the news come.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

from kibitz_games.api import Game, State
from kibitz_protocol.clocks import Clock
from kibitz_protocol.messages import Event
from kibitz_protocol.records import (
    Entry,
    Flagged,
    Forfeited,
    Hidden,
    Moved,
    Noted,
    Spectating,
)
from kibitz_protocol.values import Fields
from kibitz_server.trusted import trusted

Viewer: TypeAlias = int
"""A seat from 0, `PUBLIC` or `REFEREE`."""
PUBLIC: Final[Viewer] = -1
"""A spectator who sees what everybody may know."""
REFEREE: Final[Viewer] = -2
"""A viewer who may know everything of the match; every viewer is one when it is over."""

LEGAL_LISTED: Final = 512
"""The longest list of legal actions that `your_turn` carries; their count is always given.

A game that says in words what is legal (`GameInfo.legal_rule`) has no list at all."""

_EVERYBODY: Final = -3
"""The key under which an event is kept that looks the same to every viewer."""


def eyes(spectating: Spectating) -> Viewer | None:
    """Return the viewer that spectators of a live match are, or None where there are none."""
    match spectating.mode:
        case "off":
            return None
        case "public":
            return PUBLIC
        case "shoulder":
            return PUBLIC if spectating.seat is None else spectating.seat
        case "referee":
            return REFEREE


class Views:
    """What each viewer may know of one state, computed when first asked for and kept.

    The state belongs to a match that goes on: the match calls `keep` before it changes it. The
    match itself does not hold on to views, so they live as long as somebody has yet to be told.
    """

    __slots__ = ("__weakref__", "_game", "_known", "_state")

    def __init__(self, game: Game, state: State) -> None:
        self._game = game
        self._state = state
        self._known: dict[Viewer, Fields] = {}

    def of(self, viewer: Viewer) -> Fields:
        """Return the view of `viewer` as it travels."""
        if not self._game.info.hidden:
            viewer = PUBLIC
        known = self._known.get(viewer)
        if known is None:
            known = self._known[viewer] = self._look(viewer)
        return known

    def keep(self) -> None:
        """Make sure that views asked for later still show this state."""
        if self._game.info.hidden or not self._known:
            self._state = self._state.copy()

    def _look(self, viewer: Viewer) -> Fields:
        game = self._game
        if viewer == REFEREE:
            return game.dump(game.full_view(self._state))
        return game.dump(game.view(self._state, None if viewer == PUBLIC else viewer))


class Sight:
    """How every viewer sees one entry, and the match right after it."""

    __slots__ = ("_clocks", "_events", "_hidden", "_match", "_views", "entry", "ply", "to_act")

    def __init__(
        self,
        match: str,
        entry: Entry,
        ply: int,
        to_act: int,
        clocks: Sequence[Clock] | None,
        views: Views | None,
        hidden: bool,
    ) -> None:
        self.entry = entry
        self.ply = ply
        self.to_act = to_act
        self._match = match
        self._clocks = clocks
        self._views = views
        """None where the entry changed nothing that anybody sees of the game."""
        self._hidden = hidden
        self._events: dict[Viewer, Event] = {}

    def event(self, viewer: Viewer) -> Event:
        """Return the event of this entry for `viewer`: the same object for all who see the same."""
        key = viewer if self._differs else _EVERYBODY
        event = self._events.get(key)
        if event is None:
            event = self._events[key] = self._build(viewer)
        return event

    def shown(self, eyes: Viewer) -> Event:
        """Return the event for spectators who look through `eyes`; notes are not for them."""
        return self.event(PUBLIC if type(self.entry) is Noted else eyes)

    @property
    def _differs(self) -> bool:
        """Whether two viewers may see this entry differently."""
        if self._hidden or type(self.entry) is Noted:
            return True
        return type(self.entry) is Moved and self.entry.comment is not None

    def _build(self, viewer: Viewer) -> Event:
        return trusted(
            Event,
            {
                "type": "event",
                "match": self._match,
                "ply": self.ply,
                "to_act": self.to_act,
                "entry": seen(self.entry, viewer, self._hidden),
                "view": self._views.of(viewer) if self._views is not None else None,
                "clocks": self._clocks,
            },
        )


def seen(entry: Entry, viewer: Viewer, hidden: bool) -> Entry:
    """Return what `viewer` sees of `entry` in a match that runs; `hidden` is the game's."""
    if isinstance(entry, Noted):
        return entry if entry.seat == viewer else _bare(entry)
    if viewer == REFEREE:
        return entry
    if hidden:
        return _veiled(entry, viewer)
    if isinstance(entry, Moved) and viewer not in (entry.seat, PUBLIC) and entry.comment:
        return entry.model_copy(update={"comment": None})
    return entry


def _veiled(entry: Entry, viewer: Viewer) -> Entry:
    """Return what `viewer` sees of an entry in a game with hidden information."""
    if isinstance(entry, Moved | Flagged) and entry.seat != viewer:
        return _bare(entry)
    if isinstance(entry, Forfeited) and entry.seat != viewer and entry.detail:
        return entry.model_copy(update={"detail": ""})
    return entry


def _bare(entry: Entry) -> Hidden:
    return Hidden(seq=entry.seq, at_ms=entry.at_ms)
