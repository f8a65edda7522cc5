"""The public feed of a ladder: standings, head-to-head scores, recent results and losses.

The module does no I/O. The feed is one JSON object for other people's pages and programs, rewritten
as games end. The ladder's own page is rendered from the same object.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final, Literal

from pydantic import ConfigDict, Field

from kibitz_arena.ladder.state import Entrant, LadderState, Outcome, PlayedGame
from kibitz_arena.ratings import EntrantRating
from kibitz_protocol.wire.records import Cause, PlayerKind
from kibitz_protocol.wire.server_address import page_url
from kibitz_protocol.wire.values import Tolerant

SCHEMA: Literal["kibitz-ladder/1"] = "kibitz-ladder/1"
MAX_AWAY: Final = 200
"""The maximum number of absent entrants to list, highest rated first."""

Status = Literal["here", "paused", "away", "retired"]


class FeedLoss(Tolerant):
    """One of an entrant's recent losses."""

    at_ms: int
    match: str
    against: list[str]
    cause: Cause | None = Field(None, description="why the entrant dropped out, if it did")
    reason: str
    record: str = Field(description="URL of the record")
    report: str | None = Field(
        None, description="path of the report in the keeper's directory if the entrant failed"
    )


class FeedOpponent(Tolerant):
    """An entrant's results against one opponent."""

    entrant: str
    wins: int
    draws: int
    losses: int


class FeedLine(Tolerant):
    """An entrant, with a rating after its first game."""

    place: int
    entrant: str
    name: str
    version: str
    kind: PlayerKind
    status: Status
    rating: float | None = None
    low: float | None = Field(None, description="bounds of the 95% interval")
    high: float | None = None
    anchor: bool = False
    games: int
    wins: int
    draws: int
    losses: int
    form: list[Outcome] = Field(description="its last games, newest last")
    paused_until_ms: int | None = None
    opponents: list[FeedOpponent]
    last_losses: list[FeedLoss] = Field(description="newest first")


class Feed(Tolerant):
    """The current state of a ladder."""

    model_config = ConfigDict(populate_by_name=True, serialize_by_alias=True)

    schema_: Literal["kibitz-ladder/1"] = Field(SCHEMA, alias="schema")
    name: str
    game: str
    options: dict[str, Any]
    seats: int
    time_control: str
    server: str
    lobby: str | None
    at_ms: int
    games: int
    running: int
    entrants: int
    lines: list[FeedLine]
    results: list[PlayedGame] = Field(description="newest first")


def build_feed(
    state: LadderState,
    ratings: Mapping[str, EntrantRating],
    *,
    here: Collection[str],
    reports: Mapping[str, str],
    server: str,
    at_ms: int,
) -> Feed:
    """Return the feed; `reports` maps matches to report files, `server` is the server's URL."""
    lines = [
        _line(entrant, state, ratings, here, reports, server, at_ms)
        for entrant in state.entrants.values()
    ]
    lines.sort(key=_order)
    shown = [line for line in lines if line.status in ("here", "paused")]
    shown += [line for line in lines if line.status not in ("here", "paused")][:MAX_AWAY]
    shown.sort(key=_order)
    ladder = state.ladder
    return Feed(
        name=ladder.name,
        game=ladder.game.name,
        options=ladder.game.options,
        seats=ladder.seats,
        time_control=ladder.time_control,
        server=server,
        lobby=state.lobby,
        at_ms=at_ms,
        games=state.played,
        running=len(state.outstanding),
        entrants=len(state.entrants),
        lines=[line.model_copy(update={"place": place}) for place, line in enumerate(shown, 1)],
        results=[*reversed(state.last_results)],
    )


def record_address(server: str, match: str) -> str:
    """Return the URL of a match's record on the server at `server`."""
    return page_url(server, f"records/{match}.jsonl")


def _order(line: FeedLine) -> tuple[bool, float, str]:
    return line.rating is None, -(line.rating or 0.0), line.entrant


def _line(
    entrant: Entrant,
    state: LadderState,
    ratings: Mapping[str, EntrantRating],
    here: Collection[str],
    reports: Mapping[str, str],
    server: str,
    at_ms: int,
) -> FeedLine:
    rated = ratings.get(entrant.entrant)
    status = _status(entrant.entrant, state, here, at_ms)
    return FeedLine(
        place=0,
        entrant=entrant.entrant,
        name=entrant.name,
        version=entrant.entrant.removeprefix(entrant.name).removeprefix("@"),
        kind=entrant.kind,
        status=status,
        rating=None if rated is None else round(rated.rating, 2),
        low=None if rated is None else round(rated.low, 2),
        high=None if rated is None else round(rated.high, 2),
        anchor=entrant.entrant in state.ladder.anchors,
        games=entrant.games,
        wins=entrant.wins,
        draws=entrant.draws,
        losses=entrant.losses,
        form=list(entrant.form),
        paused_until_ms=entrant.paused_until_ms if status == "paused" else None,
        opponents=_opponents(entrant.entrant, state),
        last_losses=[
            _loss(entrant.entrant, game, reports, server) for game in reversed(entrant.last_losses)
        ],
    )


def _status(name: str, state: LadderState, here: Collection[str], at_ms: int) -> Status:
    if state.paused(name, at_ms):
        return "paused"
    if name in here:
        return "here"
    return "retired" if state.retired(name) else "away"


def _opponents(name: str, state: LadderState) -> list[FeedOpponent]:
    met = [
        FeedOpponent(entrant=other, wins=score["win"], draws=score["draw"], losses=score["loss"])
        for (one, other), score in state.scores.items()
        if one == name
    ]
    return sorted(
        met, key=lambda meeting: (-(meeting.wins + meeting.draws + meeting.losses), meeting.entrant)
    )


def _loss(name: str, game: PlayedGame, reports: Mapping[str, str], server: str) -> FeedLoss:
    seat = game.entrants.index(name)
    return FeedLoss(
        at_ms=game.at_ms,
        match=game.match,
        against=[other for other in game.entrants if other != name],
        cause=game.causes[seat],
        reason=game.reason,
        record=record_address(server, game.match),
        report=reports.get(game.match) if game.causes[seat] is not None else None,
    )
