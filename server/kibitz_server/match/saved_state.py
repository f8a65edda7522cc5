"""The part of a match's state that checkpoints contain, serialized by pydantic."""

from __future__ import annotations

from dataclasses import dataclass, field

from kibitz_protocol.wire.clocks import Clock
from kibitz_protocol.wire.records import AbsenceReason, Player, Result
from kibitz_server.match.answered_moves import AnsweredMove
from kibitz_server.match.result import Departure


@dataclass(frozen=True, slots=True)
class Absence:
    """The start of a seat's absence and the end of its grace period, in the match's time."""

    reason: AbsenceReason
    since_ms: int
    until_ms: int


@dataclass(frozen=True, slots=True)
class SavedState:
    """The fields of a `MatchState`, without the game's state."""

    seq: int
    at_ms: int
    ply: int
    to_act: int
    turn: int
    turn_at: int
    clocks: list[Clock] | None
    players: tuple[Player, ...]
    away: dict[int, Absence]
    departed: dict[int, Departure]
    flagged: bool
    result: Result | None
    answered: list[AnsweredMove]
    taken_over: frozenset[int]
    began: int
    comments: int = 0
    sent: tuple[str, ...] = ()
    lag_left: tuple[int, ...] = ()
    standstill_ms: int = 0
    used: dict[str, int] = field(default_factory=dict)
    requests: dict[str, int] = field(default_factory=dict)
