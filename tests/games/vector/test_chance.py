"""Random numbers of plays: published values, uniform draws, and a stream per counter."""

from __future__ import annotations

import numpy as np

from kibitz_games.vector.chance import below, draw, mix, u64


def test_the_hash_is_splitmix64() -> None:
    """The first values of the reference implementation (S. Vigna) for the seed 1234567."""
    gamma, state = 0x9E3779B97F4A7C15, 1234567
    found = [int(mix(u64((state + k * gamma) % 2**64))) for k in range(3)]
    assert found == [6457827717110365317, 3203168211198807973, 9817491932198370423]


def test_what_a_hash_stands_for_is_below_the_bound() -> None:
    for n in (1, 2, 7, 1000, 2**32 - 1):
        assert int(below(u64(0), n)) == 0
        assert int(below(u64(2**64 - 1), n)) == n - 1


def test_draws_are_even_and_depend_on_their_own_counter_only() -> None:
    counters = np.array([5, 5, 6], np.uint64)
    first = [int(draw(counters, 0, 7)) for _ in range(7000)]
    counts = np.bincount(first, minlength=7)
    assert counts.shape == (7,)
    assert (abs(counts - 1000) < 150).all()
    assert [int(draw(counters, 2, 7)) for _ in range(50)] != first[:50]
    assert [int(draw(counters, 1, 7)) for _ in range(7000)] == first
