"""The checks that can prevent a tournament from starting."""

from __future__ import annotations

from pathlib import Path

import pytest

from kibitz.local.tournament_checks import startup_problems
from tests.arena.tournaments import event


@pytest.mark.parametrize(("server", "refused"), [(None, False), ("ws://127.0.0.1:1", True)])
def test_comments_are_live_only_where_entrants_cannot_watch(
    server: str | None, refused: bool, tmp_path: Path
) -> None:
    cup = event(2, comments="spectators")
    paths = [problem.path for problem in startup_problems(cup, tmp_path, server)]
    assert (("comments",) in paths) == refused
