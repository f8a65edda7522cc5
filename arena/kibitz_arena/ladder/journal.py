"""The journal of a standing ladder: a write-ahead log in JSON Lines.

The first line says which ladder it is; each line after it is one entry. A line is on the disk
before what it tells takes effect: a game is `requested`, under a tag that no other game has ever
had, before the server is asked for it, and `ended` before anybody counts it. A game that was
requested and has not ended is outstanding: whoever goes on with the ladder asks for it again by its
tag, with the players that the line names, and the server, which knows the tag or does not, answers
with what became of it or plays it. So nothing is lost, and nothing is played or counted twice.

Only the last line can be torn, because lines are appended one after the other; whoever opens the
journal cuts it off. `state.LadderState` is the fold over the entries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from kibitz_arena.journal import JournalError
from kibitz_arena.ladder.config import Ladder
from kibitz_protocol.wire.records import UNDECIDED, Cause, PlayerKind, Result
from kibitz_protocol.wire.values import Key, Line, Millis, SafeInt, Seed, Strict, Tag

SCHEMA: Literal["kibitz-ladder/1"] = "kibitz-ladder/1"
EntrantName: TypeAlias = Annotated[str, Field(min_length=1, max_length=160)]
"""``name@version`` of who plays, a name alone, or a house bot's personality."""


class Header(Strict):
    """The first line: which ladder this is, and what of it never changes."""

    model_config = ConfigDict(populate_by_name=True, serialize_by_alias=True)

    schema_: Literal["kibitz-ladder/1"] = Field(SCHEMA, alias="schema")
    name: str
    game: dict[str, Any]
    seats: int


class EntryBase(Strict):
    """`at_ms` is the time of day, in milliseconds since 1970, as its writer read it."""

    at_ms: Millis


class Kept(EntryBase):
    """A keeper began to keep the ladder, or went on; from here on it is as `ladder` says."""

    kind: Literal["kept"] = "kept"
    ladder: dict[str, Any]


class Hosted(EntryBase):
    """The ladder is played in this lobby from now on; games of an earlier one are not."""

    kind: Literal["hosted"] = "hosted"
    lobby: Key


class Entered(EntryBase):
    """Somebody plays who never did before; other versions of the name retire."""

    kind: Literal["entered"] = "entered"
    entrant: EntrantName
    name: str = Field(description="without its version")
    player: PlayerKind


class GameRequested(EntryBase):
    """A game is about to be asked for: all that has to be said to ask for it, again and again."""

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
    """A game was not played, or the server had trouble with it: it counts for nobody."""

    kind: Literal["cancelled"] = "cancelled"
    tag: Tag
    detail: Line = ""


Entry: TypeAlias = Kept | Hosted | Entered | GameRequested | GameEnded | GameCancelled
ENTRY_ADAPTER: Final[TypeAdapter[Entry]] = TypeAdapter(
    Annotated[Entry, Field(discriminator="kind")]
)
_ENTRIES: Final[TypeAdapter[list[Entry]]] = TypeAdapter(
    list[Annotated[Entry, Field(discriminator="kind")]]
)


@dataclass(frozen=True)
class ParsedJournal:
    """What a journal's bytes say."""

    header: Header | None
    """None where not even the first line is whole: nothing has begun."""
    entries: Sequence[Entry]
    length: int
    """How many bytes are whole lines; what is after them is `torn`."""
    torn: bytes


def make_header(ladder: Ladder) -> Header:
    """Return the first line of a ladder's journal."""
    return Header(name=ladder.name, game=ladder.game.model_dump(mode="json"), seats=ladder.seats)


def require_same_ladder(header: Header, ladder: Ladder) -> None:
    """Raise `JournalError` where the journal's ratings are of another game."""
    expected = make_header(ladder)
    if header == expected:
        return
    differing = [
        f"{key} is {getattr(expected, key)!r} and was {getattr(header, key)!r}"
        for key in ("name", "game", "seats")
        if getattr(expected, key) != getattr(header, key)
    ]
    raise JournalError(
        f"expected the ladder that the journal was begun with: {'; '.join(differing)}; a ladder of"
        " another game needs another name"
    )


def encode_line(entry: Header | Entry) -> bytes:
    """Return the line of an entry, its end included."""
    return entry.model_dump_json(exclude_none=isinstance(entry, Header)).encode() + b"\n"


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


def parse(data: bytes) -> ParsedJournal:
    """Read a journal. What follows the last end of a line is torn; a bad whole line is an error."""
    length = data.rfind(b"\n") + 1
    lines = data[:length].splitlines()
    try:
        header = Header.model_validate_json(lines[0]) if lines else None
    except ValidationError as error:
        raise JournalError(
            f"line 1: expected the header of a ladder's journal: {_first_error(error)}"
        ) from None
    return ParsedJournal(header, _parse_entries(lines[1:]), length, data[length:])


def _parse_entries(lines: Sequence[bytes]) -> list[Entry]:
    """Read all lines in one pass, and one by one where that fails, to say which is bad."""
    try:
        return _ENTRIES.validate_json(b"[" + b",".join(lines) + b"]")
    except ValidationError:
        return [_parse_entry(number, text) for number, text in enumerate(lines, 2)]


def _parse_entry(number: int, text: bytes) -> Entry:
    try:
        return ENTRY_ADAPTER.validate_json(text)
    except ValidationError as error:
        raise JournalError(f"line {number}: expected an entry: {_first_error(error)}") from None


def _first_error(error: ValidationError) -> str:
    detail = error.errors(include_url=False)[0]
    return ": ".join(part for part in (".".join(map(str, detail["loc"])), detail["msg"]) if part)
