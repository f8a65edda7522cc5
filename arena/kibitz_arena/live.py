"""The data of a running tournament's page: results so far, running games and upcoming games."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal

from pydantic import ConfigDict, Field

from kibitz_arena.results import Results
from kibitz_arena.state import DueGame, TournamentState
from kibitz_protocol.wire.values import Tolerant

SCHEMA: Literal["kibitz-event/1"] = "kibitz-event/1"
LATEST_GAMES: Final = 50
"""The number of finished games to list, latest first."""
NEXT_GAMES: Final = 20
"""The number of upcoming games to list."""


class ScheduledPairing(Tolerant):
    """A running or upcoming game; `players` has the names by seat."""

    tag: str = Field(description="the tag of the lobby's match")
    round: int | None = Field(None, description="the round of a Swiss tournament, from 1")
    players: list[str]


class LiveEvent(Tolerant):
    """The data of a tournament's page, except for positions, which the server provides."""

    model_config = ConfigDict(populate_by_name=True, serialize_by_alias=True)

    schema_: Literal["kibitz-event/1"] = Field(SCHEMA, alias="schema")
    lobby: str = Field(description="the lobby in which the games are played")
    results: Results = Field(description="the results so far, with only the latest games")
    running: list[ScheduledPairing]
    next: list[ScheduledPairing] = Field(description="the next games")

    @classmethod
    def of(cls, progress: TournamentState, lobby: str) -> LiveEvent:
        """Return the page data for a tournament that is played in `lobby`."""
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
