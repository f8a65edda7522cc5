"""Refused moves: resent, stale, late, malformed and illegal ones, and those after the end."""

from __future__ import annotations

from typing import Any

import pytest

from kibitz_protocol.wire.records import Cause, Conduct, Noted
from kibitz_protocol.wire.refusals import Code
from kibitz_server.match.commands import (
    Abort,
    Accepted,
    Command,
    Forfeit,
    Leave,
    Note,
    Play,
    Replace,
    Resign,
    Return,
)
from tests.server.match.toy_games import (
    HOUSE,
    MatchDriver,
    Veil,
    grid,
    kinds,
    refusal,
    setup,
    state_values,
)


def test_a_duplicate_is_accepted_again_and_changes_nothing() -> None:
    shell = grid()
    move = shell.move(x=0, y=0)
    shell.do(move)
    shell.play(x=1, y=1)
    before = state_values(shell.match.state)
    assert shell.do(move, 5) == [Accepted(seat=0, id=move.id, seq=1)]
    assert state_values(shell.match.state) == before


def test_a_duplicate_of_the_last_move_is_accepted_after_the_end() -> None:
    shell = grid()
    shell.play(x=0, y=0)
    move = shell.move(x=1, y=1)
    shell.do(move)
    shell.do(Resign(0))
    assert shell.do(move) == [Accepted(seat=1, id=move.id, seq=2)]


@pytest.mark.parametrize(("id_", "ply"), [(1, 1), (2, 0)])
def test_another_id_or_ply_is_no_duplicate(id_: int, ply: int) -> None:
    shell = grid()
    shell.do(Play(0, 1, 0, {"x": 0, "y": 0}))
    shell.play(x=1, y=1)
    found = refusal(shell.do(Play(0, id_, ply, {"x": 0, "y": 0})))
    assert (found.code, found.ply) == (Code.STALE, 2)


@pytest.mark.parametrize("ply", [1, 7])
def test_a_wrong_ply_is_stale_and_says_the_present_one(ply: int) -> None:
    found = refusal(grid().do(Play(0, 1, ply, {"x": 0, "y": 0})))
    assert (found.code, found.ply, found.id) == (Code.STALE, 0, 1)


def test_only_the_seat_to_act_may_move() -> None:
    shell = grid()
    assert refusal(shell.do(Play(1, 1, 0, {"x": 0, "y": 0}))).code is Code.NOT_YOUR_TURN
    assert shell.log == []


@pytest.mark.parametrize(
    ("action", "message"),
    [
        ({}, "action.x: field required"),
        ({"x": 1, "y": "b"}, "action.y: input should be a valid integer"),
        ({"x": 1, "y": 99}, "action.y: input should be less than or equal to 31"),
        ({"x": 1, "y": 1, "z": 1}, "action.z: extra inputs are not permitted"),
    ],
)
def test_an_action_of_the_wrong_shape_is_malformed(action: dict[str, Any], message: str) -> None:
    found = refusal(grid().do(Play(0, 1, 0, action)))
    assert found.code is Code.MALFORMED
    assert found.message.startswith(message)
    assert found.hint == 'an action of toy-grid looks like {"x":0,"y":0}'


def test_an_illegal_move_says_why_and_is_noted_for_its_seat() -> None:
    shell = grid()
    shell.play(x=1, y=1)
    before = (
        shell.match.state.game_state.tobytes(),
        shell.match.state.ply,
        shell.match.state.turn,
        shell.match.state.clocks,
    )
    found = refusal(shell.play(x=1, y=1))
    assert (found.code, found.message) == (Code.ILLEGAL, "cell 1,1 is taken")
    assert found.hint == 'choose a legal action, for example {"x":0,"y":0}'
    after = (
        shell.match.state.game_state.tobytes(),
        shell.match.state.ply,
        shell.match.state.turn,
        shell.match.state.clocks,
    )
    assert after == before
    noted = shell.log[-1]
    assert isinstance(noted, Noted)
    assert noted.text == "refused as illegal: cell 1,1 is taken"
    assert noted.refused is not None
    assert (noted.seat, noted.refused.ply, noted.refused.code) == (1, 1, Code.ILLEGAL)
    assert noted.refused.action == '{"x":1,"y":1}'


def test_what_is_kept_of_a_refused_move_is_bounded() -> None:
    shell = grid()
    long: Any = {f"{n}{'k' * 30}": "v" * 200 for n in range(8)}
    shell.play(**long)
    noted = shell.log[-1]
    assert isinstance(noted, Noted)
    assert noted.refused is not None
    assert len(noted.refused.action) == 1000
    assert len(noted.text) <= 2000


def test_too_many_illegal_moves_lose() -> None:
    shell = grid(conduct=Conduct(max_illegal=3))
    shell.play(x=0, y=0)
    assert kinds(shell.play(x=0, y=0)) == ["Refuse", "note"]
    assert kinds(shell.play(x=9, y=9)) == ["Refuse", "note"]
    assert kinds(shell.play(x=0)) == ["Refuse", "note", "forfeit", "MatchOver"]
    lost = shell.finished[0].seats[1]
    assert lost.cause is Cause.ILLEGAL
    assert lost.detail == "3 illegal moves, the last: action.y: field required"


def test_illegal_moves_of_one_seat_do_not_count_for_another() -> None:
    shell = grid(conduct=Conduct(max_illegal=2))
    shell.play(x=9, y=9)
    shell.play(x=0, y=0)
    assert kinds(shell.play(x=9, y=9)) == ["Refuse", "note"]
    shell.play(x=1, y=1)
    assert kinds(shell.play(x=9, y=9)) == ["Refuse", "note", "forfeit", "MatchOver"]


def test_where_something_is_hidden_the_result_does_not_quote_a_refusal() -> None:
    veil = Veil()
    shell = MatchDriver(veil, setup(veil, 2, conduct=Conduct(max_illegal=1)))
    shell.play(card=7)
    assert shell.finished[0].seats[0].detail == "1 illegal moves"


def test_a_finished_match_refuses_everything() -> None:
    shell = grid()
    shell.do(Resign(1))
    before = state_values(shell.match.state)
    commands: list[Command] = [
        Play(0, 1, 0, {"x": 0, "y": 0}),
        Resign(0),
        Leave(0, "left"),
        Return(0),
        Replace(0, HOUSE, Cause.CRASH),
        Forfeit(0, Cause.CRASH),
        Note(0, "bye"),
    ]
    for command in commands:
        assert refusal(shell.do(command)).code is Code.OVER
    assert shell.do(Abort("late")) == []
    assert state_values(shell.match.state) == before
    assert shell.match.deadline is None
