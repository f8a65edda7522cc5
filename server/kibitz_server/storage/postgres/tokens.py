"""The token register of a PostgreSQL database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kibitz_server.storage.location import PostgresURL
from kibitz_server.storage.postgres.connection import connect, translate_errors
from kibitz_server.storage.postgres.schema import ACCOUNTS_LOCK, ensure_schema
from kibitz_server.storage.token_register import TokenRegister


class PostgresTokenRegister(TokenRegister):
    """The accounts and tokens of a PostgreSQL database, whose servers read numbered changes."""

    change_column, change_value = ", change", ", nextval('change')"
    change_assigned = ", change = nextval('change')"

    def __init__(self, url: PostgresURL) -> None:
        super().__init__(connect(url))
        self._url = url
        try:
            ensure_schema(self._db, url)
        except BaseException:
            self.close()
            raise

    @contextmanager
    def transaction(self) -> Iterator[None]:
        with translate_errors(self._url), self._db.transaction():
            self.execute("SELECT pg_advisory_xact_lock(?)", ACCOUNTS_LOCK)
            yield

    def execute(self, sql: str, *values: object) -> Any:
        return super().execute(sql.replace("?", "%s"), *values)
