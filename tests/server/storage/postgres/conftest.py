"""A database on the PostgreSQL server for each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kibitz_server.storage.location import PostgresURL
from tests.tools import postgres_server


@pytest.fixture
def url(postgres: str) -> Iterator[PostgresURL]:
    with postgres_server.database(postgres) as made:
        yield made
