"""The command as run by users: real processes and sockets, with cleanup at the end."""

from __future__ import annotations

import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tools import postgres_server
from tests.tools.command import END_SECONDS, Kibitz, ended, marked
from tests.tools.postgres_server import PostgresCluster

HERE = Path(__file__).parent
COMPILE_SECONDS = 300


@pytest.hookimpl(tryfirst=True)  # before the marks select tests
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test of this folder as one that starts processes."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.e2e)


@pytest.fixture(scope="session")
def warm() -> None:
    """Compile before the first time-dependent test; `make test-e2e` has already done so."""
    command = [sys.executable, "-m", "tests.tools.warm_cache", "e2e"]
    subprocess.run(command, check=True, timeout=COMPILE_SECONDS, stdout=subprocess.DEVNULL)


@pytest.fixture
def kibitz(tmp_path: Path, warm: None) -> Iterator[Kibitz]:
    """The command; no process that it starts, directly or indirectly, outlives the test."""
    command = Kibitz(tmp_path, uuid.uuid4().hex)
    yield command
    left = marked(command.mark)
    assert [left[pid] for pid in ended(list(left), END_SECONDS)] == []


@pytest.fixture
def cluster() -> Iterator[PostgresCluster]:
    """A cluster for one test, which may kill it."""
    if postgres_server.programs() is None:
        pytest.skip(postgres_server.SKIPPED)
    with postgres_server.cluster() as made:
        yield made
