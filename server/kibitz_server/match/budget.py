"""What one seat may add to the log of its match besides its moves. Pure.

Every kind of entry that a client can cause has a bound, for a match and for an hour, because the
log of a match is kept for good. `BOUNDS` says for each kind what bounds it. What a seat has used is
a part of the match's state, so it is the same after a restart.
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
    """How much of something a seat may use in one match."""

    what: str
    """Its name in `MatchState.used`, before the number of the seat."""
    at_once: int
    per_hour: int
    """What comes on top of it with each hour of the match."""
    most: int
    """However long the match takes."""

    def key(self, seat: int) -> str:
        """Return the name under which the match keeps what a seat has used."""
        return f"{self.what}{seat}"

    def left(self, used: int, at_ms: int) -> int:
        """Return how much a seat may still use, `at_ms` after the start of the match."""
        return min(self.most, self.at_once + self.per_hour * at_ms // _HOUR_MS) - used

    def wait_ms(self, used: int, at_ms: int) -> int | None:
        """Return after how long a seat may use one more, 0 for now, None for never."""
        if used >= self.most:
            return None
        needed = (used + 1 - self.at_once) * _HOUR_MS
        return max(0, -(-needed // self.per_hour) - at_ms)


NOTES: Final = Allowance("note", at_once=100_000, per_hour=100_000, most=1_000_000)
"""Characters of a seat's notes."""
MOVE_COMMENTS: Final = Allowance("comment", at_once=250_000, per_hour=500_000, most=4_000_000)
"""Characters of what a seat says of its own moves."""
RETURNS: Final = Allowance("return", at_once=100, per_hour=60, most=2000)
"""How often a seat comes back, or is taken over."""
BOUNDS: Final[Mapping[type[Entry], Allowance | str]] = MappingProxyType(
    {
        records.Moved: MOVE_COMMENTS,
        records.Noted: NOTES,
        records.Returned: RETURNS,
        records.Left: "follows the start or an entry `return`",
        records.Commented: "`MAX_COMMENTS` of a match, and the rate limit on comments",
        records.Flagged: "one of a turn, and the rules bound the turns",
        records.Resigned: "one of a seat",
        records.Forfeited: "one of a seat",
        records.Replaced: "follows an entry `leave`",
        records.Aborted: "one of a match",
        records.Hidden: "is in no log",
    }
)
"""What bounds the entries of each kind in the log of one match.

A move itself is bounded by the rules, and a note about an illegal one by `Conduct.max_illegal`.
"""
CUT_COMMENT: Final = "cut: the comments of this seat have used up their budget"
"""Stands in a comment whose line and text are not kept."""


def comment_size(comment: Comment) -> int:
    """Return how many characters of a comment count."""
    return len(comment.text or "") + sum(map(len, comment.line or ()))


def cut(comment: Comment) -> Comment:
    """Return a comment without its line and its text, and with a word about that."""
    return construct(Comment, {**comment.__dict__, "line": None, "text": CUT_COMMENT})
