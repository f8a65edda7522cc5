"""The commands and effects of a match: values without behavior.

The types needed for every move are named tuples, because creating one takes a third of the time of
a frozen dataclass.
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
    """A seat's action at `ply`; `rtt_ms` is the measured round trip of the socket it arrived on."""

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
    """A seat's player is gone: permanently if ``left`` or ``kicked``, else with a grace period.

    `restart` marks the first such command after a server restart.
    """

    seat: int
    reason: AbsenceReason
    restart: bool = False


@dataclass(frozen=True, slots=True)
class Return:
    """A seat's player reconnected; `player`, if given, must be the one who has the seat.

    `takeover` means that the player was still connected, and that another of its programs has taken
    the seat.
    """

    seat: int
    player: str | None = None
    takeover: bool = False


@dataclass(frozen=True, slots=True)
class Replace:
    """Another player takes an absent player's seat; the caller's answer to `WantSubstitute`."""

    seat: int
    player: Player
    cause: Cause


@dataclass(frozen=True, slots=True)
class Forfeit:
    """The caller drops a seat, for instance because no substitute was available."""

    seat: int
    cause: Cause
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """A line for a seat's record; the server's lines do not count against the seat's budget."""

    seat: int
    text: str
    is_own: bool = True


@dataclass(frozen=True, slots=True)
class AddComment:
    """A comment on the match; `seat` is None for a spectator, who sees the match at `ply`."""

    author: Player
    seat: int | None
    ply: int
    text: str


@dataclass(frozen=True, slots=True)
class Abort:
    """Ends a match that the server cannot continue, or that its `operator` ends."""

    detail: str
    operator: bool = False


Command: TypeAlias = Play | Resign | Leave | Return | Replace | Forfeit | Note | AddComment | Abort


# --- effects ------------------------------------------------------------------------------


class Append(NamedTuple):
    """Make `entry` durable, then send each viewer ``view.event(viewer)``.

    If the entry is an accepted move, answer its request afterwards.
    """

    entry: Entry
    view: EntryView
    request: int | None = None


class Accepted(NamedTuple):
    """Answer a seat's request `id`, which resent the move that is entry `seq`."""

    seat: int
    id: int
    seq: int


@dataclass(frozen=True, slots=True)
class Refuse:
    """Answer a refused command, which had no effect.

    `id` is None if the command had none, and `seat` is -1 if the sender has no seat. `hint`
    suggests a fix; it is None if the code needs no explanation.
    """

    seat: int
    id: int | None
    code: Code
    message: str
    ply: int
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class WantSubstitute:
    """Find a house bot for a seat, then answer with `Replace` or `Forfeit`.

    Until the answer the seat's flag cannot fall, and its player may still return.
    """

    seat: int
    personality: str
    cause: Cause


@dataclass(frozen=True, slots=True)
class MatchOver:
    """The match is over, and no command changes it from now on."""

    result: Result


Effect: TypeAlias = Append | Accepted | Refuse | WantSubstitute | MatchOver
