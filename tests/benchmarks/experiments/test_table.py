"""The table of experiments: each report has some, and stored results match it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from benchmarks.experiments import outcomes
from benchmarks.experiments.table import EXPERIMENTS, REPORTS, current
from benchmarks.strength import results


def test_names_are_unique_and_every_report_has_an_experiment() -> None:
    names = [each.name for each in EXPERIMENTS]
    assert len(set(names)) == len(names)
    assert {each.game for each in EXPERIMENTS} == set(REPORTS)


def test_what_is_kept_is_of_the_table_and_has_its_pictures() -> None:
    kept = outcomes.load()
    assert set(kept) <= {each.name for each in EXPERIMENTS}
    for outcome in kept.values():
        assert all(len(row) == len(outcome.heads) for row in outcome.rows)
        for picture in outcome.pictures:
            assert (outcomes.PICTURES / picture.file).read_text("utf-8").startswith("<svg")


def test_copies_of_events_show_the_events_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = outcomes.load()
    before = current(kept)
    assert before.keys() == kept.keys()
    events = results.load()
    line = events["line-nim-capstone-random"]
    worse = [each.model_copy(update={"score": 0.123}) for each in line.players]
    changed = {**events, line.event.name: line.model_copy(update={"players": worse})}
    monkeypatch.setattr(results, "load", lambda: changed)
    after = current(kept)
    assert [name for name in kept if after[name] != before[name]] == ["nim-sample"]
    assert "12.3%" in after["nim-sample"].found
    assert after["nim-sample"].rows[0][5] == "12.3%"


@pytest.mark.e2e
def test_the_table_imports_no_search() -> None:
    code = (
        "import sys, benchmarks.experiments.table;"
        "print([m for m in sys.modules if m.startswith('kibitz_search.algorithms')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
