"""What holds for every test: how many examples Hypothesis draws, and who may start processes."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable

import pytest

from tests.tools import profiles
from tests.tools.measurements import ReportFigure

profiles.load()

ADVICE = "a test that starts processes is marked e2e (or slow): `make test` starts none"


@pytest.fixture(autouse=True)
def no_processes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail a test that starts a process and is marked neither e2e nor slow."""
    if any(request.node.iter_markers("e2e")) or any(request.node.iter_markers("slow")):
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
