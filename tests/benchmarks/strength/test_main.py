"""The command, with fast cases."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.strength import __main__ as command
from benchmarks.strength import cases, results

TINY = """
- game: number-merge
  blocks: 2
  concurrency: 1
  seed: 3
  tournaments:
    tiny:
      bots: {greedy: null, random: null}
      claims: [greedy scores at least CLAIMED% against random]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Redirect the matrix, the results and the runs to a temporary folder."""
    monkeypatch.setattr(cases.select, "__defaults__", ((), tmp_path / "matrix.yaml"))
    for function in (results.load, results.save):
        monkeypatch.setattr(function, "__defaults__", (tmp_path / "results.jsonl",))
    monkeypatch.setattr(command, "RUNS", tmp_path / "runs")
    return tmp_path


def write(folder: Path, claimed: str) -> None:
    (folder / "matrix.yaml").write_text(TINY.replace("CLAIMED", claimed), encoding="utf-8")


@pytest.mark.e2e
@pytest.mark.parametrize(("claimed", "status", "word"), [("5", 0, "shown"), ("101", 1, "failed: ")])
def test_a_case_is_played_and_written_down(
    folder: Path, capsys: pytest.CaptureFixture[str], claimed: str, status: int, word: str
) -> None:
    write(folder, claimed)
    assert command.main(["tiny", "--write"]) == status
    said = capsys.readouterr().out
    assert "4 of 4 games, finished" in said
    assert f"tiny: {word}" in said
    found = results.load()["tiny"]
    assert (found.games, found.claims[0].games, found.faults()) == (4, 4, "none")
    assert sum(int(part) for part in (found.crosstable[0][1] or "").split("-")) == 4


@pytest.mark.e2e
def test_a_quick_run_keeps_nothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(folder, "101")
    assert command.main(["--quick"]) == 0
    assert "2 of 2 games" in (said := capsys.readouterr().out)
    assert "0 of 1 claims so far" in said
    assert results.load() == {}
    assert not command.RUNS.exists()


def test_a_name_that_is_none_is_one_sentence(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(folder, "5")
    assert command.main(["tinny"]) == 2
    assert capsys.readouterr().err == "Error: unknown case 'tinny'; did you mean tiny?\n"


def test_a_tournament_that_is_none_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(folder, "many")
    assert command.main([]) == 2
    assert "matrix.yaml: tiny: claims.0: expected a claim" in capsys.readouterr().err
