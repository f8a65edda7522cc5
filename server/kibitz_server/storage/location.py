"""Where a database is: the path of a SQLite file, or the address of a PostgreSQL database."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias
from urllib.parse import urlsplit

SCHEMES = ("postgresql://", "postgres://")


@dataclass(frozen=True, slots=True)
class PostgresURL:
    """The address of a PostgreSQL database; shown without its password."""

    url: str

    def __str__(self) -> str:
        parts = urlsplit(self.url)
        given, at, place = parts.netloc.rpartition("@")
        return f"postgresql://{given.partition(':')[0]}{at}{place}{parts.path}"

    def __repr__(self) -> str:
        return f"PostgresURL({str(self)!r})"


Database: TypeAlias = Path | PostgresURL
NODE_NAME: Final = r"[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?"
"""Names of nodes: lower-case letters, digits and hyphens, as in the name of a machine."""
SINGLE_SERVER: Final = "main"
"""The row of `node` that a server without a name has; no node may be called so."""


@dataclass(frozen=True, slots=True)
class NodeIdentity:
    """One of several servers on one database. Raises `ValueError` for a name that cannot be."""

    name: str
    url: str
    """Where clients reach it, such as ``wss://a.games.example.org``."""

    def __post_init__(self) -> None:
        if re.fullmatch(NODE_NAME, self.name) is None or self.name == SINGLE_SERVER:
            raise ValueError(
                f"a node is called by 1 to 32 lower-case letters, digits and hyphens, and not"
                f" {SINGLE_SERVER!r}: {self.name!r} is no such name"
            )
        parts = urlsplit(self.url)
        if parts.scheme not in {"ws", "wss"} or not parts.hostname or parts.query:
            raise ValueError(f"a public URL begins with ws:// or wss://, unlike {self.url!r}")


def database_of(value: object) -> object:
    """Return where a database is that somebody named; what is no text is returned as it is."""
    if isinstance(value, str):
        return PostgresURL(value) if value.startswith(SCHEMES) else Path(value)
    return value
