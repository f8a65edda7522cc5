"""Serves the records of finished matches over plain HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator

from kibitz_protocol.wire.recordfile import RecordExport
from kibitz_protocol.wire.records import Footer
from kibitz_server.net.downloads import PIECE_BYTES
from kibitz_server.storage.errors import StoreError, UnusableDatabase
from kibitz_server.storage.interface import Store
from kibitz_server.storage.quarantine import Quarantine
from kibitz_server.storage.streams import Closed


class RecordPages:
    """Makes the pages of one server's records."""

    def __init__(self, store: Store, quarantine: Quarantine, *, notes: bool) -> None:
        """`notes` tells whether records include the bots' notes."""
        self._store = store
        self._quarantine = quarantine
        self._notes = notes

    async def record(self, match: str) -> AsyncIterator[bytes] | None:
        """Return the record of a finished match, piece by piece; a damaged one is set aside.

        If the damage is after the first piece, the rest is not sent. Raises `UnusableDatabase` if
        the database cannot be read.
        """
        try:
            closed = await self._store.closed(match)
            if closed is None or closed.footer is None:
                return None
            first = await self._lines(closed, 1)
        except UnusableDatabase:
            raise  # a database error, not damage to the match
        except StoreError as error:
            self._quarantine.add("match", match, error)
            return None
        return self._pieces(match, closed, first)

    async def _lines(self, closed: Closed, first: int) -> list[bytes]:
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
            try:
                lines = await self._lines(closed, seq + 1)
            except UnusableDatabase:
                raise
            except StoreError as error:
                self._quarantine.add("match", match, error)
                raise
        footer = closed.footer or b""
        if self._notes:
            yield footer + b"\n"
        else:
            own = Footer.model_validate_json(footer)
            yield export.footer(own.result, own.sent)
