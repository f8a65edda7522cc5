"""The entries of a lobby's log, one JSON line each. Pure.

The first entry is `opened`; the others are numbered consecutively. Only `LobbyState.apply` defines
the effect of an entry. These models also read stored logs: new fields need defaults, and existing
ones must keep their names.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field, TypeAdapter

from kibitz_protocol.wire.lobbies import LobbySettings, ProgrammeItem
from kibitz_protocol.wire.messages import Capabilities
from kibitz_protocol.wire.records import BranchStart, Player, Result
from kibitz_protocol.wire.values import Key, Line, RequestKey, Seq, Strict, Tag

CloseReason: TypeAlias = Literal["closed", "expired", "failed"]
"""Closed by the host, expired while empty, or failed because of a server error."""
LobbyKey: TypeAlias = Annotated[
    str, Field(min_length=1, max_length=16, pattern=r"^[A-Za-z0-9_-]+$")
]
"""A lobby's identifier, short enough to prefix the identifiers of its matches."""


class EntryBase(Strict):
    """The base of all entries; `seq` counts from 0, the entry `opened`."""

    seq: Seq


class Requested(EntryBase):
    """An entry that a client's request can cause; the key `request` identifies resent requests."""

    request: RequestKey | None = None


class Opened(Requested):
    """The opening of the lobby: everything that never changes.

    `seed` is secret; the seeds of all rounds derive from it. `address` is secret too; with it, the
    limits per address still apply after a restart.
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
        None, description="the address that opened it; absent for the server's own machine"
    )
    seek_s: int | None = Field(
        None, description="set by `seek`: the lobby closes after this time without a running match"
    )
    hidden: list[str] = Field(description="the games of the programme with hidden information")
    balanced: list[str] = Field(
        default_factory=list, description="the games of the programme that are played in blocks"
    )
    start: BranchStart | None = Field(
        None, description="the first plies of its matches, if the settings name a `branch`"
    )
    drawn: bool = Field(
        False,
        description="the server draws the deals and the first player, as in every rated lobby",
    )


class Joined(EntryBase):
    kind: Literal["joined"] = "joined"
    player: Player
    seat: int
    capabilities: Capabilities


class Left(Requested):
    """A member left, or (`away`) was disconnected for too long."""

    kind: Literal["left"] = "left"
    player: Key
    reason: Literal["left", "away"]


class Kicked(Requested):
    """The host removed a member, who cannot rejoin. The seat of a removed house bot opens to
    everybody."""

    kind: Literal["kicked"] = "kicked"
    player: Key


class Readied(Requested):
    kind: Literal["readied"] = "readied"
    player: Key
    ready: bool


class HouseLost(EntryBase):
    """The house bot of a seat failed or did not join; after `MAX_BOT_FAILURES` times the seat
    opens."""

    kind: Literal["house_lost"] = "house_lost"
    seat: int
    reason: Line


class Started(Requested):
    """The round has started. Rule `rule` planned its programme for the current members."""

    kind: Literal["started"] = "started"
    round: int
    base_seed: int
    rule: Literal[1] = 1


class ArrangedMatch(Strict):
    """A match that the host arranged, with its seed."""

    tag: Tag
    item: ProgrammeItem
    players: list[Key]
    seed: int


class Arranged(EntryBase):
    """The host arranged these matches; their numbers continue from the last one."""

    kind: Literal["arranged"] = "arranged"
    matches: list[ArrangedMatch]


class MatchBegun(EntryBase):
    """A match began; if it does not exist after a restart, it is created again."""

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
    """The rest of the round is canceled, because too many matches in a row have failed."""

    kind: Literal["stopped"] = "stopped"
    reason: Line


class Rematched(Requested):
    """The lobby prepares for round `round`; all members except house bots must send `ready`."""

    kind: Literal["rematched"] = "rematched"
    round: int


class Closing(Requested):
    """The lobby closes when its running matches are over; no further match begins."""

    kind: Literal["closing"] = "closing"


class Closed(Requested):
    kind: Literal["closed"] = "closed"
    reason: CloseReason


class TakenOver(EntryBase):
    """Another node took the lobby over; appends by the former owner fail from now on.

    `former` is the former owner's name, absent for a server without a name.
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
ENTRY: TypeAdapter[Entry] = TypeAdapter(AnyEntry, config={"defer_build": True})
"""Parses a line of the log; ``entry.model_dump_json()`` writes one."""


def read_opened(head: bytes) -> Opened:
    """Parse the first line of a lobby's log."""
    opened = ENTRY.validate_json(head)
    if not isinstance(opened, Opened):
        raise AssertionError(f"the first line of a lobby's log is its opening, not {opened.kind}")
    return opened
