"""The progress display of a running tournament."""

from __future__ import annotations

from kibitz_arena.entries import GamesRequested
from kibitz_arena.report.formatting import clock_time
from kibitz_arena.runner.concurrency import ConcurrencyLimit
from kibitz_arena.runner.progress import (
    ProgressDisplay,
    status_line,
)
from kibitz_arena.tournament_state import DueGame, TournamentState
from kibitz_protocol.wire.records import Cause, Result
from tests.arena.reporter import FakeReporter
from tests.arena.tournaments import by_name, event, play, result


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def progress(games: int, *, flags: int = 0) -> TournamentState:
    """Return a tournament of twelve games with some finished, some of them by a flag."""
    made = TournamentState(event(4, blocks=1))
    late = iter(range(flags))

    def outcome(due: DueGame) -> Result:
        if next(late, None) is None:
            return by_name(due)
        return result(1, 2, cause=Cause.TIME, seat_causes=[None, Cause.TIME])

    play(made, outcome, at_once=1, most=games)
    return made


def test_the_rate_is_that_since_the_first_line() -> None:
    reporter, clock = FakeReporter(), Clock()
    ticker = ProgressDisplay(reporter, clock=clock)
    ticker.show(progress(2), ConcurrencyLimit(2))
    clock.now += 20.0
    ticker.show(progress(6, flags=2), ConcurrencyLimit(2))
    first, last = reporter.lines
    assert first.startswith("2 of 12: cup  0.0/min")
    assert last.startswith("6 of 12: cup  12.0/min")
    assert last.endswith("2 flag")


def test_durations_are_read_at_a_glance() -> None:
    assert [clock_time(s) for s in (0, 59.6, 600, 3725)] == ["0:00", "1:00", "10:00", "1:02:05"]


def test_the_facts_are_rate_width_lateness_and_faults() -> None:
    six = progress(6)
    assert status_line(six, ConcurrencyLimit(3), 0.1, "") == "cup  6.0/min  0 of 3 at once"
    width = ConcurrencyLimit(3, latency_bound_ms=10.0)
    width.record_latency(7.4)
    assert status_line(six, width, 2.0, "1 flag").endswith("p95 7 ms  1 flag")
    assert status_line(six, width, 2.0, "").startswith("cup  2.0/s")


def test_games_are_told_of_to_who_wants_it() -> None:
    for loud in (True, False):
        reporter = FakeReporter()
        ticker = ProgressDisplay(reporter, loud=loud)
        ticker.say_game("b1.1 ends")
        ticker.say("the server is gone")
        assert reporter.lines == (["b1.1 ends"] if loud else []) + ["the server is gone"]


def test_a_game_that_runs_is_counted() -> None:
    begun = progress(0)
    begun.apply(GamesRequested(at_ms=0, tags=[begun.due(1)[0].tag]))
    assert "1 of 2 at once" in status_line(begun, ConcurrencyLimit(2), 0.0, "")


def test_games_that_wait_in_the_blocks_of_workers_do_not_run() -> None:
    begun = progress(0)
    begun.apply(GamesRequested(at_ms=0, tags=[due.tag for due in begun.due(4)]))
    assert "2 of 2 at once" in status_line(begun, ConcurrencyLimit(2), 0.0, "")
