"""Results: all that an event has shown so far, as one model.

Tables, exports and pages are made from `Results` and from nothing else. It is complete at every
moment of an event: before the first game all counts are 0 and all ratings None.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from pydantic import ConfigDict, Field

from kibitz_clients.arena.event import Format
from kibitz_clients.arena.sequential import Verdict
from kibitz_protocol.records import Cause
from kibitz_protocol.values import Options, Tolerant

SCHEMA: Literal["kibitz-results/1"] = "kibitz-results/1"

Termination: TypeAlias = Literal[
    "normal", "adjudication", "time forfeit", "illegal move", "abandoned", "unterminated"
]
"""How a game ended, in the words of PGN (its tag ``Termination``)."""
TERMINATIONS: dict[Cause, Termination] = {
    Cause.RULES: "normal",
    Cause.RESIGNATION: "normal",
    Cause.TIME: "time forfeit",
    Cause.ILLEGAL: "illegal move",
    Cause.CRASH: "abandoned",
    Cause.DISCONNECT: "abandoned",
    Cause.ABANDONED: "abandoned",
    Cause.INFRASTRUCTURE: "unterminated",
}


class EventFacts(Tolerant):
    """What was played."""

    name: str
    game: str
    options: Options
    seats: int
    time_control: str
    format: Format
    seed: int
    hash: str = Field(description="SHA-256 of all that says which games there are")


class Standing(Tolerant):
    """One entrant. Ratings are in Elo units; `low` and `high` bound the 95% interval."""

    name: str
    what: str = Field(description="what it is, such as `bot bots/ada.py`")
    games: int
    wins: int = Field(description="games in which it had the best place alone")
    draws: int = Field(description="games in which it shared the best place")
    losses: int = Field(description="all its other games")
    mean_place: float | None = Field(description="mean place, 1 is best, ties share the mean")
    points: float = Field(
        description="the share of the others that it has beaten, ties counting half, summed over"
        " its games; a game of two gives 1, 0.5 or 0. A bye gives what winning its block would"
    )
    byes: int = Field(0, description="blocks of a Swiss event in which it had nobody to play")
    rating: float | None = None
    low: float | None = None
    high: float | None = None
    anchor: bool = Field(False, description="whether its rating was given, and fixes the scale")
    used_ms: int | None = Field(None, description="time it used in all, where that was noted")
    causes: dict[Cause, int] = Field(description="how often its seat dropped out, by cause")
    terminations: dict[Termination, int] = Field(description="how its games ended for it")


class Pair(Tolerant):
    """One entrant against another: how often it finished before, beside and behind it."""

    games: int = 0
    wins: int = 0
    draws: int = 0
    losses: int = 0

    @property
    def points(self) -> float:
        """A win counts 1, a draw a half."""
        return self.wins + 0.5 * self.draws


class GameLine(Tolerant):
    """One game that counts. `players`, `places` and `causes` are by seat."""

    tag: str
    block: str
    round: int | None = Field(None, description="the round of a Swiss event, from 1")
    match: str = Field(description="the key of the match on its server")
    players: list[str]
    places: list[int] = Field(description="1 is best, ties share it")
    causes: list[Cause | None] = Field(description="why a seat dropped out before the end")
    cause: Cause = Field(description="what ended the game")
    termination: Termination
    reason: str = Field("", description="in the game's words, such as `goal`")
    plies: int
    used_ms: list[int] | None = Field(None, description="time used, by seat, where it was noted")
    record: str | None = Field(None, description="path of the record, from the event's directory")


class Results(Tolerant):
    """All that an event has shown so far.

    `standings` are sorted, best first; rows and columns of `crosstable` and `superiority` are in
    the same order. The cells of an entrant against itself are None.
    """

    model_config = ConfigDict(populate_by_name=True, serialize_by_alias=True)

    schema_: Literal["kibitz-results/1"] = Field(SCHEMA, alias="schema")
    event: EventFacts
    standings: list[Standing]
    crosstable: list[list[Pair | None]]
    superiority: list[list[float | None]] = Field(
        description="the probability that the one of the row is stronger than the one of the"
        " column; None too where one has no rating"
    )
    games: list[GameLine] = Field(description="in the order in which they ended")
    planned: int = Field(description="games of the whole event")
    played: int = Field(description="games that count so far")
    finished: bool = Field(description="whether nothing is left to play")
    stopped: str | None = Field(None, description="why the event ended before its last game")
    sequential: Verdict | None = Field(None, description="where the sequential test stands")
    interruptions: int = Field(description="how often the event went on after it was cut off")
    requeued: int = Field(description="games repeated after a failure of the infrastructure")
    seconds: float = Field(description="how long the event ran, breaks left out")
