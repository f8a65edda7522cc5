"""The small types of messages: seeds."""

from __future__ import annotations

import pytest

from kibitz_protocol.wire.values import derive_seed, seed_number


def test_a_derived_seed_is_the_hash_of_its_path() -> None:
    """Pinned: other numbers would change the games of existing seeds."""
    assert f"{derive_seed(7, 'match', 3):064x}" == (
        "8dc589202841df0b4a9c68d1264f46cde8e04dcf0eedbee991206f71c67e0702"
    )
    assert derive_seed("7", "match", 3) == derive_seed(7, "match", 3)
    assert derive_seed(7, "match", 4) != derive_seed(7, "match", 3)


@pytest.mark.parametrize("seed", [10, f"{10:064x}"])
def test_two_ways_to_write_a_number_are_one_seed(seed: int | str) -> None:
    assert seed_number(seed) == 10
