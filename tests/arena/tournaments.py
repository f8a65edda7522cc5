"""Tournaments for tests, and a way to play them without a server."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kibitz_arena.entries import Entry, GamesRequested, RunStarted
from kibitz_arena.tournament import Tournament
from kibitz_arena.tournament_state import DueGame, TournamentState
from kibitz_protocol.wire.records import Cause, Result, SeatResult

NAMES = ("Ada", "Bob", "Cyd", "Dan", "Eve", "Fay", "Gil", "Hal", "Ida", "Jon", "Kim", "Lea")
Outcome = Callable[[DueGame], Result]


def event(count: int = 4, **fields: Any) -> Tournament:
    """Return a tournament of `count` entrants; the game does not matter."""
    entrants = [{"name": f"{NAMES[i % 12]}{i // 12 or ''}", "bot": "x/y"} for i in range(count)]
    return Tournament.model_validate(
        {
            "name": "cup",
            "game": {"name": "chinese-checkers"},
            "entrants": entrants,
            "seed": 0,
            **fields,
        }
    )


def result(
    *ranks: int, cause: Cause = Cause.RULES, seat_causes: Sequence[Cause | None] = ()
) -> Result:
    """Return a result with these places by seat."""
    own = [*seat_causes, *[None] * len(ranks)]
    seats = [SeatResult(rank=rank, score=0, cause=own[i]) for i, rank in enumerate(ranks)]
    return Result(seats=seats, cause=cause, reason="goal", plies=10)


def by_name(due: DueGame) -> Result:
    """Let the alphabetically first player win."""
    order = sorted(due.game.players)
    return result(*(order.index(name) + 1 for name in due.game.players))


def failed() -> Result:
    return result(1, 1, cause=Cause.INFRASTRUCTURE)


def play(
    progress: TournamentState,
    outcome: Outcome = by_name,
    *,
    at_once: int = 3,
    most: int = 10**9,
    write: Callable[[Entry], None] | None = None,
) -> None:
    """Continue a tournament like a runner: arrange games, then end the oldest outstanding one."""
    put = write or progress.apply
    put(RunStarted(at_ms=0))
    for _ in range(most):
        due = progress.due(at_once)
        if due:
            put(GamesRequested(at_ms=0, tags=[each.tag for each in due]))
        if not progress.outstanding:
            return
        oldest = progress.outstanding[0]
        match = f"m{oldest.tag.replace('.', '-').replace('~', '_')}"
        put(progress.entry_for(0, oldest.tag, match, outcome(oldest)))
