"""Records: a match as JSON Lines, the format of its log.

A record is one `Setup` line, one line for each `Entry`, and, when the match is over, one
`Footer` line. Setup and entries determine the match: replaying them reproduces the live states byte
for byte. The server sends the same entries to viewers as events. A viewer gets a `Hidden` entry in
place of one that it may not see, so the numbers have no gaps.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import ConfigDict, Field, StrictBool, TypeAdapter

from kibitz_protocol.wire.clocks import TimeControl
from kibitz_protocol.wire.lag import Lag
from kibitz_protocol.wire.refusals import Code
from kibitz_protocol.wire.values import (
    Action,
    FieldName,
    Fields,
    GameName,
    Key,
    Line,
    Millis,
    Options,
    Personality,
    RequestId,
    RequestKey,
    SafeInt,
    SeatIndex,
    Seq,
    Strict,
    Tag,
    Word,
)

SCHEMA: Literal["kibitz-record/1"] = "kibitz-record/1"
MAX_COMMENT: Final = 300
"""The most characters of a comment, as sent. The server stores an unprintable character as an
escape of up to ten characters."""
MAX_BRANCH_PLY: Final = 1000
"""The most plies of another match that a match can begin with."""


class Cause(StrEnum):
    """The reason why a seat dropped out or a match ended."""

    RULES = "rules"
    RESIGNATION = "resignation"
    TIME = "time"
    ILLEGAL = "illegal"
    CRASH = "crash"
    DISCONNECT = "disconnect"
    ABANDONED = "abandoned"
    TAKEOVER = "takeover"
    KICKED = "kicked"
    ABORTED = "aborted"
    INFRASTRUCTURE = "infrastructure"


UNDECIDED: Final = frozenset({Cause.INFRASTRUCTURE, Cause.ABORTED})
"""Causes of matches that the server or its operator ended; such matches do not count."""


PlayerKind: TypeAlias = Literal["bot", "human", "house"]


class Player(Strict):
    """The player in a seat: an account, a guest or a house bot."""

    player: Key
    name: str
    kind: PlayerKind


class Engine(Strict):
    """The program that plays for a player, as reported on connecting. The server does not verify
    it."""

    name: Line = Field(
        description="`game/name` for a house bot, otherwise a name chosen by the bot"
    )
    version: Line = Field("", description="version of the package, or one reported by the bot")
    parameters: dict[FieldName, StrictBool | SafeInt | float | Word] = Field(
        default_factory=dict, max_length=32, description="all parameters and their values"
    )
    weights: dict[Word, Annotated[str, Field(pattern="^[0-9a-f]{64}$")]] = Field(
        default_factory=dict,
        max_length=8,
        description="files of trained weights that it uses, with their SHA-256",
    )


class Spectating(Strict):
    """The view and delay of spectators of a live match. After the match they can see everything."""

    mode: Literal["off", "public", "shoulder", "referee"] = "public"
    seat: SeatIndex | None = Field(None, description="seat whose viewpoint `shoulder` shows")
    delay_plies: int = Field(0, ge=0, le=1000)
    delay_ms: Millis = Field(0, le=3_600_000)
    comments: Literal["none", "after", "spectators", "everybody"] = Field(
        "after",
        description="who sees comments on a running match, including bots' remarks on their moves:"
        " `after` shows them when the match is over, `spectators` immediately to spectators,"
        " `everybody` immediately to players too; `none` refuses comments. The remarks of house"
        " bots that play alone are always shown immediately, comments on other rated matches never",
    )


class Conduct(Strict):
    """The policy for seats that misbehave or disconnect."""

    grace_ms: Millis = Field(60_000, description="maximum time that a seat may be disconnected")
    on_leave: Literal["forfeit", "replace"] = Field(
        "forfeit",
        description="whether a seat that does not reconnect in time forfeits or a house bot"
        " replaces it",
    )
    stand_in: Personality | None = Field(None, description="house bot that replaces a player")
    max_illegal: int = Field(
        10, ge=1, le=1000, description="number of illegal moves after which a seat loses"
    )


class Branch(Strict):
    """A position of a finished match, from which another match continues."""

    match: Key = Field(description="the finished match")
    ply: int = Field(
        ge=0, le=MAX_BRANCH_PLY, description="number of its plies that the other match repeats"
    )


class Origin(Branch):
    """The position of another match from which a match continues."""

    seed: str = Field(
        description="seed from which the common start was drawn: the seed of the finished match, or"
        " of the match from which that one continues"
    )


class BranchStart(Strict):
    """The first plies of a finished match, with everything that another match needs to repeat
    them."""

    rules_version: int
    options: Options
    deal: Fields
    seed: str = Field(description="as in `Origin`")
    moves: list[Action | None] = Field(
        max_length=MAX_BRANCH_PLY, description="the move at each ply, null for a skipped turn"
    )


class Setup(Strict):
    """The first line of a record: everything that is fixed before the first entry."""

    model_config = ConfigDict(populate_by_name=True, serialize_by_alias=True)

    schema_: Literal["kibitz-record/1"] = Field(SCHEMA, alias="schema")
    match: Key
    lobby: Key | None = None
    number: int = Field(1, ge=1, description="number of the match in the lobby's programme")
    block: int | None = Field(
        None,
        ge=1,
        description="block of the programme that the match belongs to, if it is played in blocks",
    )
    tag: Tag | None = Field(None, description="the host's name for an arranged match")
    rated: list[Annotated[str, Field(max_length=120)]] | None = Field(
        None,
        description="each seat's key on the server's ladder: an account or a house bot; absent if"
        " the match is not rated",
    )
    game: GameName
    rules_version: int
    options: Options = Field(default_factory=dict)
    seats: list[Player] = Field(min_length=1, max_length=16)
    engines: list[Engine | None] | None = Field(
        None,
        max_length=16,
        description="program in each seat, as it reported on joining the lobby; null for people"
        " and for programs that reported nothing",
    )
    deal: Fields = Field(default_factory=dict, description="random outcomes at the start")
    branch: Origin | None = Field(
        None,
        description="the position from which the match continues. The repeated plies are the first"
        " entries, without times, ids and comments; the clocks start after them",
    )
    seed: str = Field(description="256 bits in hexadecimal; secret until the match is over")
    nonce: str = Field(
        "",
        description="256 random bits in hexadecimal, as secret as the seed, so that nobody can test"
        " guesses of the seed against the commitment",
    )
    commitment: str = Field(
        description="SHA-256 of the seed's text followed by the nonce's text, published at the"
        " start"
    )
    time_control: TimeControl = TimeControl()
    conduct: Conduct = Conduct()
    lag: Lag | None = Field(
        None,
        description="time forgiven for lag; absent in records of earlier servers, which forgave up"
        " to 100 ms per turn",
    )
    spectating: Spectating = Spectating()
    started: str = Field(description="time of the start in UTC (ISO 8601)")
    server: str = Field("", description="name and version of the server")


PROVEN_WIN = 1e6
"""The value of a won position in comments; each ply to the end takes 1 from it."""
MAX_PLIES = 10_000
"""The greatest depth in comments, in plies."""


class Comment(Strict):
    """A bot's remark on its own move."""

    value: float | None = Field(
        None,
        description="the value of the position for the seat that moved, in the bot's own unit; a"
        " proven win is 1,000,000 minus the plies to it, a proven loss the negative",
    )
    depth: int | None = Field(None, ge=0, le=MAX_PLIES)
    nodes: Seq | None = None
    line: list[Line] | None = Field(None, max_length=32, fail_fast=True)
    text: Line | None = None

    @property
    def end_in(self) -> int | None:
        """The number of plies to a proven win or loss, None if `value` proves nothing.

        It is 0 if the bot did not say how many.
        """
        if self.value is None or abs(self.value) < PROVEN_WIN - MAX_PLIES:
            return None
        return max(0, round(PROVEN_WIN - abs(self.value)))


class EntryBase(Strict):
    """`seq` numbers the entries of a match from 1; `at_ms` counts from its start.

    Times are from the server's clock, which stops while the server is down or overloaded.
    """

    seq: Seq
    at_ms: Millis


class Requested(EntryBase):
    """An entry that a request may have made."""

    request: RequestKey | None = Field(
        None,
        description="key of the request that made it, to recognize a resent request: the start of"
        " the SHA-256 of the player's key, the `instance` of its hello and the request's id,"
        " separated by line breaks; absent if the server made the entry or hello had no `instance`",
    )


class Moved(EntryBase):
    """A seat's action and its time: charged = elapsed - allowance, but never below 0."""

    kind: Literal["move"] = "move"
    ply: int
    seat: SeatIndex
    action: Action
    elapsed_ms: Millis = 0
    allowance_ms: Millis = 0
    """The allowance for the measured round trip, which is capped and paid from the seat's `lag`
    bank."""
    wait_ms: Millis = 0
    """Time that the server took between the last entry and this turn; not charged to any seat."""
    lag_ms: Millis | None = None
    """Time of the turn that was not charged, because the server stood still or restarted the turn.
    No other field includes it; `Setup.lag` limits its total in a match."""
    id: RequestId | None = None
    """The id of the request; None if the server moved for the seat."""
    comment: Comment | None = None


class Flagged(EntryBase):
    """A seat's time ran out. Depending on the game, an entry `forfeit` follows, or an entry `move`
    by the server, or nothing if the game skips the turn.
    """

    kind: Literal["flag"] = "flag"
    ply: int
    seat: SeatIndex
    elapsed_ms: Millis
    lag_ms: Millis | None = None
    """As in a move."""


class Resigned(Requested):
    kind: Literal["resign"] = "resign"
    seat: SeatIndex


AbsenceReason: TypeAlias = Literal["left", "disconnect", "crash", "kicked"]


class Left(Requested):
    """A seat's player disconnected; it forfeits or is replaced after `grace_ms`.

    `restart` marks the first entry after a restart of the server. The clock of the open turn then
    starts over, which counts toward the limits in `Setup.lag`. `kicked` means that the host of the
    lobby removed the player. After that, or after `left`, the player cannot return.
    """

    kind: Literal["leave"] = "leave"
    seat: SeatIndex
    reason: AbsenceReason
    grace_ms: Millis
    restart: Literal[True] | None = None


class Returned(EntryBase):
    """A seat's player reconnected, or switched to another connection.

    `takeover` means that the old connection was open and belonged to another program, which sent
    another `instance` in its hello, or none.
    """

    kind: Literal["return"] = "return"
    seat: SeatIndex
    takeover: Literal[True] | None = None


class Forfeited(Requested):
    """A seat drops out for a reason outside the rules of the game.

    In a game with hidden information, other viewers do not see the detail while the match runs.
    """

    kind: Literal["forfeit"] = "forfeit"
    seat: SeatIndex
    cause: Cause
    detail: Line = ""


class Replaced(EntryBase):
    """Another player took over a seat."""

    kind: Literal["replace"] = "replace"
    seat: SeatIndex
    player: Player
    cause: Cause


class RefusedMove(Strict):
    """An illegal move that the server refused, as the seat sent it."""

    ply: int
    code: Code
    action: str = Field(
        max_length=1000, description="the action's JSON, truncated if it is too long"
    )
    id: RequestId


class Noted(Requested):
    """A line for a seat's own record: output of its bot, such as the tail of stderr, or a move that
    the server refused. Only its owner sees it, and the host once the match is over.
    """

    kind: Literal["note"] = "note"
    seat: SeatIndex
    text: str = Field(max_length=2000)
    refused: RefusedMove | None = Field(
        None, description="move that was refused; if present, `text` says why"
    )


Audience: TypeAlias = Literal["referee", "spectators", "everybody"]
"""The viewers of a comment while the match runs, in addition to its author and referees: none, all
spectators, or spectators and players."""


class Commented(Requested):
    """A comment of a spectator or a player on the match (a bot's remark on its own move is in
    `move`). When the match is over everybody may read it.
    """

    kind: Literal["comment"] = "comment"
    ply: int = Field(description="number of plies that the author had seen")
    author: Player
    seat: SeatIndex | None = Field(None, description="seat of the author; absent for a spectator")
    audience: Audience = Field(description="viewers while the match runs")
    text: str = Field(
        max_length=10 * MAX_COMMENT,
        description="one line; unprintable characters are escaped",
    )


class Aborted(Requested):
    """The server could not continue the match, or its operator ended it. Such a match is never
    rated."""

    kind: Literal["abort"] = "abort"
    detail: Line
    operator: Literal[True] | None = Field(None, description="whether the operator ended it")


class Hidden(EntryBase):
    """An entry that this viewer may not see, with only its number and time."""

    kind: Literal["hidden"] = "hidden"


Entry: TypeAlias = (
    Moved
    | Flagged
    | Resigned
    | Left
    | Returned
    | Forfeited
    | Replaced
    | Noted
    | Commented
    | Aborted
    | Hidden
)
AnyEntry: TypeAlias = Annotated[Entry, Field(discriminator="kind")]
ENTRY: TypeAdapter[Entry] = TypeAdapter(AnyEntry, config={"defer_build": True})


class SeatResult(Strict):
    """The result of one seat; `rank` 1 is best, and ties share a rank."""

    rank: int
    score: float
    points: float | None = Field(None, description="score of the game, if it keeps one")
    cause: Cause | None = Field(
        None, description="why the seat dropped out before the end, if it did"
    )
    detail: Line = ""
    takeover: Literal[True] | None = Field(
        None, description="whether another connection took over the seat while the first was open"
    )


class Result(Strict):
    """The end of a match."""

    seats: list[SeatResult]
    cause: Cause = Field(description="what ended the match")
    reason: Line = Field(
        "", description="reason in the game's words, such as `goal` or `repetition`"
    )
    plies: int


class Footer(Strict):
    """The last line of a finished record; `hash` is the last link of the chain over all lines,
    including this one."""

    kind: Literal["end"] = "end"
    result: Result
    hash: str
    sent: list[Annotated[str, Field(pattern="^[0-9a-f]{64}$")]] | None = Field(
        None,
        description="digest per seat of what the server sent it: the last link of a SHA-256 chain"
        " over each entry as the seat may see it, a line break, and the change of the seat's view"
        " (empty if unchanged); absent in games without hidden information, and in records of"
        " earlier servers",
    )
