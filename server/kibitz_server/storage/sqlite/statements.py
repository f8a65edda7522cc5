"""Statements of SQL, as the parts of the SQLite adapter write and read them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from kibitz_server.storage.sqlite.connection import Value
from kibitz_server.storage.streams import Waiter


class Statements(Protocol):
    """What the tables of players and of retention need of the store."""

    def execute(self, sql: str, values: Sequence[Value], waiter: Waiter | None = None) -> None:
        """Write a row with the next batch."""

    def execute_unhurried(
        self, sql: str, values: Sequence[Value], waiter: Waiter | None = None
    ) -> None:
        """Write a row with the next batch, for which none has to begin at once."""

    def row(self, sql: str, values: Sequence[Value]) -> tuple[Value, ...] | None:
        """Return one row by an indexed look-up, which is cheap enough for the event loop."""

    def rows(self, sql: str, values: Sequence[Value]) -> list[tuple[Value, ...]]:
        """Return the rows of a small table that a query finds."""

    async def find(self, sql: str, values: Sequence[Value]) -> list[tuple[Value, ...]]:
        """Return the rows that a query finds, which may take a while."""

    async def journalled(self) -> set[int]:
        """Return the numbers of all streams that the journal on the disk has entries of."""
