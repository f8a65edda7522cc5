"""The lobby of a tournament."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import pytest

from kibitz_arena.runner.directory import TournamentDirectory
from kibitz_arena.runner.hosting import ServerOptions, TournamentHost
from kibitz_protocol.wire.records import Spectating
from tests.arena.tournaments import event


@pytest.mark.parametrize(
    ("keys", "comments", "delay_ms"),
    [({}, "after", 0), ({"comments": "spectators", "spectator_delay": 2.5}, "spectators", 2500)],
)
def test_the_organizer_chooses_when_spectators_see_comments(
    keys: dict[str, Any], comments: Literal["after", "spectators"], delay_ms: int, tmp_path: Path
) -> None:
    host = TournamentHost(event(3, **keys), TournamentDirectory(tmp_path), ServerOptions())
    assert host._settings({}).spectating == Spectating(comments=comments, delay_ms=delay_ms)
