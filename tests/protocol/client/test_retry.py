"""Reconnect delays."""

from __future__ import annotations

import random

import pytest

from kibitz_protocol.client.retry import Backoff


@pytest.mark.parametrize(
    ("failures", "least", "most"),
    [(1, 50, 100), (2, 100, 200), (6, 1_600, 3_200), (7, 2_500, 5_000), (10**9, 2_500, 5_000)],
)
def test_a_pause_is_between_half_and_all_of_its_bound(failures: int, least: int, most: int) -> None:
    backoff = Backoff()
    assert backoff.pause_ms(failures, lambda: 0.0) == least
    assert backoff.pause_ms(failures, lambda: 1.0) == most
    chance = random.Random(1).random
    pauses = {backoff.pause_ms(failures, chance) for _ in range(50)}
    assert min(pauses) >= least
    assert max(pauses) <= most
    assert len(pauses) > 10
