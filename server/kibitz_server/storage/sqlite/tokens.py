"""The token register of an SQLite file."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

from kibitz_server.storage.sqlite.connection import transaction
from kibitz_server.storage.sqlite.schema import connect_admin
from kibitz_server.storage.token_register import TokenRegister


class SQLiteTokenRegister(TokenRegister):
    """The accounts and tokens of an SQLite file."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        super().__init__(connect_admin(path))

    def transaction(self) -> AbstractContextManager[None]:
        return transaction(self._db)
