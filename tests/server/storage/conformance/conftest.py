"""Run every test of this folder on each engine; PostgreSQL engines start a server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from kibitz_server.storage.interface import Store
from tests.server.storage.conformance.engines import (
    NODE,
    Engine,
    FakeEngine,
    FullEngine,
    NodeEngine,
    PostgresEngine,
    SQLiteEngine,
)
from tests.tools import postgres_server

FULL = (
    "sqlite",
    pytest.param("postgres", marks=pytest.mark.e2e),
    pytest.param("node", marks=pytest.mark.e2e),
)


@pytest.fixture(params=["fake", *FULL])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    yield from _engine(request, tmp_path)


@pytest.fixture(params=FULL)
def full_engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[FullEngine]:
    """An engine for servers, except the fake one."""
    yield from _engine(request, tmp_path)


@pytest.fixture(params=["fake", FULL[-1]])
def node_engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[NodeEngine]:
    """An engine that nodes can share."""
    yield from _engine(request, tmp_path)


def _engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    if request.param == "fake":
        yield FakeEngine()
    elif request.param == "sqlite":
        yield SQLiteEngine(tmp_path / "kibitz.db")
    else:
        with postgres_server.database(request.getfixturevalue("postgres")) as url:
            yield PostgresEngine(url, NODE if request.param == "node" else None)


@pytest.fixture
async def store(engine: Engine) -> AsyncIterator[Store]:
    store = engine.open()
    yield store
    await store.close()
