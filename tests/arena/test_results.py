from __future__ import annotations

import pytest

from kibitz_arena.entries import GamesRequested, RunStarted
from kibitz_arena.game_line import TERMINATION_OF
from kibitz_arena.report import formatting
from kibitz_arena.results import Results
from kibitz_arena.tournament import Tournament
from kibitz_arena.tournament_state import DueGame, TournamentState
from kibitz_protocol.wire.records import Cause, Result
from tests.arena.tournaments import Outcome, by_name, event, failed, play, result


def shown(form: Tournament, outcome: Outcome = by_name, most: int = 10**9) -> Results:
    progress = TournamentState(form)
    play(progress, outcome, most=most)
    return Results.of(form, progress)


def test_before_the_first_game_all_is_there_and_nothing_is_known() -> None:
    results = shown(event(3), most=0)
    assert [line.name for line in results.standings] == ["Ada", "Bob", "Cyd"]
    assert all(line.rating is None and line.games == 0 for line in results.standings)
    assert (results.planned, results.played, results.finished) == (6, 0, False)


def test_the_table_of_a_round_robin() -> None:
    results = shown(event(3, blocks=4))
    assert [line.name for line in results.standings] == ["Ada", "Bob", "Cyd"]
    first, _, last = results.standings
    assert (first.games, first.wins, first.draws, first.losses, first.points) == (16, 16, 0, 0, 16)
    assert (first.mean_place, last.mean_place) == (1, 2)
    for line in results.standings:
        assert line.rating is not None
        assert line.low is not None
        assert line.high is not None
        assert line.low < line.rating < line.high
    assert sum(line.rating or 0 for line in results.standings) == pytest.approx(0, abs=1e-6)
    assert results.crosstable[0][0] is None
    pair = results.crosstable[1][0]
    assert pair is not None
    assert (pair.games, pair.wins, pair.losses, pair.points) == (8, 0, 8, 0)


def test_endings_are_told_by_cause_and_by_pgns_words() -> None:
    def outcome(due: DueGame) -> Result:
        slow = due.game.players.index("Bob")
        ranks = (2, 1) if slow == 0 else (1, 2)
        causes = [Cause.TIME if seat == slow else None for seat in range(2)]
        return result(*ranks, cause=Cause.TIME, seat_causes=causes)

    results = shown(event(2), outcome)
    ada, bob = results.standings
    assert (ada.name, bob.name) == ("Ada", "Bob")
    assert bob.causes == {Cause.TIME: 2}
    assert bob.terminations == {"time forfeit": 2}
    assert (ada.causes, ada.terminations) == ({}, {"normal": 2})
    assert [game.termination for game in results.games] == ["time forfeit"] * 2
    assert results.games[0].causes.count(Cause.TIME) == 1


def test_every_cause_has_a_word() -> None:
    assert set(TERMINATION_OF) == set(Cause)


def test_of_more_seats_the_best_alone_wins_and_ties_share_places() -> None:
    form = event(3, format="free-for-all", seats=3)
    results = shown(
        form, lambda due: result(*(1 if n in "AdaBob" else 3 for n in due.game.players))
    )
    lines = {line.name: line for line in results.standings}
    assert (lines["Ada"].wins, lines["Ada"].draws, lines["Cyd"].losses) == (0, 3, 3)
    assert (lines["Ada"].mean_place, lines["Cyd"].mean_place) == (1.5, 3)
    assert lines["Ada"].points == pytest.approx(2.25)
    assert lines["Ada"].rating == pytest.approx(lines["Bob"].rating)
    assert results.standings[-1].name == "Cyd"


def test_byes_count_as_won_blocks_but_not_as_games() -> None:
    results = shown(event(3, format="swiss", rounds=3))
    assert {line.byes for line in results.standings} == {1}
    assert {line.games for line in results.standings} == {4}
    assert [line.points for line in results.standings] == [6, 4, 2]
    assert [game.round for game in results.games] == [1, 1, 2, 2, 3, 3]


def test_anchors_are_told_and_held() -> None:
    entrants = [{"name": "a", "bot": "x", "anchor": 1800}, {"name": "b", "bot": "y"}]
    results = shown(event(entrants=entrants, blocks=5))
    first, second = results.standings
    assert (first.rating, first.low, first.high, first.anchor) == (1800, 1800, 1800, True)
    assert second.rating is not None
    assert second.rating < 1800


def test_time_is_summed_where_it_was_noted() -> None:
    form = event(2)
    progress = TournamentState(form)
    play(progress, most=0)
    for due in progress.due(9):
        progress.apply(GamesRequested(at_ms=0, tags=[due.tag]))
        used = [10, 20] if due.tag == "b1.1" else None
        progress.apply(
            progress.entry_for(0, due.tag, "m", by_name(due), used_ms=used, record="r/1")
        )
    results = Results.of(form, progress)
    assert [line.used_ms for line in results.standings] == [10, 20]
    assert results.games[0].record == "r/1"


def test_failures_are_counted_and_nothing_else_of_them() -> None:
    fails = iter([True, False, False])
    results = shown(event(2), lambda due: failed() if next(fails) else by_name(due))
    assert (results.requeued, results.played) == (1, 2)
    assert sum(line.games for line in results.standings) == 4
    assert {game.tag for game in results.games} == {"b1.1~1", "b1.2"}


def test_a_decision_is_told() -> None:
    results = shown(event(2, blocks=60, stop={"better": ["Ada", "Bob"], "elo1": 200}))
    assert results.sequential is not None
    assert results.sequential.state == "accepted H1"
    assert results.stopped == "decided"
    assert results.finished


def test_results_travel_as_json() -> None:
    results = shown(event(4, format="free-for-all", seats=3))
    text = results.model_dump_json()
    assert '"schema":"kibitz-results/1"' in text
    assert Results.model_validate_json(text) == results


def test_a_seat_that_was_taken_over_is_counted_and_named() -> None:
    def outcome(due: DueGame) -> Result:
        loser = due.game.players.index("Bob")
        ranks = (2, 1) if loser == 0 else (1, 2)
        causes = [Cause.TAKEOVER if seat == loser else None for seat in range(2)]
        ended = result(*ranks, cause=Cause.TAKEOVER, seat_causes=causes)
        seats = [
            seat.model_copy(update={"takeover": True if number == loser else None})
            for number, seat in enumerate(ended.seats)
        ]
        return ended.model_copy(update={"seats": seats})

    results = shown(event(2), outcome)
    assert [sorted(game.takeovers) for game in results.games] == [[False, True]] * 2
    assert [game.termination for game in results.games] == ["abandoned"] * 2
    assert formatting.terminations(results.games) == "2 abandoned (2 taken over)"
    [note] = formatting.notes(results)
    assert note.startswith("In 2 games a seat was taken over by another connection")
    assert results.games[0].tag in note
    assert formatting.termination_rows(results)[0].counts == {"taken over": 2}


def test_what_isolated_the_entrants_is_told() -> None:
    form = event(2)
    progress = TournamentState(form)
    assert [*formatting.notes(Results.of(form, progress))] == []
    for tool in ("bwrap", "none", "bwrap", None):
        progress.apply(RunStarted.model_validate({"at_ms": 0, "isolation": tool}))
    results = Results.of(form, progress)
    assert results.isolation == ["bwrap", "none"]
    notes = [*formatting.notes(results)]
    assert notes[0] == "Entrants ran isolated (bwrap), with separate files and processes."
    assert notes[1] == "Entrants were not isolated from each other."
