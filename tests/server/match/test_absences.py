"""Absent seats: graces, abandoned matches and substitutes."""

from __future__ import annotations

from typing import Any

import pytest

from kibitz_protocol.wire.records import Cause, Conduct, Left, Replaced, Returned
from kibitz_protocol.wire.refusals import Code
from kibitz_protocol.wire.visibility import PUBLIC
from kibitz_server.match.commands import Forfeit, Leave, Replace, Resign, Return, WantSubstitute
from tests.server.match.toy_games import HOUSE, REPLACING, grid, kinds, race, refusal

# --- disconnects and reconnects -------------------------------------------------------------


def test_who_leaves_for_good_forfeits_at_once() -> None:
    shell = grid()
    assert kinds(shell.do(Leave(1, "left"))) == ["leave", "forfeit", "MatchOver"]
    lost = shell.finished[0].seats[1]
    assert (lost.cause, lost.detail) == (Cause.DISCONNECT, "left the match")


@pytest.mark.parametrize("reason", ["disconnect", "crash"])
def test_who_is_cut_off_has_the_grace(reason: Any) -> None:
    shell = grid(conduct=Conduct(grace_ms=1_000))
    shell.do(Leave(1, reason), 10)
    assert shell.log == [Left(seq=1, at_ms=10, seat=1, reason=reason, grace_ms=1_000)]
    assert list(shell.match.state.away) == [1]
    assert shell.match.deadline == shell.now + 1_000
    assert shell.tick(999) == []
    assert kinds(shell.tick(1)) == ["forfeit", "MatchOver"]
    assert shell.finished[0].seats[1].cause == reason


def test_who_comes_back_in_time_plays_on() -> None:
    shell = grid(conduct=Conduct(grace_ms=1_000))
    shell.do(Leave(1, "disconnect"))
    shell.do(Return(1), 999)
    assert shell.log[-1] == Returned(seq=2, at_ms=999, seat=1)
    assert (shell.match.state.away, shell.match.deadline) == ({}, None)


def test_who_comes_back_too_late_finds_the_match_over() -> None:
    shell = grid(conduct=Conduct(grace_ms=1_000))
    shell.do(Leave(1, "disconnect"))
    assert kinds(shell.do(Return(1), 1_000)) == ["forfeit", "MatchOver", "Refuse"]


def test_going_twice_and_coming_twice_is_once() -> None:
    shell = grid()
    shell.do(Leave(1, "disconnect"))
    assert shell.do(Leave(1, "disconnect")) == []
    assert shell.do(Leave(1, "crash")) == []
    shell.do(Return(1))
    assert shell.do(Return(1)) == []


def test_who_is_away_may_still_leave_for_good() -> None:
    shell = grid()
    shell.do(Leave(1, "disconnect"))
    assert kinds(shell.do(Leave(1, "left"))) == ["leave", "forfeit", "MatchOver"]


def test_the_clock_of_an_absent_seat_runs_on() -> None:
    shell = grid(clock="move=1", conduct=Conduct(grace_ms=60_000))
    shell.do(Leave(0, "disconnect"))
    assert kinds(shell.tick(1_100)) == ["flag", "forfeit", "MatchOver"]
    seat = shell.finished[0].seats[0]
    assert (seat.cause, shell.finished[0].cause) == (Cause.DISCONNECT, Cause.DISCONNECT)
    assert seat.detail == "disconnected and did not reconnect before the flag fell"


def test_the_earlier_of_flag_and_grace_decides() -> None:
    shell = grid(clock="move=10", conduct=Conduct(grace_ms=500))
    shell.do(Leave(0, "disconnect"))
    shell.tick(60_000)
    assert shell.finished[0].cause is Cause.DISCONNECT


def test_when_everybody_stays_away_the_match_is_abandoned() -> None:
    shell = grid(conduct=Conduct(grace_ms=1_000))
    shell.do(Leave(0, "disconnect"))
    shell.do(Leave(1, "disconnect"), 600)
    assert shell.tick(400) == []
    assert kinds(shell.tick(600)) == ["forfeit", "MatchOver"]
    result = shell.finished[0]
    assert result.cause is Cause.ABANDONED
    assert [(seat.rank, seat.score, seat.cause) for seat in result.seats] == [
        (1, 0.5, Cause.ABANDONED)
    ] * 2


def test_who_returns_to_a_deserted_match_wins_if_the_others_are_past_their_grace() -> None:
    shell = grid(conduct=Conduct(grace_ms=1_000))
    shell.do(Leave(0, "disconnect"))
    shell.do(Leave(1, "disconnect"), 600)
    assert kinds(shell.do(Return(1), 500)) == ["return", "forfeit", "MatchOver"]
    assert [seat.rank for seat in shell.finished[0].seats] == [2, 1]


def test_an_abandoned_match_keeps_the_ranks_of_those_who_finished() -> None:
    shell = race(seats=4, goal=3, conduct=Conduct(grace_ms=1_000))
    shell.play(steps=3)
    shell.do(Resign(1))
    for seat in (2, 3):
        shell.do(Leave(seat, "crash"))
    shell.tick(1_000)
    result = shell.finished[0]
    assert [seat.rank for seat in result.seats] == [1, 4, 2, 2]
    assert [seat.cause for seat in result.seats] == [
        None,
        Cause.RESIGNATION,
        Cause.ABANDONED,
        Cause.ABANDONED,
    ]


def test_when_the_last_one_who_is_there_resigns_the_match_is_abandoned_at_once() -> None:
    shell = grid(seats=3, conduct=REPLACING)
    for seat in (0, 1):
        shell.do(Leave(seat, "left"))
    assert kinds(shell.do(Resign(2))) == ["resign", "forfeit", "MatchOver"]
    assert shell.finished[0].cause is Cause.ABANDONED
    assert [seat.rank for seat in shell.finished[0].seats] == [1, 1, 3]


# --- stand-ins ------------------------------------------------------------------------------


def test_a_replacing_table_asks_for_a_stand_in_once() -> None:
    shell = race(conduct=REPLACING)
    shell.do(Leave(0, "crash"))
    assert shell.tick(1_000) == [WantSubstitute(0, "toy-race/walker", Cause.CRASH)]
    assert shell.tick(60_000) == []
    assert shell.match.deadline is None


def test_who_leaves_a_replacing_table_is_replaced_at_once() -> None:
    shell = race(conduct=REPLACING)
    assert kinds(shell.do(Leave(0, "left"))) == ["leave", "WantSubstitute"]


def test_leaving_for_good_asks_for_no_second_stand_in() -> None:
    shell = race(conduct=REPLACING)
    shell.do(Leave(0, "crash"))
    shell.tick(1_000)
    assert kinds(shell.do(Leave(0, "left"))) == ["leave"]


def test_who_has_left_for_good_stays_so() -> None:
    shell = race(conduct=REPLACING)
    shell.do(Leave(0, "left"))
    assert shell.do(Leave(0, "crash")) == []
    assert shell.do(Leave(0, "left")) == []


def test_without_a_personality_nobody_can_be_replaced() -> None:
    shell = grid(conduct=Conduct(on_leave="replace"))
    assert kinds(shell.do(Leave(0, "left"))) == ["leave", "forfeit", "MatchOver"]


def test_a_stand_in_takes_the_seat_and_a_turn_of_its_own() -> None:
    shell = race(conduct=REPLACING, clock="move=2")
    shell.do(Leave(0, "left"))
    turn = shell.match.state.turn
    effects = shell.do(Replace(0, HOUSE, Cause.DISCONNECT), 30_000)
    assert kinds(effects) == ["replace"]
    assert shell.log[-1] == Replaced(
        seq=2, at_ms=30_000, seat=0, player=HOUSE, cause=Cause.DISCONNECT
    )
    assert shell.match.views.snapshot(PUBLIC, "watching").seats[0] == HOUSE
    assert (shell.match.state.to_act, shell.match.state.away) == (0, {})
    assert shell.match.state.turn > turn
    assert shell.match.deadline == shell.now + 2_100


def test_the_player_of_a_replaced_seat_does_not_get_it_back() -> None:
    shell = race(conduct=REPLACING)
    shell.do(Leave(0, "left"))
    shell.do(Replace(0, HOUSE, Cause.DISCONNECT))
    found = refusal(shell.do(Return(0, player="p0")))
    assert (found.code, found.message) == (Code.NOT_SEATED, "seat 1 is played by House now")
    assert shell.do(Return(0, player="h1")) == []


def test_moves_of_the_player_before_are_no_duplicates_of_the_stand_in() -> None:
    shell = race(conduct=REPLACING)
    move = shell.move(steps=1)
    shell.do(move)
    shell.do(Leave(0, "left"))
    shell.do(Replace(0, HOUSE, Cause.DISCONNECT))
    assert refusal(shell.do(move)).code is Code.STALE


def test_who_returns_before_the_stand_in_keeps_the_seat() -> None:
    shell = race(conduct=REPLACING)
    shell.do(Leave(0, "crash"))
    shell.tick(1_000)
    assert kinds(shell.do(Return(0, player="p0"))) == ["return"]
    assert refusal(shell.do(Replace(0, HOUSE, Cause.CRASH))).code is Code.WRONG_STATE


def test_a_caller_without_a_stand_in_forfeits_the_seat() -> None:
    shell = race(conduct=REPLACING)
    shell.do(Leave(0, "crash"))
    shell.tick(1_000)
    assert kinds(shell.do(Forfeit(0, Cause.CRASH, "no house bot"))) == ["forfeit"]
    assert shell.match.state.to_act == 1
