"""The thread benchmark: both thread counts do the same work, and the page has the ratio."""

from __future__ import annotations

import pytest

from benchmarks import environments, scaling
from benchmarks.scaling import Scaled, Work

NOTHING = Work("nothing", "plies", lambda threads, seconds: 1.0)


def test_a_work_is_measured_with_one_thread_and_with_several_in_turn() -> None:
    asked = list[int]()

    def rate(threads: int, seconds: float) -> float:
        asked.append(threads)
        return 10.0 * threads + len(asked)

    found = scaling.measure(Work("a work", "plies", rate), threads=2, rounds=2, seconds=0.5)
    assert asked == [1, 1, 2, 1, 2]
    assert found.rates == {1: [12.0, 14.0], 2: [23.0, 25.0]}


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2])
def test_every_work_counts_what_it_does(monkeypatch: pytest.MonkeyPatch, threads: int) -> None:
    monkeypatch.setattr(scaling, "PLAYS", 8)
    monkeypatch.setattr(scaling, "LARGE", 21)
    for work in scaling.works(environments.OPTIONS):
        assert work.rate(threads, 0.0) > 0, work.name


def test_the_busiest_thread_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter([{1: 5.0, 2: 0.0}, {1: 6.0, 2: 2.0}, {1: 7.0, 2: 4.0, 3: 3.0}])
    monkeypatch.setattr(scaling, "processor_times", lambda: next(times))
    assert scaling._repeated(lambda: 100, 3.0) == 200 / 4.0


def test_the_page_has_the_ratio_of_the_medians() -> None:
    text = scaling.section([Scaled(NOTHING, {1: [90.0, 100.0, 110.0], 2: [180.0]})], 2)
    assert "| work | unit per second | 1 thread | 2 threads | ratio |" in text
    assert "| nothing | plies | 100 (90 to 110) | 180 (180 to 180) | 1.80 |" in text
    assert "generations" not in text


def test_the_page_has_the_time_of_the_reports_run_at_the_rate_of_few_individuals() -> None:
    few = Work(f"`chinese-checkers/genetic`, {scaling.SMALL} individuals", "games", NOTHING.rate)
    text = scaling.section([Scaled(few, {1: [1000.0], 2: [2000.0]})], 2)
    assert "8,000 generations of 20 individuals are 800,000 games" in text
    assert "At these rates, they take 13.3 minutes with one thread, and 6.7 minutes with 2." in text


def test_the_page_of_environments_ends_with_the_part_on_threads() -> None:
    assert environments.page("the command", {}, True, "## Over threads\n").endswith("threads\n")
