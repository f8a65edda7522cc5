"""The events of a session, which its owner receives in order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from kibitz_protocol.client.errors import SessionError
from kibitz_protocol.wire.messages import (
    Answer,
    Event,
    Farewell,
    Finished,
    HallNews,
    LobbyClosed,
    LobbyNews,
    MatchEnded,
    MatchStarted,
    Refused,
    Snapshot,
    Welcome,
    YourTurn,
)
from kibitz_protocol.wire.refusals import Code

News: TypeAlias = (
    Snapshot
    | Event
    | YourTurn
    | Finished
    | LobbyNews
    | MatchStarted
    | MatchEnded
    | LobbyClosed
    | HallNews
    | Farewell
    | Refused
)
"""Messages of the server that answer no request. Changes of a lobby or the hall arrive as the whole
lobby or hall. A `Refused` among them is the answer to a message with an unreadable id."""


@dataclass(frozen=True)
class Opened:
    """The server admitted the client; `again` if this session had been admitted before."""

    welcome: Welcome
    again: bool


@dataclass(frozen=True)
class Answered:
    """The one answer to request `id`."""

    id: int
    answer: Answer


@dataclass(frozen=True)
class Unanswered:
    """Request `id` will never be answered; it may have been carried out."""

    id: int
    why: str


@dataclass(frozen=True)
class NewsReceived:
    """News from the server, in order and without duplicates."""

    news: News


@dataclass(frozen=True)
class MatchLost:
    """A followed match could not be resumed, most likely because it has ended."""

    match: str
    code: Code
    message: str


@dataclass(frozen=True)
class Disconnected:
    """The connection is lost; the next attempt is at `connect_at`."""

    code: int | None
    reason: str
    connect_at: int


@dataclass(frozen=True)
class SessionEnded:
    """The session is over; `error` is the reason."""

    error: SessionError


SessionEvent: TypeAlias = (
    Opened | Answered | Unanswered | NewsReceived | MatchLost | Disconnected | SessionEnded
)
