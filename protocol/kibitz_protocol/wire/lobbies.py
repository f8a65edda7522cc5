"""Lobbies: the settings that hosts send, and the views that members get."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from kibitz_protocol.wire.clocks import TimeControl
from kibitz_protocol.wire.lag import Lag
from kibitz_protocol.wire.records import (
    Branch,
    Cause,
    Conduct,
    Player,
    PlayerKind,
    Result,
    Spectating,
)
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
        None, description="key of that player; if absent, the seat is for any player with this name"
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
        description="number of matches; default: one, or one block of a balanced game",
    )
    rotate: bool = True
    time_control: TimeControl = TimeControl()
    seed: Seed | None = Field(
        None,
        description="seed of the first deal: an integer below 2^53 or 64 hexadecimal digits. Later"
        " deals use the following integers. In games with hidden information all seeds are hashes"
        " of it, and anyone who can guess it knows what is hidden",
    )


class Arrangement(Strict):
    """A match that a host arranges: the game and the seating.

    The tag is the host's name for the match, and identifies it as long as the lobby exists. Matches
    with the same `seed` have the same deal, except in games with hidden information: there the deal
    depends on seed and tag.
    """

    tag: Tag
    item: ProgrammeItem = Field(description="the game; `games` and `rotate` are ignored")
    players: list[Key] = Field(
        min_length=1, max_length=16, fail_fast=True, description="members of the lobby, by seat"
    )


class LobbySettings(Strict):
    """The settings of a lobby, as its host requests them."""

    name: Annotated[str, Field(min_length=1, max_length=60)] = "lobby"
    listed: bool = Field(True, description="whether lists include the lobby")
    joinable: Literal["open", "invite", "closed"] = Field(
        "open",
        description="who may join: anyone, players with the invite code, or only players with a"
        " reserved seat",
    )
    watchable: bool = Field(True, description="whether spectators are allowed")
    seats: list[SeatSpec] = Field(min_length=1, max_length=64, fail_fast=True)
    programme: list[ProgrammeItem] = Field(
        max_length=64,
        fail_fast=True,
        description="the matches to play. In an arranged lobby it may be empty, and only tells"
        " players which games to expect",
    )
    branch: Branch | None = Field(
        None,
        description="position of a finished match from which the match of this lobby continues."
        " The programme then has one item with `games` 1, without `rotate`, `options` and `seed`,"
        " and the game and the number of seats of that match, whose options apply. Never rated",
    )
    arranged: bool = Field(
        False,
        description="whether the host arranges each match, from the start of the lobby until it"
        " closes",
    )
    rated: bool = Field(
        False,
        description="whether matches count for the server's ladder; only for accounts, and under"
        " conditions that the server checks",
    )
    at_once: int = Field(
        4, ge=1, le=1000, description="maximum number of matches that run at the same time"
    )
    auto_start: bool = Field(
        True,
        description="whether to start automatically once all seats are taken and all members are"
        " ready",
    )
    conduct: Conduct = Conduct()
    lag: Lag = Lag()
    spectating: Spectating = Spectating()
    commitment: SeedText | None = Field(
        None,
        description="SHA-256 of the text of a master seed, from which the host derives the seeds"
        " of all matches, and which it publishes at the end. The server displays this commitment"
        " but does not check it",
    )


class SeekTerms(Strict):
    """The terms of a player who seeks opponents: one item of a programme, open to anyone."""

    item: ProgrammeItem = Field(description="the match to play; must not have a seed")
    rated: bool = Field(
        False, description="whether the match is rated, as in a lobby's settings; only for accounts"
    )


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
        "",
        description="name and version of the program that plays for it, as reported on joining;"
        " empty if it reported none",
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
        default_factory=dict,
        description="number of times that this player's seat dropped out, by cause",
    )


def standing_order(line: Standing) -> tuple[float, int, int, str, str]:
    """Return a table's sort key: points, then wins, then fewer matches, then the name."""
    return -line.points, -line.wins, line.played, line.name, line.player


class MatchBrief(Tolerant):
    """A match as shown in lists."""

    match: Key
    lobby: Key | None = None
    number: int = 1
    block: int | None = Field(None, description="block of the programme that the match belongs to")
    game: GameName
    seats: list[Player]
    ply: int = 0
    time_control: TimeControl = TimeControl()
    watchable: bool = True
    result: Result | None = None
    tag: Tag | None = Field(None, description="the host's name for an arranged match")
    void: bool = Field(
        False,
        description="true if the match will not be played, because a player left or the lobby was"
        " closed",
    )
    order: Seq | None = Field(
        None,
        description="position by age, only in news of the hall; newer items have larger numbers",
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
    last_played: int = Field(description="Unix time in seconds")


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
    people: int = Field(0, description="number of human members")
    places: int
    """The total number of seats of the lobby."""
    seek: SeekTerms | None = Field(
        None, description="terms of the seek, if `seek` opened the lobby"
    )
    order: Seq | None = Field(
        None,
        description="position by age, only in news of the hall; newer items have larger numbers",
    )


class HouseTrouble(Tolerant):
    """A house bot that failed to start, or exited, in the current round."""

    seat: int
    personality: Personality
    failures: int
    reason: str = Field(description="reason for the last failure")
    given_up: bool = Field(
        description="true if the server no longer restarts it and has opened its seat to anyone"
    )


class LobbyView(Tolerant):
    """A lobby as its members and spectators see it.

    Only the host and members see `invite`, and only the host sees the seeds in the programme.
    """

    lobby: Key
    settings: LobbySettings
    host: Key
    state: LobbyPhase
    round: int = Field(description="number of the round: 1, plus one for each rematch")
    seek: bool = Field(
        False,
        description="whether `seek` opened the lobby, so that every player may ask for a rematch",
    )
    members: dict[Key, Member] = Field(description="members by player key; sort them by `seat`")
    spectators: int = 0
    invite: str | None = None
    planned: int = Field(description="total number of matches in this round")
    done: int
    void: int = Field(0, description="number of `done` matches that were not played")
    stopped: str = Field(
        "",
        description="why the rest of this round is not played, if the server failed in several"
        " matches in a row",
    )
    house_trouble: list[HouseTrouble] = Field(
        default_factory=list, description="house bots that failed in this round, by seat"
    )
    live: dict[Key, MatchBrief] = Field(description="running matches by key, in any order")
    standings: dict[Key, Standing] = Field(
        description="lines by player key; sort them by points, wins, fewer matches, name and key"
    )

    def by_seat(self) -> list[Member]:
        """Return the members by seat."""
        return sorted(self.members.values(), key=lambda member: member.seat)

    def table(self) -> list[Standing]:
        """Return the standings, best first."""
        return sorted(self.standings.values(), key=standing_order)
