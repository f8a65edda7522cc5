"""Outcomes of experiments as files."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from pydantic import ValidationError

from benchmarks.experiments import __main__ as command
from benchmarks.experiments import outcomes
from benchmarks.experiments.experiment import Measured, ReportExperiment, Scale, UnavailableError

ROOT = Path(__file__).parents[3]
MEASURED = Measured("Ten of ten.", ("who", "won"), (("Ada", "10"),), figures={"Wins": "<svg/>"})


@pytest.fixture(autouse=True)
def _checked_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "commit", lambda: "0123456789ab")


def test_an_outcome_is_read_as_it_was_kept(tmp_path: Path) -> None:
    outcome = command.of("nim", MEASURED, Scale(full=True), 1.26, 0.84)
    outcomes.save(outcome, ["<svg/>"], tmp_path, tmp_path)
    assert outcomes.load(tmp_path) == {"nim": outcome}
    assert (tmp_path / "nim-1.svg").read_text("utf-8") == "<svg/>"
    assert outcome.command == "python -m benchmarks.experiments nim --full"
    assert outcome.commit == "0123456789ab"
    assert (outcome.seconds, outcome.processor_seconds) == (1.3, 0.8)


def test_a_file_that_is_no_outcome_is_refused(tmp_path: Path) -> None:
    (tmp_path / "nim.json").write_text('{"name": "nim"}', "utf-8")
    with pytest.raises(ValidationError):
        outcomes.load(tmp_path)


def test_an_outcome_without_commit_or_date_is_refused() -> None:
    stored = command.of("nim", MEASURED, Scale(), 1.0, 1.0).model_dump()
    for field in ("commit", "date"):
        with pytest.raises(ValidationError, match=field):
            outcomes.Outcome.model_validate(stored | {field: ""})


def test_a_name_that_leads_out_of_the_folder_is_no_picture() -> None:
    with pytest.raises(ValidationError):
        outcomes.Picture(file="../nim.svg", caption="")


def test_an_unknown_name_is_refused_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["nim-prunning"]) == 2
    assert "try nim-pruning" in capsys.readouterr().err


def test_the_processor_time_of_a_run_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    used = iter([5.0, 7.25])
    kept = list[outcomes.Outcome]()
    monkeypatch.setattr(command, "_processor_seconds", lambda: next(used))
    monkeypatch.setattr(outcomes, "save", lambda outcome, drawings: kept.append(outcome))
    experiment = ReportExperiment("nim", "line-nim", "Nim", "", "", lambda: lambda scale: MEASURED)
    monkeypatch.setattr(command, "EXPERIMENTS", (experiment,))
    assert command.main([]) == 0
    assert kept[0].processor_seconds == 2.2


def test_what_cannot_be_run_here_keeps_what_was_there(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def measure(scale: Scale) -> Measured:
        raise UnavailableError("no such thing")

    def save(*given: object) -> None:
        raise AssertionError("nothing is kept of it")

    experiment = ReportExperiment("nim", "line-nim", "Nim", "", "", lambda: measure)
    monkeypatch.setattr(command, "EXPERIMENTS", (experiment,))
    monkeypatch.setattr(outcomes, "save", save)
    assert command.main([]) == 0
    assert "not run; the stored outcome is unchanged: no such thing" in capsys.readouterr().out


def test_a_short_run_is_not_kept_in_place_of_a_whole_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    experiment = ReportExperiment("nim", "line-nim", "Nim", "", "", lambda: lambda scale: MEASURED)
    used = iter([0.0, 1.0, 0.0, 7.0, 0.0, 3.0])
    monkeypatch.setattr(command, "_processor_seconds", lambda: next(used))
    monkeypatch.setattr(command, "EXPERIMENTS", (experiment,))
    monkeypatch.setattr(outcomes.load, "__defaults__", (tmp_path,))
    monkeypatch.setattr(outcomes.save, "__defaults__", (tmp_path, tmp_path))
    monkeypatch.setattr(outcomes.write, "__defaults__", (tmp_path,))
    assert command.main([]) == 0
    short = outcomes.load()["nim"]
    assert (short.full, short.short_cost) == (False, 1.0)
    assert command.main(["--full"]) == 0
    whole = outcomes.load()["nim"]
    assert (whole.full, whole.processor_seconds, whole.short_cost) == (True, 7.0, 1.0)
    assert command.main([]) == 0
    assert f"the full run of {whole.date} stays on the page" in capsys.readouterr().out
    assert outcomes.load()["nim"] == whole.model_copy(update={"short_processor_seconds": 3.0})


def test_all_short_runs_take_less_than_twenty_minutes() -> None:
    costs = {name: outcome.short_cost for name, outcome in outcomes.load().items()}
    assert [name for name, cost in costs.items() if cost is None] == []
    assert sum(cost for cost in costs.values() if cost is not None) < 20 * 60


@pytest.mark.e2e
def test_results_name_commits_of_this_history() -> None:
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("needs a clone and git")
    if _git("rev-parse", "--is-shallow-repository").stdout.strip() != "false":
        pytest.skip("needs the whole history")
    for outcome in outcomes.load().values():
        checked = _git("merge-base", "--is-ancestor", outcome.commit[:12], "HEAD")
        assert checked.returncode == 0, f"{outcome.name}: {outcome.commit} {checked.stderr}"


def _git(*words: str) -> subprocess.CompletedProcess[str]:
    command = ["git", "-C", str(ROOT), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)
