"""Lines: one entry is one line of compact JSON, the same bytes wherever it is kept.

The line is what the database holds, what the record file holds and what the hash chain runs
over: the first link is the setup's line, the last one the last entry's, and a finished
record's footer carries it. So a record can be checked against the database, and either
against the seed's commitment, without reading JSON twice.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator

from pydantic import ValidationError

from kibitz_games.api import Game
from kibitz_protocol.recordfile import NO_LINK, chain
from kibitz_protocol.records import ENTRY, Entry, Footer, Hidden, Noted, Result, Setup
from kibitz_server.match import BrokenLog, Match


def line(part: Setup | Entry | Footer) -> bytes:
    """Write a line, without its end: absent fields are left out."""
    return part.__pydantic_serializer__.to_json(part, exclude_none=True, by_alias=True)


def read_setup(data: bytes) -> Setup:
    """Read the first line, or raise `BrokenLog`."""
    try:
        return Setup.model_validate_json(data)
    except ValidationError as error:
        raise _broken("setup", error) from None


def read_entry(data: bytes) -> Entry:
    """Read a line of an entry, or raise `BrokenLog`."""
    try:
        return ENTRY.validate_json(data)
    except ValidationError as error:
        raise _broken("entry", error) from None


def fold(game: Game, lines: Iterable[bytes]) -> Match:
    """Restore a match from its lines, those of a finished record included.

    Raises `BrokenLog` where a line cannot be read, an entry is missing or not legal, the seed
    is not the one that was committed to, or the footer is not what the lines lead to.
    """
    rest = iter(lines)
    first = next(rest, None)
    if first is None:
        raise BrokenLog("expected a setup, found no line at all")
    setup = read_setup(first)
    _check_seed(setup)
    link = chain(NO_LINK, first)
    entries: list[Entry] = []
    footer: Footer | None = None
    for data in rest:
        if footer is not None:
            raise BrokenLog("expected nothing after the footer")
        footer = _footer(data)
        if footer is None:
            entries.append(read_entry(data))
            link = chain(link, data)
    match = Match.restore(game, setup, entries)
    if footer is not None:
        _check_footer(footer, match, link)
    return match


class Export:
    """The lines of a finished record, each with its end, made as the lines of the log come."""

    def __init__(self, setup: bytes, *, notes: bool) -> None:
        """Without `notes` bare numbers stand for them, as anybody may have the record.

        Notes are for who wrote them. They change nothing in a match, so the record still
        folds; its chain runs over what it shows.
        """
        self._notes = notes
        self._link = chain(NO_LINK, setup)
        self.head = setup + b"\n"

    def entries(self, lines: Iterable[bytes]) -> bytes:
        """Return the next lines."""
        return b"".join(map(self._entry, lines))

    def end(self, footer: bytes) -> bytes:
        """Return the last line."""
        return self.footer(Footer.model_validate_json(footer).result)

    def footer(self, result: Result) -> bytes:
        """Return the last line, with the hash of what was exported."""
        return line(Footer(result=result, hash=self._link)) + b"\n"

    def _entry(self, data: bytes) -> bytes:
        shown = data if self._notes else _unnoted(data)
        self._link = chain(self._link, shown)
        return shown + b"\n"


def export(setup: bytes, entries: Iterable[bytes], result: Result) -> Iterator[bytes]:
    """Yield the lines of a finished record, each with its end, from the lines of the log."""
    whole = Export(setup, notes=True)
    yield whole.head
    for data in entries:
        yield whole.entries([data])
    yield whole.footer(result)


def published(setup: bytes, entries: Iterable[bytes], footer: bytes) -> Iterator[bytes]:
    """Yield a finished record as anybody may have it: bare numbers stand for notes."""
    shown = Export(setup, notes=False)
    yield shown.head
    for data in entries:
        yield shown.entries([data])
    yield shown.end(footer)


def commitment(seed: str) -> str:
    """Return what is published of a seed before the match."""
    return hashlib.sha256(seed.encode()).hexdigest()


def _unnoted(data: bytes) -> bytes:
    if b'"kind":"note"' not in data:
        return data
    entry = read_entry(data)
    return line(Hidden(seq=entry.seq, at_ms=entry.at_ms)) if isinstance(entry, Noted) else data


def _footer(data: bytes) -> Footer | None:
    if not data.startswith(b'{"kind":"end"'):
        return None
    try:
        return Footer.model_validate_json(data)
    except ValidationError as error:
        raise _broken("footer", error) from None


def _check_seed(setup: Setup) -> None:
    if commitment(setup.seed) != setup.commitment:
        raise BrokenLog(f"seed {setup.seed!r} is not the one of commitment {setup.commitment!r}")


def _check_footer(footer: Footer, match: Match, link: str) -> None:
    if footer.result != match.result:
        raise BrokenLog("the footer's result is not the one that the entries lead to")
    if footer.hash != link:
        raise BrokenLog(f"the footer's hash {footer.hash!r} is not the end of the chain")


def _broken(part: str, error: ValidationError) -> BrokenLog:
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    path = ".".join([part, *map(str, first["loc"])])
    return BrokenLog(f"{path}: {first['msg']}")
