"""Playing a target: programs of others are tried out before an event begins."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks.strength import staging
from benchmarks.strength.targets import Target
from tests.clients.arena import events

FAILS = [sys.executable, "-c", "import sys; sys.exit('ENGINE must say where it lies')"]
SILENT = [sys.executable, "-c", "raise SystemExit(3)"]
ABSENT = ["/nowhere/engine"]


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (FAILS, "cannot play: ENGINE must say where it lies"),
        (SILENT, "cannot play: its program ends with status 3"),
        (ABSENT, "cannot play: .*nowhere/engine"),
    ],
    ids=["a sentence", "a status", "no program"],
)
def test_a_program_that_cannot_play_is_told_before_anybody_wins(
    tmp_path: Path, command: list[str], says: str
) -> None:
    form = events.event(2)
    ada, bob = form.entrants
    foreign = bob.model_copy(update={"bot": None, "remote": None, "stdio": tuple(command)})
    form = form.model_copy(update={"entrants": (ada, foreign)})
    target = Target(tmp_path / "cup.yaml", form)
    with pytest.raises(staging.Broken, match=f"Bob {says}"):
        staging.play(target, form, tmp_path / "run", quiet=True)
    assert not (tmp_path / "run").exists()


def test_a_program_that_finds_nothing_to_read_is_ready(tmp_path: Path) -> None:
    staging._try_out("Bob", [sys.executable, "-c", "import sys; sys.stdin.read()"], tmp_path)
