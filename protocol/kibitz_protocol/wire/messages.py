"""All messages, one union per direction, discriminated on `type`.

A client sends requests. Each has an `id` chosen by the client, larger than all earlier ones, and
gets exactly one answer, which repeats the id as `re`: `done`, a list, or `refused`. All other
messages of the server are news. News of a match is numbered: each `event` carries the next entry of
the match, so a gap always means a loss, and a `snapshot` sets the number from which events
continue. A snapshot has the whole view of the match. An event has what changed since the previous
message; `Hello.views` sets how much of the view it carries.

The first request of a connection is `hello`. A client that reconnects sends `resume` with the
secret of its first `welcome`, then `rejoin` for each match in `welcome.seats`. It resends
unanswered requests with their old `id`, and the server carries each out once.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Final, Literal, TypeAlias

from pydantic import Field

from kibitz_protocol.wire.clocks import Clock, TimeControl
from kibitz_protocol.wire.drawing import Pick, Stage
from kibitz_protocol.wire.lobbies import (
    Arrangement,
    LadderTable,
    LobbyBrief,
    LobbySettings,
    LobbyView,
    MatchBrief,
    SeekTerms,
)
from kibitz_protocol.wire.records import (
    MAX_COMMENT,
    AnyEntry,
    Branch,
    Comment,
    Conduct,
    Engine,
    Player,
    Result,
    Spectating,
)
from kibitz_protocol.wire.refusals import Code
from kibitz_protocol.wire.reports import MatchReport
from kibitz_protocol.wire.values import (
    Fields,
    GameName,
    Key,
    Line,
    Millis,
    Options,
    Personality,
    PlayerName,
    RequestId,
    SafeInt,
    SeatIndex,
    Secret,
    SentAction,
    Seq,
    Strict,
    Tolerant,
)
from kibitz_protocol.wire.visibility import WantedViews

VERSIONS: tuple[int, ...] = (1,)
"""Protocol versions that this package supports, newest last."""
MAX_ARRANGEMENTS: Final = 256
"""The most matches that one request can arrange."""
DEFAULT_PAGE_SIZE: Final = 100
"""The default number of lobbies or running matches on a page of a list ..."""
MAX_PAGE_SIZE: Final = 200
"""... and the most that a request can set."""
MAX_WALL: Final = 200
"""The most matches in one `wall`."""
WALL_MATCH_COST: Final = 0.1
"""The cost of a wall per newly watched match, in messages of the rate limit."""


# --- to the server ------------------------------------------------------------------------


class Request(Strict):
    """A request of a client. Class attributes define how the server and clients treat it.

    `cost` is the number of messages that it counts as in the rate limit.
    """

    answer: ClassVar[str] = "done"
    """The type of its answer if it succeeds."""
    cost: ClassVar[int] = 1
    repeatable: ClassVar[str | None] = None
    """The effect of a request that a client resends because the answer was lost ..."""
    unrepeatable: ClassVar[str | None] = None
    """... or why clients never resend it; each type of request has exactly one of the two."""
    of_players: ClassVar[bool] = False
    """Whether it shows that a player will soon play, so that the server measures the round trip."""
    of_entrants: ClassVar[bool] = False
    """Whether an entrant of an event may send it."""
    sets_terms: ClassVar[bool] = False
    """Whether it sets the terms of matches, so that unknown fields are never ignored."""
    of_viewers: ClassVar[bool] = False
    """Whether viewers, who have no name, may send it; true only for requests that read."""

    id: RequestId


class GameClaim(Strict):
    """A game that a bot plays, with its supported numbers of players (empty: any number)."""

    game: GameName
    seats: list[SafeInt] = Field(default_factory=list, max_length=16, fail_fast=True)


class Capabilities(Strict):
    """The games that a bot can play; an empty list means all games. Humans can play all."""

    games: list[GameClaim] = Field(default_factory=list, max_length=64, fail_fast=True)
    at_once: int = Field(1, ge=1, le=1000, description="maximum number of matches at the same time")
    untimed: bool = Field(True, description="whether it accepts matches without a clock")
    min_move_ms: Millis = Field(0, description="minimum time per move; it refuses faster clocks")
    engine: Engine | None = Field(
        None, description="the program that plays; only the records of its matches name it"
    )


class Hello(Request):
    """Identify the player. `token` names an account, `resume` a guest who reconnects.

    A viewer needs neither: it can only watch and read.
    """

    answer = "welcome"
    cost = 2
    unrepeatable = "belongs to its connection; the next connection begins with its own hello"

    type: Literal["hello"] = "hello"
    versions: list[SafeInt] = Field(min_length=1, max_length=16, fail_fast=True)
    name: PlayerName | None = None
    token: Secret | None = None
    resume: Secret | None = None
    ticket: Secret | None = Field(
        None, description="ticket of a `redirect` from another server; valid for one hello"
    )
    viewer: bool = Field(
        False,
        description="whether to connect only to watch, without a name; ignored if name, token,"
        " resume or ticket is given",
    )
    kind: Literal["bot", "human"] = "bot"
    agent: Line = Field("", description="name and version of the client program")
    instance: Secret | None = Field(
        None,
        description="a random secret that a program generates when it starts and repeats in each"
        " later hello. It distinguishes a reconnect from a second program of the player, and a"
        " resent request from a new one",
    )
    capabilities: Capabilities | None = None
    views: WantedViews = Field(
        "turn",
        description="which messages carry the view, in addition to those with a whole match:"
        " `turn`: the player's own turns; `every`: all events too; `none`: no others, for programs"
        " that apply the rules themselves; `drawn`: a stage, patches and picks, for programs that"
        " do not know the rules",
    )

    @property
    def is_newer(self) -> bool:
        """Whether the client speaks a newer version than any of `VERSIONS`."""
        return max(self.versions) > VERSIONS[-1]


class ListGames(Request):
    answer = "games"
    cost = 4
    repeatable = "only reads"
    of_viewers = True

    type: Literal["list_games"] = "list_games"


class ListLobbies(Request):
    """List the open lobbies page by page, oldest first."""

    answer = "lobbies"
    cost = 2
    repeatable = "only reads"
    of_viewers = True

    type: Literal["list_lobbies"] = "list_lobbies"
    after: Seq = Field(0, description="`last` of the previous page")
    limit: int = Field(
        DEFAULT_PAGE_SIZE,
        ge=1,
        le=MAX_PAGE_SIZE,
        description="maximum number of lobbies on the page",
    )


class ListMatches(Request):
    """List, page by page, the running matches that this player may watch, oldest first. The last
    page also has the latest finished ones, newest first."""

    answer = "matches"
    cost = 2
    repeatable = "only reads"
    of_viewers = True

    type: Literal["list_matches"] = "list_matches"
    lobby: Key | None = None
    after: Seq = Field(0, description="`last` of the previous page")
    limit: int = Field(
        DEFAULT_PAGE_SIZE,
        ge=1,
        le=MAX_PAGE_SIZE,
        description="maximum number of running matches on the page",
    )


class AskLadder(Request):
    """Ask for the ladder of a game, or of every game with rated matches, from rank `first` on."""

    answer = "ladders"
    cost = 4
    repeatable = "only reads"
    of_viewers = True

    type: Literal["ladder"] = "ladder"
    game: GameName | None = None
    first: int = Field(1, ge=1, le=1_000_000, description="rank of the first line")
    count: int = Field(100, ge=1, le=200, description="maximum number of lines per game")


class Host(Request):
    """Open a lobby. The host has no seat in it until it joins."""

    cost = 5
    repeatable = "opens only one lobby; the copy gets the same answer"
    sets_terms = True

    type: Literal["host"] = "host"
    settings: LobbySettings


class Join(Request):
    """Take a seat in a lobby, or enter as a spectator. Joining again has no effect."""

    repeatable = "joining again has no effect"
    of_players = True
    of_entrants = True

    type: Literal["join"] = "join"
    lobby: Key
    invite: Line | None = None
    role: Literal["player", "spectator"] = "player"


class Seek(Request):
    """Seek opponents on these terms.

    The player joins the lobby of another seek on the same terms. If there is none, the server opens
    a listed lobby with a seat for this player and open seats for the others. The lobby starts
    automatically once everybody is ready. It closes when its opener leaves, when a player leaves
    after the start, or when nobody has joined, or asked for a rematch, for `wait_s` seconds. A
    player can have one seek at a time; repeating it while it is open or in play returns the same
    lobby.
    """

    cost = 5
    repeatable = "returns the lobby of the open seek"
    of_players = True
    sets_terms = True

    type: Literal["seek"] = "seek"
    terms: SeekTerms
    wait_s: int = Field(300, ge=10, le=3600)


class Leave(Request):
    """Leave a lobby and its running matches."""

    repeatable = "carried out only once; the copy gets the same answer"
    of_entrants = True

    type: Literal["leave"] = "leave"
    lobby: Key


class Kick(Request):
    repeatable = "carried out only once; the copy gets the same answer"

    type: Literal["kick"] = "kick"
    lobby: Key
    player: Key


class Ready(Request):
    repeatable = "carried out only once; the copy gets the same answer"
    of_players = True
    of_entrants = True

    type: Literal["ready"] = "ready"
    lobby: Key
    ready: bool = True


class Start(Request):
    """Host: start the programme. Unless the lobby is arranged, all seats must be taken and all
    members ready."""

    repeatable = "carried out only once; the copy gets the same answer"

    type: Literal["start"] = "start"
    lobby: Key


class Rematch(Request):
    """Host: play the finished programme again with the seats rotated by one.

    In a lobby that `seek` opened, every player may send this. It also marks the player as ready.
    """

    repeatable = "carried out only once; the copy gets the same answer"

    type: Literal["rematch"] = "rematch"
    lobby: Key


class Close(Request):
    """Host: close the lobby; running matches finish first."""

    repeatable = "carried out only once; the copy gets the same answer"

    type: Literal["close"] = "close"
    lobby: Key


class Arrange(Request):
    """Host of an arranged lobby: play these matches.

    If a tag is sent again, its match is not played again, so the request is safe to repeat. A host
    that was disconnected can repeat it to get the results.
    """

    answer = "arranged"
    cost = 2
    repeatable = "each tag is played only once; the answer has the state of its match"
    sets_terms = True

    type: Literal["arrange"] = "arrange"
    lobby: Key
    matches: list[Arrangement] = Field(min_length=1, max_length=MAX_ARRANGEMENTS, fail_fast=True)


class Watch(Request):
    """Watch a match from its current state on."""

    cost = 2
    repeatable = "returns the current state"
    of_viewers = True

    type: Literal["watch"] = "watch"
    match: Key


class Wall(Request):
    """Watch exactly these matches as a spectator, and stop watching all others.

    A snapshot of each newly watched match follows, as fast as the client reads them. The answer
    lists the matches that cannot be watched.
    """

    answer = "walled"
    cost = 2
    repeatable = "watches the same matches again"
    of_viewers = True

    type: Literal["wall"] = "wall"
    matches: list[Key] = Field(max_length=MAX_WALL, fail_fast=True)


class Subscribe(Request):
    """Subscribe to a topic. The server sends all of it once (`hall`), then its changes
    (`hall_changed`).

    The hall is the public part of `list_lobbies`, `list_matches` and `ladder`.
    """

    cost = 2
    repeatable = "returns the current state"
    of_viewers = True

    type: Literal["subscribe"] = "subscribe"
    topic: Literal["hall"]


class Unsubscribe(Request):
    repeatable = "unsubscribing again has no effect"
    of_viewers = True

    type: Literal["unsubscribe"] = "unsubscribe"
    topic: Literal["hall"]


class Unwatch(Request):
    repeatable = "unwatching again has no effect"
    of_viewers = True

    type: Literal["unwatch"] = "unwatch"
    match: Key


class Rejoin(Request):
    """Take the player's seat in a match for this connection; an older connection loses it."""

    repeatable = "returns the current state"
    of_players = True
    of_entrants = True

    type: Literal["rejoin"] = "rejoin"
    match: Key


class Move(Request):
    """Play an action at `ply`. A move resent with the same id and ply is applied only once."""

    cost = 0  # turns limit its rate
    repeatable = "applied once per id and ply, with the same answer"

    type: Literal["move"] = "move"
    match: Key
    ply: Seq
    action: SentAction
    comment: Comment | None = None


class Resign(Request):
    """Resign a match. A bot that failed can report its fault, which the result then includes."""

    repeatable = "carried out only once; the copy gets the same answer"
    of_entrants = True

    type: Literal["resign"] = "resign"
    match: Key
    fault: Literal["crash", "illegal"] | None = None
    detail: Line = Field("", description="description of the failure; only with `fault`")


class LeaveMatch(Request):
    """Leave a match for good; the lobby's conduct decides what happens to the seat."""

    repeatable = "carried out only once; the copy gets the same answer"
    of_entrants = True

    type: Literal["leave_match"] = "leave_match"
    match: Key


class Note(Request):
    """Add a line to the seat's own record, such as the end of stderr. Others see only that the
    entry exists."""

    repeatable = "carried out only once; the copy gets the same answer"
    of_entrants = True

    type: Literal["note"] = "note"
    match: Key
    text: str = Field(max_length=2000)


class AddComment(Request):
    """Comment on a running match that this connection watches or plays. It becomes an entry
    `comment` of the match, at the ply that its author sees. `Spectating.comments` sets who can read
    it before the end.
    """

    cost = 2
    repeatable = "carried out only once; the copy gets the same answer"
    of_entrants = True

    type: Literal["comment"] = "comment"
    match: Key
    text: str = Field(min_length=1, max_length=MAX_COMMENT, description="one line of plain text")


class Abort(Request):
    """Abort a running match, which is then neither rated nor replayed. Only for accounts that
    `kibitz serve --operator NAME` names.
    """

    repeatable = "carried out only once; the copy gets the same answer"

    type: Literal["abort"] = "abort"
    match: Key
    reason: Line = Field("", description="reason, for the record of the match")


class AskReport(Request):
    """Ask for the forensic report of a finished match. The lobby's host gets all seats at fault,
    other players only their own. With `seat`, the report covers that seat, at fault or not."""

    answer = "reported"
    cost = 4
    repeatable = "only reads"

    type: Literal["report"] = "report"
    match: Key
    seat: SeatIndex | None = None


class History(Request):
    """Ask for the events of a match from number `first` on. They omit hidden information."""

    answer = "events"
    cost = 4
    repeatable = "only reads"
    of_viewers = True

    type: Literal["history"] = "history"
    match: Key
    first: Seq = 1
    count: int = Field(200, ge=1, le=1000)


ClientMessage: TypeAlias = Annotated[
    Hello
    | ListGames
    | ListLobbies
    | ListMatches
    | AskLadder
    | Host
    | Join
    | Seek
    | Leave
    | Kick
    | Ready
    | Start
    | Rematch
    | Close
    | Arrange
    | Watch
    | Unwatch
    | Wall
    | Subscribe
    | Unsubscribe
    | Rejoin
    | Move
    | Resign
    | LeaveMatch
    | Note
    | AddComment
    | Abort
    | AskReport
    | History,
    Field(discriminator="type"),
]


# --- from the server ----------------------------------------------------------------------


class Answer(Tolerant):
    """The answer to a request; `re` is the request's id, 0 if the server could not read it."""

    re: int
    ignored: list[str] | None = Field(
        None,
        description="unknown fields of the request that the server ignored; only for clients whose"
        " `hello` has a newer version",
    )


class Limits(Tolerant):
    """The server's limits, which clients must respect."""

    frame_bytes: int
    messages_per_second: float
    burst: int
    lobbies: int
    house_bots: int = Field(
        0, description="maximum number of house seats in all lobbies of one host"
    )


class Welcome(Answer):
    """Answer to hello.

    `resume` is this player's secret for reconnecting. It is empty for a player admitted by a
    ticket, whose earlier secret remains valid.
    """

    type: Literal["welcome"] = "welcome"
    version: int
    player: Key
    name: str
    kind: Literal["bot", "human", "house"]
    resume: str
    server: str
    limits: Limits
    seats: list[Key] = Field(description="unfinished matches where this player has a seat")
    lobbies: list[Key] = Field(description="lobbies where this player is a member")
    viewer: bool = Field(False, description="whether this connection can only watch and read")
    nodes: list[str] = Field(
        default_factory=list,
        description="websocket addresses of other servers of the same cluster, for reconnecting if"
        " this one is down",
    )


class Done(Answer):
    """The request was carried out. `seq` is the number of the entry that it made, and `lobby` the
    key of the lobby that it opened, or that a seek joined."""

    type: Literal["done"] = "done"
    seq: int | None = None
    lobby: Key | None = None
    invite: str | None = None


class Redirect(Tolerant):
    """The address of the server in the same cluster that can carry out the request."""

    url: str = Field(description="websocket address of that server")
    ticket: str = Field(description="ticket for one `hello` there, valid for 30 seconds")


class Refused(Answer):
    """The server did not carry out the request; nothing has changed."""

    type: Literal["refused"] = "refused"
    code: Code
    message: str
    hint: str = ""
    retry_after_ms: int | None = None
    ply: int | None = Field(None, description="current ply, with `stale`")
    redirect: Redirect | None = Field(
        None,
        description="server to which to send the request instead, with `elsewhere`; absent if the"
        " player may not go there",
    )


class GameLine(Tolerant):
    """A game that the server hosts, with the JSON Schemas of its options, moves and views."""

    name: GameName
    title: str
    summary: str
    rules_version: int
    seats: list[int]
    hidden: bool
    balanced: bool = Field(
        False,
        description="whether it is played in blocks: a block has as many matches as seats, and each"
        " player of a group takes every seat once",
    )
    legal_rule: str | None = Field(
        None, description="rule for legal actions, if turns do not list them"
    )
    options_schema: Fields
    move_schema: Fields
    view_schema: Fields | None = Field(None, description="absent from servers before 0.2")
    endings: dict[str, str] = Field(
        {},
        description="phrases for the reasons of its results, to display after the winner's name or"
        " the word draw: ``with five in a row``",
    )


class BotParameter(Tolerant):
    """A parameter that may follow a house bot's name: ``game/name:depth=4,time=0.2``."""

    name: str
    type: Literal["int", "float", "word"]
    least: float = Field(0, description="smallest accepted number")
    most: float | None = Field(
        None, description="largest accepted number; absent from servers before 0.2"
    )
    words: list[str] = Field([], description="accepted words; empty for a number")
    default: float | str | None = Field(None, description="absent if it depends on the match")
    summary: str


class BotLevel(Tolerant):
    """A level of a house bot for games against people; level 1 is the weakest of a game."""

    level: int = Field(ge=1)
    seats: int
    parameters: str = Field("", description="parameters to append to the bot's name after a colon")


class HouseBotLine(Tolerant):
    """A house bot that can take a seat in a lobby, with its parameters."""

    name: Personality = Field(description="``game/name``, without parameters")
    seats: list[int] = Field(description="supported numbers of seats; empty: all those of its game")
    summary: str
    parameters: list[BotParameter]
    levels: list[BotLevel] = Field(
        default_factory=list, description="levels of its game for which this bot is used, if any"
    )


class GameList(Answer):
    type: Literal["games"] = "games"
    games: list[GameLine]
    personalities: list[str] = Field(
        description="names of the house bots that the server can start"
    )
    bots: list[HouseBotLine] = Field(
        default_factory=list,
        description="the same house bots with the parameters that a host can set",
    )


class LobbyList(Answer):
    """A page of the open lobbies."""

    type: Literal["lobbies"] = "lobbies"
    lobbies: list[LobbyBrief]
    more: bool = Field(False, description="whether another page follows")
    last: Seq = Field(0, description="value of `after` for the next page")


class MatchList(Answer):
    """A page of the running matches; the last page has the finished matches too."""

    type: Literal["matches"] = "matches"
    matches: list[MatchBrief]
    more: bool = Field(False, description="whether another page follows")
    last: Seq = Field(0, description="value of `after` for the next page")


class Event(Tolerant):
    """An entry of a match, and how it changes this viewer's view."""

    type: Literal["event"] = "event"
    match: Key
    ply: int = Field(description="number of plies after this entry")
    to_act: int = Field(description="seat to act, or -1 when the match is over")
    entry: AnyEntry
    view: Fields | None = Field(
        None,
        description="view after the entry if `views` is `every`; absent if the view has not"
        " changed",
    )
    patch: Fields | None = Field(
        None,
        description="merge patch of the view if `views` is `turn` and the game has hidden"
        " information, or of the stage if `views` is `drawn`; absent if nothing that this viewer"
        " sees has changed",
    )
    clocks: list[Clock] | None = Field(
        None, description="clock of each seat; absent without a clock"
    )


class Ladders(Answer):
    type: Literal["ladders"] = "ladders"
    games: list[LadderTable]


class Arranged(Answer):
    """Answer to arrange, a line for each match in the order of the request.

    A line is null until its match begins. After that it is the match's brief, with a result once
    the match is over. The server never plays a `void` match, and never replays one whose result has
    the cause `infrastructure`; to play it, arrange it under another tag.
    """

    type: Literal["arranged"] = "arranged"
    matches: list[MatchBrief | None]


class EventList(Answer):
    """Answer to history. `more` is true if the match has entries after these."""

    type: Literal["events"] = "events"
    match: Key
    view: Fields | None = Field(
        None,
        description="view right before the first of the events; absent if there are no events, or"
        " if `views` is `none` or `drawn`",
    )
    stage: Stage | None = Field(None, description="the same as a drawing if `views` is `drawn`")
    events: list[Event]
    more: bool


class Reported(Answer):
    type: Literal["reported"] = "reported"
    report: MatchReport


class NotWatched(Tolerant):
    """A match that this player cannot watch on a wall."""

    match: Key
    code: Code
    message: str


class Walled(Answer):
    """Answer to wall: the watched matches, and the reasons why the others are not watched."""

    type: Literal["walled"] = "walled"
    watching: list[Key]
    refused: list[NotWatched]


class Snapshot(Tolerant):
    """A match as this viewer sees it now; the next event is `seq` + 1.

    Sent to players when a match starts, after `rejoin` and `watch`, and in place of events that a
    spectator was too slow to read.
    """

    type: Literal["snapshot"] = "snapshot"
    why: Literal["started", "rejoined", "watching", "lagged"]
    match: Key
    lobby: Key | None = None
    number: int = 1
    block: int | None = Field(None, description="block of the programme that the match belongs to")
    game: GameName
    rules_version: int
    options: Options
    seats: list[Player]
    away: list[SeatIndex] = Field(default_factory=list, description="disconnected seats")
    you: SeatIndex | None = None
    seq: Seq
    ply: int
    to_act: int
    view: Fields
    time_control: TimeControl
    clocks: list[Clock] | None = None
    left_ms: Millis | None = Field(
        None,
        description="time until the flag of the seat to act falls; absent without a clock, after"
        " the end, and for spectators who see the match with a delay",
    )
    conduct: Conduct
    spectating: Spectating
    commitment: str
    result: Result | None = None
    branch: Branch | None = Field(
        None, description="position of another match from which this one continues"
    )
    stage: Stage | None = Field(None, description="view as a drawing if `views` is `drawn`")


class YourTurn(Tolerant):
    """All that a player needs to move. Resent after a rejoin while the turn lasts."""

    type: Literal["your_turn"] = "your_turn"
    match: Key
    game: GameName
    seat: SeatIndex
    ply: int
    view: Fields | None = Field(
        None,
        description="the player's view, as the game's `View` model; absent if `views` is `none` or"
        " `drawn`",
    )
    legal: list[Fields] | None = Field(
        None,
        description="all legal actions; absent if `legal_rule` describes them or `picks` lists"
        " them",
    )
    picks: list[Pick] | None = Field(
        None,
        description="all legal actions, each with the cells of the stage to pick for it, if"
        " `views` is `drawn`",
    )
    legal_rule: str | None = Field(
        None, description="rule for legal actions, if `legal` does not list them"
    )
    legal_count: int
    clocks: list[Clock] | None = None
    left_ms: Millis | None = Field(
        None, description="time until this player's flag falls; absent without a clock"
    )


class Finished(Tolerant):
    """The end of a match: the result, the seed behind the commitment, and the record's path."""

    type: Literal["finished"] = "finished"
    match: Key
    lobby: Key | None = None
    seq: Seq
    result: Result
    view: Fields = Field(
        description="the referee's view, which reveals everything; empty if the game failed to"
        " produce it"
    )
    stage: Stage | None = Field(
        None,
        description="the same as a drawing if `views` is `drawn`; absent if nothing was hidden",
    )
    seed: str
    nonce: str = Field("", description="nonce that the commitment includes in addition to the seed")
    record: str = Field(description="path of the record on this server, served over HTTP")


class LobbyNews(Tolerant):
    """The current state of a lobby, which replaces all earlier news of it.

    Sent to clients that host, join, enter or reconnect, and to clients that read too slowly to get
    every change. All other updates are sent as changes.
    """

    type: Literal["lobby"] = "lobby"
    lobby: LobbyView


class LobbyChanged(Tolerant):
    """The changes of a lobby. Only `match_started` and `match_ended` change its `live`."""

    type: Literal["lobby_changed"] = "lobby_changed"
    lobby: Key
    patch: Fields = Field(description="merge patch of the lobby")


class MatchStarted(Tolerant):
    """A match of a lobby has begun and is now in `live`. Spectators can `watch` it."""

    type: Literal["match_started"] = "match_started"
    lobby: Key
    match: MatchBrief


class MatchEnded(Tolerant):
    """A match of a lobby is over and no longer in `live`."""

    type: Literal["match_ended"] = "match_ended"
    lobby: Key
    match: MatchBrief


class LobbyClosed(Tolerant):
    """The lobby closed, or this player was kicked, or left it on another connection.

    `failed` means that the server could not continue the lobby because of an internal error.
    """

    type: Literal["lobby_closed"] = "lobby_closed"
    lobby: Key
    reason: Literal["closed", "kicked", "expired", "failed"]


class HallNews(Tolerant):
    """The current state of the hall, which replaces all earlier news of it.

    Sent to clients that subscribe, to clients that read too slowly to get every change, and if a
    change would be larger. Each collection has the newest items, up to a limit; the counts are
    totals. Sort lobbies and matches by `order`, largest first.
    """

    type: Literal["hall"] = "hall"
    lobbies: dict[Key, LobbyBrief]
    matches: dict[Key, MatchBrief] = Field(description="running")
    finished: dict[Key, MatchBrief] = Field(description="the most recently finished matches")
    ladders: dict[GameName, LadderTable] = Field(
        description="first lines of the ladder of each game that has one"
    )
    lobbies_in_all: int
    matches_in_all: int


class HallChanged(Tolerant):
    """The changes of the hall."""

    type: Literal["hall_changed"] = "hall_changed"
    patch: Fields = Field(description="merge patch of the message `hall`")


class Farewell(Tolerant):
    """The server is about to close this connection."""

    type: Literal["farewell"] = "farewell"
    code: Code
    message: str
    retry_after_ms: int | None = None


ServerMessage: TypeAlias = Annotated[
    Welcome
    | Done
    | Refused
    | GameList
    | LobbyList
    | MatchList
    | Ladders
    | Arranged
    | Walled
    | Reported
    | EventList
    | Event
    | Snapshot
    | YourTurn
    | Finished
    | LobbyNews
    | LobbyChanged
    | MatchStarted
    | MatchEnded
    | LobbyClosed
    | HallNews
    | HallChanged
    | Farewell,
    Field(discriminator="type"),
]
