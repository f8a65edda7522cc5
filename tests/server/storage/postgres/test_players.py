"""Players shared by nodes: a read never overwrites a later write."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from kibitz_server.storage.group_commit import Statement
from kibitz_server.storage.interface import PlayerRow
from kibitz_server.storage.postgres.players import PostgresPlayers

GUEST = ("g1", "ada", "human", False, "ada", 1000)


class Writer:
    """Stores callbacks for durable statements."""

    def __init__(self) -> None:
        self.applied: list[Any] = []

    def execute(self, *statements: Statement, waiter: Any = None) -> None:
        self.applied += [statement.applied for statement in statements]


class Rows:
    """A cursor over rows; `before_end` is called before the last row is returned."""

    def __init__(self, rows: Iterable[Any], before_end: Any = None) -> None:
        self._rows, self._before_end = list(rows), before_end

    async def fetchall(self) -> list[Any]:
        if self._before_end is not None:
            self._before_end()
        return self._rows


class Database:
    """Answers the queries of `take_up` from a table; `overtake` is called during the first read."""

    def __init__(self) -> None:
        self.rows = [(*GUEST, b"1", 1)]
        self.overtake: Any = None

    @asynccontextmanager
    async def transaction(self) -> Any:
        yield

    async def execute(self, query: str, values: tuple[int, ...] = ()) -> Rows:
        if "FROM player" not in query:
            return Rows(())
        rows, overtake, self.overtake = list(self.rows), self.overtake, None
        return Rows(rows, overtake)


class EmptyDatabase:
    """An empty database, as at a node's first start."""

    @contextmanager
    def transaction(self) -> Any:
        yield

    def execute(self, query: str) -> list[Any]:
        return []


async def test_a_row_that_an_own_write_has_overtaken_is_read_again() -> None:
    writer: Any = Writer()
    db = Database()
    empty: Any = EmptyDatabase()
    shared: Any = db
    players = PostgresPlayers(writer, empty, shared=True)
    await players.take_up(shared)
    assert players.by_key("g1") == PlayerRow(*GUEST)
    players.note_seen("g1", 2000)

    def overtake() -> None:
        writer.applied[-1](1)
        db.rows = [(*GUEST[:-1], 2000, b"1", 1)]

    db.overtake = overtake
    await players.take_up(shared)
    row = players.by_key("g1")
    assert row is not None
    assert row.created == 2000
