"""The CPU time limit: only computing counts, and nothing is left over."""

from __future__ import annotations

import threading
import time

from benchmarks.experiments import processor_time


def work_until_cancelled(seconds: float) -> float:
    """Return the CPU time used before the limit."""
    began = time.thread_time()
    with processor_time.limits(seconds, "a seed") as limits:
        while not limits.cancelled.is_set() and time.thread_time() - began < 100 * seconds:
            pass
        assert limits.cancelled.is_set()
    return time.thread_time() - began


def test_work_is_cancelled_after_its_processor_time() -> None:
    assert work_until_cancelled(0.02) >= 0.02


def test_its_thread_ends_with_the_search() -> None:
    before = threading.active_count()
    with processor_time.limits(60.0, 0) as limits:
        pass
    assert threading.active_count() == before
    assert not limits.cancelled.is_set()
