"""Checks that everything in a database is complete and intact.

It reads one snapshot of the file and never writes, so a server may be using the database. It
follows every hash chain from the head of a stream through its segments and the journal. It compares
data that is stored twice (results in summaries and in the ledger), and runs SQLite's own integrity
check. It does not replay matches: a matching link proves that a line is intact.

If the latest commits are missing, only the watermark file beside the database shows it
(`storage/sqlite/watermark.py`). If a database was moved without that file, the loss goes
undetected.
"""

from __future__ import annotations

import contextlib
import datetime
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias, TypeVar

from pydantic import BaseModel, ValidationError

from kibitz_protocol.wire.lobbies import LobbyBrief, MatchBrief
from kibitz_protocol.wire.recordfile import EMPTY_CHAIN, chain_hash, footer_line
from kibitz_protocol.wire.records import Footer, Result, Setup
from kibitz_server.lobby import entries as lobby_entries
from kibitz_server.rating.rating_list import RatedMatch
from kibitz_server.storage.errors import CommitsMissing
from kibitz_server.storage.sqlite import journal, watermark
from kibitz_server.storage.sqlite.connection import (
    connect_read_only,
    resolve_path,
    translate_errors,
)
from kibitz_server.storage.sqlite.schema import require_schema

_Model = TypeVar("_Model", bound=BaseModel)
About: TypeAlias = Literal["file", "mark", "journal", "match", "lobby", "ledger"]
MAX_SQLITE_PROBLEMS = 20
"""The maximum number of problems from SQLite's own check to list."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem; `name` is the match, the lobby or the place in the ledger."""

    about: About
    name: str
    text: str

    def __str__(self) -> str:
        return (
            f"{self.about} {self.name}: {self.text}" if self.name else f"{self.about}: {self.text}"
        )


@dataclass(slots=True)
class Findings:
    """The contents and problems of a database."""

    file: str
    matches: int = 0
    matches_open: int = 0
    lobbies: int = 0
    lobbies_open: int = 0
    entries: int = 0
    rated: int = 0
    accepted: int = 0
    """Matches and lobbies that were accepted as lost."""
    problems: list[Problem] = field(default_factory=list)

    @property
    def sound(self) -> bool:
        return not self.problems

    def add(self, about: About, name: str, text: str) -> None:
        self.problems.append(Problem(about, name, text))


@dataclass(frozen=True, slots=True)
class _Stream:
    number: int
    key: str
    kind: About
    state: str
    head: object
    footer: object
    summary: object
    link: str | None
    reason: str | None
    noticed: int | None


class _Damage(Exception):
    """A problem in one stream."""


def check_database(path: Path, *, marked: bool = True) -> Findings:
    """Check a whole database; `marked` is False for a copy, which has no watermark file.

    Raises `StoreError` if the database cannot be checked.
    """
    path = resolve_path(path)
    findings = Findings(str(path))
    with translate_errors(path):
        db = connect_read_only(path)
        try:
            require_schema(db, path)
            if marked:
                _check_mark(db, path, findings)
            db.execute("BEGIN")
            with _catching_corruption(findings):
                _check_structure(db, findings)
            with _catching_corruption(findings):
                _check_contents(db, findings)
        finally:
            db.close()
    return findings


@contextlib.contextmanager
def _catching_corruption(findings: Findings) -> Iterator[None]:
    """Catch errors of unreadable pages, record them, and continue with the next part."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_CORRUPT:
            raise
        problem = Problem("file", "", f"SQLite reports: {error}")
        if problem not in findings.problems:
            findings.problems.append(problem)


def _check_mark(db: sqlite3.Connection, path: Path, findings: Findings) -> None:
    """Check for missing commits. Call it before a new commit updates the mark."""
    try:
        watermark.require(db, path)
    except CommitsMissing as error:
        findings.add("mark", "", str(error))


def _check_structure(db: sqlite3.Connection, findings: Findings) -> None:
    for (line,) in db.execute(f"PRAGMA integrity_check({MAX_SQLITE_PROBLEMS})"):
        if line != "ok":
            findings.add("file", "", f"SQLite reports: {line}")


def _check_contents(db: sqlite3.Connection, findings: Findings) -> None:
    reading = journal.read(db)
    for batch in reading.damaged:
        findings.add("journal", f"batch {batch}", "is corrupt")
    for batch in reading.missing:
        findings.add("journal", f"batch {batch}", "is missing")
    results: dict[str, Result] = {}
    for stream in _streams(db):
        _count(stream, findings)
        if stream.state == "lost":
            continue
        try:
            if stream.state == "damaged":
                raise _Damage(f"set aside {_when(stream.noticed)}: {stream.reason}")
            tail = reading.tails.get(stream.number)
            result = _check_stream(db, stream, tail, findings)
        except _Damage as damage:
            findings.add(stream.kind, stream.key, str(damage))
        else:
            if result is not None:
                results[stream.key] = result
    _check_rating_log(db, results, findings)


# --- streams ----------------------------------------------------------------------------------


def _streams(db: sqlite3.Connection) -> Iterator[_Stream]:
    for row in db.execute(
        "SELECT number, key, kind, state, head, footer, summary, link, reason, noticed"
        " FROM stream ORDER BY number"
    ):
        yield _Stream(*row)


def _count(stream: _Stream, findings: Findings) -> None:
    running = int(stream.state == "open")
    if stream.kind == "match":
        findings.matches += 1
        findings.matches_open += running
    else:
        findings.lobbies += 1
        findings.lobbies_open += running
    findings.accepted += int(stream.state == "lost")


def _check_stream(
    db: sqlite3.Connection, stream: _Stream, tail: journal.Tail | None, findings: Findings
) -> Result | None:
    """Follow a stream from its head to its end; return the result in its footer."""
    link = _check_head(stream)
    last = 0
    for first, until, expected, text in db.execute(
        "SELECT first, last, chain, lines FROM stretch WHERE stream = ? ORDER BY first",
        (stream.number,),
    ):
        lines = text.split(b"\n") if isinstance(text, bytes) else []
        if first != last + 1:
            raise _Damage(f"entries {last + 1} to {first - 1} are missing")
        for line in lines:
            link = chain_hash(link, line)
        if until != first + len(lines) - 1 or link != expected:
            raise _Damage(f"an entry between {first} and {until} is corrupt")
        last = until
    if tail is not None:
        if tail.fault is not None:
            raise _Damage(tail.fault)
        last, link = max(last, tail.last), tail.link if tail.last > last else link
    findings.entries += last
    return _check_end(stream, link) if stream.state == "closed" else None


def _check_head(stream: _Stream) -> str:
    head = stream.head
    if not isinstance(head, bytes):
        raise _Damage("its head is damaged")
    link = chain_hash(EMPTY_CHAIN, head)
    try:
        key = _key_in(stream.kind, head)
    except ValidationError:
        key = None
    if key != stream.key or stream.link not in (None, link):
        raise _Damage("its head differs from the one that was written")
    return link


def _key_in(kind: About, head: bytes) -> str | None:
    if kind == "match":
        return Setup.model_validate_json(head).match
    opened = lobby_entries.ENTRY.validate_json(head)
    return opened.lobby if isinstance(opened, lobby_entries.Opened) else None


def _check_end(stream: _Stream, link: str) -> Result | None:
    """Compare a stream's footer with its entries, and its summary with the footer."""
    if stream.kind == "lobby":
        _parsed(LobbyBrief, stream.summary, "summary")
        return None
    footer = _parsed(Footer, stream.footer, "end")
    if stream.footer != footer_line(link, footer.result, footer.sent):
        raise _Damage("its end does not match its entries")
    if _parsed(MatchBrief, stream.summary, "summary").result != footer.result:
        raise _Damage("its summary does not match its result")
    return footer.result


def _parsed(model: type[_Model], data: object, what: str) -> _Model:
    try:
        if isinstance(data, bytes):
            return model.model_validate_json(data)
    except ValidationError:
        pass
    raise _Damage(f"its {what} is damaged")


# --- the ledger -------------------------------------------------------------------------------


def _check_rating_log(
    db: sqlite3.Connection, results: dict[str, Result], findings: Findings
) -> None:
    for place, match, line in db.execute("SELECT place, match, line FROM ledger ORDER BY place"):
        findings.rated += 1
        try:
            counted = RatedMatch.model_validate_json(line)
        except ValidationError:
            findings.add("ledger", str(place), f"the line of match {match} is damaged")
            continue
        result = results.get(match)
        if counted.match != match or (
            result is not None and counted.ranks != [seat.rank for seat in result.seats]
        ):
            findings.add("ledger", str(place), f"the line does not match the result of {match}")


def _when(seconds: int | None) -> str:
    if seconds is None:
        return "at a start"
    moment = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
    return moment.isoformat(sep=" ", timespec="minutes")
