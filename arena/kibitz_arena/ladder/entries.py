"""The entries of a standing ladder's journal.

The keeper writes that a game is `requested`, under a unique tag, before it asks the server for it,
and that it has `ended` before it counts it. A game that was requested and has not ended is
outstanding. After a restart the keeper asks for it again by its tag, with the players of that line.
If the server knows the tag it answers with the outcome, else it plays the game. So nothing is lost,
and nothing is played or counted twice.

`state.LadderState` is the fold over the entries.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import Field, TypeAdapter

from kibitz_arena.journal import EntryBase, Header, JournalFormat
from kibitz_arena.ladder.config import Ladder
from kibitz_protocol.wire.records import UNDECIDED, Cause, PlayerKind, Result
from kibitz_protocol.wire.values import Key, Line, SafeInt, Seed, Tag

EntrantName: TypeAlias = Annotated[str, Field(min_length=1, max_length=160)]
"""An entrant: ``name@version``, a name alone, or a house bot's personality."""
FIXED_KEYS: Final = frozenset({"name", "game", "seats"})
"""The settings of a ladder that never change: its ratings hold for one game."""


class Kept(EntryBase):
    """A keeper started or continued the ladder, from here on with the configuration `ladder`."""

    kind: Literal["kept"] = "kept"
    ladder: dict[str, Any]


class Hosted(EntryBase):
    """The ladder is played in this lobby from now on; games of an earlier one are not."""

    kind: Literal["hosted"] = "hosted"
    lobby: Key


class Entered(EntryBase):
    """A new entrant plays for the first time; other versions of the name retire."""

    kind: Literal["entered"] = "entered"
    entrant: EntrantName
    name: str = Field(description="without its version")
    player: PlayerKind


class GameRequested(EntryBase):
    """A game is about to be requested; it has all that a request, also a repeated one, needs."""

    kind: Literal["requested"] = "requested"
    tag: Tag
    entrants: list[EntrantName] = Field(min_length=2, description="by seat")
    players: list[Key] = Field(min_length=2, description="their keys on the server, by seat")
    block: SafeInt = Field(description="how often these had every seat before")
    seed: Seed


class GameEnded(EntryBase):
    """A game ended, and counts."""

    kind: Literal["ended"] = "ended"
    tag: Tag
    match: Key
    ranks: list[int] = Field(min_length=2, description="by seat; 1 is best, ties share one")
    causes: list[Cause | None] = Field(description="why a seat dropped out, by seat")
    plies: int
    reason: Line = ""


class GameCancelled(EntryBase):
    """A game was not played, or the server failed: it does not count."""

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
    """Return the first line of a ladder's journal: what of the ladder never changes."""
    return FORMAT.header(ladder.model_dump(mode="json", include={*FIXED_KEYS}))


def ended_entry(at_ms: int, tag: str, match: str, result: Result) -> GameEnded | GameCancelled:
    """Return the entry of a match that is over: what the server had trouble with never counts."""
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
