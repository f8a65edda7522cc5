"""The location of a database: the path of an SQLite file, or the URL of a PostgreSQL database."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias
from urllib.parse import urlsplit

SCHEMES = ("postgresql://", "postgres://")


@dataclass(frozen=True, slots=True)
class PostgresURL:
    """The URL of a PostgreSQL database; `str()` omits the password."""

    url: str

    def __str__(self) -> str:
        parts = urlsplit(self.url)
        given, at, place = parts.netloc.rpartition("@")
        return f"postgresql://{given.partition(':')[0]}{at}{place}{parts.path}"

    def __repr__(self) -> str:
        return f"PostgresURL({str(self)!r})"


Database: TypeAlias = Path | PostgresURL
NODE_NAME: Final = r"[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?"
"""The pattern of node names: lower-case letters, digits and hyphens, as in a host name."""
SINGLE_SERVER: Final = "main"
"""The name in the table `node` for a server without a name; no node may use it."""


@dataclass(frozen=True, slots=True)
class NodeIdentity:
    """The name and URL of a server that shares its database; raises `ValueError` if invalid."""

    name: str
    url: str
    """The URL at which clients reach it, such as ``wss://a.games.example.org``."""

    def __post_init__(self) -> None:
        if re.fullmatch(NODE_NAME, self.name) is None or self.name == SINGLE_SERVER:
            raise ValueError(
                f"a node name must have 1 to 32 lower-case letters, digits and hyphens, and"
                f" cannot be {SINGLE_SERVER!r}; got {self.name!r}"
            )
        parts = urlsplit(self.url)
        if parts.scheme not in {"ws", "wss"} or not parts.hostname or parts.query:
            raise ValueError(f"a public URL must begin with ws:// or wss://; got {self.url!r}")


def database_of(value: object) -> object:
    """Convert a string to a location; return any other value unchanged."""
    if isinstance(value, str):
        return PostgresURL(value) if value.startswith(SCHEMES) else Path(value)
    return value
