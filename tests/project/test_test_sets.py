"""The sets of tests: their permissions, their Hypothesis examples, and their compiled code."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kibitz_bots.catalog import PERSONALITIES
from kibitz_games.compiled import kernels
from tests import conftest
from tests.tools import profiles, warm_cache

ROOT = Path(__file__).parents[2]


def test_an_unmarked_test_cannot_start_a_process() -> None:
    for start in (
        lambda: subprocess.run([sys.executable, "-c", ""]),
        lambda: os.posix_spawn(sys.executable, [sys.executable, "-c", ""], {}),
        os.fork,
    ):
        with pytest.raises(pytest.fail.Exception, match="is marked e2e"):
            start()


def test_garbage_collections_of_tests_pass_over_what_was_collected() -> None:
    assert gc.get_freeze_count() > 20_000


def test_garbage_is_collected_again_after_the_tests_were_collected() -> None:
    """Even if collection fails. Tests of servers leave the setting unchanged."""
    before = gc.isenabled()
    session: Any = None
    hook = conftest.pytest_collection(session)
    try:
        next(hook)
        assert not gc.isenabled()
        with pytest.raises(KeyboardInterrupt):
            hook.throw(KeyboardInterrupt)
        assert gc.isenabled()
    finally:
        if not before:
            gc.disable()


def test_the_longest_tests_begin_and_the_others_keep_their_order() -> None:
    paths = ["arena/b", "simulation/a", "arena/a", "e2e/web/c"]
    items: list[Any] = [SimpleNamespace(path=conftest.HERE / path) for path in paths]
    conftest.pytest_collection_modifyitems(items)
    assert [str(item.path.relative_to(conftest.HERE)) for item in items] == [
        "simulation/a",
        "e2e/web/c",
        "arena/b",
        "arena/a",
    ]


async def test_nor_can_it_from_a_coroutine() -> None:
    import asyncio

    with pytest.raises(pytest.fail.Exception, match="is marked e2e"):
        await asyncio.create_subprocess_exec(sys.executable, "-c", "")


@pytest.mark.parametrize("profile", profiles.PROFILES)
def test_a_pinned_number_of_examples_keeps_its_share(profile: str) -> None:
    drawn = 0

    def count(number: int) -> None:
        nonlocal drawn
        drawn += 1

    before = settings.get_current_profile_name()
    try:
        settings.load_profile(profile)
        settings(max_examples=profiles.examples(5), database=None)(given(st.integers())(count))()
    finally:
        settings.load_profile(before)
    assert drawn == {"quick": 1, "default": 5, "thorough": 50}[profile]


def test_a_profile_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(profiles.VARIABLE, "hasty")
    with pytest.raises(ValueError, match="HYPOTHESIS_PROFILE is 'hasty', not one of quick"):
        profiles.load()


def test_what_is_compiled_in_advance_are_house_bots() -> None:
    assert {bot for bots in warm_cache.BOTS.values() for bot in bots} <= {*PERSONALITIES}


def test_a_set_that_is_complete_is_not_compiled_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    done: list[str] = []
    monkeypatch.setattr(warm_cache, "stamp", lambda name, tasks: tmp_path / name)
    monkeypatch.setattr(warm_cache, "run", lambda tasks, workers: done.extend(tasks))
    monkeypatch.setattr(kernels, "compiled", lambda: True)
    for _ in range(2):
        warm_cache.main("e2e")
    assert done[: len(warm_cache.BOTS["e2e"])] == [*warm_cache.BOTS["e2e"]]
    assert not {*done} & {*warm_cache.OTHERS}, "only the fast tests need those"
    assert len(done) == len(set(done))
    assert capsys.readouterr().out.count("compiled the tests' code") == 1


def test_continuous_integration_runs_lint_tests_and_processes() -> None:
    lines = (ROOT / ".ci" / "run").read_text().splitlines()
    commands = [line for line in lines if line.startswith(("make ", "wait"))]
    assert commands == [
        "make .venv/.dev .venv/.docs",
        "make --jobs=2 --output-sync lint docs warm",
        "wait",
        "make test test-e2e",
    ]


def test_many_cases_are_sampled_in_quick_runs_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(profiles.VARIABLE, "quick")
    assert profiles.some(range(10), 4) == [0, 2, 5, 7]
    assert profiles.some(range(3), 4) == [0, 1, 2]
    monkeypatch.delenv(profiles.VARIABLE)
    assert profiles.some(range(10), 1) == [0]
    monkeypatch.setenv(profiles.VARIABLE, "default")
    assert profiles.some(range(10), 4) == list(range(10))
