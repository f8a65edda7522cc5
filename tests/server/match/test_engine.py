"""The rules of a match, one test each: moves, clocks, tolerance, messages and replay."""

from __future__ import annotations

import tracemalloc
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import Field

from kibitz_games.chinese_checkers import GAME as CHINESE_CHECKERS
from kibitz_games.core.game import TERMINAL, InvalidSetup
from kibitz_protocol.wire.clocks import Clock, TimeControl
from kibitz_protocol.wire.codec import decode_server_message, encode
from kibitz_protocol.wire.lag import ALLOWANCE_CAP_MS, RESTART_MS, Lag
from kibitz_protocol.wire.records import (
    Cause,
    Comment,
    Conduct,
    Flagged,
    Moved,
    Noted,
    Returned,
    Setup,
)
from kibitz_protocol.wire.refusals import Code
from kibitz_protocol.wire.reports import MatchReport
from kibitz_protocol.wire.values import MAX_SAFE_INT
from kibitz_protocol.wire.visibility import PUBLIC, REFEREE
from kibitz_server.match import report as match_report
from kibitz_server.match.commands import (
    Abort,
    Accepted,
    Append,
    Forfeit,
    Leave,
    MatchOver,
    Note,
    Play,
    Replace,
    Resign,
    Return,
    WantSubstitute,
)
from kibitz_server.match.engine import MatchEngine
from kibitz_server.match.state import MAX_REQUESTS, BrokenLog, MatchState
from kibitz_server.match.visibility import MAX_LEGAL_LISTED, replay
from tests.server.match.toy_games import (
    HOUSE,
    REPLACING,
    SEED,
    Grid,
    GridOptions,
    MatchDriver,
    Race,
    Veil,
    grid,
    kinds,
    race,
    refusal,
    setup,
    state_values,
    variant,
)
from tests.tools import profiles

# --- moves ----------------------------------------------------------------------------------


def test_a_move_that_is_accepted_answers_its_request() -> None:
    shell = grid()
    effects = shell.play(wait=250, rtt_ms=40, x=1, y=2)
    assert kinds(effects) == ["move"]
    assert isinstance(effects[0], Append)
    assert effects[0].request == 1
    assert shell.log == [
        Moved(
            seq=1,
            at_ms=250,
            ply=0,
            seat=0,
            action={"x": 1, "y": 2},
            elapsed_ms=250,
            allowance_ms=40,
            id=1,
        )
    ]
    assert (shell.match.state.ply, shell.match.state.to_act, shell.match.state.seq) == (1, 1, 1)


def test_the_last_move_ends_the_match_by_the_rules() -> None:
    shell = grid()
    for x, y in [(0, 0), (0, 1), (1, 0), (1, 1)]:
        shell.play(x=x, y=y)
    effects = shell.play(x=2, y=0)
    assert kinds(effects) == ["move", "MatchOver"]
    (result,) = shell.finished
    assert (result.cause, result.reason, result.plies) == (Cause.RULES, "row", 5)
    assert [(seat.rank, seat.score, seat.cause) for seat in result.seats] == [
        (1, 1.0, None),
        (2, 0.0, None),
    ]
    assert shell.match.state.to_act == TERMINAL


def test_the_log_holds_the_action_as_the_game_writes_it() -> None:
    shell = grid()
    shell.do(Play(0, 1, 0, {"y": 1, "x": 2}))
    moved = shell.log[0]
    assert isinstance(moved, Moved)
    assert list(moved.action) == ["x", "y"]


# --- time -----------------------------------------------------------------------------------


def test_time_counts_from_the_open_turn_less_the_allowance() -> None:
    shell = grid(clock="10+0.5")
    shell.play(wait=1_000, rtt_ms=30, x=0, y=0)
    assert shell.match.state.clocks == [Clock(main_ms=9_530), Clock(main_ms=10_000)]


def test_nobody_pays_for_the_time_before_a_turn_is_open() -> None:
    match = MatchEngine.new(Grid(), setup(Grid(), clock="10+0"))
    match.open_turn(100)
    match.handle(Play(0, 1, 0, {"x": 0, "y": 0}), 600)
    assert match.deadline is None
    match.open_turn(900)
    (append,) = match.handle(Play(1, 1, 1, {"x": 1, "y": 0}), 1_000)
    assert isinstance(append, Append)
    assert isinstance(append.entry, Moved)
    assert (append.entry.elapsed_ms, append.entry.wait_ms) == (100, 300)
    assert match.state.clocks == [Clock(main_ms=9_500), Clock(main_ms=9_900)]


def test_a_field_of_an_action_that_is_null_counts_as_left_out() -> None:
    shell = grid()
    (append,) = shell.match.handle(Play(0, 1, 0, {"x": 0, "y": 0, "z": None}), shell.now)
    assert isinstance(append, Append)
    assert isinstance(append.entry, Moved)
    assert append.entry.action == {"x": 0, "y": 0}


def test_opening_an_open_turn_again_changes_nothing() -> None:
    shell = grid(clock="10+0")
    before = shell.match.deadline
    shell.match.open_turn(shell.now + 5_000)
    assert shell.match.deadline == before


def test_nobody_pays_for_what_was_thought_about_a_turn_that_the_server_has_closed() -> None:
    match = MatchEngine.new(Grid(), setup(Grid(), clock="10+0"))
    match.open_turn(0)
    assert match.close_turn(3_000) is None
    assert match.tick(60_000) == []
    assert match.left_ms(60_000) == 10_000
    assert match.open_turn(60_000) == 70_000 + ALLOWANCE_CAP_MS
    (append,) = match.handle(Play(0, 1, 0, {"x": 0, "y": 0}), 60_400)
    assert isinstance(append, Append)
    assert isinstance(append.entry, Moved)
    assert (append.entry.elapsed_ms, append.entry.wait_ms) == (400, 60_000)
    assert append.entry.lag_ms == 3_000


def test_the_timer_waits_for_the_allowance_too() -> None:
    shell = grid(clock="move=1")
    assert shell.match.deadline == shell.now + 1_000 + ALLOWANCE_CAP_MS
    assert shell.tick(1_000 + ALLOWANCE_CAP_MS - 1) == []
    assert kinds(shell.tick(1)) == ["flag", "forfeit", "MatchOver"]
    assert shell.finished[0].cause is Cause.TIME


def test_inside_the_allowance_the_network_flags_nobody() -> None:
    shell = grid(clock="move=1")
    assert kinds(shell.play(wait=1_049, rtt_ms=50, x=0, y=0)) == ["move"]


def test_a_late_move_is_decided_by_the_ledger_before_any_tick() -> None:
    shell = grid(clock="move=1")
    effects = shell.play(wait=1_050, rtt_ms=50, x=0, y=0)
    assert kinds(effects) == ["flag", "forfeit", "MatchOver", "Refuse"]
    assert refusal(effects).code is Code.OVER
    assert shell.log[0] == Flagged(seq=1, at_ms=1_050, ply=0, seat=0, elapsed_ms=1_050)


def test_timers_that_are_due_come_before_the_command() -> None:
    shell = grid(clock="move=1")
    assert kinds(shell.do(Resign(1), 5_000)) == ["flag", "forfeit", "MatchOver", "Refuse"]
    assert [seat.cause for seat in shell.finished[0].seats] == [Cause.TIME, None]


def test_without_a_clock_no_flag_falls() -> None:
    shell = grid()
    assert shell.match.deadline is None
    assert shell.tick(10**9) == []
    assert shell.match.state.clocks is None
    assert shell.match.views.your_turn().left_ms is None


@pytest.mark.parametrize(
    ("wait", "rtt", "allowed"),
    [(500, 30, 30), (20, 30, 20), (500, 4_000, 100), (500, 0, 0), (500, -7, 0)],
)
def test_the_allowance_is_the_measured_round_trip_capped(wait: int, rtt: int, allowed: int) -> None:
    shell = grid(clock="10+0")
    shell.play(wait, rtt)
    [entry] = shell.log
    assert isinstance(entry, Moved)
    assert (entry.elapsed_ms, entry.allowance_ms) == (wait, allowed)


# --- tolerated events -----------------------------------------------------------------------


@given(
    rtts=st.lists(st.integers(0, 10_000), min_size=2, max_size=60),
    bank_ms=st.integers(0, 2_000),
    refill_ms=st.integers(0, 100),
    clock=st.sampled_from(["none", "600+0", "move=9"]),
)
def test_pongs_gain_no_more_than_the_bank_and_its_refills(
    rtts: list[int], bank_ms: int, refill_ms: int, clock: str
) -> None:
    lag = Lag(bank_ms=bank_ms, refill_ms=refill_ms)
    shell = race(seats=2, clock=clock, lag=lag, goal=100)
    for rtt_ms in rtts:
        shell.play(wait=1_000, rtt_ms=rtt_ms, steps=1)
    moves = [entry for entry in shell.log if isinstance(entry, Moved)]
    assert len(moves) == len(rtts)
    for seat in (0, 1):
        own = [entry.allowance_ms for entry in moves if entry.seat == seat]
        assert sum(own) <= bank_ms + (len(own) - 1) * refill_ms
        assert all(allowed <= ALLOWANCE_CAP_MS for allowed in own)
    again = MatchState.restore(shell.game, shell.setup, shell.log)
    assert state_values(again) == state_values(shell.state)
    assert again.lag_left == shell.state.lag_left


def test_a_round_trip_of_forty_milliseconds_is_never_charged() -> None:
    shell = race(seats=2, clock="60+0", lag=Lag(), goal=100)
    for _ in range(180):
        shell.play(wait=40, rtt_ms=40, steps=1)
    assert shell.state.clocks == [Clock(main_ms=60_000)] * 2


def test_a_seat_whose_bank_is_empty_is_charged_and_flagged_like_any_other() -> None:
    shell = race(seats=2, clock="move=1", lag=Lag(bank_ms=150, refill_ms=0), goal=100)
    for seat_allowance in (100, 100, 50, 50, 0, 0):
        shell.play(wait=900, rtt_ms=10_000, steps=1)
        assert isinstance(shell.log[-1], Moved)
        assert shell.log[-1].allowance_ms == seat_allowance
    assert shell.match.deadline == shell.now + 1_000
    assert kinds(shell.tick(1_000)) == ["flag", "forfeit", "MatchOver"]


def test_a_move_that_the_server_makes_refills_no_bank() -> None:
    game = variant(Race, on_flag="random")
    lag = Lag(bank_ms=100, refill_ms=10)
    shell = MatchDriver(game, setup(game, 2, clock="move=1", lag=lag, goal=100))
    shell.play(wait=500, rtt_ms=90, steps=1)
    shell.play(wait=500, steps=1)
    assert kinds(shell.tick(2_000)) == ["flag", "move"]
    assert shell.state.lag_left == (20, 100)


def standing(shell: MatchDriver, stood: int, wait: int = 0) -> None:
    """Freeze the server for `stood` milliseconds, and advance its clock by `wait`."""
    shell.lag += stood
    shell.now += wait


def test_beyond_what_a_match_forgives_it_is_aborted_by_the_move() -> None:
    shell = race(seats=2, clock="2+0", lag=Lag(standstill_ms=3_000), goal=100)
    for _ in range(3):
        standing(shell, 1_000, 100)
        assert kinds(shell.play(steps=1)) == ["move"]
    assert shell.state.standstill_ms == 3_000
    standing(shell, 100, 100)  # plus a quarter of the match's own time: 400 // 4
    assert kinds(shell.play(steps=1)) == ["move"]
    standing(shell, 101, 100)
    effects = shell.play(steps=1)
    assert kinds(effects) == ["abort", "MatchOver", "Refuse"]
    assert refusal(effects).code is Code.OVER
    assert shell.finished[0].cause is Cause.INFRASTRUCTURE
    assert [seat.rank for seat in shell.finished[0].seats] == [1, 1]


def test_beyond_what_a_match_forgives_no_flag_falls() -> None:
    shell = race(seats=2, clock="2+0", lag=Lag(standstill_ms=3_000), goal=100)
    standing(shell, 60_000)
    assert kinds(shell.tick(2_100)) == ["abort", "MatchOver"]
    assert shell.finished[0].cause is Cause.INFRASTRUCTURE


@given(stops=st.lists(st.tuples(st.integers(0, 3_000), st.integers(0, 400)), max_size=40))
def test_a_match_never_forgives_more_than_its_cap(stops: list[tuple[int, int]]) -> None:
    shell = race(seats=2, clock="2+0", lag=Lag(standstill_ms=5_000), goal=100)
    for stood, wait in stops:
        standing(shell, stood, wait)
        shell.play(steps=1)
        if shell.finished:
            break
    entries = [entry for entry in shell.log if isinstance(entry, Moved | Flagged)]
    total = sum(entry.lag_ms or 0 for entry in entries)
    assert total <= 5_000 + shell.state.at_ms // 4
    assert total == shell.state.standstill_ms
    again = MatchState.restore(shell.game, shell.setup, shell.log)
    assert again.standstill_ms == total


def test_restarts_count_of_what_a_match_forgives() -> None:
    shell = race(seats=2, clock="2+0", lag=Lag(standstill_ms=3 * RESTART_MS), goal=100)
    for _ in range(3):
        shell.restart()
        assert kinds(shell.do(Leave(0, "disconnect", restart=True))) == ["leave"]
        assert kinds(shell.do(Return(0))) == ["return"]
    assert shell.state.standstill_ms == 3 * RESTART_MS
    shell.restart()
    effects = shell.do(Leave(0, "disconnect", restart=True))
    assert kinds(effects) == ["leave", "abort", "MatchOver"]


def test_a_match_without_clocks_forgives_all_standstill() -> None:
    shell = race(seats=2, lag=Lag(standstill_ms=0), goal=100)
    standing(shell, 10**7)
    assert kinds(shell.play(steps=1)) == ["move"]


def test_a_turn_that_is_loaded_again_keeps_what_it_was_open_for() -> None:
    shell = race(seats=2, clock="2+0", lag=Lag(standstill_ms=1_000), goal=100)
    again = MatchEngine.restore(shell.game, shell.setup, shell.log)
    again.go_on_from(shell.match, shell.now + 1_500)
    again.tick(shell.now + 1_500)
    again.open_turn(shell.now + 1_500)
    effects = again.handle(Play(0, 1, 0, {"steps": 1}), shell.now + 1_600)
    assert kinds(effects) == ["abort", "MatchOver", "Refuse"]


def test_your_turn_says_how_much_time_is_left() -> None:
    shell = grid(clock="10+0")
    assert shell.match.views.your_turn().left_ms == 10_000
    assert shell.match.views.your_turn(shell.match.left_ms(shell.now + 4_000)).left_ms == 6_000
    assert shell.match.views.your_turn(shell.match.left_ms(shell.now + 40_000)).left_ms == 0


# --- messages -------------------------------------------------------------------------------


def test_a_snapshot_is_the_whole_match() -> None:
    shell = grid(clock="10+0", row=3)
    shell.play(wait=1_000, x=0, y=0)
    shell.do(Leave(0, "disconnect"))
    seen = shell.match.views.snapshot(1, "rejoined", you=1)
    assert (seen.seq, seen.ply, seen.to_act, seen.you, seen.away) == (2, 1, 1, 1, [0])
    assert seen.view == {"cells": [1] + [0] * 8, "turn": 1}
    assert seen.clocks == [Clock(main_ms=9_000), Clock(main_ms=10_000)]
    assert seen.options == {"row": 3}
    assert seen.result is None
    assert type(seen).model_validate_json(seen.model_dump_json()) == seen


def test_your_turn_lists_the_legal_actions() -> None:
    shell = grid(columns=2, rows=1)
    turn = shell.match.views.your_turn()
    assert turn.legal == [{"x": 0, "y": 0}, {"x": 1, "y": 0}]
    assert (turn.legal_count, turn.seat, turn.ply, turn.legal_rule) == (2, 0, 0, None)
    assert type(turn).model_validate_json(turn.model_dump_json()) == turn


def test_a_long_list_is_only_counted() -> None:
    rows = MAX_LEGAL_LISTED // 32
    at_limit = grid(columns=32, rows=rows).match.views.your_turn()
    beyond = grid(columns=32, rows=rows + 1).match.views.your_turn()
    assert at_limit.legal is not None
    assert len(at_limit.legal) == at_limit.legal_count == MAX_LEGAL_LISTED
    assert (beyond.legal, beyond.legal_count) == (None, MAX_LEGAL_LISTED + 32)


def test_a_rule_in_words_stands_for_the_list() -> None:
    shell = grid(game=variant(Grid, legal_rule="any empty cell"))
    turn = shell.match.views.your_turn()
    assert (turn.legal, turn.legal_rule, turn.legal_count) == (None, "any empty cell", 9)


def test_the_end_reveals_seed_and_everything() -> None:
    veil = Veil()
    shell = MatchDriver(veil, setup(veil, 2))
    shell.play(card=2)
    shell.do(Resign(1))
    news = shell.match.views.finished("/records/m1.jsonl")
    assert (news.seed, news.seq, news.result) == (SEED, 2, shell.finished[0])
    assert news.view["hands"] == shell.setup.deal["hands"]
    assert shell.match.views.snapshot(0, "rejoined").view == news.view
    assert type(news).model_validate_json(news.model_dump_json()) == news


# --- replay ---------------------------------------------------------------------------------


def eventful() -> MatchDriver:
    """Return a match with every kind of entry."""
    game = variant(Race, on_flag="random")
    shell = MatchDriver(game, setup(game, 5, clock="5+1", conduct=REPLACING, goal=4))
    shell.do(
        Play(0, 1, 0, {"steps": 3}, Comment(value=0.5, depth=3, line=["3"], text="ahead")), 500
    )
    shell.do(Note(1, "hm"), 3)
    shell.tick(20_000)
    shell.do(Leave(4, "disconnect"), 5)
    shell.do(Return(4), 5)
    shell.do(Leave(2, "left"), 5)
    shell.do(Replace(2, HOUSE, Cause.DISCONNECT), 5)
    shell.play(wait=4_000, rtt_ms=20, steps=2)
    shell.do(Resign(3), 9)
    shell.do(Forfeit(4, Cause.CRASH, "exit status 1"), 9)
    shell.play(wait=9, steps=1)
    shell.do(Abort("out of disk"), 9)
    return shell


def test_restoring_any_prefix_gives_the_live_match() -> None:
    shell = eventful()
    assert {entry.kind for entry in shell.log} == {
        "move", "note", "flag", "leave", "return", "replace", "resign", "forfeit", "abort",
    }  # fmt: skip
    live = MatchState(shell.game, shell.setup)
    for count, entry in enumerate(shell.log):
        restored = MatchEngine.restore(shell.game, shell.setup, shell.log[:count])
        assert state_values(restored.state) == state_values(live)
        live.apply(entry)
    assert state_values(live) == state_values(shell.match.state)


def test_a_replay_shows_what_was_seen_live() -> None:
    shell = eventful()
    replayed = list(replay(shell.game, shell.setup, shell.log))
    for viewer in (0, 1, 2, PUBLIC, REFEREE):
        live = [sight.event(viewer).model_dump_json() for sight in shell.views]
        assert [sight.event(viewer).model_dump_json() for sight in replayed] == live


def test_downtime_is_charged_to_nobody() -> None:
    shell = grid(clock="10+0", conduct=Conduct(grace_ms=1_000))
    shell.play(wait=4_000, x=0, y=0)
    shell.do(Leave(0, "disconnect"), 10)
    shell.now += 400
    shell.restart(downtime=77)
    assert shell.match.deadline == 77 + 1_000
    shell.play(wait=100, x=1, y=0)
    assert shell.match.state.clocks == [Clock(main_ms=6_000), Clock(main_ms=9_900)]
    assert shell.log[-1].at_ms == 4_010 + 100


def test_a_crash_between_flag_and_consequence_is_made_up_for() -> None:
    shell = grid(clock="move=1")
    shell.tick(2_000)
    del shell.log[1:]
    shell.restart()
    assert [entry.kind for entry in shell.log] == ["flag", "forfeit"]
    assert shell.match.state.result is not None
    assert shell.match.state.result.cause is Cause.TIME


def test_a_crash_between_leaving_and_consequence_is_made_up_for() -> None:
    shell = race(conduct=REPLACING)
    shell.do(Leave(1, "left"))
    match = MatchEngine.restore(shell.game, shell.setup, shell.log)
    assert match.tick(5) == [WantSubstitute(1, "toy-race/walker", Cause.DISCONNECT)]


def test_a_duplicate_is_known_after_a_restart() -> None:
    shell = grid()
    move = shell.move(x=0, y=0)
    shell.do(move)
    shell.restart()
    assert shell.do(move) == [Accepted(seat=0, id=move.id, seq=1)]


def test_a_match_remembers_its_last_requests() -> None:
    shell = grid()
    keys = [f"{number:032x}" for number in range(MAX_REQUESTS + 1)]
    for key in keys:
        shell.do(Note(0, "hm"), request=key)
    shell.restart()
    assert list(shell.state.requests.items()) == list(zip(keys[1:], range(2, 130), strict=True))


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (Returned(seq=2, at_ms=0, seat=0), "entry 2 does not follow entry 0"),
        (Moved(seq=1, at_ms=0, ply=1, seat=0, action={}), "entry 1 is not the turn of seat 0"),
        (Moved(seq=1, at_ms=0, ply=0, seat=1, action={}), "entry 1 is not the turn of seat 0"),
        (
            Moved(seq=1, at_ms=0, ply=0, seat=0, action={"x": 9, "y": 9}),
            "entry 1 is not legal: cell 9,9 is off the board",
        ),
        (
            Moved(seq=1, at_ms=0, ply=0, seat=0, action={"x": 0, "y": 0}, elapsed_ms=1_000),
            "entry 1 is a move after the flag",
        ),
        (Flagged(seq=1, at_ms=0, ply=0, seat=1, elapsed_ms=0), "entry 1 is a flag that cannot"),
    ],
)
def test_entries_that_do_not_fold_are_named(entry: Any, message: str) -> None:
    with pytest.raises(BrokenLog, match=message):
        MatchEngine.restore(Grid(), setup(Grid(), clock="move=1"), [entry])


def test_an_entry_after_the_end_does_not_fold() -> None:
    shell = grid()
    shell.do(Resign(0))
    late = Noted(seq=2, at_ms=0, seat=0, text="late")
    with pytest.raises(BrokenLog, match="entry 2 does not follow"):
        MatchEngine.restore(shell.game, shell.setup, [*shell.log, late])


def test_a_setup_of_other_rules_is_refused() -> None:
    newer = variant(Grid, rules_version=2)
    with pytest.raises(BrokenLog, match="toy-grid has the rules versions 2, but not 1"):
        MatchEngine.new(newer, setup(Grid()))
    with pytest.raises(BrokenLog, match="toy-grid with rules version 1, not of toy-veil"):
        MatchEngine.new(Veil(), setup(Grid()))


class ShorterOptions(GridOptions):
    row: int = Field(2, ge=1, le=32)


class Shorter(Grid):
    """A grid with changed rules: two marks in a row win instead of three."""

    info = replace(Grid.info, rules_version=2)
    Options = ShorterOptions
    earlier_versions: ClassVar[Mapping[int, Mapping[str, Any]]] = {1: {"row": 3}}


def test_a_match_goes_on_under_the_rules_that_it_began_under() -> None:
    shell = grid()
    shell.play(x=0, y=0)
    shell.play(x=2, y=2)
    shell.play(x=1, y=0)
    before = shell.setup.model_copy(update={"options": {}})
    match = MatchEngine.restore(Shorter(), before, shell.log)
    assert match.state.game.info.rules_version == 1
    assert match.state.game_state.tobytes() == shell.match.state.game_state.tobytes()
    assert match.state.result is None
    fresh = MatchDriver(Shorter(), setup(Shorter()))
    assert fresh.setup.rules_version == 2
    for entry in shell.log:
        assert isinstance(entry, Moved)
        fresh.play(**{name: int(value) for name, value in entry.action.items()})
    assert fresh.match.state.result is not None


def test_options_that_the_game_does_not_offer_are_refused() -> None:
    with pytest.raises(InvalidSetup, match=r"options\.size"):
        MatchEngine.new(CHINESE_CHECKERS, setup(CHINESE_CHECKERS, board="star", size=9))


def test_matches_without_an_end_show_no_result() -> None:
    shell = grid()
    with pytest.raises(AssertionError, match="is not over"):
        shell.match.views.finished("x")
    assert MatchOver not in map(type, shell.play(x=0, y=0))


@pytest.mark.parametrize("seats", [2, 3, 6])
def test_chinese_checkers_restores_from_any_entry(seats: int) -> None:
    shell = MatchDriver(CHINESE_CHECKERS, setup(CHINESE_CHECKERS, seats, clock="60+1"))
    digests = [state_values(shell.match.state)]
    while shell.match.state.ply < 30:
        legal = CHINESE_CHECKERS.legal(shell.match.state.game_state)
        shell.play(wait=5, **shell.wire(legal[(shell.match.state.ply * 7) % len(legal)]))
        digests.append(state_values(shell.match.state))
    for count in range(0, len(digests), 5):
        restored = MatchEngine.restore(CHINESE_CHECKERS, shell.setup, shell.log[:count])
        assert state_values(restored.state) == digests[count]


def test_an_idle_match_takes_at_most_8_kib_beyond_the_state_of_its_game() -> None:
    def waiting() -> MatchEngine:
        opening = Setup.model_validate_json(line)
        match = MatchEngine.new(CHINESE_CHECKERS, opening)
        for ply in range(6):
            match.open_turn(ply)
            seat = match.views.your_turn().seat
            legal = CHINESE_CHECKERS.legal(match.state.game_state)
            action = CHINESE_CHECKERS.encode(match.state.game_state, legal[0]).to_wire()
            match.handle(Play(seat, ply + 1, ply, action), ply)
        return match

    line = setup(CHINESE_CHECKERS, clock="10+0.1").model_dump_json()
    waiting()  # objects shared by all matches are created once
    tracemalloc.start()
    matches = [waiting() for _ in range(20)]
    each = tracemalloc.get_traced_memory()[0] / len(matches)
    tracemalloc.stop()
    assert each - matches[0].state.game_state.nbytes <= 8 * 1024


# --- numbers on the wire ------------------------------------------------------------------------

_MILLIS = st.sampled_from([0, 1, 1000, 2**31, MAX_SAFE_INT - 1, MAX_SAFE_INT])
_CONTROLS = st.builds(
    TimeControl,
    move_ms=_MILLIS,
    main_ms=_MILLIS,
    increment_ms=_MILLIS,
    bank_ms=_MILLIS,
    periods=st.sampled_from([0, 1, 1000]),
    period_ms=_MILLIS,
).filter(lambda control: control.flaw is None)
_WAITS = st.lists(st.sampled_from([0, 1, 1500, 2**31, 2**50, -1, -5000, -(2**40)]), max_size=5)


@given(control=_CONTROLS, waits=_WAITS)
@settings(max_examples=profiles.examples(150), deadline=None)
def test_no_number_is_beyond_what_the_wire_carries(control: TimeControl, waits: list[int]) -> None:
    """Not after a very long time, and not if the match's clock runs backwards."""
    game = Grid()
    shell = MatchDriver(game, setup(game, 2).model_copy(update={"time_control": control}))
    for wait in waits:
        shell.now += wait
        if shell.match.state.result is None:
            left = shell.match.left_ms(shell.now)
            told = [
                shell.match.views.your_turn(left),
                shell.match.views.snapshot(0, "rejoined", 0, left),
            ]
            for message in told:
                assert decode_server_message(encode(message)) == message
            shell.play()
    for sight in shell.views:
        assert decode_server_message(encode(sight.event(0))).entry == sight.entry  # type: ignore[union-attr]
    assert state_values(MatchEngine.restore(game, shell.setup, shell.log).state) == state_values(
        shell.match.state
    )
    if shell.match.state.result is not None:
        made = match_report.match_report(game, shell.setup, shell.log, 0)
        assert MatchReport.model_validate_json(encode(made)) == made
