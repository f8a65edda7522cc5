"""The command, with events that take a moment."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.strength import __main__ as command
from benchmarks.strength import outcome, table, targets

TINY = """
name: tiny
game: number-merge
blocks: 2
concurrency: 1
seed: 3
entrants:
  - {name: greedy, bot: number-merge/greedy}
  - {name: random, bot: number-merge/random}
claims:
  - greedy scores at least CLAIMED% against random
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where targets, runs and the page are, in place of the repository."""
    page = tmp_path / "bots.md"
    page.write_text(f"{table.BEGIN}\n{table.END}\n", encoding="utf-8")
    monkeypatch.setattr(targets.chosen, "__defaults__", (tmp_path,))
    monkeypatch.setattr(targets.every, "__defaults__", (tmp_path,))
    monkeypatch.setattr(command, "PAGE", page)
    monkeypatch.setattr(command, "RUNS", tmp_path / "runs")
    return tmp_path


def write(folder: Path, claimed: str) -> None:
    (folder / "tiny.yaml").write_text(TINY.replace("CLAIMED", claimed), encoding="utf-8")


@pytest.mark.e2e
@pytest.mark.parametrize(("claimed", "status", "word"), [("5", 0, "shown"), ("101", 1, "failed: ")])
def test_a_target_is_played_and_written_down(
    folder: Path, capsys: pytest.CaptureFixture[str], claimed: str, status: int, word: str
) -> None:
    write(folder, claimed)
    assert command.main(["tiny", "--write"]) == status
    said = capsys.readouterr().out
    assert "4 of 4 games, finished" in said
    assert f"tiny: {word}" in said
    found = outcome.kept(folder / "tiny.json")
    assert found is not None
    assert (found.games, found.claims[0].games, found.faults()) == (4, 4, "none")
    assert sum(int(part) for part in (found.crosstable[0][1] or "").split("-")) == 4
    page = command.PAGE.read_text(encoding="utf-8")
    assert page == table.written(page, [("tiny", found)])
    assert "| greedy scores at least" in page
    command.PAGE.write_text(f"{table.BEGIN}\nlost\n{table.END}\n", encoding="utf-8")
    assert command.main(["--render"]) == 0
    assert command.PAGE.read_text(encoding="utf-8") == page


@pytest.mark.e2e
def test_a_quick_run_keeps_nothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(folder, "101")
    assert command.main(["--quick"]) == 0
    assert "2 of 2 games" in (said := capsys.readouterr().out)
    assert "0 of 1 claims so far" in said
    assert not (folder / "tiny.json").exists()
    assert not command.RUNS.exists()


def test_a_name_that_is_none_is_one_sentence(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(folder, "5")
    assert command.main(["tinny"]) == 2
    assert capsys.readouterr().err == "Error: unknown target 'tinny'; did you mean tiny?\n"


def test_an_event_that_is_none_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(folder, "many")
    assert command.main([]) == 2
    assert "tiny.yaml:11: claims.0: expected a claim" in capsys.readouterr().err
