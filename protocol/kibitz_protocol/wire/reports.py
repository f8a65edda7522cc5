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
    at_ms: Millis = Field(description="in the match's time")
    action: str | None = Field(None, description="the action's JSON, as far as it was kept")
    code: Code | None = Field(None, description="as what it was refused")
    detail: str = Field("", description="why it was refused, or what the bot said had failed")


class Spent(Tolerant):
    """The time of one turn of a seat; charged = elapsed - allowance, but never below 0."""

    ply: int
    elapsed_ms: Millis
    allowance_ms: Millis = 0
    charged_ms: Millis
    lag_ms: Millis = Field(0, description="what the server stood still meanwhile; not in elapsed")
    left_ms: Millis | None = Field(None, description="main time and bank after it; absent without")
    flagged: bool = False


class SeatReport(Tolerant):
    """The report on one seat."""

    seat: SeatIndex
    player: Player
    cause: Cause | None = Field(None, description="why it dropped out; absent where it did not")
    detail: str = ""
    sent: Fields | None = Field(None, description="the last your_turn, as the message that it was")
    received: Received | None = None
    refused: list[Received] = Field(description="every move that was refused as illegal")
    notes: list[str] = Field(description="the last lines that its bot wrote")
    ledger: list[Spent]
    earlier: int = Field(0, description="turns before the first one of the ledger")


class MatchReport(Tolerant):
    """The report on one match, limited to the seats that the reader may know about."""

    match: Key
    game: GameName
    cause: Cause
    reason: str = ""
    plies: Seq
    seats: list[SeatReport] = Field(description="those at fault, or the one that was asked for")
