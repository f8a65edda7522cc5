"""The comments of bots on their moves."""

from __future__ import annotations

import pytest

from kibitz_protocol.wire.records import MAX_PLIES, PROVEN_WIN, Comment


@pytest.mark.parametrize(
    ("value", "plies"),
    [
        (None, None),
        (0.0, None),
        (800_000.0, None),
        (PROVEN_WIN - MAX_PLIES - 1, None),
        (PROVEN_WIN - MAX_PLIES, MAX_PLIES),
        (PROVEN_WIN - 3, 3),
        (3 - PROVEN_WIN, 3),
        (PROVEN_WIN, 0),
        (-1.5 * PROVEN_WIN, 0),
    ],
)
def test_a_value_near_a_million_says_when_the_game_ends(
    value: float | None, plies: int | None
) -> None:
    assert Comment(value=value).end_in == plies
