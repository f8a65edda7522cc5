"""Synthetic results of events."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.strength.results import CaseResult, Measurement
from kibitz_arena.results import Results
from kibitz_arena.tournament_state import DueGame, TournamentState
from kibitz_protocol.wire.records import Cause, Result, SeatResult
from tests.arena import tournaments

MEASURED = Measurement(commit="0123456789ab", date="2030-05-31", seconds=90.0)


def by_name(due: DueGame) -> Result:
    """Give the alphabetically first player ten points; of two, the second loses on time."""
    order = sorted(due.game.players)
    seats = []
    for name in due.game.players:
        late = Cause.TIME if name == "Bob" else None
        place = order.index(name)
        seats.append(SeatResult(rank=place + 1, score=10.0 / (place + 1), cause=late))
    return Result(seats=seats, cause=Cause.RULES, plies=10)


def results(count: int = 2, **fields: Any) -> Results:
    form = tournaments.event(count, **fields)
    progress = TournamentState(form)
    tournaments.play(progress, by_name)
    return Results.of(form, progress)


def outcome(count: int = 2, **fields: Any) -> CaseResult:
    return CaseResult.of(results(count, **fields), Path(), MEASURED)
