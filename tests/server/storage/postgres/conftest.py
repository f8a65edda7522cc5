"""A PostgreSQL server for the tests of a module, and a database on it for each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kibitz_server.storage.location import PostgresURL
from tests.tools import postgres_server


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    if not postgres_server.ADDRESS and postgres_server.programs() is None:
        pytest.skip(postgres_server.SKIPPED)
    with postgres_server.server_url() as url:
        yield url


@pytest.fixture
def url(server: str) -> Iterator[PostgresURL]:
    with postgres_server.database(server) as made:
        yield made
