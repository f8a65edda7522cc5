"""A tournament as its page shows it while it runs: results so far, what runs and what is next."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal

from pydantic import ConfigDict, Field

from kibitz_arena.results import Results
from kibitz_arena.state import DueGame, TournamentState
from kibitz_protocol.wire.values import Tolerant

SCHEMA: Literal["kibitz-event/1"] = "kibitz-event/1"
LATEST_GAMES: Final = 50
"""How many games that have ended are listed, the latest ones."""
NEXT_GAMES: Final = 20
"""How many games that have not begun are listed."""


class ScheduledPairing(Tolerant):
    """A game that runs or is to come; `players` are by seat."""

    tag: str = Field(description="as the lobby's matches have it")
    round: int | None = Field(None, description="the round of a Swiss tournament, from 1")
    players: list[str]


class LiveEvent(Tolerant):
    """All that a page shows of a tournament, but for the positions, which the server has."""

    model_config = ConfigDict(populate_by_name=True, serialize_by_alias=True)

    schema_: Literal["kibitz-event/1"] = Field(SCHEMA, alias="schema")
    lobby: str = Field(description="the lobby in which the games are played")
    results: Results = Field(description="so far; of the games only the latest")
    running: list[ScheduledPairing]
    next: list[ScheduledPairing] = Field(description="the first of those to come")

    @classmethod
    def of(cls, progress: TournamentState, lobby: str) -> LiveEvent:
        """Return what there is to show of a tournament that is played in `lobby`."""
        results = Results.of(progress.tournament, progress)
        outstanding = progress.outstanding
        return cls(
            lobby=lobby,
            results=results.model_copy(update={"games": results.games[-LATEST_GAMES:]}),
            running=[*_pairings(outstanding)],
            next=[*_pairings(progress.due(len(outstanding) + NEXT_GAMES))],
        )


def _pairings(games: Iterable[DueGame]) -> Iterable[ScheduledPairing]:
    for due in games:
        yield ScheduledPairing(tag=due.tag, round=due.game.round, players=[*due.game.players])
