"""The state of a ladder."""

from __future__ import annotations

from tests.arena.ladder.runs import EPOCH_MS
from tests.arena.ladder.test_feed import played


def test_a_pause_ends_at_its_time() -> None:
    state = played()
    state.entrants["bob"].paused_until_ms = EPOCH_MS + 60_000
    assert state.paused("bob", EPOCH_MS + 59_999)
    assert not state.paused("bob", EPOCH_MS + 60_000)
    assert not state.paused("unknown", EPOCH_MS)
