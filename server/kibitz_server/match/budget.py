"""Limits on what a seat may add to its match's log, apart from moves. Pure.

A match's log is kept permanently, so every kind of entry that a client can cause is limited, per
match and per hour. `BOUNDS` names the limit of each kind. The amounts used are part of the match's
state, so they survive a restart.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from kibitz_protocol.wire import records
from kibitz_protocol.wire.records import Comment, Entry
from kibitz_protocol.wire.unchecked import construct

_HOUR_MS: Final = 3_600_000


@dataclass(frozen=True, slots=True)
class Allowance:
    """The amount of a resource that a seat may use in one match."""

    what: str
    """The resource's name in `MatchState.used`, before the seat number."""
    at_once: int
    per_hour: int
    """The additional amount for each hour of the match."""
    most: int
    """The maximum, even in very long matches."""

    def key(self, seat: int) -> str:
        """Return the key of the amount a seat has used, in `MatchState.used`."""
        return f"{self.what}{seat}"

    def left(self, used: int, at_ms: int) -> int:
        """Return how much a seat may still use, `at_ms` after the start of the match."""
        return min(self.most, self.at_once + self.per_hour * at_ms // _HOUR_MS) - used

    def wait_ms(self, used: int, at_ms: int) -> int | None:
        """Return the milliseconds until a seat may use one more unit; None if it never may."""
        if used >= self.most:
            return None
        needed = (used + 1 - self.at_once) * _HOUR_MS
        return max(0, -(-needed // self.per_hour) - at_ms)


NOTES: Final = Allowance("note", at_once=100_000, per_hour=100_000, most=1_000_000)
"""Characters of a seat's notes."""
MOVE_COMMENTS: Final = Allowance("comment", at_once=250_000, per_hour=500_000, most=4_000_000)
"""Characters of a seat's comments on its own moves."""
RETURNS: Final = Allowance("return", at_once=100, per_hour=60, most=2000)
"""The number of times that players may reconnect to a seat or take it over."""
BOUNDS: Final[Mapping[type[Entry], Allowance | str]] = MappingProxyType(
    {
        records.Moved: MOVE_COMMENTS,
        records.Noted: NOTES,
        records.Returned: RETURNS,
        records.Left: "only after the start or an entry `return`",
        records.Commented: "`MAX_COMMENTS` per match, and the rate limit on comments",
        records.Flagged: "one per turn, and the rules limit the turns",
        records.Resigned: "one per seat",
        records.Forfeited: "one per seat",
        records.Replaced: "only after an entry `leave`",
        records.Aborted: "one per match",
        records.Hidden: "never in a log",
    }
)
"""The limit of each kind of entry in the log of one match.

The rules limit moves, and `Conduct.max_illegal` limits notes about illegal ones.
"""
CUT_COMMENT: Final = "omitted: this seat has used up its budget for comments"
"""Replaces the line and text of a comment for which the seat's budget is too small."""


def comment_size(comment: Comment) -> int:
    """Return how many characters of a comment count against the budget."""
    return len(comment.text or "") + sum(map(len, comment.line or ()))


def cut(comment: Comment) -> Comment:
    """Return a comment with its line and text replaced by `CUT_COMMENT`."""
    return construct(Comment, {**comment.__dict__, "line": None, "text": CUT_COMMENT})
