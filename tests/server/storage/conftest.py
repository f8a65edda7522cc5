"""A PostgreSQL server for all tests of the storage in a process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.tools import postgres_server


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The URL of a PostgreSQL server."""
    if not postgres_server.ADDRESS and postgres_server.programs() is None:
        pytest.skip(postgres_server.SKIPPED)
    with postgres_server.server_url() as url:
        yield url
