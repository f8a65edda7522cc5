"""Connections to PostgreSQL, and error messages about them for the operator.

Every connection is in autocommit mode, so the code opens all transactions explicitly. Keepalives
and `tcp_user_timeout` end sessions that would otherwise wait forever for a vanished server.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, TypeAlias, TypeVar

import psycopg
from psycopg import errors as sqlstate

from kibitz_server.storage.errors import StoreError, UnusableDatabase
from kibitz_server.storage.location import PostgresURL

Connection: TypeAlias = psycopg.AsyncConnection[tuple[Any, ...]]
SyncConnection: TypeAlias = psycopg.Connection[tuple[Any, ...]]
_T = TypeVar("_T")
CONNECT_TIMEOUT_S = 5
READERS = 2
READ_TIMEOUT_S = 30.0
IDLE_TRANSACTION_MS = 4000
OPTIONS: dict[str, Any] = {
    "application_name": "kibitz",
    "connect_timeout": CONNECT_TIMEOUT_S,
    "tcp_user_timeout": 5000,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "options": "-c search_path=kibitz -c synchronous_commit=on",
}


def connect(url: PostgresURL) -> SyncConnection:
    """Connect, for startup and administrative changes. It blocks; raises `StoreError`."""
    try:
        return psycopg.connect(url.url, autocommit=True, **OPTIONS)
    except psycopg.Error as error:
        raise UnusableDatabase(describe(url, error)) from None


async def connect_async(url: PostgresURL, *, patient: bool = True) -> Connection:
    """Connect without blocking the event loop; raises `psycopg.Error`.

    Unless `patient`, the database ends a transaction that waits `IDLE_TRANSACTION_MS` for its next
    statement. So a suspended program does not keep rows locked that others need.
    """
    options = dict(OPTIONS)
    if not patient:
        idle = f" -c idle_in_transaction_session_timeout={IDLE_TRANSACTION_MS}"
        options["options"] += idle
    return await psycopg.AsyncConnection.connect(url.url, autocommit=True, **options)


@contextlib.contextmanager
def translate_errors(url: PostgresURL) -> Iterator[None]:
    """Translate the driver's errors into `UnusableDatabase`."""
    try:
        yield
    except (psycopg.Error, OSError) as error:
        raise UnusableDatabase(describe(url, error)) from error


def describe(url: PostgresURL, error: Exception) -> str:
    """Return an error message that omits the password."""
    text = " ".join(str(error).split()) or type(error).__name__
    for told, sentence in _SENTENCES:
        if re.search(told, text):
            return f"{str(url)!r} {sentence}"
    if isinstance(error, sqlstate.InsufficientPrivilege):
        return f"{str(url)!r} does not let this user create or change tables: {text}"
    if isinstance(error, psycopg.ProgrammingError) and "conninfo" in text:
        return f"{str(url)!r} is not a valid PostgreSQL URL"
    return f"{str(url)!r} cannot be used: {text}"


_SENTENCES = (
    ("password authentication failed", "rejects the user or the password"),
    ("no password supplied", "requires a password: put it into the URL, PGPASSWORD or ~/.pgpass"),
    ("role .* does not exist", "cannot be used: unknown user"),
    ("role .* is not permitted", "cannot be used: this user is not allowed to log in"),
    ("database .* does not exist", "does not exist: create it with `createdb`, then start again"),
    ("Connection refused", "cannot be reached: no PostgreSQL server is listening there"),
    ("No such file or directory", "cannot be reached: no PostgreSQL server is listening there"),
    ("timeout", "cannot be reached: the connection timed out"),
    ("starting up", "is starting up: try again in a moment"),
)
"""libpq's messages about failed connections (it has no codes for them), and our replacements."""


class StartConnection:
    """The blocking connection used from startup until the first batch is written."""

    def __init__(self, url: PostgresURL) -> None:
        self._url = url
        self._db: SyncConnection | None = connect(url)

    @property
    def open(self) -> bool:
        return self._db is not None

    @property
    def db(self) -> SyncConnection:
        if self._db is None:
            raise AssertionError("blocking queries are only allowed during startup")
        return self._db

    def rows(self, sql: str, *values: str | int) -> list[tuple[Any, ...]]:
        with translate_errors(self._url):
            return self.db.execute(sql, values).fetchall()

    def close(self) -> None:
        if self._db is not None:
            self._db.close()
            self._db = None


class LastingConnection:
    """A connection that is opened on first use, and reopened after an error."""

    def __init__(self, connect: Callable[[], Awaitable[Connection]], timeout_s: float) -> None:
        self._connect = connect
        self._timeout_s = timeout_s
        self._in_use = asyncio.Lock()
        self.db: Connection | None = None

    async def use(self, query: Callable[[Connection], Awaitable[_T]]) -> _T:
        """Run one query at a time, and return its result; raises `psycopg.Error` and `OSError`."""
        async with self._in_use, asyncio.timeout(self._timeout_s):
            if self.db is None or self.db.closed:
                self.db = await self._connect()
            try:
                return await query(self.db)
            except BaseException:
                db, self.db = self.db, None
                with contextlib.suppress(psycopg.Error):
                    await db.close()
                raise

    async def close(self) -> None:
        if self.db is not None:
            await self.db.close()


class Readers:
    """A few connections for reading, opened on first use."""

    def __init__(self, url: PostgresURL) -> None:
        self._url = url
        self._idle: list[Connection] = []
        self._turns = asyncio.Semaphore(READERS)

    async def read(self, query: Callable[[Connection], Awaitable[_T]]) -> _T:
        """Return a query's result; raises `UnusableDatabase` if the database does not answer.

        An idle connection may have died, so the query is retried once on a new one.
        """
        async with self._turns:
            while True:
                reused = bool(self._idle)
                try:
                    async with asyncio.timeout(READ_TIMEOUT_S):
                        db = self._idle.pop() if reused else await connect_async(self._url)
                        return await self._ask(db, query)
                except (psycopg.Error, OSError) as error:
                    if not reused:
                        raise UnusableDatabase(describe(self._url, error)) from error

    async def _ask(self, db: Connection, query: Callable[[Connection], Awaitable[_T]]) -> _T:
        try:
            found = await query(db)
        except StoreError:
            self._idle.append(db)
            raise
        except BaseException:
            await db.close()
            raise
        self._idle.append(db)
        return found

    async def close(self) -> None:
        while self._idle:
            await self._idle.pop().close()
