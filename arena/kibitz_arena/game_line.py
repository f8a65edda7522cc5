"""A game that counts toward the results, as used by tables, claims and result files."""

from __future__ import annotations

from typing import Literal, TypeAlias

from pydantic import Field

from kibitz_protocol.wire.records import Cause
from kibitz_protocol.wire.shares import beaten_share
from kibitz_protocol.wire.values import Tolerant

Termination: TypeAlias = Literal[
    "normal", "adjudication", "time forfeit", "illegal move", "abandoned", "unterminated"
]
"""How a game ended, in PGN's terms (tag ``Termination``)."""
TERMINATION_OF: dict[Cause, Termination] = {
    Cause.RULES: "normal",
    Cause.RESIGNATION: "normal",
    Cause.TIME: "time forfeit",
    Cause.ILLEGAL: "illegal move",
    Cause.CRASH: "abandoned",
    Cause.DISCONNECT: "abandoned",
    Cause.ABANDONED: "abandoned",
    Cause.TAKEOVER: "abandoned",
    Cause.KICKED: "abandoned",
    Cause.ABORTED: "unterminated",
    Cause.INFRASTRUCTURE: "unterminated",
}


class GameLine(Tolerant):
    """A game that counts toward the results. `players`, `places` and `causes` are by seat."""

    tag: str
    block: str
    round: int | None = Field(None, description="the round of a Swiss tournament, from 1")
    match: str = Field(description="the key of the match on its server")
    players: list[str]
    places: list[int] = Field(description="1 is best, ties share a place")
    scores: list[float] = Field(default_factory=list, description="the game's own points")
    causes: list[Cause | None] = Field(description="why a seat dropped out, by seat")
    takeovers: list[bool] = Field(
        default_factory=list,
        description="whether another connection took over a seat with an open connection, by seat",
    )
    cause: Cause = Field(description="what ended the game")
    termination: Termination
    reason: str = Field("", description="in the game's terms, such as `goal`")
    plies: int
    used_ms: list[int] | None = Field(None, description="time used by seat, if recorded")
    record: str | None = Field(
        None, description="path of the record, relative to the tournament's directory"
    )
    report: str | None = Field(
        None, description="path of the forensic report if a seat was at fault"
    )

    def share(self, seat: int) -> float:
        """Return a seat's score: the share of opponents it finished ahead of, ties as half."""
        return beaten_share(self.places, seat, alone=1.0)
