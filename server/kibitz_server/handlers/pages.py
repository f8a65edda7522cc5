"""Serves the records of finished matches and their analyses over plain HTTP."""

from __future__ import annotations

import json
import math
from collections.abc import AsyncIterator
from dataclasses import asdict
from http import HTTPStatus

from kibitz_protocol.wire.recordfile import RecordExport
from kibitz_protocol.wire.records import Footer
from kibitz_server.directory.analyses import Analyses, AnalysisFailed, Progress
from kibitz_server.directory.hints import Hints
from kibitz_server.directory.jobs import QueueFull
from kibitz_server.net.downloads import PIECE_BYTES
from kibitz_server.net.http import JSON, UNREADABLE, Asker, Page
from kibitz_server.storage.errors import StoreError, UnusableDatabase
from kibitz_server.storage.interface import Store
from kibitz_server.storage.quarantine import Quarantine, SetAside
from kibitz_server.storage.streams import Closed

NO_HINT = "hints are only for people to move, in unrated matches whose position is public"
NO_ANALYSES = Page(
    HTTPStatus.NOT_IMPLEMENTED,
    b"this server does not analyze matches: its operator turned that off, or installed kibitz"
    b" without [search]\n",
)


class RecordPages:
    """Makes the pages of one server's records."""

    def __init__(
        self,
        store: Store,
        quarantine: Quarantine,
        *,
        notes: bool,
        analyses: Analyses | None = None,
        hints: tuple[Hints, Analyses] | None = None,
    ) -> None:
        """`notes` tells whether records include the bots' notes; `analyses` is None without any.

        `hints` are the turns that have a hint, and what finds it.
        """
        self._analyses = analyses
        self._hints = hints
        self._store = store
        self._quarantine = quarantine
        self._notes = notes

    async def record(self, match: str) -> AsyncIterator[bytes] | None:
        """Return the record of a finished match, piece by piece; a damaged one is set aside.

        If it finds damage after the first piece, it sends no more. Raises `UnusableDatabase` if the
        database cannot be read.
        """
        try:
            closed = await self._closed(match)
            if closed is None:
                return None
            first = await self._lines(match, closed, 1)
        except SetAside:
            return None
        return self._pieces(match, closed, first)

    async def analysis(self, match: str, asker: Asker) -> Page:
        """Return the analysis of a finished match, its progress, or why there is none."""
        if self._analyses is None:
            return NO_ANALYSES
        try:
            plies = await self._plies(match)
        except UnusableDatabase:
            return UNREADABLE
        if plies is None:
            text = f"there is no record of match {match!r}: it is not over, or it was deleted"
            return _refusal(HTTPStatus.NOT_FOUND, text)
        if not plies:
            return _refusal(HTTPStatus.NOT_FOUND, "nobody made a move in this match")
        return _answer(self._analyses, match, plies, asker)

    async def hint(self, match: str, asker: Asker) -> Page:
        """Return a bot's move for the seat to act, its progress, or why there is none."""
        if self._hints is None:
            return NO_ANALYSES
        hints, analyses = self._hints
        turn = hints.turn(match)
        if turn is None:
            return _refusal(HTTPStatus.NOT_FOUND, NO_HINT)
        return _answer(analyses, turn, 1, asker)

    async def _plies(self, match: str) -> int | None:
        """Return the number of plies of a finished match, None if there is no such match."""
        try:
            closed = await self._closed(match)
        except SetAside:
            return None
        if closed is None or closed.footer is None:
            return None
        return Footer.model_validate_json(closed.footer).result.plies

    async def _closed(self, match: str) -> Closed | None:
        """Return a finished match, None if there is no such match."""
        with self._quarantine.reading("match", match):
            closed = await self._store.closed(match)
        return None if closed is None or closed.footer is None else closed

    async def _lines(self, match: str, closed: Closed, first: int) -> list[bytes]:
        with self._quarantine.reading("match", match):
            lines = await self._store.entries_of_size(closed.number, first, PIECE_BYTES)
            if not lines and first <= closed.tail:
                raise StoreError(f"entries from {first} on are missing")
            return lines

    async def _pieces(self, match: str, closed: Closed, lines: list[bytes]) -> AsyncIterator[bytes]:
        export = RecordExport(closed.head, notes=self._notes)
        yield export.head
        seq = 0
        while lines:
            seq += len(lines)
            yield export.entries(lines)
            lines = await self._lines(match, closed, seq + 1)
        footer = closed.footer or b""
        if self._notes:
            yield footer + b"\n"
        else:
            own = Footer.model_validate_json(footer)
            yield export.footer(own.result, own.sent)


def _answer(analyses: Analyses, key: str, plies: int, asker: Asker) -> Page:
    try:
        answer = analyses.ask(key, plies, asker.address, asker.people)
    except AnalysisFailed as error:
        return _refusal(HTTPStatus.INTERNAL_SERVER_ERROR, str(error))
    except QueueFull as error:
        after = math.ceil(error.retry_after_ms / 1000)
        return _refusal(HTTPStatus.SERVICE_UNAVAILABLE, str(error), after)
    if isinstance(answer, Progress):
        body = json.dumps(asdict(answer)).encode()
        return Page(HTTPStatus.ACCEPTED, body, JSON)
    return Page(HTTPStatus.OK, answer, JSON)


def _refusal(status: HTTPStatus, text: str, retry_after_s: int | None = None) -> Page:
    return Page(status, f"{text}\n".encode(), retry_after_s=retry_after_s)
