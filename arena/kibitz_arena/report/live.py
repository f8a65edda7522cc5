"""The content of a running tournament's page: tables, claims, games, all formatted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Literal

from pydantic import ConfigDict, Field

from kibitz_arena.game_line import GameLine
from kibitz_arena.report import formatting, text
from kibitz_arena.results import Results
from kibitz_arena.tournament_state import DueGame, TournamentState
from kibitz_protocol.wire.values import Tolerant

SCHEMA: Literal["kibitz-event/2"] = "kibitz-event/2"
LISTED_GAMES: Final = 12
"""The number of finished games and of upcoming games to list."""


class Table(Tolerant):
    """A table; the second column has the names of entrants."""

    heads: list[str]
    rows: list[list[str]]

    @classmethod
    def of(cls, columns: Sequence[text.TableColumn]) -> Table:
        """Return a table with these columns, without those that a narrow terminal omits."""
        shown = [column for column in columns if not column.spare]
        rows = zip(*(column.cells for column in shown), strict=True)
        return cls(heads=[column.head for column in shown], rows=[[*row] for row in rows])


class ListedGame(Tolerant):
    """A running, upcoming or finished game."""

    tag: str = Field(description="the tag of the lobby's match")
    match: str | None = Field(None, description="the match of a finished game")
    text: str
    note: str


class LiveEvent(Tolerant):
    """The content of a tournament's page, except for positions, which the server provides."""

    model_config = ConfigDict(populate_by_name=True, serialize_by_alias=True)

    schema_: Literal["kibitz-event/2"] = Field(SCHEMA, alias="schema")
    lobby: str = Field(description="the lobby in which the games are played")
    name: str
    facts: list[str]
    planned: int
    played: int
    standings: Table
    crosstable: Table
    claims: list[str]
    running: list[ListedGame]
    next: list[ListedGame] = Field(description="the next games")
    latest: list[ListedGame] = Field(description="the last games that ended, latest first")

    @classmethod
    def of(cls, progress: TournamentState, lobby: str) -> LiveEvent:
        """Return the page's content for a tournament that is played in `lobby`."""
        results = Results.of(progress.tournament, progress)
        outstanding = progress.outstanding
        return cls(
            lobby=lobby,
            name=results.event.name,
            facts=_facts(results),
            planned=results.planned,
            played=results.played,
            standings=Table.of(text.standing_columns(results)),
            crosstable=Table.of(text.crosstable_columns(results, text.points_of)),
            claims=[*map(formatting.claim_result, results.claims)],
            running=[*_pairings(outstanding)],
            next=[*_pairings(progress.due(len(outstanding) + LISTED_GAMES))],
            latest=[*map(_ended, reversed(results.games[-LISTED_GAMES:]))],
        )


def _facts(results: Results) -> list[str]:
    return [
        formatting.game_name(results.event),
        results.event.format,
        formatting.clock(results.event),
        formatting.quantity(len(results.standings), "entrant"),
        formatting.progress(results),
    ]


def _pairings(games: Iterable[DueGame]) -> Iterable[ListedGame]:
    for due in games:
        drawn = f"round {due.game.round}, " if due.game.round else ""
        players = " – ".join(due.game.players)
        yield ListedGame(tag=due.tag, text=players, note=f"{drawn}{due.tag}")


def _ended(game: GameLine) -> ListedGame:
    odd = "" if game.termination == "normal" else f", {game.termination}"
    return ListedGame(
        tag=game.tag,
        match=game.match,
        text=formatting.placings(game.places, game.players, game.causes),
        note=f"{formatting.quantity(game.plies, 'move')}{odd}",
    )
