"""The coverage table: every row belongs to a report, and what it refers to is there."""

from __future__ import annotations

import re

import pytest
from pydantic import ValidationError

from benchmarks.experiments import coverage, outcomes
from benchmarks.experiments.coverage import CellError, Item
from benchmarks.experiments.table import EXPERIMENTS, REPORTS

NAMES = {each.name for each in EXPERIMENTS}


def test_every_report_is_covered_and_every_cell_is_there() -> None:
    covered, kept = coverage.load(), outcomes.load()
    assert list(covered) == list(REPORTS)
    for items in covered.values():
        assert all(coverage.row(item, kept) for item in items)
        assert len({item.item for item in items}) == len(items)


def test_only_rows_that_are_not_reproduced_name_an_experiment_that_is_missing() -> None:
    for items in coverage.load().values():
        for item in items:
            named = re.findall(r"ARGS=\"?([a-z0-9-]+)", item.command)
            assert ({*named} <= NAMES) or item.verdict == "not reproduced yet", item.item
            assert not item.experiment or item.experiment in NAMES, item.item


def test_no_row_calls_an_experiment_missing_that_has_been_measured() -> None:
    kept = outcomes.load()
    for items in coverage.load().values():
        for item in items:
            if item.verdict == "not reproduced yet":
                named = re.findall(r"ARGS=([a-z0-9-]+)", item.command)
                assert not {item.experiment, *named} & set(kept), item.item


def test_numbers_of_measurements_come_from_saved_results() -> None:
    for items in coverage.load().values():
        for item in items:
            plain = re.sub(r"\{[^}]*\}", "", item.note)
            assert "%" not in plain, f"{item.item}: refer to a cell"


def test_a_cell_that_no_result_has_is_refused() -> None:
    item = Item(
        item="x", claim="", experiment="nim-sample", verdict="holds", note="{nim-sample/9/x}"
    )
    with pytest.raises(CellError, match="nim-sample/9/x"):
        coverage.row(item, outcomes.load())
    with pytest.raises(CellError, match="no saved result"):
        coverage.row(item, {})


def test_a_row_without_a_command_is_refused() -> None:
    with pytest.raises(ValidationError, match="an experiment or a command"):
        Item(item="x", claim="", verdict="holds")
