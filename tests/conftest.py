"""Settings of every test: how many examples Hypothesis draws, and who may start processes.

How the tests are collected and in what order they run is here too.
"""

from __future__ import annotations

import gc
import os
import subprocess
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from tests.tools import profiles
from tests.tools.measurements import ReportFigure

profiles.load()

HERE = Path(__file__).parent
ADVICE = "a test that starts processes is marked e2e (or slow, or peers): `make test` starts none"
LONGEST_FIRST = ("e2e", "simulation")
"""Folders whose tests are the longest."""


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Collect without garbage collections, and spare those of the tests what was collected.

    Modules and test items are some 700,000 objects that stay to the end. Walking over them again
    and again is a third of the time that collecting takes.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest tests, so that no worker has one left when the others are done."""
    folders = tuple(f"{HERE / name}{os.sep}" for name in LONGEST_FIRST)
    items.sort(key=lambda item: not str(item.path).startswith(folders))


@pytest.fixture(autouse=True)
def no_processes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail a test that starts a process and is not marked as one that may."""
    if any(request.node.get_closest_marker(name) for name in ("e2e", "slow", "peers")):
        return

    def refuse(*_: object, **__: object) -> None:
        pytest.fail(ADVICE)

    monkeypatch.setattr(subprocess.Popen, "__init__", refuse)
    for name in ("fork", "posix_spawn"):
        if hasattr(os, name):
            monkeypatch.setattr(os, name, refuse)


@pytest.fixture
def report(
    request: pytest.FixtureRequest, record_property: Callable[[str, object], None]
) -> ReportFigure:
    """Show a line of figures on the terminal, and keep it in the test's report."""
    terminal = request.config.get_terminal_writer()

    def report_line(line: str) -> None:
        record_property("figure", line)
        terminal.line(f"\n{line}")

    return report_line
