"""Record files: one JSON object per line, and a hash chain over the lines.

    {"schema":"kibitz-record/1","match":"m1",...}        the setup
    {"seq":1,"at_ms":420,"kind":"move",...}              an entry a line
    {"kind":"end","result":{...},"hash":"..."}           the footer, when the match is over

The chain starts with the empty text. Each line's link is the SHA-256, in hexadecimal, of the
previous link followed by the line's bytes without its line end. The footer's `hash` is the link
after the footer itself, computed with an empty value: ``"hash":""``. Thus one hash covers every
byte. A record without a footer is incomplete: the match had not ended, or the file was cut off.
"""

from __future__ import annotations

import codecs
import hashlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Annotated, Final, TypeAlias, TypeVar

from pydantic import Field, TypeAdapter, ValidationError
from pydantic_core import from_json

from kibitz_protocol.atomic_write import write_atomically
from kibitz_protocol.wire.codec import encode
from kibitz_protocol.wire.explain import explain
from kibitz_protocol.wire.records import ENTRY, Entry, Footer, Noted, Result, Setup
from kibitz_protocol.wire.visibility import without_content

_T = TypeVar("_T")

EMPTY_CHAIN: Final = ""
"""The initial link, before the first line."""
MAX_LINE: Final = 1024 * 1024
"""The longest line that is read, in bytes: far longer than any entry, to reject other files
early."""

_Line: TypeAlias = Annotated[Entry | Footer, Field(discriminator="kind")]
_SETUP: TypeAdapter[Setup] = TypeAdapter(Setup)
_LINE: TypeAdapter[Entry | Footer] = TypeAdapter(_Line, config={"defer_build": True})


@dataclass(frozen=True)
class Record:
    """The contents of a record file. `footer` is None if the match had not ended."""

    setup: Setup
    entries: tuple[Entry, ...]
    footer: Footer | None
    link: str
    """The last link of the chain over setup and entries."""
    torn: bool = False
    """Whether the file ended with an incomplete line, which was dropped."""


class RecordError(ValueError):
    """An invalid record file; the message names the line and what was expected there."""

    def __init__(self, path: str, line: int, sentence: str) -> None:
        super().__init__(f"{path}:{line}: {sentence}")
        self.path = path
        self.line = line
        self.sentence = sentence


def chain_hash(previous: str, line: bytes) -> str:
    """Return the link after `line`, given without its line end."""
    return hashlib.sha256(previous.encode() + line).hexdigest()


def footer_line(link: str, result: Result, sent: list[str] | None = None) -> bytes:
    """Return the last line of a record, without its line end; `link` is the link before it.

    `sent` has the digests of the entries and changes sent to each seat.
    """
    footer = Footer(result=result, hash="", sent=sent)
    return encode(footer.model_copy(update={"hash": chain_hash(link, encode(footer))}))


def footer_hash(link: str, line: bytes, claimed: str) -> str:
    """Return the correct `hash` of a footer line that contains the hash `claimed`."""
    return chain_hash(link, line.replace(f'"hash":"{claimed}"'.encode(), b'"hash":""', 1))


def read_record(path: str | os.PathLike[str], *, torn: bool = False) -> Record:
    """Read and check a record file.

    With `torn`, drop an invalid last line without a line end, as after a power failure. Raises
    `RecordError`, and `OSError` as `open`.
    """
    with open(path, "rb") as file:
        return parse_record(_lines_of(file, str(path)), path=str(path), torn=torn)


def parse_record(lines: Iterable[bytes], *, path: str = "record", torn: bool = False) -> Record:
    """Parse and check a record from lines with their line ends; `path` is for error messages."""
    reading = _RecordParser(path)
    for number, line in enumerate(lines, start=1):
        try:
            # Windows editors put a byte order mark before the first line.
            reading.read(number, line.removeprefix(codecs.BOM_UTF8) if number == 1 else line)
        except RecordError:
            if not torn or reading.setup is None or not _is_torn(line):
                raise
            return reading.record(torn=True)
    return reading.record()


def seed_commitment(seed: str, nonce: str) -> str:
    """Return the commitment published before a match: the SHA-256 of seed and nonce."""
    return hashlib.sha256((seed + nonce).encode()).hexdigest()


class RecordExport:
    """A converter of the lines of a log into the lines of a record, each with its line end.

    `setup` and the entries are lines without line ends, as `encode` writes them. Without `notes`, a
    `Hidden` entry replaces each note, as in public records, because notes are private to their
    authors. The record can still be replayed, because notes have no effect on a match. The hash
    chain covers the exported lines.
    """

    def __init__(self, setup: bytes, *, notes: bool = True) -> None:
        self._notes = notes
        self._link = chain_hash(EMPTY_CHAIN, setup)
        self.head = setup + b"\n"
        """The first line."""

    def entries(self, lines: Iterable[bytes]) -> bytes:
        """Return the lines of the next entries."""
        return b"".join(map(self._entry, lines))

    def footer(self, result: Result, sent: list[str] | None = None) -> bytes:
        """Return the footer line, with the hash of the exported lines.

        `sent` are the digests from the log's footer.
        """
        return footer_line(self._link, result, sent) + b"\n"

    def _entry(self, line: bytes) -> bytes:
        shown = line if self._notes else _without_note(line)
        self._link = chain_hash(self._link, shown)
        return shown + b"\n"


def record_lines(
    setup: Setup,
    entries: Iterable[Entry],
    result: Result | None = None,
    sent: list[str] | None = None,
) -> Iterator[bytes]:
    """Yield the lines of a record, each with its line end; without a result, yield no footer.

    `sent` has the digests of the data sent to each seat, in games with hidden information.
    """
    export = RecordExport(encode(setup))
    yield export.head
    for entry in entries:
        yield export.entries([encode(entry)])
    if result is not None:
        yield export.footer(result, sent)


def _without_note(line: bytes) -> bytes:
    # Most lines are not notes, and are passed on without parsing.
    if b'"kind":"note"' not in line:
        return line
    entry = ENTRY.validate_json(line)
    return encode(without_content(entry)) if isinstance(entry, Noted) else line


def write_record(
    path: str | os.PathLike[str],
    setup: Setup,
    entries: Iterable[Entry],
    result: Result | None = None,
    sent: list[str] | None = None,
) -> None:
    """Write a record file atomically.

    The arguments are those of `record_lines`.
    """
    write_atomically(Path(path), b"".join(record_lines(setup, entries, result, sent)))


class _RecordParser:
    """The part of a record that has been read so far."""

    def __init__(self, path: str) -> None:
        self.setup: Setup | None = None
        self._path = path
        self._entries: list[Entry] = []
        self._footer: Footer | None = None
        self._link = EMPTY_CHAIN
        self._number = 0

    def read(self, number: int, line: bytes) -> None:
        """Read the next line. The state is unchanged if this raises `RecordError`."""
        self._number = number
        bare = line.removesuffix(b"\n").removesuffix(b"\r")
        if self.setup is None:
            self.setup = self._setup(bare)
        elif self._footer is not None:
            raise self._error("expected nothing after the footer")
        else:
            part = self._parse(_LINE, bare)
            if isinstance(part, Footer):
                self._footer = self._checked(part, bare)
                return
            self._append(part)
        self._link = chain_hash(self._link, bare)

    def record(self, *, torn: bool = False) -> Record:
        if self.setup is None:
            self._number += 1
            raise self._error("expected a setup line, found the end of the file")
        return Record(self.setup, tuple(self._entries), self._footer, self._link, torn)

    def _setup(self, line: bytes) -> Setup:
        setup = self._parse(_SETUP, line)
        commitment = seed_commitment(setup.seed, setup.nonce)
        # The record of a running match may lack the seed.
        if setup.seed and commitment != setup.commitment:
            raise self._error(f"commitment: expected the SHA-256 of seed and nonce, {commitment}")
        return setup

    def _append(self, entry: Entry) -> None:
        expected = len(self._entries) + 1
        if entry.seq != expected:
            raise self._error(f"seq: expected {expected}, not {entry.seq}")
        self._entries.append(entry)

    def _checked(self, footer: Footer, line: bytes) -> Footer:
        if self.setup is None:
            raise AssertionError("the first line must not be a footer")
        expected = footer_hash(self._link, line, footer.hash)
        if footer.hash != expected:
            raise self._error(f"hash: expected {expected}, the last link of the hash chain")
        results, seats = len(footer.result.seats), len(self.setup.seats)
        if results != seats:
            raise self._error(f"result.seats: expected {seats} seats, not {results}")
        return footer

    def _parse(self, kind: TypeAdapter[_T], line: bytes) -> _T:
        try:
            return kind.validate_json(line, strict=True)
        except ValidationError as error:
            raise self._error(explain(error, line)) from None

    def _error(self, sentence: str) -> RecordError:
        return RecordError(self._path, self._number, sentence)


def _is_torn(line: bytes) -> bool:
    """Return whether a line is incomplete: without a line end, and invalid JSON."""
    if line.endswith(b"\n"):
        return False
    try:
        from_json(line)
    except ValueError:
        return True
    return False


def _lines_of(file: IO[bytes], path: str) -> Iterator[bytes]:
    """Yield the lines of a file; raise an error before reading all of an overlong line."""
    number = 0
    while line := file.readline(MAX_LINE + 1):
        number += 1
        if len(line) > MAX_LINE:
            raise RecordError(path, number, f"expected a line of at most {MAX_LINE} bytes")
        yield line
