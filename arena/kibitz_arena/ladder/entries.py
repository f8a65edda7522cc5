"""The entries of a standing ladder's journal.

The keeper writes `requested` with a unique tag before it requests a game from the server, and
`ended` before it counts the result. A game that was requested but has not ended is outstanding.
After a restart the keeper requests it again with the same tag and players. If the server knows the
tag, it answers with the outcome; otherwise it starts the game. So no game is lost, played twice or
counted twice.

`state.LadderState` applies the entries.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import Field, TypeAdapter

from kibitz_arena.journal import EntryBase, Header, JournalFormat
from kibitz_arena.ladder.config import Ladder
from kibitz_protocol.wire.records import UNDECIDED, Cause, PlayerKind, Result
from kibitz_protocol.wire.values import Key, Line, SafeInt, Seed, Tag

EntrantName: TypeAlias = Annotated[str, Field(min_length=1, max_length=160)]
"""An entrant: ``name@version``, a name without a version, or a house bot's personality."""
FIXED_KEYS: Final = frozenset({"name", "game", "seats"})
"""The settings of a ladder that must never change, because its ratings are for one game."""


class Kept(EntryBase):
    """A keeper started or resumed the ladder; `ladder` is its configuration from then on."""

    kind: Literal["kept"] = "kept"
    ladder: dict[str, Any]


class Hosted(EntryBase):
    """The ladder moved to this lobby; outstanding games of an earlier one are lost."""

    kind: Literal["hosted"] = "hosted"
    lobby: Key


class Entered(EntryBase):
    """An entrant plays for the first time; other versions with the same name retire."""

    kind: Literal["entered"] = "entered"
    entrant: EntrantName
    name: str = Field(description="the name without the version")
    player: PlayerKind


class GameRequested(EntryBase):
    """A game is about to be requested; the entry has all data to send or repeat the request."""

    kind: Literal["requested"] = "requested"
    tag: Tag
    entrants: list[EntrantName] = Field(min_length=2, description="by seat")
    players: list[Key] = Field(min_length=2, description="the players' keys on the server, by seat")
    block: SafeInt = Field(description="how many blocks of games the group has completed")
    seed: Seed


class GameEnded(EntryBase):
    """A game ended and counts."""

    kind: Literal["ended"] = "ended"
    tag: Tag
    match: Key
    ranks: list[int] = Field(min_length=2, description="by seat; 1 is best, ties share a place")
    causes: list[Cause | None] = Field(description="why a seat dropped out, by seat")
    plies: int
    reason: Line = ""


class GameCancelled(EntryBase):
    """A game that does not count because it was not played or the server failed."""

    kind: Literal["cancelled"] = "cancelled"
    tag: Tag
    detail: Line = ""


Entry: TypeAlias = Kept | Hosted | Entered | GameRequested | GameEnded | GameCancelled
FORMAT: Final[JournalFormat[Entry]] = JournalFormat(
    "kibitz-ladder/1",
    TypeAdapter(list[Annotated[Entry, Field(discriminator="kind")]]),
    frozenset(),
)


def make_header(ladder: Ladder) -> Header:
    """Return the first line of a ladder's journal, which has the settings that never change."""
    return FORMAT.header(ladder.model_dump(mode="json", include={*FIXED_KEYS}))


def ended_entry(at_ms: int, tag: str, match: str, result: Result) -> GameEnded | GameCancelled:
    """Return the entry for a finished match; a match with a server failure does not count."""
    if result.cause in UNDECIDED:
        return GameCancelled(at_ms=at_ms, tag=tag, detail=result.reason[:200])
    return GameEnded(
        at_ms=at_ms,
        tag=tag,
        match=match,
        ranks=[seat.rank for seat in result.seats],
        causes=[seat.cause for seat in result.seats],
        plies=result.plies,
        reason=result.reason[:200],
    )
