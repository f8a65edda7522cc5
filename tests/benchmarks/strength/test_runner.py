"""Playing a target: external programs are checked before an event starts."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks.strength import runner as strength_runner
from benchmarks.strength.cases import StrengthCase
from tests.arena import tournaments

FAILS = [sys.executable, "-c", "import sys; sys.exit('ENGINE must say where it lies')"]
SILENT = [sys.executable, "-c", "raise SystemExit(3)"]
ABSENT = ["/nowhere/engine"]


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("command", "says"),
    [
        (FAILS, "cannot play: ENGINE must say where it lies"),
        (SILENT, "cannot play: its program exited with status 3"),
        (ABSENT, "cannot play: .*nowhere/engine"),
    ],
    ids=["a sentence", "a status", "no program"],
)
def test_a_program_that_cannot_play_is_told_before_anybody_wins(
    tmp_path: Path, command: list[str], says: str
) -> None:
    form = tournaments.event(2)
    ada, bob = form.entrants
    foreign = bob.model_copy(update={"bot": None, "remote": None, "stdio": tuple(command)})
    form = form.model_copy(update={"entrants": (ada, foreign)})
    target = StrengthCase("cup", form, tmp_path)
    with pytest.raises(strength_runner.CaseFailedError, match=f"Bob {says}"):
        strength_runner.play_case(target, form, tmp_path / "run", quiet=True)
    assert not (tmp_path / "run").exists()


@pytest.mark.e2e
def test_a_program_that_finds_nothing_to_read_is_ready(tmp_path: Path) -> None:
    strength_runner._try_out(
        "Bob", [sys.executable, "-c", "import sys; sys.stdin.read()"], tmp_path
    )
