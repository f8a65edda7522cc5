"""What psycopg offers the server, over a link that fails, to the simulated PostgreSQL.

A message takes its time and may find the link cut: then it waits, as TCP repeats it, for up to
`GIVEN_UP_S`. A connection that breaks loses what was under way, before it reached the database or
after it had its effect there: the commit is in doubt.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Self, cast

import psycopg
from psycopg.pq import TransactionStatus

from tests.tools.simulated_postgres import (
    Database,
    MustWait,
    Notice,
    Request,
    Result,
    Session,
    Values,
)
from tests.tools.virtual_time import Scheduler, VirtualTaskLoop

GIVEN_UP_S = 5.0
"""Seconds after which TCP gives up what is not acknowledged (`tcp_user_timeout`)."""
DEAD_S = 11.0
"""Seconds after which keepalives find out at the database's end that nobody is there."""
_STATUS = {
    "idle": TransactionStatus.IDLE,
    "open": TransactionStatus.INTRANS,
    "failed": TransactionStatus.INERROR,
}


class Link:
    """The network between one node and the database."""

    def __init__(
        self, scheduler: Scheduler, delay: Callable[[float], float], breaks: Callable[[], str]
    ) -> None:
        """`breaks` says of each request whether it breaks its connection: before, after or not."""
        self.scheduler = scheduler
        self.delay = delay
        self.breaks = breaks
        self.is_cut = False
        self._held: list[tuple[float, Callable[[], None]]] = []

    def cut(self) -> None:
        self.is_cut = True

    def mend(self) -> None:
        """Carry on; what TCP has given up meanwhile never arrives."""
        self.is_cut = False
        held, self._held = self._held, []
        for since, deliver in held:
            if self.scheduler.now - since < GIVEN_UP_S:
                self.scheduler.call_after(0.0, deliver)

    def carry(self, deliver: Callable[[], None]) -> None:
        """Deliver something at the other end, or hold it while the link is cut."""

        def arrive() -> None:
            if self.is_cut:
                self._held.append((self.scheduler.now, deliver))
            else:
                deliver()

        self.scheduler.call_after(self.delay(0.004), arrive)


class Cursor:
    """What a statement has found."""

    def __init__(self, result: Result | None = None) -> None:
        self._result = result

    @property
    def rowcount(self) -> int:
        return self._found().rowcount

    async def fetchall(self) -> list[tuple[Any, ...]]:
        return self._found().rows

    async def fetchone(self) -> tuple[Any, ...] | None:
        return next(iter(self._found().rows), None)

    async def _rows(self) -> Any:
        for row in self._found().rows:
            yield row

    def __aiter__(self) -> Any:
        return self._rows()

    def fill(self, result: Result) -> None:
        self._result = result

    def _found(self) -> Result:
        assert self._result is not None, "the pipeline is not over"
        return self._result


class AsyncConnection:
    """A connection of a node (`psycopg.AsyncConnection`)."""

    def __init__(self, link: Link, session: Session, loop: VirtualTaskLoop) -> None:
        self._link = link
        self._session = session
        self._loop = loop
        self.closed = False
        self.broken = False
        self.info = self
        self.transaction_status = TransactionStatus.IDLE
        self._waiting: list[asyncio.Future[list[Result]]] = []
        self._gathered: list[tuple[str, Values, Cursor]] | None = None
        self._notified: asyncio.Event = asyncio.Event()
        self._notices: list[Notice] = []
        session.on_ended = lambda reason: link.carry(lambda: self._soon(self._broken, reason))
        session.on_notify = lambda each: link.carry(lambda: self._soon(self._hear, each))

    async def execute(self, sql: str, values: Values = ()) -> Cursor:
        if self._gathered is not None:
            cursor = Cursor()
            self._gathered.append((sql, _given(values), cursor))
            return cursor
        [result] = await self._ask([(sql, _given(values))])
        return Cursor(result)

    def pipeline(self) -> _Pipeline:
        return _Pipeline(self)

    def transaction(self) -> _Transaction:
        return _Transaction(self)

    def notifies(self, *, timeout: float) -> _Notifications:
        return _Notifications(self, timeout)

    async def close(self) -> None:
        """Close without waiting; the database hears of it when the link carries it there."""
        if not self.closed:
            self.closed = True
            self._link.carry(self._session.close)
            if self._link.is_cut:
                self._link.scheduler.call_after(DEAD_S, lambda: self._session.end("nobody there"))

    def vanish(self) -> None:
        """The process is gone, and its kernel closes what it had open."""
        self.closed = True
        self._link.carry(self._session.close)
        self._link.scheduler.call_after(DEAD_S, lambda: self._session.end("nobody there"))

    # --- requests ---

    async def flush_pipeline(self) -> None:
        gathered, self._gathered = self._gathered or [], None
        results = await self._ask([(sql, values) for sql, values, _ in gathered])
        for (_, _, cursor), result in zip(gathered, results, strict=True):
            cursor.fill(result)

    def begin_pipeline(self) -> None:
        self._gathered = []

    def end_pipeline(self) -> None:
        self._gathered = None

    async def _ask(self, statements: list[tuple[str, Values]]) -> list[Result]:
        if self.closed:
            raise psycopg.OperationalError("the connection is closed")
        future: asyncio.Future[list[Result]] = self._loop.create_future()
        self._waiting.append(future)
        fate = self._link.breaks()

        def replied(results: list[Result], error: Exception | None) -> None:
            status = _STATUS[self._session.status]
            if fate == "after":
                self._reset()
            else:
                self._link.carry(lambda: self._soon(self._answered, future, results, error, status))

        if fate == "before":
            self._reset()
        else:
            self._link.carry(lambda: self._session.submit(Request(statements, replied)))
        try:
            return await future
        finally:
            if future in self._waiting:
                self._waiting.remove(future)

    def _answered(
        self,
        future: asyncio.Future[list[Result]],
        results: list[Result],
        error: Exception | None,
        status: TransactionStatus,
    ) -> None:
        self.transaction_status = status
        if future.done():
            return
        if error is None:
            future.set_result(results)
        else:
            future.set_exception(error)

    def _reset(self) -> None:
        """Break: both ends find out, each in its own time."""
        scheduler, delay = self._link.scheduler, self._link.delay
        scheduler.call_after(delay(0.5), self._session.close)
        scheduler.call_after(delay(0.5), lambda: self._soon(self._broken, "connection reset"))

    def _broken(self, reason: str) -> None:
        self.closed = self.broken = True
        for future in list(self._waiting):
            if not future.done():
                future.set_exception(psycopg.OperationalError(reason))
        self._notified.set()

    def _soon(self, call: Callable[..., None], *args: object) -> None:
        self._loop.call_soon(call, *args)

    def _hear(self, notice: Notice) -> None:
        self._notices.append(notice)
        self._notified.set()

    async def next_notice(self) -> Notice:
        await self._notified.wait()
        if self.closed:
            raise psycopg.OperationalError("the connection is closed")
        notice = self._notices.pop(0)
        if not self._notices:
            self._notified.clear()
        return notice


class _Pipeline:
    def __init__(self, db: AsyncConnection) -> None:
        self._db = db

    async def __aenter__(self) -> Self:
        self._db.begin_pipeline()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        if kind is None:
            await self._db.flush_pipeline()
        else:
            self._db.end_pipeline()


class _Transaction:
    def __init__(self, db: AsyncConnection) -> None:
        self._db = db

    async def __aenter__(self) -> Self:
        await self._db.execute("BEGIN")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        if kind is None:
            await self._db.execute("COMMIT")
        elif issubclass(kind, Exception) and not self._db.closed:
            await self._db.execute("ROLLBACK")


class _Notifications:
    """Ends when the time is over."""

    def __init__(self, db: AsyncConnection, timeout: float) -> None:
        self._db = db
        self._until = asyncio.get_running_loop().time() + timeout

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Notice:
        try:
            async with asyncio.timeout_at(self._until):
                return await self._db.next_notice()
        except TimeoutError:
            raise StopAsyncIteration from None


class BlockingConnection:
    """A connection of a node's start, for which no time passes (`psycopg.Connection`)."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def execute(self, sql: str, values: Values = ()) -> BlockingCursor:
        if self._session.ended:
            raise psycopg.OperationalError(self._session.ended)
        try:
            return BlockingCursor(self._session.execute(sql, _given(values)))
        except MustWait:
            raise psycopg.OperationalError("canceling statement due to lock timeout") from None

    def transaction(self) -> _BlockingTransaction:
        return _BlockingTransaction(self)

    def close(self) -> None:
        self._session.close()


class BlockingCursor:
    def __init__(self, result: Result) -> None:
        self._result = result
        self.rowcount = result.rowcount

    def fetchall(self) -> list[tuple[Any, ...]]:
        return self._result.rows

    def fetchone(self) -> tuple[Any, ...] | None:
        return next(iter(self._result.rows), None)

    def __iter__(self) -> Any:
        return iter(self._result.rows)


class _BlockingTransaction:
    def __init__(self, db: BlockingConnection) -> None:
        self._db = db

    def __enter__(self) -> Self:
        self._db.execute("BEGIN")
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._db.execute("COMMIT" if kind is None else "ROLLBACK")


class NodeConnections:
    """Makes the connections of one process of a node, and ends them with it."""

    def __init__(self, database: Database, link: Link, loop: VirtualTaskLoop, node: str) -> None:
        self._database = database
        self._link = link
        self._loop = loop
        self._node = node
        self._made: list[AsyncConnection] = []
        self._blocking: list[Session] = []

    def connect(self) -> psycopg.Connection[Any]:
        """Connect for the start; raises `OperationalError`."""
        if self._link.is_cut:
            raise psycopg.OperationalError("connection timeout expired")
        session = self._database.connect(self._node, idle_ends=False)
        self._blocking.append(session)
        return cast("psycopg.Connection[Any]", BlockingConnection(session))

    async def connect_async(self, options: str) -> psycopg.AsyncConnection[Any]:
        """Connect with options as libpq takes them; raises `OperationalError`."""
        made: asyncio.Future[AsyncConnection] = self._loop.create_future()

        def arrive() -> None:
            try:
                idle = "idle_in_transaction_session_timeout" in options
                session = self._database.connect(self._node, idle_ends=idle)
            except psycopg.OperationalError as error:
                self._loop.call_soon(_fail, made, error)
            else:
                self._loop.call_soon(self._connected, made, session)

        self._link.carry(arrive)
        try:
            async with asyncio.timeout(GIVEN_UP_S):
                return cast("psycopg.AsyncConnection[Any]", await made)
        except TimeoutError:
            raise psycopg.OperationalError("connection timeout expired") from None

    def _connected(self, made: asyncio.Future[AsyncConnection], session: Session) -> None:
        connection = AsyncConnection(self._link, session, self._loop)
        self._made.append(connection)
        if made.done():
            connection.vanish()
        else:
            made.set_result(connection)

    def end(self) -> None:
        """The process is gone."""
        for session in self._blocking:
            session.end("closed")
        for connection in self._made:
            if not connection.closed:
                connection.vanish()


def _fail(made: asyncio.Future[AsyncConnection], error: Exception) -> None:
    if not made.done():
        made.set_exception(error)


def _given(values: Values) -> Values:
    """Return the values of a statement, by their places or their names, as they are now."""
    return dict(values) if isinstance(values, Mapping) else tuple(values)
