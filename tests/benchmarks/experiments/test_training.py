"""Experiments that `kibitz train` runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.experiments import training
from benchmarks.experiments.experiment import Scale, UnavailableError
from benchmarks.experiments.table import EXPERIMENTS
from kibitz_training import experiments


def test_lines_about_files_are_left_out() -> None:
    assert training.told("wrote best.json (12)\nbest.json against hand: won 9\n\n") == [
        "best.json against hand: won 9"
    ]


def test_an_experiment_that_is_not_there_is_unavailable() -> None:
    with pytest.raises(UnavailableError, match="unknown experiment 'tanks/chess'"):
        training.run("tanks/chess", 1, 1, Path("unused"))


def test_a_run_that_prints_nothing_of_a_test_is_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "run", lambda *given: [])
    with pytest.raises(UnavailableError, match="the output has no test results"):
        training.Training({"one": "tanks/chess"}, {}, "Found.", training.plots())(Scale())


def test_parameters_of_the_table_are_those_of_the_experiments() -> None:
    specs = [
        spec
        for each in EXPERIMENTS
        if isinstance(measure := _loaded(each), training.Training)
        for spec in (*measure.runs.values(), *measure.full.values())
        if spec.partition(":")[0] in experiments.EXPERIMENTS
    ]
    assert specs
    for spec in specs:
        experiments.find(spec)


def _loaded(experiment: object) -> object:
    names = ("checkers-genetic", "tanks-")
    name = experiment.name  # type: ignore[attr-defined]
    return experiment.load() if name.startswith(names) else None  # type: ignore[attr-defined]


@pytest.mark.slow
@pytest.mark.e2e
def test_every_line_of_a_test_is_a_row() -> None:
    runs = {"tiny": "chinese-checkers/genetic:population=2,generations=2,test=4"}
    measured = training.Training(runs, {}, "Found.", training.plots("fitness.svg"))(Scale())
    assert len(measured.rows) == 8
    assert measured.rows[0][1].startswith("fittest.json against hand: won ")
    assert next(iter(measured.figures.values())).startswith("<svg")
