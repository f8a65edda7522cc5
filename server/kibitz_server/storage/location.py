"""Where a database is: the path of a SQLite file, or the address of a PostgreSQL database."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias
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


def database_of(value: object) -> object:
    """Return where a database is that somebody named; what is no text is returned as it is."""
    if isinstance(value, str):
        return PostgresURL(value) if value.startswith(SCHEMES) else Path(value)
    return value
