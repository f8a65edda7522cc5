"""The entries of a lobby's log, one JSON line each. Pure.

The first entry is `opened`; each further one has the next number. `LobbyState.apply` alone decides
the change that an entry makes. These models also read stored logs: fields may be added, with
defaults, and none may be renamed.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field, TypeAdapter

from kibitz_protocol.wire.lobbies import LobbySettings, ProgrammeItem
from kibitz_protocol.wire.messages import Capabilities
from kibitz_protocol.wire.records import Player, Result
from kibitz_protocol.wire.values import Key, Line, RequestKey, Seq, Strict, Tag

CloseReason: TypeAlias = Literal["closed", "expired", "failed"]
"""Closed by its host, expired without anybody there, or failed because of a server error."""
LobbyKey: TypeAlias = Annotated[
    str, Field(min_length=1, max_length=16, pattern=r"^[A-Za-z0-9_-]+$")
]
"""A lobby's identifier, short enough to prefix the identifiers of its matches."""


class EntryBase(Strict):
    """`seq` numbers the entries of a lobby from 0, which is always `opened`."""

    seq: Seq


class Requested(EntryBase):
    """An entry that a request may have made; `request` is its key, to answer a resent one."""

    request: RequestKey | None = None


class Opened(Requested):
    """All that is fixed for the lobby's life. `seed` is secret; every round's seed derives from it.

    `address` is secret too: it keeps the limits of an address in force after a restart.
    """

    kind: Literal["opened"] = "opened"
    seq: Literal[0] = 0
    lobby: LobbyKey
    host: Player
    settings: LobbySettings
    invite: Line
    created: Line = Field(description="UTC time, ISO 8601")
    seed: int = Field(ge=0, lt=2**256)
    address: str | None = Field(
        None, description="where it was opened from; absent where that was the server's own machine"
    )
    seek_s: int | None = Field(
        None, description="the opener seeks opponents, and for so long at most nobody plays"
    )
    hidden: list[str] = Field(description="the games of the programme that hide something")
    balanced: list[str] = Field(
        default_factory=list, description="the games of the programme that are played in blocks"
    )
    drawn: bool = Field(
        False, description="the server alone draws deals and who begins, as in every rated lobby"
    )


class Joined(EntryBase):
    kind: Literal["joined"] = "joined"
    player: Player
    seat: int
    capabilities: Capabilities


class Left(Requested):
    """A member went, or (`away`) was disconnected for too long."""

    kind: Literal["left"] = "left"
    player: Key
    reason: Literal["left", "away"]


class Kicked(Requested):
    """The host removed a member, for good. A house bot's seat is open from now on."""

    kind: Literal["kicked"] = "kicked"
    player: Key


class Readied(Requested):
    kind: Literal["readied"] = "readied"
    player: Key
    ready: bool


class HouseLost(EntryBase):
    """A seat's house bot died, or never came; after `MAX_BOT_FAILURES` times the seat is open."""

    kind: Literal["house_lost"] = "house_lost"
    seat: int
    reason: Line


class Started(Requested):
    """The round's programme is planned by rule `rule`, for the present members."""

    kind: Literal["started"] = "started"
    round: int
    base_seed: int
    rule: Literal[1] = 1


class ArrangedMatch(Strict):
    """A match that the host arranged, and the seed that it is played from."""

    tag: Tag
    item: ProgrammeItem
    players: list[Key]
    seed: int


class Arranged(EntryBase):
    """The host wants these matches played; their numbers continue from the last one."""

    kind: Literal["arranged"] = "arranged"
    matches: list[ArrangedMatch]


class MatchBegun(EntryBase):
    """The match exists from this entry on; if it is missing after a restart, it is made again."""

    kind: Literal["match_begun"] = "match_begun"
    number: int
    match: Key
    players: list[Player]


class MatchEnded(EntryBase):
    kind: Literal["match_ended"] = "match_ended"
    number: int
    match: Key
    result: Result


class Stopped(EntryBase):
    """The unbegun matches of the round are not played: matches have failed one after the other."""

    kind: Literal["stopped"] = "stopped"
    reason: Line


class Rematched(Requested):
    """The lobby gathers again for round `round`; all members but house bots must get ready
    again."""

    kind: Literal["rematched"] = "rematched"
    round: int


class Closing(Requested):
    """No further match begins; those that run are finished first."""

    kind: Literal["closing"] = "closing"


class Closed(Requested):
    kind: Literal["closed"] = "closed"
    reason: CloseReason


class TakenOver(EntryBase):
    """A server node owns the lobby from this entry on; appends by its former owner now collide.

    `former` is that owner's name, absent if it was a server without one.
    """

    kind: Literal["taken_over"] = "taken_over"
    node: Line
    former: Line | None = None


Entry: TypeAlias = (
    Opened
    | Joined
    | Left
    | Kicked
    | Readied
    | HouseLost
    | Started
    | Arranged
    | MatchBegun
    | MatchEnded
    | Stopped
    | Rematched
    | Closing
    | Closed
    | TakenOver
)
AnyEntry: TypeAlias = Annotated[Entry, Field(discriminator="kind")]
ENTRY: TypeAdapter[Entry] = TypeAdapter(AnyEntry)
"""Reads a line of the log: ``ENTRY.validate_json(line)``; ``entry.model_dump_json()`` writes it."""


def read_opened(head: bytes) -> Opened:
    """Return the first entry of a lobby from the first line of its log."""
    opened = ENTRY.validate_json(head)
    if not isinstance(opened, Opened):
        raise AssertionError(f"the first line of a lobby's log is its opening, not {opened.kind}")
    return opened
