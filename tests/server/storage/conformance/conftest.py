"""Runs every test of this folder on each engine; those of PostgreSQL start a server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from kibitz_server.storage.interface import Store
from kibitz_server.storage.location import NodeIdentity
from tests.server.storage.conformance.engines import Engine, PostgresEngine, SQLiteEngine
from tests.tools import postgres_server

NODE = NodeIdentity("a", "ws://a.example.org")


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a PostgreSQL server."""
    if not postgres_server.ADDRESS and postgres_server.programs() is None:
        pytest.skip(postgres_server.SKIPPED)
    with postgres_server.server_url() as url:
        yield url


@pytest.fixture(
    params=[
        "sqlite",
        pytest.param("postgres", marks=pytest.mark.e2e),
        pytest.param("node", marks=pytest.mark.e2e),
    ]
)
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    if request.param == "sqlite":
        yield SQLiteEngine(tmp_path / "kibitz.db")
        return
    with postgres_server.database(request.getfixturevalue("postgres")) as url:
        yield PostgresEngine(url, NODE if request.param == "node" else None)


@pytest.fixture
async def store(engine: Engine) -> AsyncIterator[Store]:
    store = engine.open()
    yield store
    await store.close()
