"""The table of experiments: each report has some, and stored results match it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from benchmarks.experiments import outcomes
from benchmarks.experiments.experiment import Scale
from benchmarks.experiments.table import EXPERIMENTS, REPORTS


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


def test_copies_of_events_are_what_the_events_have_shown() -> None:
    kept = outcomes.load()
    copied = [each for each in EXPERIMENTS if each.name in kept and kept[each.name].copied]
    assert copied
    for experiment in copied:
        measured = experiment.load()(Scale())
        assert kept[experiment.name].rows == measured.rows
        assert kept[experiment.name].found == measured.found


@pytest.mark.e2e
def test_the_table_imports_no_search() -> None:
    code = (
        "import sys, benchmarks.experiments.table;"
        "print([m for m in sys.modules if m.startswith('kibitz_search.algorithms')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
