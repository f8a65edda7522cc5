"""The display of a run: occasional lines without a terminal, a bar on a terminal."""

from __future__ import annotations

import io
import sys

import pytest

from kibitz.output import echo, tell
from kibitz.text.progress_bar import SECONDS, Bar, Lines, shown


def test_a_line_now_and_then_and_the_last_one(capsys: pytest.CaptureFixture[str]) -> None:
    time = 0.0
    lines = Lines(echo, tell, lambda: time)
    for done in range(1, 31):
        time = done * SECONDS / 10
        lines.progress(done, 31, "so far")
    lines.progress(31, 31, "at last")
    lines.progress(31, 31, "after all")
    out, err = capsys.readouterr()
    assert err.splitlines() == [
        "10 of 31, 0:00:21 left: so far",
        "20 of 31, 0:00:11 left: so far",
        "30 of 31, 0:00:01 left: so far",
        "31 of 31: at last",
    ]
    assert out == ""


def test_what_is_said_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with shown() as reporter:
        assert isinstance(reporter, Lines)
        reporter.say("won 9 of 10")
    assert capsys.readouterr().out == "won 9 of 10\n"


def test_what_is_said_remains_if_progress_is_not_wanted(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    with shown(tell, quiet=True) as reporter:
        reporter.progress(10, 10, "the end")
        reporter.say("waiting for [Ada]")
    assert terminal.getvalue() == "waiting for [Ada]\n"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_bar_goes_when_something_is_said_and_at_the_end(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with shown() as reporter:
        assert isinstance(reporter, Bar)
        reporter.progress(3, 10, "a [bold] text\x1b[31m")
        reporter.say("a figure")
        reporter.progress(10, 10, "the end")
    assert capsys.readouterr().out == "a figure\n"
    assert "3/10" in terminal.getvalue()
    assert "[bold]" in terminal.getvalue()
    assert "\x1b[31m" not in terminal.getvalue()
