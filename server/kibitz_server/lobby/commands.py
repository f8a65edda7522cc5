"""The commands of a lobby's engine, and the effects that it returns.

`LobbyEngine.handle` takes one command and returns one `Step`: the effects, which the caller must
carry out in order, and the next deadline. All are frozen dataclasses without behavior.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from kibitz_protocol.wire.lobbies import Arrangement
from kibitz_protocol.wire.messages import Capabilities
from kibitz_protocol.wire.records import Player, Result
from kibitz_protocol.wire.refusals import Code
from kibitz_server.lobby.entries import CloseReason, Entry
from kibitz_server.lobby.schedule import PlannedMatch

# --- commands -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Join:
    """Take a seat.

    `house_seat` is set if the caller started this player as the house bot of that seat. `account`
    is whether the player has an account.
    """

    player: Player
    capabilities: Capabilities | None = None
    invite: str | None = None
    house_seat: int | None = None
    account: bool = False


@dataclass(frozen=True, slots=True)
class Leave:
    """Leave the lobby. The player's matches that have not begun become void."""

    player: str


@dataclass(frozen=True, slots=True)
class Kick:
    """The host removes a member, who cannot rejoin."""

    by: str
    player: str


@dataclass(frozen=True, slots=True)
class Ready:
    """A member sets or clears its ready flag."""

    player: str
    ready: bool = True


@dataclass(frozen=True, slots=True)
class Start:
    """The host starts the round."""

    by: str


@dataclass(frozen=True, slots=True)
class Rematch:
    """The host starts to gather the members for another round of a finished programme."""

    by: str


@dataclass(frozen=True, slots=True)
class Close:
    """The host closes the lobby; running matches finish first."""

    by: str


@dataclass(frozen=True, slots=True)
class Fail:
    """The server closes the lobby because it cannot continue; running matches continue."""


@dataclass(frozen=True, slots=True)
class Arrange:
    """The host arranges matches; the caller has checked their games, options and clocks.

    `hidden` names the games with hidden information.
    """

    by: str
    matches: Sequence[Arrangement]
    hidden: Collection[str] = ()


@dataclass(frozen=True, slots=True)
class Connected:
    """A member, the host or a spectator has connected. Not answered."""

    player: str


@dataclass(frozen=True, slots=True)
class Disconnected:
    """A player has lost its last connection. Not answered."""

    player: str


@dataclass(frozen=True, slots=True)
class MatchFinished:
    """A match of this lobby is over. May be sent twice for a match. Not answered."""

    match: str
    result: Result


@dataclass(frozen=True, slots=True)
class BotFailed:
    """The house bot of a seat exited, or did not join in time. Not answered."""

    seat: int
    reason: str


@dataclass(frozen=True, slots=True)
class Resume:
    """The first command after `LobbyEngine.restore`. Not answered.

    `matches` are the lobby's matches that exist, running or finished. If the log has begun other
    matches, the engine begins them again, under their old identifiers. The caller sends
    `MatchFinished` for each finished match, before or after this command.
    """

    matches: Collection[str]


Command: TypeAlias = (
    Join
    | Leave
    | Kick
    | Ready
    | Start
    | Rematch
    | Close
    | Fail
    | Arrange
    | Connected
    | Disconnected
    | MatchFinished
    | BotFailed
    | Resume
)


class Refusal(Exception):
    """Raised if a command is not allowed, before it has changed anything."""

    def __init__(self, code: Code, message: str, retry_after_ms: int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.retry_after_ms = retry_after_ms


# --- effects ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Append:
    """Write `entry` to the log; the effects after it wait until it is durable."""

    entry: Entry


@dataclass(frozen=True, slots=True)
class Accepted:
    """Answer `player` with `done`."""

    player: str


@dataclass(frozen=True, slots=True)
class AnswerArranged:
    """Answer the request with the status of these tags' matches (`views.arranged_briefs`)."""

    tags: Sequence[str]


@dataclass(frozen=True, slots=True)
class Refuse:
    """Refuse the request; the only effect of a refused command."""

    code: Code
    message: str
    retry_after_ms: int | None = None


@dataclass(frozen=True, slots=True)
class StartBot:
    """Start a house bot for a seat.

    It gets the identity `player` of the seat's previous bot, if there was one.
    """

    seat: int
    personality: str
    player: Player | None


@dataclass(frozen=True, slots=True)
class StopBot:
    """Stop the house bot of a seat, if it is running."""

    seat: int


@dataclass(frozen=True, slots=True)
class BeginMatch:
    """Create the match `match`, unless it exists."""

    match: str
    planned: PlannedMatch


@dataclass(frozen=True, slots=True)
class VacateSeat:
    """Remove `player` from its seat at the running match `match`."""

    match: str
    player: str
    reason: Literal["left", "kicked"] = "left"


@dataclass(frozen=True, slots=True)
class NotifyRemoved:
    """Notify `player` that it is no longer in the lobby."""

    player: str
    reason: Literal["closed", "kicked", "expired", "failed"]


@dataclass(frozen=True, slots=True)
class LobbyOver:
    """The lobby is closed; its last effect."""

    reason: CloseReason


Effect: TypeAlias = (
    Append
    | Accepted
    | AnswerArranged
    | Refuse
    | StartBot
    | StopBot
    | BeginMatch
    | VacateSeat
    | NotifyRemoved
    | LobbyOver
)


class Step(NamedTuple):
    """The effects of one call of the engine, and its next deadline."""

    effects: list[Effect]
    """The effects, in the order in which to carry them out."""
    deadline: int | None
    """When `LobbyEngine.tick` is due, in the caller's milliseconds."""
