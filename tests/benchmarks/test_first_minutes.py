"""Timing the first minutes: failures end a project with a reason, results are stored."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks.first_minutes import Results, Step, Subject, Timing, load_results, measure
from docs.generate import first_minutes as table
from docs.generate.markdown import NoMarkersError


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("venv.create", lambda *_, **__: None)


def timings(place: Path, *steps: Step) -> Sequence[Timing]:
    return [*measure(Subject("mine", place, steps))]


def python(title: str, code: str, timeout_s: float = 60.0) -> Step:
    return Step(title, [sys.executable, "-c", code], timeout_s)


@pytest.mark.e2e
def test_each_step_is_timed_in_the_directory_of_its_project(tmp_path: Path) -> None:
    busy = "import time\nwhile time.process_time() < 0.2: pass\nopen('made', 'w').close()"
    (timing,) = timings(tmp_path, python("work", busy))
    assert (timing.project, timing.step, timing.skipped) == ("mine", "work", "")
    assert timing.wall_s >= 0.2
    assert timing.cpu_s >= 0.19
    assert (tmp_path / "made").exists()


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("step", "reason"),
    [
        (python("work", "raise SystemExit('no host')"), "failed: no host"),
        (python("work", "import time; time.sleep(60)", 0.1), "did not finish within 0 s"),
        (Step("work", ["no-such-command"]), "`no-such-command` cannot be started: No such file"),
    ],
)
def test_a_step_that_fails_says_why_and_ends_its_project(
    step: Step, reason: str, tmp_path: Path
) -> None:
    good = python("good", "pass")
    first, failed = timings(tmp_path, good, step, good)
    assert not first.skipped
    assert reason in failed.skipped
    assert failed.row()[2:] == [f"not measured: {failed.skipped}", ""]


def test_the_stored_results_become_a_table(tmp_path: Path) -> None:
    timing = Timing(project="mine", step="work", wall_s=1.25, cpu_s=0.5)
    results = Results(machine="2 cores", commit="0123456789ab", load=1.5, timings=[timing])
    (tmp_path / "results.json").write_text(results.model_dump_json())
    text = f"# Title\n\n{table.BEGIN}\nold\n{table.END}\nafter\n"
    page = table.page(text, load_results(tmp_path / "results.json"))
    assert "Measured at commit 0123456789ab on 2 cores; 1.5 threads" in page
    assert "| mine | work | 1.2 s | 0.5 s |" in page
    assert "old" not in page
    assert page.endswith(f"{table.END}\nafter\n")
    with pytest.raises(NoMarkersError):
        table.page("# Title\n", results)
