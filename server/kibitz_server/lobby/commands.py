"""The commands to a lobby, and the effects that it asks of its caller.

`LobbyEngine.handle` takes one command and returns one `Step`: the effects, in the order in which
they have to be carried out, and the next deadline. Everything here is a frozen dataclass without
behavior.
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

    `house_seat` is the seat for whose house bot the caller has started this player, and `account`
    whether it has an account.
    """

    player: Player
    capabilities: Capabilities | None = None
    invite: str | None = None
    house_seat: int | None = None
    account: bool = False


@dataclass(frozen=True, slots=True)
class Leave:
    """Give up one's seat. Leaving a running round voids the player's waiting matches."""

    player: str


@dataclass(frozen=True, slots=True)
class Kick:
    """The host removes a member for good."""

    by: str
    player: str


@dataclass(frozen=True, slots=True)
class Ready:
    """A member declares itself ready to play, or no longer ready."""

    player: str
    ready: bool = True


@dataclass(frozen=True, slots=True)
class Start:
    """The host starts the round."""

    by: str


@dataclass(frozen=True, slots=True)
class Rematch:
    """The host opens another round of a finished programme."""

    by: str


@dataclass(frozen=True, slots=True)
class Close:
    """The host closes the lobby, as soon as the running matches are over."""

    by: str


@dataclass(frozen=True, slots=True)
class Arrange:
    """Play matches whose games, options and clocks the caller has checked.

    `hidden` names the games that hide something.
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
    """A match that this lobby began is over. Idempotent. Not answered."""

    match: str
    result: Result


@dataclass(frozen=True, slots=True)
class BotFailed:
    """The process of a house seat ended, or did not come in time. Not answered."""

    seat: int
    reason: str


@dataclass(frozen=True, slots=True)
class Resume:
    """The first command after `LobbyEngine.restore`. Not answered.

    `matches` are the existing matches of this lobby, running or finished. All others that began
    according to the log are begun again, under the same identifier. The caller sends
    `MatchFinished` for the finished ones, before or after.
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
    | Arrange
    | Connected
    | Disconnected
    | MatchFinished
    | BotFailed
    | Resume
)


def sender(command: Command) -> str:
    """Return the player to answer when `command` is refused."""
    match command:
        case Join(player):
            return player.player
        case Leave(player) | Ready(player):
            return player
        case Kick(by) | Start(by) | Rematch(by) | Close(by) | Arrange(by):
            return by
    raise AssertionError(f"a command that is not answered was refused: {command}")


class Refusal(Exception):
    """A command cannot be carried out. Raised by a check before anything has changed."""

    def __init__(self, code: Code, message: str, retry_after_ms: int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.retry_after_ms = retry_after_ms


# --- effects ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Append:
    """Write `entry` to the log; everything that follows waits until it is durable."""

    entry: Entry


@dataclass(frozen=True, slots=True)
class Accepted:
    """Answer `player`: its request is done."""

    player: str


@dataclass(frozen=True, slots=True)
class AnswerArranged:
    """Answer `player` with what `views.arranged_briefs` says of `tags` once the log is written."""

    player: str
    tags: Sequence[str]


@dataclass(frozen=True, slots=True)
class Refuse:
    """Answer `player`: nothing was done. The only effect of its command."""

    player: str
    code: Code
    message: str
    retry_after_ms: int | None = None


@dataclass(frozen=True, slots=True)
class StartBot:
    """Start a process for a house seat; `player` is its former identity, to resume."""

    seat: int
    personality: str
    player: Player | None


@dataclass(frozen=True, slots=True)
class StopBot:
    """End the process of a house seat, if there is one."""

    seat: int


@dataclass(frozen=True, slots=True)
class BeginMatch:
    """Make the match `match`, unless it exists."""

    match: str
    planned: PlannedMatch


@dataclass(frozen=True, slots=True)
class VacateSeat:
    """`player` leaves its seat at the running match `match`, or was removed from it."""

    match: str
    player: str
    reason: Literal["left", "kicked"] = "left"


@dataclass(frozen=True, slots=True)
class NotifyRemoved:
    """Tell `player` that it is no longer in the lobby."""

    player: str
    reason: Literal["closed", "kicked", "expired", "failed"]


@dataclass(frozen=True, slots=True)
class LobbyOver:
    """The lobby is gone; its last effect."""

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
    """The result of one call of the engine."""

    effects: list[Effect]
    """To be carried out in this order."""
    deadline: int | None
    """The time at which `LobbyEngine.tick` is due, in the caller's milliseconds."""
