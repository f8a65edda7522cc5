"""Commands other than moves: resigning, dropping seats, aborting, notes."""

from __future__ import annotations

from typing import Any

import pytest

from kibitz_games.core.game import TERMINAL
from kibitz_protocol.wire.records import Cause, Conduct, Hidden, Noted
from kibitz_protocol.wire.refusals import Code
from kibitz_protocol.wire.visibility import PUBLIC
from kibitz_server.match.commands import Abort, Forfeit, Leave, Note, Play, Resign, Return
from tests.server.match.toy_games import (
    MatchDriver,
    Race,
    grid,
    kinds,
    race,
    refusal,
    setup,
    variant,
)

# --- resigning and dropping -----------------------------------------------------------------


def test_a_seat_may_resign_out_of_turn() -> None:
    shell = grid()
    assert kinds(shell.do(Resign(1))) == ["resign", "MatchOver"]
    result = shell.finished[0]
    assert result.cause is Cause.RESIGNATION
    assert [(seat.rank, seat.score, seat.cause) for seat in result.seats] == [
        (1, 1.0, None),
        (2, 0.0, Cause.RESIGNATION),
    ]


def test_with_three_seats_the_turn_and_its_clock_go_on() -> None:
    shell = race(clock="move=10")
    deadline = shell.match.deadline
    shell.do(Resign(2), 300)
    assert shell.match.state.result is None
    assert (shell.match.state.to_act, shell.match.deadline) == (0, deadline)


def test_a_drop_brings_a_new_your_turn_to_the_seat_to_act() -> None:
    shell = race()
    before = shell.match.state.turn
    shell.do(Resign(2))
    assert shell.match.state.turn > before


def test_the_seats_that_drop_out_rank_last_first() -> None:
    shell = race(seats=4, goal=3)
    shell.do(Resign(2))
    shell.do(Resign(0))
    shell.play(steps=3)
    result = shell.finished[0]
    assert [seat.rank for seat in result.seats] == [3, 1, 4, 2]
    assert (result.cause, result.reason) == (Cause.RULES, "goal")


def test_a_seat_that_is_out_is_refused() -> None:
    shell = race()
    shell.do(Resign(0))
    assert refusal(shell.do(Resign(0))).message == "seat 1 has dropped out"
    assert refusal(shell.do(Play(0, 9, 0, {"steps": 1}))).code is Code.OVER
    assert refusal(shell.do(Return(0))).code is Code.OVER


def test_a_seat_that_has_finished_keeps_its_rank_whatever_it_does() -> None:
    shell = race(goal=3, conduct=Conduct(grace_ms=100))
    shell.play(steps=3)
    assert refusal(shell.do(Resign(0))).code is Code.OVER
    assert refusal(shell.do(Forfeit(0, Cause.CRASH))).code is Code.OVER
    assert kinds(shell.do(Leave(0, "left"))) == ["leave"]
    assert shell.tick(10_000) == []
    shell.play(steps=3)
    assert [seat.rank for seat in shell.finished[0].seats] == [1, 2, 3]
    assert shell.finished[0].seats[0].cause is None


def test_a_game_without_drops_ends_with_the_first() -> None:
    game = variant(Race, drops=False)
    shell = MatchDriver(game, setup(game, 3))
    assert kinds(shell.do(Resign(1))) == ["resign", "MatchOver"]
    result = shell.finished[0]
    assert [(seat.rank, seat.score) for seat in result.seats] == [(1, 0.75), (3, 0.0), (1, 0.75)]
    assert (result.cause, shell.match.state.to_act) == (Cause.RESIGNATION, TERMINAL)


def test_a_forfeit_names_cause_and_detail() -> None:
    shell = grid()
    shell.do(Forfeit(0, Cause.CRASH, "exit status 3"))
    lost = shell.finished[0].seats[0]
    assert (lost.cause, lost.detail) == (Cause.CRASH, "exit status 3")


def test_an_abort_ends_without_asking_the_game() -> None:
    shell = race()
    shell.do(Resign(1))
    assert kinds(shell.do(Abort("the disk is full"))) == ["abort", "MatchOver"]
    result = shell.finished[0]
    assert result.cause is Cause.INFRASTRUCTURE
    assert [seat.rank for seat in result.seats] == [1, 3, 1]


def test_after_a_failure_of_the_game_the_match_can_still_be_aborted() -> None:
    class Broken(Race):
        def play(self, state: Any, action: int) -> None:
            raise RuntimeError("a bug in the rules")

    shell = MatchDriver(Broken(), setup(Race(), 2))
    with pytest.raises(RuntimeError, match="a bug"):
        shell.play(steps=1)
    shell.do(Abort("the rules failed"))
    assert [entry.seq for entry in shell.log] == [1]


# --- notes ----------------------------------------------------------------------------------


def test_a_note_is_for_its_owner() -> None:
    shell = grid()
    shell.do(Note(1, "thinking"), 7)
    note = Noted(seq=1, at_ms=7, seat=1, text="thinking")
    sight = shell.views[0]
    assert sight.event(1).entry == note
    for viewer in (0, PUBLIC):
        assert sight.event(viewer).entry == Hidden(seq=1, at_ms=7)


def test_a_note_does_not_touch_the_turn() -> None:
    shell = grid(clock="10+0")
    turn, deadline = shell.match.state.turn, shell.match.deadline
    shell.do(Note(1, "thinking"), 7)
    assert (shell.match.state.turn, shell.match.deadline) == (turn, deadline)
