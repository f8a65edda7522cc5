"""The search on lists visits what the kernels visit, and each interpreter has a row."""

from __future__ import annotations

import json
import platform
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from benchmarks.experiments import interpreters, plain_search
from benchmarks.experiments.chinese_checkers import middle
from benchmarks.experiments.experiment import Scale, UnavailableError
from kibitz_search.algorithms.iddfs import Iddfs
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.chinese_checkers.evaluation import hand


@pytest.mark.parametrize("seed", range(3))
def test_lists_and_kernels_search_the_same_positions(seed: int) -> None:
    _, state = middle(seed)
    search = plain_search.Search(**interpreters.board(state))
    assert search.deepen(3) == 3
    result = Iddfs(state).search(state, hand(state), SearchLimits(depth=3))
    assert (search.nodes, search.best) == (result.nodes, result.value)
    assert search.best_depth + 1 == len(result.line)


def test_a_search_without_time_completes_nothing() -> None:
    _, state = middle(0)
    assert plain_search.Search(**interpreters.board(state)).deepen(3, seconds=-1) == 0


def test_the_kernels_report_what_the_lists_report() -> None:
    _, state = middle(0)
    ours = interpreters.measure(state, 1)
    theirs = plain_search.measure(interpreters.board(state), 0.05, 1)
    assert ours.keys() == theirs.keys()
    assert len(ours["ms"]) == len(theirs["ms"]) == 1
    assert ours["own_moves"] > theirs["own_moves"] >= 1


def test_the_search_on_lists_needs_no_packages() -> None:
    source = Path(plain_search.__file__).read_text("utf-8")
    imported = [
        line.split()[1] for line in source.splitlines() if line.startswith(("import", "from"))
    ]
    assert set(imported) == {"__future__", "json", "sys", "time", "collections.abc", "typing"}


@pytest.mark.e2e
def test_the_version_of_an_interpreter_is_named() -> None:
    assert interpreters._version(sys.executable) == f"CPython {platform.python_version()}"


def test_without_pypy_the_stored_result_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(UnavailableError, match="pypy3 not found; install PyPy"):
        interpreters.compare(Scale())


def test_each_program_has_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(command: Sequence[str], given: str = "", plain: str = "") -> list[dict[str, Any]]:
        assert bool(given) == (len(json.loads(given or "[]")) == 5)
        factor = {"pypy3": 1.0}.get(command[0], 8.0)
        depths = int(command[-1])
        return [{"ms": [factor * 64**at for at in range(depths)], "own_moves": 2, "rate": 5e6}] * 5

    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(interpreters, "_asked", asked)
    monkeypatch.setattr(interpreters, "_version", lambda name: "PyPy" * (name == "pypy3") or "C")
    measured = interpreters.compare(Scale())
    assert [row[:2] for row in measured.rows] == [
        ("lists", "C"),
        ("lists", "PyPy"),
        ("kernels on numpy records", "C"),
        ("kernels on numpy records", "C with Numba"),
    ]
    assert measured.rows[2][4] == "–"
    assert (
        "PyPy is 8.0 times as fast. On average over all time limits, it gains 0.5" in measured.found
    )
