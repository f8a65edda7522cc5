"""Results: all that an event has shown so far, as one model.

Tables, exports and pages are made from `Results` and from nothing else. It is complete at every
moment of an event: before the first game all counts are 0 and all ratings None.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from typing import Literal, TypeAlias

from pydantic import ConfigDict, Field

from kibitz_clients.arena import claims
from kibitz_clients.arena.claims import Held
from kibitz_clients.arena.event import Entrant, Event, Format
from kibitz_clients.arena.journal import Ended, Isolation, Progress
from kibitz_clients.arena.ratings import Played, Ratings, rate
from kibitz_clients.arena.sequential import Verdict
from kibitz_protocol.records import Cause, Result, SeatResult
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
    Cause.TAKEOVER: "abandoned",
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
    mean_score: float | None = Field(None, description="mean of the game's own points")
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
    scores: list[float] = Field(default_factory=list, description="points as the game counts them")
    causes: list[Cause | None] = Field(description="why a seat dropped out before the end")
    takeovers: list[bool] = Field(
        default_factory=list,
        description="by seat, whether another connection took it while its own was open",
    )
    cause: Cause = Field(description="what ended the game")
    termination: Termination
    reason: str = Field("", description="in the game's words, such as `goal`")
    plies: int
    used_ms: list[int] | None = Field(None, description="time used, by seat, where it was noted")
    record: str | None = Field(None, description="path of the record, from the event's directory")
    report: str | None = Field(
        None, description="path of the forensic report, where a seat was at fault"
    )

    def share(self, seat: int) -> float:
        """Return what a seat won: the share of the others that it finished before, ties half."""
        own, others = self.places[seat], len(self.places) - 1
        beaten = sum((own < place) + 0.5 * (own == place) for place in self.places) - 0.5
        return beaten / others if others else 1.0


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
    claims: list[Held] = Field(default_factory=list, description="what the event is held to show")
    isolation: list[Isolation] = Field(
        default_factory=list,
        description="what kept entrants that are code of others apart; empty where none is",
    )
    interruptions: int = Field(description="how often the event went on after it was cut off")
    requeued: int = Field(description="games repeated after a failure of the infrastructure")
    seconds: float = Field(description="how long the event ran, breaks left out")

    @classmethod
    def of(cls, event: Event, progress: Progress) -> Results:
        """Return what `progress` shows of `event`."""
        tallies = [_Tally(event, progress, entrant) for entrant in event.entrants]
        rated = _Rated(event, progress)
        tallies.sort(key=lambda tally: (rated.order(tally.name), -tally.points))
        names = [tally.name for tally in tallies]
        pairs = _pairs(progress)
        games = [_game_line(progress, tag) for tag in progress.ended]
        return cls(
            event=_facts(event),
            standings=[tally.standing(rated) for tally in tallies],
            crosstable=[[None if a == b else pairs[a, b] for b in names] for a in names],
            superiority=[[rated.above(a, b) for b in names] for a in names],
            games=games,
            planned=progress.planned,
            played=progress.played,
            finished=progress.finished,
            stopped=_why_stopped(progress),
            sequential=progress.verdict,
            claims=[claims.hold(claims.read(text), games) for text in event.claims],
            isolation=progress.isolation,
            interruptions=max(0, progress.sessions - 1),
            requeued=progress.requeued,
            seconds=progress.running_ms / 1000,
        )


def _facts(event: Event) -> EventFacts:
    return EventFacts(
        name=event.name,
        game=event.game.name,
        options=event.game.options,
        seats=event.seats,
        time_control=event.time_control,
        format=event.format,
        seed=event.seed,
        hash=event.hash,
    )


def _why_stopped(progress: Progress) -> str | None:
    stopped, verdict = progress.stopped, progress.verdict
    if stopped is not None:
        return ": ".join(part for part in (stopped.reason, stopped.detail) if part)
    if verdict is not None and verdict.decided and progress.played < progress.planned:
        return "decided"
    return None


class _Tally:
    """What one entrant has done."""

    def __init__(self, event: Event, progress: Progress, entrant: Entrant) -> None:
        self.entrant = entrant
        self.name = entrant.name
        self.byes = progress.schedule.byes[self.name]
        self.points = progress.points[self.name] + progress.schedule.bye_points(self.name)
        self._games = [each for each in progress.ended.values() if self.name in each.players]
        self._seats = [each.players.index(self.name) for each in self._games]

    def standing(self, rated: _Rated) -> Standing:
        """Return its line of the table."""
        games = [*zip(self._games, self._seats, strict=True)]
        tied = [_beside(game.result, seat) for game, seat in games]
        outcomes = Counter(_outcome(game.result, seat) for game, seat in games)
        causes = Counter(cause for game, seat in games if (cause := game.result.seats[seat].cause))
        words = Counter(_termination(game.result.seats[seat].cause) for game, seat in games)
        used = [game.used_ms[seat] for game, seat in games if game.used_ms is not None]
        places = [game.result.seats[seat].rank for game, seat in games]
        scores = [_points(game.result.seats[seat]) for game, seat in games]
        rating, low, high = rated.interval(self.name)
        return Standing(
            name=self.name,
            what=self.entrant.what,
            games=len(games),
            wins=outcomes["win"],
            draws=outcomes["draw"],
            losses=outcomes["loss"],
            mean_place=(sum(places) + sum(tied) / 2) / len(games) if games else None,
            mean_score=sum(scores) / len(scores) if scores else None,
            points=round(self.points, 6),
            byes=self.byes,
            rating=rating,
            low=low,
            high=high,
            anchor=self.entrant.anchor is not None,
            used_ms=sum(used) if used else None,
            causes=dict(causes),
            terminations=dict(words),
        )


def _beside(result: Result, seat: int) -> int:
    """Return how many others share a seat's place."""
    return sum(each.rank == result.seats[seat].rank for each in result.seats) - 1


def _outcome(result: Result, seat: int) -> Literal["win", "draw", "loss"]:
    if result.seats[seat].rank != min(each.rank for each in result.seats):
        return "loss"
    return "draw" if _beside(result, seat) else "win"


def _points(seat: SeatResult) -> float:
    """Return what a seat has by the game's own count, or its share where it counts nothing."""
    return seat.score if seat.points is None else seat.points


def _termination(cause: Cause | None) -> Termination:
    return TERMINATIONS[cause or Cause.RULES]


class _Rated:
    """The ratings of those who have played, and of anchors, by name."""

    def __init__(self, event: Event, progress: Progress) -> None:
        played = {name for ended in progress.ended.values() for name in ended.players}
        self._number: dict[str, int] = {}
        self._ratings: Ratings | None = None
        if played:
            names = [name for name in event.names if name in played or name in event.anchors]
            self._number = {name: number for number, name in enumerate(names)}
            anchors = {self._number[name]: rating for name, rating in event.anchors.items()}
            games = [self._played(progress, ended) for ended in progress.ended.values()]
            mean = event.ratings.mean
            self._ratings = rate(len(names), games, anchors=anchors, mean=mean)

    def _played(self, progress: Progress, ended: Ended) -> Played:
        return Played(
            block=progress.game(ended.tag).block,
            players=tuple(self._number[name] for name in ended.players),
            ranks=tuple(seat.rank for seat in ended.result.seats),
        )

    def interval(self, name: str) -> tuple[float | None, float | None, float | None]:
        """Return the rating and its bounds."""
        if self._ratings is None or name not in self._number:
            return None, None, None
        number = self._number[name]
        found = (self._ratings.rating, self._ratings.low, self._ratings.high)
        rating, low, high = (float(each[number]) for each in found)
        return rating, low, high

    def above(self, a: str, b: str) -> float | None:
        """Return the probability that `a` is stronger than `b`."""
        if a == b or self._ratings is None or not {a, b} <= self._number.keys():
            return None
        return float(self._ratings.superiority[self._number[a], self._number[b]])

    def order(self, name: str) -> float:
        """Return a number that is smaller for the better; those without a rating come last."""
        rating, _, _ = self.interval(name)
        return math.inf if rating is None else -rating


def _pairs(progress: Progress) -> dict[tuple[str, str], Pair]:
    """Return how everybody did against everybody, in games that both were in."""
    counts: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for ended in progress.ended.values():
        ranks = [seat.rank for seat in ended.result.seats]
        for (a, rank), (b, other) in itertools.permutations(
            zip(ended.players, ranks, strict=True), 2
        ):
            word = "draws" if rank == other else "wins" if rank < other else "losses"
            counts[a, b].update(["games", word])
    names = progress.event.names
    return {(a, b): Pair(**counts[a, b]) for a, b in itertools.permutations(names, 2)}


def _game_line(progress: Progress, tag: str) -> GameLine:
    ended, game = progress.ended[tag], progress.game(tag)
    result = ended.result
    return GameLine(
        tag=ended.tag,
        block=game.block,
        round=game.round,
        match=ended.match,
        players=ended.players,
        places=[seat.rank for seat in result.seats],
        scores=[_points(seat) for seat in result.seats],
        causes=[seat.cause for seat in result.seats],
        takeovers=[bool(seat.takeover) for seat in result.seats],
        cause=result.cause,
        termination=_termination(result.cause),
        reason=result.reason,
        plies=result.plies,
        used_ms=ended.used_ms,
        record=ended.record,
        report=ended.report,
    )
