"""The command as people run it: real processes, real sockets, everything ended at the end."""

from __future__ import annotations

import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kibitz.testing import END_SECONDS, Kibitz, ended, marked
from tests.tools.figures import Tell

HERE = Path(__file__).parent
COMPILE_SECONDS = 300


@pytest.hookimpl(tryfirst=True)  # before the one of xdist, which reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All of them are heavy enough to disturb each other: one worker runs them in turn."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.e2e)
            item.add_marker(pytest.mark.xdist_group("e2e"))


@pytest.fixture(scope="session")
def warm() -> None:
    """Compile before the first test that looks at a clock."""
    command = [sys.executable, "-m", "kibitz", "bots", "--warm"]
    subprocess.run(command, check=True, timeout=COMPILE_SECONDS, stdout=subprocess.DEVNULL)


@pytest.fixture
def tell(request: pytest.FixtureRequest, record_property: Callable[[str, object], None]) -> Tell:
    """Tell a line of figures, on the terminal and in the report."""
    terminal = request.config.get_terminal_writer()

    def told(line: str) -> None:
        record_property("figure", line)
        terminal.line(f"\n{line}")

    return told


@pytest.fixture
def kibitz(tmp_path: Path, warm: None) -> Iterator[Kibitz]:
    """The command; nothing that it starts, directly or indirectly, outlives the test."""
    command = Kibitz(tmp_path, uuid.uuid4().hex)
    yield command
    left = marked(command.mark)
    assert [left[pid] for pid in ended(list(left), END_SECONDS)] == []
