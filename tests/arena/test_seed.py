"""A tournament's seed: drawn if none is given, committed to during the run, then published."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pytest

from kibitz_arena.entries import make_header
from kibitz_arena.report import export, html
from kibitz_arena.report.text import render_text
from kibitz_arena.results import Results
from kibitz_arena.runner.directory import TournamentDirectory
from kibitz_arena.runner.hosting import ServerOptions, TournamentHost
from kibitz_arena.runner.journal_file import TournamentJournal
from kibitz_arena.schedule import Schedule
from kibitz_arena.tournament import Tournament
from kibitz_arena.tournament_state import TournamentState
from kibitz_protocol.wire.lobbies import ProgrammeItem
from tests.arena.tournaments import event

SEED = "c3" * 32


@pytest.fixture
def directory(tmp_path: Path) -> TournamentDirectory:
    made = TournamentDirectory(tmp_path / "cup.arena")
    made.create(tmp_path)
    return made


def test_a_seed_is_drawn_once_and_found_again(directory: TournamentDirectory) -> None:
    cup = event(3, seed=None)
    drawn = directory.with_seed(cup)
    assert isinstance(drawn.seed, str)
    assert re.fullmatch("[0-9a-f]{64}", drawn.seed)
    assert directory.with_seed(cup).seed != drawn.seed  # nothing has started
    TournamentJournal(directory.journal, drawn).close()
    assert directory.with_seed(cup).seed == drawn.seed
    TournamentJournal(directory.journal, directory.with_seed(cup)).close()  # resumes with it


def test_a_seed_that_was_given_is_kept(directory: TournamentDirectory) -> None:
    for seed in (7, SEED):
        assert directory.with_seed(event(3, seed=seed)).seed == seed


def test_no_event_begins_without_a_seed() -> None:
    with pytest.raises(AssertionError, match="must have a seed"):
        make_header(event(3, seed=None))


@pytest.mark.parametrize("seed", [0, 7, SEED])
def test_the_same_seed_makes_the_same_games(seed: int | str) -> None:
    once, again = (Schedule(event(4, seed=seed)) for _ in range(2))
    assert once.blocks == again.blocks
    seeds = {game.seed for block in once.blocks for game in block.games}
    assert len(seeds) == len(once.blocks)
    for each in seeds:  # in the server's format, with 256 bits and lossless in every client
        assert ProgrammeItem(game="x", seed=each).seed == each
        assert re.fullmatch("[0-9a-f]{64}", each)


def results(cup: Tournament, *, over: bool) -> Results:
    return Results.of(cup, _Over(cup) if over else TournamentState(cup))


class _Over(TournamentState):
    """A tournament without remaining games."""

    @property
    def finished(self) -> bool:
        return True


def reports_of(found: Results) -> list[str]:
    return [export.results_json(found), render_text(found, 300), html.render_html(found, {})]


def test_a_drawn_seed_is_committed_to_and_published_when_all_is_over() -> None:
    commitment = hashlib.sha256(SEED.encode()).hexdigest()
    cup = event(3, seed=SEED)
    for report in reports_of(results(cup, over=False)):
        assert SEED not in report
        assert commitment in report
    for report in reports_of(results(cup, over=True)):
        assert SEED in report
        assert commitment in report


def test_a_seed_that_anybody_can_guess_is_no_secret() -> None:
    found = results(event(3, seed=7), over=False)
    assert (found.event.seed, found.event.commitment) == (7, None)
    assert json.loads(export.results_json(found))["event"]["seed"] == 7


def test_the_lobby_shows_the_commitment(directory: TournamentDirectory) -> None:
    for seed in (7, SEED):
        cup = event(3, seed=seed)
        host = TournamentHost(cup, directory, ServerOptions())
        assert host._settings({}).commitment == cup.commitment
