"""The visibility of entries of a running match, for the server and for replays of records.

A viewer is a seat (0, 1, ...), `PUBLIC` or `REFEREE`. The game itself decides what a viewer may
know of its state (its `view`). This module decides what a viewer may know of an entry. The rules
are the same for every game:

1. Only the seat that wrote a note sees it; spectators with that seat's viewpoint do not.
2. In a game with hidden information only the seat whose turn it was and the referee see a move or a
   flag. Other viewers learn the public part from their views. The cause of a seat's dropping out is
   public, but only that seat and the referee see the detail, which may quote the bot.
3. Until the match ends, only its author and referees see a comment, because a player could watch
   its own match as a second guest. Spectators see comments at once only where no player can profit
   (`comments_are_live`): if only house bots play, or the host of an unrated match has allowed it.
   All other comments are removed for them, from any viewpoint (`spectators_entry`).
4. Other seats never see the comment of a bot on its own move.
5. An entry `comment` has an audience in addition to its author's seat and the referee: nobody,
   spectators with any viewpoint, or everybody (`comment_audience`).

A `Hidden` entry with the same number and time replaces an entry that a viewer may not see, so the
numbers that a viewer gets have no gaps. The seat to move, the number of plies, the clocks and the
times are public in every game, because every connection can observe when news arrives.

This module also decides which part of the view an event carries (`EVENT_FIELDS`). By default it
carries no part of the view if the game has no hidden information, and else a merge patch for the
viewer's view (`merge_patch`). A client that applies every patch to the view of a snapshot always
has its current view.

Everything here is a pure function of its arguments. The server calls `redact` for each entry and
distinct viewer, on the path of every move.
"""

from __future__ import annotations

from collections.abc import Mapping
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

Viewer: TypeAlias = int
"""A seat from 0, `PUBLIC` or `REFEREE`."""
PUBLIC: Final[Viewer] = -1
"""A spectator who sees only public information."""
REFEREE: Final[Viewer] = -2
"""A viewer who sees everything except notes. After the match, every viewer is a referee."""

WantedViews: TypeAlias = Literal["turn", "every", "none", "drawn"]
"""The views that a connection requests in `hello`: with its own turns, with every event too, none,
or drawings (`wire/drawing.py`)."""

EVENT_FIELDS: Final[Mapping[bool, Mapping[WantedViews, Literal["view", "patch"] | None]]] = {
    False: {"turn": None, "every": "view", "none": None, "drawn": "patch"},
    True: {"turn": "patch", "every": "view", "none": None, "drawn": "patch"},
}
"""The field of an event that carries the change of the view, or None if there is none: by whether
the game has hidden information, and by the connection's views.

With hidden information, clients cannot compute the effect of a move, because most of them do not
receive it.
"""

_STATE_CHANGING: Final[frozenset[type[Entry]]] = frozenset({Moved, Resigned, Forfeited})


def view_changing(*, flag_skips: bool) -> frozenset[type[Entry]]:
    """Return the types of the entries that may change what viewers see of the game.

    `flag_skips` is whether the game skips the turn of a seat whose flag fell; in other games a flag
    alone does not change the view.
    """
    return _STATE_CHANGING | {Flagged} if flag_skips else _STATE_CHANGING


def spectator_viewer(spectating: Spectating) -> Viewer | None:
    """Return the viewer for spectators of a running match, or None if none are allowed."""
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
    """Return whether spectators of a running match see comments at once."""
    if all(player.kind == "house" for player in setup.seats):
        return True
    return setup.rated is None and setup.spectating.comments in ("spectators", "everybody")


def comment_audience(setup: Setup, seat: int | None, hidden: bool) -> Audience | None:
    """Return who sees a comment while the match runs, or None if the host allows none.

    `seat` is the author's, None for a spectator; `hidden` is whether the game has hidden
    information. A player's comment, like a bot's remark on its move, may reveal secrets. In such a
    game spectators see it only if the host lets everybody see all comments.
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
    """Return `entry` without the comments that spectators of a running match may not see.

    `viewer` is the viewpoint of the spectators, and `live` whether they see comments at once
    (`comments_are_live`). Comments are removed even if the viewpoint is the author's.
    """
    if live or viewer == REFEREE:
        return entry
    if isinstance(entry, Moved) and entry.comment is not None:
        return entry.model_copy(update={"comment": None})
    if isinstance(entry, Commented) and entry.audience == "referee":
        return without_content(entry)
    return entry


def spectators_see_as(entry: Entry, viewer: Viewer) -> Viewer:
    """Return the viewer to pass to `redact` for spectators who see the game as `viewer`.

    Spectators with a seat's viewpoint see the seat's game, but not its notes, and may see comments
    that the seat cannot.
    """
    if isinstance(entry, Noted) or (isinstance(entry, Commented) and entry.audience != "referee"):
        return PUBLIC
    return viewer


def redact(entry: Entry, viewer: Viewer, hidden: bool) -> Entry:
    """Return `entry` as `viewer` sees it while the match runs.

    `hidden` is whether the game has hidden information. The result is `entry` itself if the viewer
    may see all of it, otherwise a changed copy or a `Hidden` entry.
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
    """Return whether `viewer`, a seat or the public, sees a comment."""
    if comment.audience == "everybody" or viewer == comment.seat:
        return True
    return viewer == PUBLIC and comment.audience == "spectators"


def without_content(entry: Entry) -> Hidden:
    """Return a `Hidden` entry with the number and time of `entry`."""
    return Hidden(seq=entry.seq, at_ms=entry.at_ms)


def _redact_hidden_game(entry: Entry, viewer: Viewer) -> Entry:
    if isinstance(entry, Moved | Flagged) and entry.seat != viewer:
        return without_content(entry)
    if isinstance(entry, Forfeited) and entry.seat != viewer and entry.detail:
        return entry.model_copy(update={"detail": ""})
    return entry
