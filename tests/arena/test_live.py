from __future__ import annotations

import itertools

from kibitz_arena.live import LATEST_GAMES, NEXT_GAMES, LiveEvent
from kibitz_arena.results import Results
from kibitz_arena.state import TournamentState
from tests.arena.tournaments import event, play


def test_of_an_event_before_its_first_game_there_are_the_games_to_come() -> None:
    progress = TournamentState(event(4, games=2))
    live = LiveEvent.of(progress, "L1")
    assert live.running == []
    assert [game.tag for game in live.next] == [due.tag for due in progress.due(NEXT_GAMES)]
    assert live.results.played == 0


def test_running_games_are_told_apart_from_those_to_come() -> None:
    progress = TournamentState(event(4, games=2))
    play(progress, at_once=3, most=4)
    live = LiveEvent.of(progress, "L1")
    running = {due.tag for due in progress.outstanding}
    assert {game.tag for game in live.running} == running
    assert running.isdisjoint(game.tag for game in live.next)
    assert len(live.running) + len(live.next) + live.results.played == progress.planned


def test_of_many_games_the_latest_are_told_and_all_of_them_count() -> None:
    progress = TournamentState(event(4, games=20))
    play(progress)
    live = LiveEvent.of(progress, "L1")
    assert live.results.played == 120
    whole = Results.of(progress.tournament, progress)
    assert live.results.games == whole.games[-LATEST_GAMES:]
    assert live.results.standings == whole.standings
    assert live.next == []


def test_the_document_is_read_back_as_it_was_written() -> None:
    progress = TournamentState(event(4, games=2))
    for most in itertools.accumulate((1, 3, 9)):
        play(progress, most=most)
        live = LiveEvent.of(progress, "L1")
        assert LiveEvent.model_validate_json(live.model_dump_json()) == live
