"""The journal of a tournament: a write-ahead log in JSON Lines.

The first line is the event itself; each line after it is one entry. A line is written before
what it tells takes effect: games are `arranged` before they are asked for, and `ended` lines are
on the disk before anybody counts them. So whatever is cut off at any byte can go on:

- what `ended` is never played again;
- what was `arranged` and has not ended is *outstanding*: asked for again by the same tag, which
  a server that knows the tag answers with what became of it;
- everything else is still to come, in the order of the schedule.

Only the last line can be torn, because lines are appended one after the other; whoever opens the
journal cuts it off. A game that failed for a reason of the infrastructure is `requeued`: it
goes on as ``b17.2~1`` and its failed attempt is never counted.

`state.TournamentState` is the fold over the lines, `runner.journal_file.Journal` the file.

    JournalError
     +-- OtherEvent    the journal is another event's; says what differs
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from kibitz_arena.tournament import CHANGEABLE_KEYS, Tournament
from kibitz_protocol.wire.records import Result
from kibitz_protocol.wire.values import Key, Line, Millis, Strict

SCHEMA: Literal["kibitz-event/1"] = "kibitz-event/1"
_ABSENT: Final = object()


class JournalError(ValueError):
    """A journal that cannot be read or gone on with; `str()` is fit for a person."""


class JournalMismatchError(JournalError):
    """The journal belongs to another event; `differences` are its paths."""

    def __init__(self, differences: Sequence[str]) -> None:
        text = "; ".join(differences)
        super().__init__(f"expected the event that the journal was begun with: {text}")
        self.differences = tuple(differences)


class Header(Strict):
    """The first line: the event, as `Tournament.dump` gives it, and its hash."""

    model_config = ConfigDict(populate_by_name=True, serialize_by_alias=True)

    schema_: Literal["kibitz-event/1"] = Field(SCHEMA, alias="schema")
    event: dict[str, Any]
    hash: str


class EntryBase(Strict):
    """`at_ms` is the time of day, in milliseconds since 1970, as its writer read it."""

    at_ms: Millis


IsolationTool: TypeAlias = Literal["bwrap", "setpriv", "none"]


class RunStarted(EntryBase):
    """Somebody began to run the event, or to go on with it."""

    kind: Literal["began"] = "began"
    isolation: IsolationTool | None = None
    """What kept entrants of foreign code apart; None where there were none, or nobody said."""


class GamesRequested(EntryBase):
    """These games are about to be asked for."""

    kind: Literal["arranged"] = "arranged"
    tags: list[str] = Field(min_length=1)


class GameEnded(EntryBase):
    """A game ended, and counts. `players` are entrants by seat, as in `result`."""

    kind: Literal["ended"] = "ended"
    tag: str
    match: Key
    players: list[str]
    result: Result
    used_ms: list[Millis] | None = None
    record: str | None = Field(None, description="path, from the event's directory")
    report: str | None = Field(
        None, description="path of the forensic report, where a seat was at fault"
    )


class GameRequeued(EntryBase):
    """A game failed for a reason of the infrastructure; it is played again under a new tag."""

    kind: Literal["requeued"] = "requeued"
    tag: str
    match: Key | None = None
    detail: Line = ""


class RunStopped(EntryBase):
    """The event stops. After ``decided`` it never goes on; else it does when it is begun again."""

    kind: Literal["stopped"] = "stopped"
    reason: Literal["decided", "deadline", "asked", "failed"]
    detail: Line = ""


Entry: TypeAlias = RunStarted | GamesRequested | GameEnded | GameRequeued | RunStopped
ENTRY_ADAPTER: TypeAdapter[Entry] = TypeAdapter(Annotated[Entry, Field(discriminator="kind")])


@dataclass(frozen=True)
class ParsedJournal:
    """What a journal's bytes say."""

    header: Header | None
    """None where not even the first line is whole: nothing has begun."""
    entries: tuple[Entry, ...]
    length: int
    """How many bytes are whole lines; what is after them is `torn`."""
    torn: bytes


def make_header(tournament: Tournament) -> Header:
    """Return the first line of an event's journal, which has the seed: it is for the host only."""
    assert tournament.seed is not None, "an event begins with a seed"
    return Header(event=tournament.dump(), hash=tournament.hash)


def encode_line(entry: Header | Entry) -> bytes:
    """Return the line of an entry, its end included."""
    return entry.model_dump_json(exclude_none=True).encode() + b"\n"


def parse(data: bytes) -> ParsedJournal:
    """Read a journal. What follows the last end of a line is torn; a bad whole line is an error."""
    length = data.rfind(b"\n") + 1
    lines = data[:length].splitlines()
    try:
        first = Header.model_validate_json(lines[0]) if lines else None
    except ValidationError as error:
        raise JournalError(
            f"line 1: expected the header of a journal: {_first_error(error)}"
        ) from None
    entries = tuple(_parse_entry(number, text) for number, text in enumerate(lines[1:], 2))
    return ParsedJournal(first, entries, length, data[length:])


def _parse_entry(number: int, text: bytes) -> Entry:
    try:
        return ENTRY_ADAPTER.validate_json(text)
    except ValidationError as error:
        raise JournalError(f"line {number}: expected an entry: {_first_error(error)}") from None


def _first_error(error: ValidationError) -> str:
    detail = error.errors(include_url=False)[0]
    return ": ".join(part for part in (".".join(map(str, detail["loc"])), detail["msg"]) if part)


def require_same_tournament(header: Header, tournament: Tournament) -> None:
    """Raise `JournalMismatchError` unless the journal's event has the same games as `event`."""
    if header.hash == tournament.hash:
        return
    differences = [*_differences("", header.event, tournament.dump())]
    raise JournalMismatchError(
        differences or [f"the hash is {tournament.hash} and was {header.hash}"]
    )


def _differences(path: str, then: Any, now: Any) -> Iterator[str]:
    if isinstance(then, Mapping) and isinstance(now, Mapping):
        for key in sorted({*then, *now} - (set() if path else CHANGEABLE_KEYS)):
            inside = f"{path}.{key}" if path else key
            yield from _differences(inside, then.get(key, _ABSENT), now.get(key, _ABSENT))
    elif isinstance(then, list) and isinstance(now, list) and len(then) == len(now):
        for index, (old, new) in enumerate(zip(then, now, strict=True)):
            yield from _differences(f"{path}.{index}", old, new)
    elif then != now:
        yield f"{path} is {_abbreviated(now)} and was {_abbreviated(then)}"


def _abbreviated(value: Any) -> str:
    if value is _ABSENT:
        return "not given"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:80]}…"
