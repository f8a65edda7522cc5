"""What an event keeps of its games: a record of each, and a report where a seat was at fault."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from kibitz import fetch, forensic
from kibitz.event.director import Kept
from kibitz.event.folder import EventFolder
from kibitz_protocol.client import Client
from kibitz_protocol.errors import KibitzError
from kibitz_protocol.recordfile import Record, read_record
from kibitz_protocol.records import Cause, Moved
from kibitz_protocol.reports import MatchReport


@dataclass(frozen=True)
class Archive:
    """Fetches what a game leaves behind from the server at `url`, where `host` hosts it.

    A server of the event's own (`own`) gives out records with all that bots noted; another one
    keeps that out of its records, and tells the host when it asks for a report.
    """

    url: str
    host: Client
    folder: EventFolder
    own: bool
    tell: Callable[[str], None]

    async def keep(self, match: str) -> Kept | None:
        """Store a game's record, and its report; what cannot be had does not stop an event."""
        try:
            path = await fetch.record(self.url, match, self.folder.records)
            record = await asyncio.to_thread(read_record, path)
        except (OSError, ValueError) as error:
            self.tell(f"the record of match {match} cannot be fetched: {error}")
            return None
        report = await self._report(match, record) if at_fault(record) else None
        return Kept(path.relative_to(self.folder.path).as_posix(), used_ms(record), report)

    async def _report(self, match: str, record: Record) -> str | None:
        path = self.folder.records / f"{match}.jsonl"
        try:
            found = await self._found(match, record)
            written = await asyncio.to_thread(forensic.write, found, path, self.folder.reports)
        except (OSError, ValueError) as error:
            self.tell(f"there is no report of match {match}: {error}")
            return None
        return None if written is None else written.relative_to(self.folder.path).as_posix()

    async def _found(self, match: str, record: Record) -> MatchReport:
        if not self.own:
            try:
                return (await self.host.report(match)).report
            except KibitzError as error:
                self.tell(f"the report of match {match} lacks what bots noted: {error}")
        return await asyncio.to_thread(forensic.of, record)


def at_fault(record: Record) -> bool:
    """Whether a seat dropped out of a recorded match, or its server had trouble."""
    if record.footer is None:
        return False
    result = record.footer.result
    failed = result.cause is Cause.INFRASTRUCTURE
    return failed or any(seat.cause is not None for seat in result.seats)


def used_ms(record: Record) -> tuple[int, ...]:
    """Return how long each seat thought in a recorded match, in milliseconds."""
    used = [0] * len(record.setup.seats)
    for entry in record.entries:
        if isinstance(entry, Moved):
            used[entry.seat] += max(0, entry.elapsed_ms - entry.allowance_ms)
    return tuple(used)
