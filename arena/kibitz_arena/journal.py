"""The journal format: a write-ahead log in JSON Lines for a tournament or a ladder.

The first line identifies the tournament or ladder; each further line is an entry. A line is synced
to disk before it takes effect. Lines are only appended, so only the last one can be torn;
`runner.journal_file` truncates it.

    JournalError
     +-- JournalMismatchError    belongs to another tournament or ladder; lists the differences
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from kibitz_protocol.wire.explain import first_problem
from kibitz_protocol.wire.values import Millis, Strict

E = TypeVar("E", bound=BaseModel)
_ABSENT: Final = object()


class JournalError(ValueError):
    """A journal that cannot be read or continued; `str()` is a message for people."""


class JournalMismatchError(JournalError):
    """The journal belongs to another tournament or ladder; `differences` lists the paths."""

    def __init__(self, differences: Sequence[str]) -> None:
        text = "; ".join(differences)
        super().__init__(f"the journal was started with another configuration: {text}")
        self.differences = tuple(differences)


class Header(Strict):
    """The first line, which identifies the tournament or ladder.

    It may contain a seed, so only the host may see it.
    """

    model_config = ConfigDict(populate_by_name=True, serialize_by_alias=True)

    schema_: str = Field(alias="schema")
    config: dict[str, Any]


class EntryBase(Strict):
    """The base of all entries; `at_ms` is the time of writing in milliseconds since 1970."""

    at_ms: Millis


@dataclass(frozen=True)
class ParsedJournal(Generic[E]):
    """The contents of a journal."""

    header: Header | None
    """None if even the first line is incomplete, which means that nothing has started."""
    entries: Sequence[E]
    length: int
    """The number of bytes in complete lines; the rest is `torn`."""
    torn: bytes


@dataclass(frozen=True)
class JournalFormat(Generic[E]):
    """A kind of journal: its schema and the type of its entries."""

    schema: str
    entries: TypeAdapter[list[E]]
    changeable: frozenset[str]
    """Keys of the configuration that may change when a journal is continued."""

    def header(self, config: dict[str, Any]) -> Header:
        """Return the first line of a new journal."""
        return Header(schema_=self.schema, config=config)

    def parse(self, data: bytes) -> ParsedJournal[E]:
        """Parse a journal.

        Bytes after the last line end belong to a torn line. Raises `JournalError` for an invalid
        complete line.
        """
        length = data.rfind(b"\n") + 1
        lines = data[:length].splitlines()
        header = self._parse_header(lines[0]) if lines else None
        return ParsedJournal(header, self._parse_entries(lines[1:]), length, data[length:])

    def require_same(self, then: Header, now: Header) -> None:
        """Raise `JournalMismatchError` if a key that must not change differs."""
        differences = [*_differences("", then.config, now.config, self.changeable)]
        if differences:
            raise JournalMismatchError(differences)

    def _parse_header(self, line: bytes) -> Header:
        try:
            header = Header.model_validate_json(line)
        except ValidationError as error:
            raise JournalError(
                f"line 1: expected the header of a journal: {first_problem(error)}"
            ) from None
        if header.schema_ != self.schema:
            raise JournalError(
                f"line 1: expected the header of a journal: the schema is {header.schema_!r}, not"
                f" {self.schema!r}"
            )
        return header

    def _parse_entries(self, lines: Sequence[bytes]) -> list[E]:
        """Parse all lines at once; on failure, one by one to find the invalid line."""
        try:
            return self.entries.validate_json(b"[" + b",".join(lines) + b"]")
        except ValidationError:
            return [self._parse_entry(number, line) for number, line in enumerate(lines, 2)]

    def _parse_entry(self, number: int, line: bytes) -> E:
        try:
            return self.entries.validate_json(b"[" + line + b"]")[0]
        except ValidationError as error:
            raise JournalError(
                f"line {number}: expected an entry: {first_problem(error)}"
            ) from None


def encode_line(line: BaseModel) -> bytes:
    """Return the line for a header or an entry, including the line end."""
    return line.model_dump_json(exclude_none=True).encode() + b"\n"


def apply_entries(apply: Callable[[E], None], entries: Iterable[E]) -> None:
    """Apply the entries of a journal; raise `JournalError` with the line of an invalid one."""
    for number, entry in enumerate(entries, 2):
        try:
            apply(entry)
        except JournalError as error:
            raise JournalError(f"line {number}: {error}") from None


def _differences(path: str, then: Any, now: Any, ignored: frozenset[str]) -> Iterator[str]:
    """Yield the differences; `ignored` are keys of the outermost mapping."""
    if isinstance(then, Mapping) and isinstance(now, Mapping):
        for key in sorted({*then, *now} - ignored):
            inside = f"{path}.{key}" if path else key
            old, new = then.get(key, _ABSENT), now.get(key, _ABSENT)
            yield from _differences(inside, old, new, frozenset())
    elif isinstance(then, list) and isinstance(now, list) and len(then) == len(now):
        for index, (old, new) in enumerate(zip(then, now, strict=True)):
            yield from _differences(f"{path}.{index}", old, new, frozenset())
    elif then != now:
        yield f"{path} is {_abbreviated(now)} and was {_abbreviated(then)}"


def _abbreviated(value: Any) -> str:
    if value is _ABSENT:
        return "not given"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:80]}…"
