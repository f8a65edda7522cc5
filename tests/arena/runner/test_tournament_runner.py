"""The sessions of a tournament's run."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from kibitz_arena.runner.directory import TournamentDirectory
from kibitz_arena.runner.hosting import ServerOptions
from kibitz_arena.runner.journal_file import TournamentJournal
from kibitz_arena.runner.progress import ProgressDisplay
from kibitz_arena.runner.services import Services
from kibitz_arena.runner.tournament_runner import MAX_FAILED_SESSIONS, TournamentRunner
from kibitz_arena.tournament_state import TournamentState
from tests.arena.reporter import FakeReporter
from tests.arena.tournaments import event, play


@pytest.mark.parametrize("games", [0, 1, 2])
async def test_a_run_gives_up_when_sessions_fail_without_a_game(games: int, tmp_path: Path) -> None:
    sessions = 0

    class Failing(TournamentRunner):
        async def _run_session(self, journal: TournamentJournal) -> None:
            nonlocal sessions
            sessions += 1
            assert sessions < 10, "it never gives up"
            if sessions <= games:
                play(journal.state, at_once=1, most=1)
            raise OSError("nothing listens there")

    tournament, display = event(4), ProgressDisplay(FakeReporter())
    directory, services = TournamentDirectory(tmp_path), cast(Services, SimpleNamespace())
    runner = Failing(tournament, directory, ServerOptions(), services, display)
    state = TournamentState(tournament)
    await runner._run_sessions(cast(TournamentJournal, SimpleNamespace(state=state)))
    assert state.played == games
    assert sessions == max(MAX_FAILED_SESSIONS, games + MAX_FAILED_SESSIONS - 1)
    assert runner.failure == "nothing listens there"
