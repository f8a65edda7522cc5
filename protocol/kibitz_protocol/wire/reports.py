"""Forensic reports of matches that the rules did not end.

For each seat at fault, a report has the last messages to and from it, the end of its output, and
its use of time. Only the seat's owner and, once the match is over, the host can read it.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from kibitz_protocol.wire.records import Cause, Player
from kibitz_protocol.wire.refusals import Code
from kibitz_protocol.wire.values import Fields, GameName, Key, Millis, SeatIndex, Seq, Tolerant

MAX_TURNS_LISTED = 40
"""The most turns that a report lists; of earlier turns it gives only the number."""
MAX_NOTE_LINES = 60
"""The most lines of output that a report shows."""


class Received(Tolerant):
    """The last message received from a seat."""

    kind: Literal["move", "refused", "resign", "fault"]
    ply: int
    at_ms: Millis = Field(description="time since the start of the match")
    action: str | None = Field(None, description="the action's JSON, which may be truncated")
    code: Code | None = Field(None, description="code of the refusal")
    detail: str = Field(
        "", description="reason for the refusal, or the failure that the bot reported"
    )


class Spent(Tolerant):
    """The time of one turn of a seat; charged = elapsed - allowance, but never below 0."""

    ply: int
    elapsed_ms: Millis
    allowance_ms: Millis = 0
    charged_ms: Millis
    lag_ms: Millis = Field(
        0, description="time that the server stood still meanwhile, not included in `elapsed_ms`"
    )
    left_ms: Millis | None = Field(
        None, description="main time and bank after the turn; absent without a clock"
    )
    flagged: bool = False


class SeatReport(Tolerant):
    """The report on one seat."""

    seat: SeatIndex
    player: Player
    cause: Cause | None = Field(None, description="why it dropped out; absent if it did not")
    detail: str = ""
    sent: Fields | None = Field(None, description="the last `your_turn` message")
    received: Received | None = None
    refused: list[Received] = Field(description="all moves refused as illegal")
    notes: list[str] = Field(description="the last lines of its bot's output")
    ledger: list[Spent]
    earlier: int = Field(0, description="number of earlier turns, which `ledger` omits")


class MatchReport(Tolerant):
    """The report on one match, limited to the seats that the reader may know about."""

    match: Key
    game: GameName
    cause: Cause
    reason: str = ""
    plies: Seq
    seats: list[SeatReport] = Field(description="the seats at fault, or the requested one")
