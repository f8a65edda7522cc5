"""The location of a database, and hiding its password."""

from __future__ import annotations

from pathlib import Path

import pytest

from kibitz_server.storage.location import PostgresURL, database_of


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://ada:s3cret@db.example.org:5433/games", "ada@db.example.org:5433/games"),
        ("postgres://ada@localhost/games", "ada@localhost/games"),
        ("postgresql://localhost", "localhost"),
        ("postgresql:///games?host=/run/postgresql&password=s3cret", "/games"),
        ("postgresql://ada:s3cret@/games?host=/run/postgresql", "ada@/games"),
        ("postgresql://ada:s3@cret@db/games", "ada@db/games"),
    ],
)
def test_an_address_is_shown_without_its_password(url: str, shown: str) -> None:
    found = database_of(url)
    assert isinstance(found, PostgresURL)
    assert str(found) == f"postgresql://{shown}"
    assert "cret" not in repr(found)
    assert found.url == url


def test_everything_else_is_a_file() -> None:
    assert database_of("games/kibitz.db") == Path("games/kibitz.db")
    assert database_of(Path("kibitz.db")) == Path("kibitz.db")
