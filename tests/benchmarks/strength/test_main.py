"""The command, with fast cases."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import machine
from benchmarks.strength import __main__ as command
from benchmarks.strength import cases, results, runner
from benchmarks.strength.results import CaseResult, Measurement
from tests.benchmarks.strength import samples

COMMIT = "0123456789ab"
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
    monkeypatch.setattr(machine, "last_commit_of", lambda folders: COMMIT)
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
    assert (found.measured.commit, found.measured.stored_only) == (COMMIT, False)
    assert sum((found.players[0].blocks or {}).values()) == 2
    capsys.readouterr()
    assert command.main(["--missing", "--write"]) == 0, "it is stored for this commit"
    assert capsys.readouterr().out == ""


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


TWO = """
- game: number-merge
  blocks: 1
  bots: {greedy: null, random: null}
  better: greedy
  tournaments: {one: {seed: 1}, two: {seed: 2}}
"""


def stored(name: str, **measured: object) -> None:
    """Store a result of a case as it is in the matrix."""
    [case] = cases.select([name])
    event = samples.results(name=name).event.model_copy(update={"hash": case.tournament.hash})
    claims = [
        samples.outcome(claims=["Ada is better than Bob"])
        .claims[0]
        .model_copy(update={"claim": text})
        for text in case.tournament.claims
    ]
    values = {"commit": COMMIT, "date": "2030-05-31", "seconds": 120.0, **measured}
    update = {"event": event, "claims": claims, "measured": Measurement.model_validate(values)}
    results.save(samples.outcome().model_copy(update=update))


@pytest.mark.parametrize(
    ("measured", "played"),
    [
        ({}, ["two"]),
        ({"commit": "ba9876543210"}, ["one", "two"]),
        ({"stored_only": True}, ["one", "two"]),
    ],
    ids=["this commit", "another commit", "a commit that only stored it"],
)
def test_only_missing_cases_are_played_until_one_is_interrupted(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    measured: dict[str, object],
    played: list[str],
) -> None:
    (folder / "matrix.yaml").write_text(TWO, encoding="utf-8")
    stored("one", **measured)
    tried: list[str] = []

    def play(case: cases.StrengthCase, **how: bool) -> int:
        tried.append(case.name)
        if case.name == "two":
            raise runner.CaseInterruptedError("interrupted")
        raise runner.CaseFailedError("no such engine")

    monkeypatch.setattr(command, "_play", play)
    assert command.main(["--missing", "--write"]) == 1
    assert tried == played
    tried.clear()
    assert command.main(["two", "one"]) == 1
    assert tried == ["two"], "no case starts after an interruption"
    assert "Error: two: interrupted" in capsys.readouterr().err


def test_the_time_left_is_that_of_the_stored_results(folder: Path) -> None:
    (folder / "matrix.yaml").write_text(TWO, encoding="utf-8")
    chosen = cases.select()
    assert command.time_left(chosen, {}) == ("events left: 2, about 0 min; unknown duration: 2")
    stored("one")
    left = command.time_left(chosen, results.load())
    assert left == "events left: 2, about 2 min; unknown duration: 1"
    assert command.time_left(chosen[:1], results.load()) == "events left: 1, about 2 min"


def test_uncommitted_sources_store_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write(folder, "5")

    def refuse(folders: object) -> str:
        raise machine.UncommittedError("uncommitted changes, commit them first:\n M bots/x.py")

    monkeypatch.setattr(machine, "last_commit_of", refuse)
    assert command.main(["tiny", "--write"]) == 2
    assert "Error: uncommitted changes" in capsys.readouterr().err
    assert results.load() == {}


def test_a_result_of_changing_sources_is_not_stored(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write(folder, "5")
    commits = iter([COMMIT, "ba9876543210"])
    monkeypatch.setattr(machine, "last_commit_of", lambda folders: next(commits))
    played: CaseResult = samples.outcome()
    monkeypatch.setattr(command, "_play_whole", lambda case, commit: played)
    assert command.main(["tiny", "--write"]) == 1
    assert "the sources changed during the event" in capsys.readouterr().err
    assert results.load() == {}
