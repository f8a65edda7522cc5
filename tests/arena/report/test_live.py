from __future__ import annotations

import itertools

from kibitz_arena.report.live import LISTED_GAMES, LiveEvent
from kibitz_arena.results import Results
from kibitz_arena.tournament_state import TournamentState
from tests.arena.tournaments import event, play


def test_of_an_event_before_its_first_game_there_are_the_games_to_come() -> None:
    progress = TournamentState(event(4, games=2))
    live = LiveEvent.of(progress, "L1")
    assert live.running == []
    assert [game.tag for game in live.next] == [due.tag for due in progress.due(LISTED_GAMES)]
    assert live.played == 0


def test_running_games_are_told_apart_from_those_to_come() -> None:
    progress = TournamentState(event(4, games=2))
    play(progress, at_once=3, most=4)
    live = LiveEvent.of(progress, "L1")
    running = {due.tag for due in progress.outstanding}
    assert {game.tag for game in live.running} == running
    assert running.isdisjoint(game.tag for game in live.next)
    assert all(game.match is None for game in (*live.running, *live.next))


def test_of_many_games_the_latest_are_told_and_all_of_them_count() -> None:
    progress = TournamentState(event(4, games=20))
    play(progress)
    live = LiveEvent.of(progress, "L1")
    latest = Results.of(progress.tournament, progress).games[: -LISTED_GAMES - 1 : -1]
    assert [game.tag for game in live.latest] == [line.tag for line in latest]
    assert [game.match for game in live.latest] == [line.match for line in latest]
    assert live.played == live.planned == 120
    assert live.next == []


def test_tables_have_a_row_for_each_entrant_by_name() -> None:
    progress = TournamentState(event(4, games=20))
    play(progress)
    live = LiveEvent.of(progress, "L1")
    games, points = live.standings.heads.index("games"), live.standings.heads.index("points")
    assert sorted(row[1] for row in live.standings.rows) == sorted(progress.tournament.names)
    assert [row[games] for row in live.standings.rows] == ["60"] * 4
    scored = [float(row[points]) for row in live.standings.rows]
    assert scored == sorted(scored, reverse=True)
    for rank, row in enumerate(live.crosstable.rows, 1):
        assert row[1] == live.standings.rows[rank - 1][1]
        assert row[1 + rank] == "·"
        met = [cell for cell in row[2:] if cell != "·"]
        assert [cell.partition("/")[2] for cell in met] == ["20"] * 3
        assert sum(float(cell.partition("/")[0]) for cell in met) == scored[rank - 1]


def test_the_document_is_read_back_as_it_was_written() -> None:
    progress = TournamentState(event(4, games=2))
    for most in itertools.accumulate((1, 3, 9)):
        play(progress, most=most)
        live = LiveEvent.of(progress, "L1")
        assert LiveEvent.model_validate_json(live.model_dump_json()) == live
