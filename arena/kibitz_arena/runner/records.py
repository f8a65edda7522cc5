"""Fetch the records and reports of a tournament's games and store them in its directory."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from kibitz_arena.runner.directory import TournamentDirectory
from kibitz_arena.runner.scheduler import CollectedRecord
from kibitz_arena.runner.services import Services
from kibitz_protocol.client.client import Client
from kibitz_protocol.client.errors import KibitzError
from kibitz_protocol.wire.recordfile import Record, read_record
from kibitz_protocol.wire.records import UNDECIDED, Moved
from kibitz_protocol.wire.reports import MatchReport


@dataclass(frozen=True)
class RecordCollector:
    """Fetches a game's record and report from the server at `url`.

    `host` is the connection that hosts the lobby. A private server (`own`) includes the bots' notes
    in records; other servers omit them, and send them only to the host on request.
    """

    url: str
    host: Client
    directory: TournamentDirectory
    services: Services
    own: bool
    tell: Callable[[str], None]

    async def collect(self, match: str) -> CollectedRecord | None:
        """Fetch and store a game's record and report; report a failure and return None."""
        try:
            path = await self.services.record(self.url, match, self.directory.records)
            record = await asyncio.to_thread(read_record, path)
        except (OSError, ValueError) as error:
            self.tell(f"cannot fetch the record of match {match}: {error}")
            return None
        report = await self._report(match, record) if has_fault(record) else None
        return CollectedRecord(
            path.relative_to(self.directory.path).as_posix(), used_ms(record), report
        )

    async def _report(self, match: str, record: Record) -> str | None:
        path = self.directory.records / f"{match}.jsonl"
        try:
            report = await self._build_report(match, record)
            written = await asyncio.to_thread(
                self.services.write_report, report, path, self.directory.reports
            )
        except (OSError, ValueError) as error:
            self.tell(f"no report for match {match}: {error}")
            return None
        return None if written is None else written.relative_to(self.directory.path).as_posix()

    async def _build_report(self, match: str, record: Record) -> MatchReport:
        if not self.own:
            try:
                return (await self.host.report(match)).report
            except KibitzError as error:
                self.tell(f"the report of match {match} lacks the bots' notes: {error}")
        return await asyncio.to_thread(self.services.report, record)


def has_fault(record: Record) -> bool:
    """Return whether a seat dropped out of a recorded match, or its server failed."""
    if record.footer is None:
        return False
    result = record.footer.result
    failed = result.cause in UNDECIDED
    return failed or any(seat.cause is not None for seat in result.seats)


def used_ms(record: Record) -> tuple[int, ...]:
    """Return the time that each seat used in a recorded match, in milliseconds."""
    used = [0] * len(record.setup.seats)
    for entry in record.entries:
        if isinstance(entry, Moved):
            used[entry.seat] += max(0, entry.elapsed_ms - entry.allowance_ms)
    return tuple(used)
