"""The command of the process that analyzes a match for a server."""

from __future__ import annotations

import pytest

from kibitz.analysis import match_process


def test_the_command_has_the_limits_and_names_the_match() -> None:
    command = match_process.analysis_command(("--resident", "512"))
    assert command is not None
    words = [*command("ws://here", "m1", 50, "out.json")]
    module = "kibitz.analysis.match_process"
    assert words[-7:] == ["--resident", "512", module, "ws://here", "m1", "50", "out.json"]


def test_without_the_searches_nothing_is_analyzed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(match_process, "find_spec", lambda name: None)
    assert match_process.analysis_command() is None
