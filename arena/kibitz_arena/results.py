"""The results of a tournament so far, as one model.

Tables, exports and pages are rendered from `Results` only. It is valid at any time during a
tournament: before the first game all counts are 0 and all ratings None.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from typing import Literal

from pydantic import ConfigDict, Field

from kibitz_arena import claims
from kibitz_arena.claims import CheckedClaim
from kibitz_arena.entries import IsolationTool
from kibitz_arena.game_line import TERMINATION_OF, GameLine, Termination
from kibitz_arena.ratings import EntrantRating, RatedGame, rate_entrants
from kibitz_arena.sprt import SprtResult
from kibitz_arena.tournament import Entrant, Format, Tournament
from kibitz_arena.tournament_state import TournamentState
from kibitz_protocol.wire.records import Cause, Result, SeatResult
from kibitz_protocol.wire.shares import seat_outcome
from kibitz_protocol.wire.values import Options, Seed, Tolerant

SCHEMA: Literal["kibitz-results/1"] = "kibitz-results/1"


class TournamentInfo(Tolerant):
    """The description of a tournament."""

    name: str
    game: str
    options: Options
    seats: int
    time_control: str
    format: Format
    seed: Seed | None = Field(
        description="the seed of all random choices; absent while it is secret"
    )
    commitment: str | None = Field(
        None, description="SHA-256 of the text of a 64-digit seed, published from the start"
    )
    hash: str = Field(description="SHA-256 of all settings that determine the games")


class EntrantStanding(Tolerant):
    """An entrant's standing.

    Ratings are in Elo; `low` and `high` are the bounds of the 95% interval.
    """

    name: str
    what: str = Field(description="a description, such as `bot bots/ada.py`")
    games: int
    wins: int = Field(description="games in which it was alone in first place")
    draws: int = Field(description="games in which it shared first place")
    losses: int = Field(description="all its other games")
    mean_place: float | None = Field(
        description="mean place; 1 is best, and tied seats get the mean of their places"
    )
    mean_score: float | None = Field(None, description="mean of the game's own points")
    points: float = Field(
        description="the share of opponents beaten, ties as half, summed over its games; a game"
        " with two seats gives 1, 0.5 or 0. A bye counts like winning its block"
    )
    byes: int = Field(0, description="blocks of a Swiss tournament in which it had no opponent")
    rating: float | None = None
    low: float | None = None
    high: float | None = None
    anchor: bool = Field(False, description="whether its rating is known and fixes the scale")
    used_ms: int | None = Field(None, description="total time used, where recorded")
    causes: dict[Cause, int] = Field(description="how often it dropped out, by cause")
    terminations: dict[Termination, int] = Field(description="how its games ended")


class HeadToHead(Tolerant):
    """One entrant against another: how often it finished ahead, level and behind."""

    games: int = 0
    wins: int = 0
    draws: int = 0
    losses: int = 0

    @property
    def points(self) -> float:
        """The points: 1 for a win, 0.5 for a draw."""
        return self.wins + 0.5 * self.draws


class Results(Tolerant):
    """The results of a tournament so far.

    `standings` is sorted, best first; the rows and columns of `crosstable` have the same order. The
    cells of an entrant against itself are None.
    """

    model_config = ConfigDict(populate_by_name=True, serialize_by_alias=True)

    schema_: Literal["kibitz-results/1"] = Field(SCHEMA, alias="schema")
    event: TournamentInfo
    standings: list[EntrantStanding]
    crosstable: list[list[HeadToHead | None]]
    games: list[GameLine] = Field(description="in the order in which they ended")
    planned: int = Field(description="number of games in the whole tournament")
    played: int = Field(description="number of games so far that count")
    finished: bool = Field(description="whether no games are left to play")
    stopped: str | None = Field(None, description="why the tournament ended before its last game")
    sequential: SprtResult | None = Field(None, description="the state of the sequential test")
    claims: list[CheckedClaim] = Field(
        default_factory=list, description="claims about the tournament, checked against its games"
    )
    isolation: list[IsolationTool] = Field(
        default_factory=list,
        description="tools that isolated untrusted entrants; empty if there were none",
    )
    interruptions: int = Field(description="how often the tournament resumed after an interruption")
    requeued: int = Field(description="games replayed after an infrastructure failure")
    seconds: float = Field(description="running time of the tournament, without breaks")

    @classmethod
    def of(cls, tournament: Tournament, progress: TournamentState) -> Results:
        """Return the results of `tournament` with the state `progress`."""
        tallies = [_EntrantTotals(tournament, progress, entrant) for entrant in tournament.entrants]
        ratings = _ratings(tournament, progress)
        tallies.sort(key=lambda tally: (_sort_key(ratings.get(tally.name)), -tally.points))
        names = [tally.name for tally in tallies]
        pairs = _head_to_head(progress)
        games = [_game_line(progress, tag) for tag in progress.ended]
        return cls(
            event=_info(tournament, over=_is_over(progress)),
            standings=[tally.standing(ratings.get(tally.name)) for tally in tallies],
            crosstable=[[None if a == b else pairs[a, b] for b in names] for a in names],
            games=games,
            planned=progress.planned,
            played=progress.played,
            finished=progress.finished,
            stopped=_why_stopped(progress),
            sequential=progress.sprt_result,
            claims=[claims.check(claims.parse(text), games) for text in tournament.claims],
            isolation=progress.isolation,
            interruptions=max(0, progress.sessions - 1),
            requeued=progress.requeued,
            seconds=progress.running_ms / 1000,
        )


def _is_over(progress: TournamentState) -> bool:
    """Return whether all games of the tournament have been played or canceled."""
    stopped = progress.stopped
    return progress.finished or (stopped is not None and stopped.reason == "deadline")


def _info(tournament: Tournament, *, over: bool) -> TournamentInfo:
    return TournamentInfo(
        name=tournament.name,
        game=tournament.game.name,
        options=tournament.game.options,
        seats=tournament.seats,
        time_control=str(tournament.clock),
        format=tournament.format,
        seed=tournament.seed if over or tournament.commitment is None else None,
        commitment=tournament.commitment,
        hash=tournament.hash,
    )


def _why_stopped(progress: TournamentState) -> str | None:
    stopped, verdict = progress.stopped, progress.sprt_result
    if stopped is not None:
        return ": ".join(part for part in (stopped.reason, stopped.detail) if part)
    if verdict is not None and verdict.decided and progress.played < progress.planned:
        return "decided"
    return None


class _EntrantTotals:
    """The totals of one entrant."""

    def __init__(self, tournament: Tournament, progress: TournamentState, entrant: Entrant) -> None:
        self.entrant = entrant
        self.name = entrant.name
        self.byes = progress.schedule.byes[self.name]
        self.points = progress.points[self.name] + progress.schedule.bye_points(self.name)
        self._games = [game for game in progress.ended.values() if self.name in game.players]
        self._seats = [game.players.index(self.name) for game in self._games]

    def standing(self, rated: EntrantRating | None) -> EntrantStanding:
        """Return the entrant's standing."""
        games = [*zip(self._games, self._seats, strict=True)]
        tied = [_tied_count(game.result, seat) for game, seat in games]
        outcomes = Counter(
            seat_outcome([seated.rank for seated in game.result.seats], seat)
            for game, seat in games
        )
        causes = Counter(cause for game, seat in games if (cause := game.result.seats[seat].cause))
        words = Counter(_termination(game.result.seats[seat].cause) for game, seat in games)
        used = [game.used_ms[seat] for game, seat in games if game.used_ms is not None]
        places = [game.result.seats[seat].rank for game, seat in games]
        scores = [_seat_score(game.result.seats[seat]) for game, seat in games]
        rating, low, high = rated or (None, None, None)
        return EntrantStanding(
            name=self.name,
            what=self.entrant.description,
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


def _tied_count(result: Result, seat: int) -> int:
    """Return how many other seats share a seat's place."""
    return sum(other.rank == result.seats[seat].rank for other in result.seats) - 1


def _seat_score(seat: SeatResult) -> float:
    """Return a seat's points in the game's own scoring, or its share if the game has no points."""
    return seat.score if seat.points is None else seat.points


def _termination(cause: Cause | None) -> Termination:
    return TERMINATION_OF[cause or Cause.RULES]


def _ratings(tournament: Tournament, progress: TournamentState) -> dict[str, EntrantRating]:
    """Return the ratings of anchors and of entrants that have played, by name."""
    numbers = {name: number for number, name in enumerate(tournament.names)}
    # Sorted by tag: floating-point sums depend on the order, workers' games end in any order, and
    # entrants with equal ratings must always be listed in the same order.
    games = [
        RatedGame(
            block=progress.game(tag).block,
            players=tuple(numbers[name] for name in ended.players),
            ranks=tuple(seat.rank for seat in ended.result.seats),
        )
        for tag, ended in sorted(progress.ended.items())
    ]
    return rate_entrants(tournament.names, games, tournament.anchors, tournament.ratings.mean)


def _sort_key(rated: EntrantRating | None) -> float:
    """Return a sort key that is smaller for better entrants; entrants without a rating are last."""
    return math.inf if rated is None else -rated.rating


def _head_to_head(progress: TournamentState) -> dict[tuple[str, str], HeadToHead]:
    """Return the results of every entrant against every other, in games that both played."""
    counts: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for ended in progress.ended.values():
        ranks = [seat.rank for seat in ended.result.seats]
        for (a, rank), (b, other) in itertools.permutations(
            zip(ended.players, ranks, strict=True), 2
        ):
            word = "draws" if rank == other else "wins" if rank < other else "losses"
            counts[a, b].update(["games", word])
    names = progress.tournament.names
    return {(a, b): HeadToHead(**counts[a, b]) for a, b in itertools.permutations(names, 2)}


def _game_line(progress: TournamentState, tag: str) -> GameLine:
    ended, game = progress.ended[tag], progress.game(tag)
    result = ended.result
    return GameLine(
        tag=ended.tag,
        block=game.block,
        round=game.round,
        match=ended.match,
        players=ended.players,
        places=[seat.rank for seat in result.seats],
        scores=[_seat_score(seat) for seat in result.seats],
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
