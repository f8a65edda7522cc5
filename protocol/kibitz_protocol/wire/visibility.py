"""The visibility of entries of a running match, for the server and for replays of records.

A viewer is a seat (0, 1, ...), `PUBLIC` or `REFEREE`. What a viewer may know of the game's state is
decided by the game itself (its `view`); what it may know of an entry is decided here, by rules that
are the same for every game:

1. A note is seen by the seat that wrote it and by nobody else. Spectators are never that seat, even
   if they watch from its viewpoint.
2. In a game with hidden information a move or a flag is seen by the seat whose turn it was and by
   the referee; what is public about it is in the view. The cause for which a seat dropped out is
   public, but the detail, which may quote what the bot said, is for that seat and the referee.
3. Until the match ends, a comment reaches its author and referees only: a player may watch its
   own match as a second guest. Spectators see comments at once only where no player can profit
   (`comments_are_live`): house bots play alone, or the host of an unrated match has allowed it.
   From whatever viewpoint they watch, they lose the rest (`spectators_entry`).
4. The comment of a bot on its own move is never shown to the other seats.
5. An entry `comment` says itself who sees it, besides its author's seat and the referee: nobody,
   spectators from whatever viewpoint they watch, or everybody (`comment_audience`).

An entry that a viewer may not see is replaced by a `Hidden` entry with the same number and time, so
the numbers that a viewer gets have no gap. Whose turn it is, the number of plies, the clocks and
the times are public in every game: anybody who is connected can see when news arrives.

What of a viewer's view an event brings is decided here too (`event_field`): by default nothing
where the entry tells all, and what has changed in that viewer's view (`view_change`) where the game
hides something. Who applies every change to the view of a snapshot (`apply_change`) always has the
viewer's present view.

Everything here is a pure function of its arguments. The server calls `redact` once for each entry
and distinct viewer, which is on the path of every move.
"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from kibitz_protocol.wire.records import (
    Audience,
    Commented,
    Entry,
    Flagged,
    Forfeited,
    Hidden,
    Moved,
    Noted,
    Resigned,
    Setup,
    Spectating,
)
from kibitz_protocol.wire.values import Fields

Viewer: TypeAlias = int
"""A seat from 0, `PUBLIC` or `REFEREE`."""
PUBLIC: Final[Viewer] = -1
"""A spectator who sees what everybody may know."""
REFEREE: Final[Viewer] = -2
"""A viewer who may know everything but notes; every viewer is one when the match is over."""

WantedViews: TypeAlias = Literal["turn", "every", "none", "drawn"]
"""What a connection says in `hello`: whether it wants the view with its own turns, with every event
as well, with neither, or as a drawing (`wire/drawing.py`)."""

_STATE_CHANGING: Final = frozenset({Moved, Resigned, Forfeited})


def changes_view(entry: Entry, *, flag_skips: bool) -> bool:
    """Return whether `entry` may change what viewers see of the game.

    `flag_skips` is whether the game skips the turn of a seat whose flag has fallen; in other games
    a flag alone changes nothing.
    """
    kind = type(entry)
    return kind in _STATE_CHANGING or (flag_skips and kind is Flagged)


def event_field(wanted: WantedViews, hidden: bool) -> Literal["view", "change", "paint"] | None:
    """Return which field tells of the view in an event that changes it, None where no field does.

    `hidden` is whether the game has hidden information: what a move did cannot be computed there
    from the entry, which most viewers may not see.
    """
    if wanted == "every":
        return "view"
    if wanted == "drawn":
        return "paint"
    return "change" if hidden and wanted == "turn" else None


def view_change(before: Fields, after: Fields) -> Fields | None:
    """Return the fields that `after` has with another value, None where both views are the same.

    A field that only `before` has is None: a field of a view is left out where it does not apply,
    and null means the same.
    """
    change: Fields = {
        name: value for name, value in after.items() if name not in before or before[name] != value
    }
    change.update((name, None) for name in before if name not in after)
    return change or None


def apply_change(view: Fields, change: Fields | None) -> Fields:
    """Return the view that `view_change` has compared with `view`; `view` itself for None."""
    if change is None:
        return view
    return {name: value for name, value in (view | change).items() if value is not None}


def spectator_viewer(spectating: Spectating) -> Viewer | None:
    """Return the viewer that spectators of a running match are, or None if there may be none."""
    match spectating.mode:
        case "off":
            return None
        case "public":
            return PUBLIC
        case "shoulder":
            return PUBLIC if spectating.seat is None else spectating.seat
        case "referee":
            return REFEREE


def comments_are_live(setup: Setup) -> bool:
    """Return whether spectators of a running match are shown comments at once."""
    if all(player.kind == "house" for player in setup.seats):
        return True
    return setup.rated is None and setup.spectating.comments in ("spectators", "everybody")


def comment_audience(setup: Setup, seat: int | None, hidden: bool) -> Audience | None:
    """Return who sees a comment while the match runs, None where the host wants none.

    `seat` is the author's, None for a spectator; `hidden` is whether the game has hidden
    information. A player's comment may tell what it knows, as a bot's remark on its move may: in
    such a game spectators see it only where the host lets everybody see all comments.
    """
    wanted = setup.spectating.comments
    if wanted == "none":
        return None
    if not comments_are_live(setup):
        return "referee"
    if wanted == "everybody":
        return "everybody"
    return "referee" if hidden and seat is not None else "spectators"


def spectators_entry(entry: Entry, viewer: Viewer, live: bool) -> Entry:
    """Return `entry` without the comments that spectators of a running match are not shown.

    `viewer` is as whom they see the game, and `live` whether they see comments at once
    (`comments_are_live`). A seat's comments are lost at its shoulder too.
    """
    if live or viewer == REFEREE:
        return entry
    if isinstance(entry, Moved) and entry.comment is not None:
        return entry.model_copy(update={"comment": None})
    if isinstance(entry, Commented) and entry.audience == "referee":
        return without_content(entry)
    return entry


def spectators_see_as(entry: Entry, viewer: Viewer) -> Viewer:
    """Return as whom `entry` is redacted for spectators who see the game as `viewer` does.

    A spectator at a seat's shoulder sees the seat's game, but neither its notes, nor only those
    comments that the seat is shown.
    """
    if isinstance(entry, Noted) or (isinstance(entry, Commented) and entry.audience != "referee"):
        return PUBLIC
    return viewer


def depends_on_viewer(entry: Entry, hidden: bool) -> bool:
    """Return whether two viewers may see `entry` differently.

    `hidden` is whether the game has hidden information. Where this is False, `redact` returns the
    entry itself for every viewer, so one encoded event serves them all.
    """
    if hidden or type(entry) is Noted:
        return True
    if type(entry) is Moved:  # most are
        return entry.comment is not None
    return type(entry) is Commented and entry.audience != "everybody"


def redact(entry: Entry, viewer: Viewer, hidden: bool) -> Entry:
    """Return what `viewer` sees of `entry` while the match runs.

    `hidden` is whether the game has hidden information. The result is `entry` itself where the
    viewer may see all of it, and a changed copy or a `Hidden` entry otherwise.
    """
    if isinstance(entry, Noted):
        return entry if entry.seat == viewer else without_content(entry)
    if viewer == REFEREE:
        return entry
    if isinstance(entry, Commented):
        return entry if _hears(entry, viewer) else without_content(entry)
    if hidden:
        return _redact_hidden_game(entry, viewer)
    if isinstance(entry, Moved) and viewer not in (entry.seat, PUBLIC) and entry.comment:
        return entry.model_copy(update={"comment": None})
    return entry


def _hears(comment: Commented, viewer: Viewer) -> bool:
    """Whether a seat, or the public, is shown a comment."""
    if comment.audience == "everybody" or viewer == comment.seat:
        return True
    return viewer == PUBLIC and comment.audience == "spectators"


def without_content(entry: Entry) -> Hidden:
    """Return the entry that stands for one that may not be seen: its number and its time."""
    return Hidden(seq=entry.seq, at_ms=entry.at_ms)


def _redact_hidden_game(entry: Entry, viewer: Viewer) -> Entry:
    if isinstance(entry, Moved | Flagged) and entry.seat != viewer:
        return without_content(entry)
    if isinstance(entry, Forfeited) and entry.seat != viewer and entry.detail:
        return entry.model_copy(update={"detail": ""})
    return entry
