"""Lobbies: the settings that hosts request, and the views that members get."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from kibitz_protocol.wire.clocks import TimeControl
from kibitz_protocol.wire.lag import Lag
from kibitz_protocol.wire.records import Cause, Conduct, Player, PlayerKind, Result, Spectating
from kibitz_protocol.wire.values import (
    GameName,
    Key,
    Line,
    Personality,
    PlayerName,
    Seed,
    SeedText,
    SentOptions,
    Seq,
    Strict,
    Tag,
    Tolerant,
)


class OpenSeat(Strict):
    """A seat for anyone who joins."""

    kind: Literal["open"] = "open"


class ReservedSeat(Strict):
    """A seat reserved for one player."""

    kind: Literal["reserved"] = "reserved"
    name: PlayerName
    player: Key | None = Field(
        None, description="the key of that player; without one it is whoever has the name"
    )


class HouseSeat(Strict):
    """A seat that the server fills with one of its own bot processes."""

    kind: Literal["house"] = "house"
    personality: Personality


SeatSpec: TypeAlias = Annotated[OpenSeat | ReservedSeat | HouseSeat, Field(discriminator="kind")]


class ProgrammeItem(Strict):
    """A number of matches of one game with n seats, among m members who can play it.

    With `rotate`, match j of the first m matches seats the members j, j+1, .., j+n-1 (modulo m) in
    order, so that every member takes every seat once. The next m matches seat the same groups with
    each member moved up by one seat, until every member of a group has had every seat of it. Then
    other groups follow in the same way, so that over time all members meet.

    A *balanced* game, in which the first move or the deal matters too much, is played in blocks
    instead. In each block of n matches, the members of one group take all seats in turn, with the
    same deal if that reveals no secrets. Then the next group follows. `games` must be a multiple of
    n.

    Without `rotate`, the first n members play all matches in the same seats.
    """

    game: GameName
    options: SentOptions = Field(default_factory=dict)
    seats: int = Field(2, ge=1, le=16)
    games: int | None = Field(
        None,
        ge=1,
        le=10_000,
        description="how many matches; absent for one, or for one block of a balanced game",
    )
    rotate: bool = True
    time_control: TimeControl = TimeControl()
    seed: Seed | None = Field(
        None,
        description="a whole number below 2^53, or 64 hexadecimal digits: the seed of the first"
        " deal, later ones count up from it; where a game hides something, all seeds are hashes of"
        " it, and whoever can guess it knows what is hidden",
    )


class Arrangement(Strict):
    """A match that a host arranges: the game and the seating.

    The tag is the host's name for the match, and identifies it as long as the lobby exists. Matches
    with the same `seed` have the same deal, except in games with hidden information: there the deal
    depends on seed and tag.
    """

    tag: Tag
    item: ProgrammeItem = Field(description="`games` and `rotate` mean nothing here")
    players: list[Key] = Field(
        min_length=1, max_length=16, fail_fast=True, description="members of the lobby, by seat"
    )


class LobbySettings(Strict):
    """The settings of a lobby, as its host requests them."""

    name: Annotated[str, Field(min_length=1, max_length=60)] = "lobby"
    listed: bool = Field(True, description="whether lists show the lobby")
    joinable: Literal["open", "invite", "closed"] = Field(
        "open", description="who may join: anyone, whoever has the invite code, reserved only"
    )
    watchable: bool = Field(True, description="whether spectators may enter")
    seats: list[SeatSpec] = Field(min_length=1, max_length=64, fail_fast=True)
    programme: list[ProgrammeItem] = Field(
        max_length=64,
        fail_fast=True,
        description="what is played; where the host arranges the matches it may be empty, and"
        " only says what players should be prepared for",
    )
    arranged: bool = Field(
        False,
        description="play what the host arranges, match by match, from its start until it closes",
    )
    rated: bool = Field(
        False,
        description="count on the server's ladder: for accounts, on conditions that the server"
        " checks",
    )
    at_once: int = Field(4, ge=1, le=1000, description="how many matches run at the same time")
    auto_start: bool = Field(
        True, description="start by itself once every seat is taken and everybody is ready"
    )
    conduct: Conduct = Conduct()
    lag: Lag = Lag()
    spectating: Spectating = Spectating()
    commitment: SeedText | None = Field(
        None,
        description="SHA-256 of the text of a seed from which the host draws those of all matches,"
        " and which it publishes when all is over; the server shows it and checks nothing",
    )


class SeekTerms(Strict):
    """The terms of a player who seeks opponents: one item of a programme, open to anyone."""

    item: ProgrammeItem = Field(description="without a seed")
    rated: bool = Field(False, description="as in a lobby's settings; for accounts only")


LobbyPhase: TypeAlias = Literal["gathering", "running", "finished", "closed"]


class Member(Tolerant):
    """A player in a lobby; `seat` is a seat of the lobby, not of a match."""

    player: Key
    name: str
    kind: PlayerKind
    seat: int
    ready: bool
    connected: bool
    version: Line = Field(
        "", description="of what plays for it, as that said when it joined; empty where it did not"
    )


class Standing(Tolerant):
    """A line of a lobby's table of the current round.

    A match gives each seat the share of the other seats that it has beaten; ties count half. With
    two seats the winner gets 1, and a draw gives both 0.5. With n seats the best gets 1, the next
    (n-2)/(n-1), the last 0. A seat wins if it alone has the best rank, and draws if it shares that
    rank.
    """

    player: Key
    name: str
    played: int
    wins: int
    draws: int
    losses: int
    points: float
    causes: dict[Cause, int] = Field(
        default_factory=dict, description="how often this player's seat dropped out, by cause"
    )


def standing_order(line: Standing) -> tuple[float, int, int, str, str]:
    """Return a table's sort key: points, then wins, then fewer matches, then the name."""
    return -line.points, -line.wins, line.played, line.name, line.player


class MatchBrief(Tolerant):
    """A match as shown in lists."""

    match: Key
    lobby: Key | None = None
    number: int = 1
    block: int | None = Field(None, description="the block of the programme that it belongs to")
    game: GameName
    seats: list[Player]
    ply: int = 0
    time_control: TimeControl = TimeControl()
    watchable: bool = True
    result: Result | None = None
    tag: Tag | None = Field(None, description="the host's name for it, where the host arranged it")
    void: bool = Field(
        False, description="it will not be played: a player has left, or the lobby was closed"
    )
    order: Seq | None = Field(
        None, description="in news of the hall only: of two, the newer one has the larger number"
    )


class LadderLine(Tolerant):
    """A player on a game's ladder.

    `key` is the key of an account or the name of a house bot. New players start at a rating of
    1500. A difference of 400 points means odds of 10 to 1. `deviation` is one standard deviation of
    the rating.
    """

    place: int
    key: str
    name: str
    kind: PlayerKind
    rating: float
    deviation: float
    matches: int
    last_played: int = Field(description="seconds of the epoch")


class LadderTable(Tolerant):
    """A page of a game's ladder; `players` and `matches` count the whole ladder.

    Lines are sorted by the rating minus two deviations, best first.
    """

    game: GameName
    players: int
    matches: int
    lines: list[LadderLine]


class LobbyBrief(Tolerant):
    """A lobby as shown in lists."""

    lobby: Key
    name: str
    host: str
    state: LobbyPhase
    joinable: Literal["open", "invite", "closed"]
    watchable: bool
    games: list[GameName]
    members: int
    people: int = Field(0, description="members who are people")
    places: int
    """The total number of seats of the lobby."""
    seek: SeekTerms | None = Field(
        None, description="what is sought, where the lobby was opened by `seek`"
    )
    order: Seq | None = Field(
        None, description="in news of the hall only: of two, the newer one has the larger number"
    )


class HouseTrouble(Tolerant):
    """A house bot that failed to start, or exited, in the current round."""

    seat: int
    personality: Personality
    failures: int
    reason: str = Field(description="what became of it the last time")
    given_up: bool = Field(
        description="it is not started again, and its seat is open to anybody now"
    )


class LobbyView(Tolerant):
    """A lobby as its members and spectators see it.

    Only the host and members see `invite`, and only the host sees the seeds in the programme.
    """

    lobby: Key
    settings: LobbySettings
    host: Key
    state: LobbyPhase
    round: int = Field(description="1, and one more for every rematch")
    seek: bool = Field(
        False, description="whether it was opened by `seek`: every player may ask for a rematch"
    )
    members: dict[Key, Member] = Field(description="by their players; sort them by `seat`")
    spectators: int = 0
    invite: str | None = None
    planned: int = Field(description="matches of this round in all")
    done: int
    void: int = Field(0, description="how many of those that are done were not played at all")
    stopped: str = Field(
        "",
        description="why the rest of this round is not played, where the server failed to play one"
        " match after the other",
    )
    house_trouble: list[HouseTrouble] = Field(
        default_factory=list, description="house bots that failed in this round, by seat"
    )
    live: dict[Key, MatchBrief] = Field(description="running matches by their keys, in any order")
    standings: dict[Key, Standing] = Field(
        description="lines by their players; sort them by points, wins, fewer matches, name and key"
    )

    def by_seat(self) -> list[Member]:
        """Return the members by seat."""
        return sorted(self.members.values(), key=lambda member: member.seat)

    def table(self) -> list[Standing]:
        """Return the standings, best first."""
        return sorted(self.standings.values(), key=standing_order)
