"""Fallen flags in games that forfeit, move at random or skip the turn."""

from __future__ import annotations

from typing import Any

import pytest

from kibitz_protocol.wire.clocks import Clock, TimeControl
from kibitz_protocol.wire.records import Cause, Conduct, Flagged, Moved
from kibitz_protocol.wire.refusals import Code
from kibitz_server.match.commands import Leave, Replace, Return
from kibitz_server.match.engine import MatchEngine
from kibitz_server.match.state import BrokenLog
from tests.server.match.toy_games import (
    HOUSE,
    Grid,
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


def test_a_random_game_moves_for_the_seat_from_seed_and_ply() -> None:
    game = variant(Grid, on_flag="random")
    logs = []
    for _ in range(2):
        shell = grid(game=game, clock="move=1")
        assert kinds(shell.tick(2_000)) == ["flag", "move"]
        assert kinds(shell.tick(2_000)) == ["flag", "move"]
        logs.append(shell.log)
    assert logs[0] == logs[1]
    moved = logs[0][1]
    assert isinstance(moved, Moved)
    assert (moved.seat, moved.ply, moved.id) == (0, 0, None)


def test_a_late_move_in_a_random_game_is_stale() -> None:
    shell = grid(game=variant(Grid, on_flag="random"), clock="move=1")
    effects = shell.play(wait=1_000, x=0, y=0)
    assert kinds(effects) == ["flag", "move", "Refuse"]
    assert (refusal(effects).code, refusal(effects).ply) == (Code.STALE, 1)


def skipping(
    kind: type[Race | Grid | Veil] = Race, clock: str = "move=1", **fields: Any
) -> MatchDriver:
    game = variant(kind, on_flag="skip")
    return MatchDriver(game, setup(game, 2, clock=clock, **fields))


def run_of(shell: MatchDriver) -> list[int]:
    return [int(steps) for steps in shell.match.state.game_state["run"]]


def test_in_a_skipping_game_the_turn_passes_with_the_flag() -> None:
    shell = skipping()
    assert kinds(shell.tick(1_100)) == ["flag"]
    match = shell.match
    assert (match.state.ply, match.state.to_act, match.state.flagged, match.state.result) == (
        1,
        1,
        False,
        None,
    )
    flag = shell.log[0]
    assert isinstance(flag, Flagged)
    assert (flag.seat, flag.ply, flag.elapsed_ms) == (0, 0, 1_100)
    event = shell.views[0].event(1, "every")
    assert (event.ply, event.to_act, event.view) == (1, 1, match.views.your_turn().view)


def test_every_flag_in_a_skipping_game_is_one_turn() -> None:
    shell = skipping()
    for ply in range(4):
        assert kinds(shell.tick(1_100)) == ["flag"]
        assert shell.match.state.turn == shell.match.state.seq == ply + 1
    assert kinds(shell.play(wait=10, steps=3)) == ["move"]
    assert run_of(shell)[:2] == [3, 0]


def test_a_late_move_in_a_skipping_game_is_stale() -> None:
    shell = skipping()
    effects = shell.play(wait=1_000, steps=1)
    assert kinds(effects) == ["flag", "Refuse"]
    assert (refusal(effects).code, refusal(effects).ply) == (Code.STALE, 1)
    assert kinds(shell.play(wait=10, steps=1)) == ["move"]


def test_a_skipped_turn_may_be_the_last_of_the_match() -> None:
    shell = skipping(Veil)
    for _ in range(5):
        shell.play(wait=1)
    assert kinds(shell.tick(1_100)) == ["flag", "MatchOver"]
    (result,) = shell.finished
    assert (result.cause, result.reason, result.plies) == (Cause.RULES, "shown", 6)
    assert [seat.cause for seat in result.seats] == [None, None]


def test_a_skipping_game_restores_from_any_entry_on() -> None:
    shell = skipping(Veil, clock="2+1")
    live = []
    for skips in (True, False, True, False, False, True):
        shell.tick(4_000) if skips else shell.play(wait=500)
        live.append(state_values(shell.match.state))
    for length, known in enumerate(live, start=1):
        assert (
            state_values(MatchEngine.restore(shell.game, shell.setup, shell.log[:length]).state)
            == known
        )


def test_the_turns_of_an_absent_seat_pass_until_its_grace_is_over() -> None:
    shell = skipping(conduct=Conduct(grace_ms=3_000))
    shell.do(Leave(0, "disconnect"))
    assert kinds(shell.tick(1_100)) == ["flag"]
    shell.play(wait=100, steps=1)
    assert kinds(shell.tick(1_100)) == ["flag"]
    assert kinds(shell.play(wait=100, steps=1)) == ["move"]
    assert kinds(shell.tick(600)) == ["forfeit", "MatchOver"]
    assert [seat.cause for seat in shell.finished[0].seats] == [Cause.DISCONNECT, None]


def test_an_absent_seat_that_comes_back_has_lost_its_turns_and_nothing_else() -> None:
    shell = skipping(conduct=Conduct(grace_ms=3_000))
    shell.do(Leave(0, "disconnect"))
    shell.tick(1_100)
    shell.do(Return(0), 100)
    shell.play(wait=100, steps=1)
    assert kinds(shell.play(wait=100, steps=2)) == ["move"]
    assert run_of(shell)[:2] == [2, 1]


def test_without_a_clock_a_skipping_game_waits_for_the_grace() -> None:
    shell = skipping(clock="none", conduct=Conduct(grace_ms=3_000))
    shell.do(Leave(0, "disconnect"))
    assert shell.tick(2_999) == []
    assert kinds(shell.tick(1)) == ["forfeit", "MatchOver"]


def test_no_turn_is_skipped_while_a_stand_in_is_on_its_way() -> None:
    shell = skipping(conduct=Conduct(grace_ms=500, on_leave="replace", stand_in="toy/house"))
    shell.do(Leave(0, "disconnect"))
    assert kinds(shell.tick(500)) == ["WantSubstitute"]
    assert shell.tick(60_000) == []
    shell.do(Replace(0, HOUSE, Cause.DISCONNECT))
    assert kinds(shell.play(wait=900, steps=1)) == ["move"]


def test_a_flag_takes_all_time_and_the_increment_still_comes() -> None:
    game = variant(Race, on_flag="skip")
    shell = MatchDriver(game, setup(game, 2, clock="1+3"))
    shell.tick(2_000)
    assert shell.match.state.clocks == [Clock(main_ms=3_000), Clock(main_ms=1_000)]


def test_with_three_seats_a_flag_drops_one_and_the_rest_play_on() -> None:
    shell = race(clock="move=1")
    assert kinds(shell.tick(1_200)) == ["flag", "forfeit"]
    assert (shell.match.state.to_act, shell.match.state.ply) == (1, 0)
    assert shell.match.deadline == shell.now + 1_100


def test_a_flag_that_cannot_fall_is_no_log() -> None:
    shell = skipping()
    shell.tick(1_100)
    (flag,) = shell.log
    for wrong in ({"ply": 1}, {"seat": 1}):
        with pytest.raises(BrokenLog, match="a flag that cannot fall"):
            MatchEngine.restore(shell.game, shell.setup, [flag.model_copy(update=wrong)])
    untimed = shell.setup.model_copy(update={"time_control": TimeControl()})
    with pytest.raises(BrokenLog, match="a flag that cannot fall"):
        MatchEngine.restore(shell.game, untimed, [flag])
    twice = grid(game=variant(Grid, on_flag="random"), clock="move=1")
    twice.tick(2_000)
    again = twice.log[0].model_copy(update={"seq": 2})
    with pytest.raises(BrokenLog, match="a flag that cannot fall"):
        MatchEngine.restore(twice.game, twice.setup, [twice.log[0], again])
