"""The commands and effects of a match: values without behavior.

The ones that every move makes are named tuples, which cost a third of a frozen dataclass.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from kibitz_protocol.wire.records import AbsenceReason, Cause, Comment, Entry, Player, Result
from kibitz_protocol.wire.refusals import Code
from kibitz_protocol.wire.values import SentAction
from kibitz_server.match.visibility import EntryView

# --- commands -----------------------------------------------------------------------------


class Play(NamedTuple):
    """A seat's action at `ply`; `rtt_ms` is the measured round trip of the socket it came on."""

    seat: int
    id: int
    ply: int
    action: SentAction
    comment: Comment | None = None
    rtt_ms: int = 0


@dataclass(frozen=True, slots=True)
class Resign:
    seat: int


@dataclass(frozen=True, slots=True)
class Leave:
    """A seat's player went away: ``left`` or ``kicked`` for good, else with the match's grace.

    `restart` marks the first one after a restart of the server.
    """

    seat: int
    reason: AbsenceReason
    restart: bool = False


@dataclass(frozen=True, slots=True)
class Return:
    """A seat's player reconnected; if `player` is given, it is checked against the seat.

    `takeover` marks that the player was connected and another program has taken its place.
    """

    seat: int
    player: str | None = None
    takeover: bool = False


@dataclass(frozen=True, slots=True)
class Replace:
    """Another player takes the seat of one who is away: an answer to `WantSubstitute`."""

    seat: int
    player: Player
    cause: Cause


@dataclass(frozen=True, slots=True)
class Forfeit:
    """The caller drops a seat, for instance because no stand-in could be had."""

    seat: int
    cause: Cause
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """A line for a seat's record; the server's own do not count in the seat's budget."""

    seat: int
    text: str
    is_own: bool = True


@dataclass(frozen=True, slots=True)
class AddComment:
    """A comment on the match; `seat` is None for a spectator, who sees `ply`."""

    author: Player
    seat: int | None
    ply: int
    text: str


@dataclass(frozen=True, slots=True)
class Abort:
    """The server cannot continue this match, or its `operator` ends it."""

    detail: str
    operator: bool = False


Command: TypeAlias = Play | Resign | Leave | Return | Replace | Forfeit | Note | AddComment | Abort


# --- effects ------------------------------------------------------------------------------


class Append(NamedTuple):
    """Make `entry` durable, then send each viewer ``view.event(viewer)``.

    If the entry is an accepted move, the answer to its request follows.
    """

    entry: Entry
    view: EntryView
    request: int | None = None


class Accepted(NamedTuple):
    """Answer the request `id` of a seat, which has resent a move: it is entry `seq`."""

    seat: int
    id: int
    seq: int


@dataclass(frozen=True, slots=True)
class Refuse:
    """Answer a refused command, which had no effect. `id` is None if the command had none, and
    `seat` is -1 if it came from no seat.

    `hint` suggests a fix, None if there is nothing to add to the code.
    """

    seat: int
    id: int | None
    code: Code
    message: str
    ply: int
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class WantSubstitute:
    """Find a house bot for a seat, then always answer with `Replace` or `Forfeit`.

    Meanwhile no flag falls for the seat, and its player may still return.
    """

    seat: int
    personality: str
    cause: Cause


@dataclass(frozen=True, slots=True)
class MatchOver:
    """The match is over; no command changes it any more."""

    result: Result


Effect: TypeAlias = Append | Accepted | Refuse | WantSubstitute | MatchOver
