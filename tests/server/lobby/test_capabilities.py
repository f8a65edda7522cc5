"""Which items of a programme a bot can play, by what it announces."""

from __future__ import annotations

import pytest

from kibitz_protocol.wire.clocks import TimeControl
from kibitz_protocol.wire.lobbies import ProgrammeItem
from kibitz_protocol.wire.messages import Capabilities, GameClaim
from kibitz_server.lobby.capabilities import unable_reason


@pytest.mark.parametrize(
    ("capabilities", "control", "why"),
    [
        (Capabilities(), "none", None),
        (Capabilities(games=[GameClaim(game="toy")]), "none", None),
        (Capabilities(games=[GameClaim(game="toy", seats=[2, 3])]), "none", None),
        (Capabilities(games=[GameClaim(game="hex")]), "none", "claim the game 'toy'"),
        (Capabilities(games=[GameClaim(game="toy", seats=[4])]), "none", "'toy' with 2 seats"),
        (Capabilities(untimed=False), "none", "without a clock"),
        (Capabilities(untimed=False), "10+0.1", None),
        (Capabilities(min_move_ms=100), "10+0.1", None),
        (Capabilities(min_move_ms=101), "10+0.1", "needs 101 ms"),
        (Capabilities(min_move_ms=1500), "move=1", "guarantees 1000"),
        (Capabilities(min_move_ms=5000), "byo=60+3x5", None),
        (Capabilities(min_move_ms=5), "none", None),
    ],
)
def test_capabilities(capabilities: Capabilities, control: str, why: str | None) -> None:
    answer = unable_reason(
        ProgrammeItem(game="toy", seats=2, time_control=TimeControl.parse(control)), capabilities
    )
    assert answer is None if why is None else why in (answer or "")
