"""Refusals: the complete list of reasons for not carrying out a request."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class Code(StrEnum):
    """The reason for a refusal, for programs. The message and the hint are for people."""

    MALFORMED = "malformed"
    TOO_LARGE = "too_large"
    UNKNOWN_TYPE = "unknown_type"
    VERSION = "version"
    HELLO_FIRST = "hello_first"
    UNAUTHORIZED = "unauthorized"
    NAME_TAKEN = "name_taken"
    NAME_INVALID = "name_invalid"
    RATE_LIMITED = "rate_limited"
    LIMIT = "limit"
    UNKNOWN_GAME = "unknown_game"
    BAD_OPTION = "bad_option"
    BAD_SEATS = "bad_seats"
    UNKNOWN_PERSONALITY = "unknown_personality"
    NO_SUCH_LOBBY = "no_such_lobby"
    NO_SUCH_MATCH = "no_such_match"
    NO_SUCH_PLAYER = "no_such_player"
    FULL = "full"
    CLOSED = "closed"
    WRONG_INVITE = "wrong_invite"
    NOT_MEMBER = "not_member"
    NOT_HOST = "not_host"
    NOT_READY = "not_ready"
    WRONG_STATE = "wrong_state"
    NOT_WATCHABLE = "not_watchable"
    NO_COMMENTS = "no_comments"
    NOT_SEATED = "not_seated"
    NOT_YOUR_TURN = "not_your_turn"
    STALE = "stale"
    ILLEGAL = "illegal"
    OVER = "over"
    DAMAGED = "damaged"
    ELSEWHERE = "elsewhere"
    UNAVAILABLE = "unavailable"
    INTERNAL = "internal"


MEANINGS: Final[dict[Code, str]] = {
    Code.MALFORMED: "the frame is not JSON, or not a valid message of its type",
    Code.TOO_LARGE: "the frame exceeds the size limit",
    Code.UNKNOWN_TYPE: "the server does not know the type of the message",
    Code.VERSION: "client and server have no protocol version in common",
    Code.HELLO_FIRST: "the first message was not hello",
    Code.UNAUTHORIZED: "the token or the resume secret is invalid, guests are not allowed, or the"
    " player may not do this",
    Code.NAME_TAKEN: "another player has this name, or one that looks similar",
    Code.NAME_INVALID: "the name is too long or has invalid characters",
    Code.RATE_LIMITED: "the client sent too many messages in a short time",
    Code.LIMIT: "a limit on lobbies, matches or connections is reached",
    Code.UNKNOWN_GAME: "the server does not host this game",
    Code.BAD_OPTION: "an option of the game, the lobby or the clock is invalid",
    Code.BAD_SEATS: "the game does not support this number of players",
    Code.UNKNOWN_PERSONALITY: "no house bot has this name",
    Code.NO_SUCH_LOBBY: "no lobby has this key",
    Code.NO_SUCH_MATCH: "no match has this key",
    Code.NO_SUCH_PLAYER: "the player is not in this lobby",
    Code.FULL: "every seat of the lobby is taken",
    Code.CLOSED: "only players for whom a seat is reserved may join",
    Code.WRONG_INVITE: "the invite code is missing or wrong",
    Code.NOT_MEMBER: "the player is not a member of the lobby",
    Code.NOT_HOST: "only the host of the lobby may do this",
    Code.NOT_READY: "a seat is empty or a member is not ready",
    Code.WRONG_STATE: "the lobby or the connection is in the wrong state for this",
    Code.NOT_WATCHABLE: "spectators are not allowed",
    Code.NO_COMMENTS: "the host does not allow comments on the match",
    Code.NOT_SEATED: "the player has no seat at the match on this connection",
    Code.NOT_YOUR_TURN: "it is the turn of another seat",
    Code.STALE: "the move is not for the current ply",
    Code.ILLEGAL: "the rules do not allow the action",
    Code.OVER: "the match has ended",
    Code.DAMAGED: "the log of this match or lobby is damaged on the server's disk",
    Code.ELSEWHERE: "another server of the cluster has the match or lobby",
    Code.UNAVAILABLE: "the server is starting or stopping, or cannot write its log",
    Code.INTERNAL: "an internal error of the server",
}
"""The default message of each refusal."""

HINTS: Final[dict[Code, str]] = {
    Code.MALFORMED: "send one JSON object per frame, as docs/protocol describes",
    Code.TOO_LARGE: "keep frames below 16 KiB",
    Code.UNKNOWN_TYPE: "see docs/protocol for the supported messages",
    Code.VERSION: "update the client or the server",
    Code.HELLO_FIRST: "send hello as the first message of a connection",
    Code.UNAUTHORIZED: "create a token with `kibitz token new NAME` on the server's machine",
    Code.NAME_TAKEN: "choose another name, or reconnect with the secret of the first welcome",
    Code.NAME_INVALID: "use 1 to 32 letters, digits, spaces, dots, dashes or underscores",
    Code.RATE_LIMITED: "wait for retry_after_ms, and send messages less often",
    Code.LIMIT: "close a lobby or a connection first, or ask the operator to raise the limit",
    Code.UNKNOWN_GAME: "`kibitz game list` lists the games",
    Code.BAD_OPTION: "`kibitz game show NAME` explains the options",
    Code.BAD_SEATS: "`kibitz game show NAME` lists the numbers of players",
    Code.UNKNOWN_PERSONALITY: "`kibitz bot list` lists the house bots",
    Code.NO_SUCH_LOBBY: "`kibitz lobby list` lists the open lobbies",
    Code.NO_SUCH_MATCH: "the match may be over and its record deleted",
    Code.NO_SUCH_PLAYER: "choose a member of this lobby",
    Code.FULL: "wait for a free seat, or host your own lobby",
    Code.CLOSED: "ask the host to let you in",
    Code.WRONG_INVITE: "ask the host for the invite code",
    Code.NOT_MEMBER: "join the lobby first",
    Code.NOT_HOST: "only the host may do this",
    Code.NOT_READY: "wait until every member is ready",
    Code.WRONG_STATE: "check the lobby's state before you try again",
    Code.NOT_WATCHABLE: "ask the host to allow spectators",
    Code.NO_COMMENTS: "wait until the match is over",
    Code.NOT_SEATED: "rejoin the match first; only the player of the seat may do this",
    Code.NOT_YOUR_TURN: "wait for your_turn",
    Code.STALE: "answer the latest your_turn instead",
    Code.ILLEGAL: "choose a legal action from your_turn",
    Code.OVER: "the match is over",
    Code.DAMAGED: "it cannot continue; the operator can examine it with `kibitz db check`",
    Code.ELSEWHERE: "continue at the address in the refusal",
    Code.UNAVAILABLE: "resend the request with the same id after retry_after_ms",
    Code.INTERNAL: "report this to the operator",
}
"""The default hint for each refusal: what to do about it."""


class CloseCode:
    """Close codes of kibitz, in addition to the standard ones (RFC 6455, section 7.4)."""

    REPLACED: Final = 4000
    """A newer connection took this one's seat."""
    TOO_SLOW: Final = 4001
    """The peer read too slowly."""
    NO_HELLO: Final = 4002
    """The client did not send hello in time, or the server refused it."""
    KICKED: Final = 4003
    """The server's operator or a limit ended the connection."""
