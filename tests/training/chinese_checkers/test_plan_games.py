"""Games between players that plan two of their own moves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kibitz_games.chinese_checkers import rules
from kibitz_games.compiled import operations as op
from kibitz_games.core import registry
from kibitz_search.chinese_checkers.evaluation import distances
from kibitz_search.chinese_checkers.hole_arrays import GOAL
from kibitz_training.chinese_checkers.hole_games import rotations
from kibitz_training.chinese_checkers.plan_games import PlanGames, plan_move, sharings

SEEDS = np.arange(2, dtype=np.uint64)


@pytest.mark.parametrize("seats", [2, 3, 4, 5, 6])
def test_every_seat_is_as_often_the_arrays_as_the_others(seats: int) -> None:
    shared = [[mask >> seat & 1 for seat in range(seats)] for mask in sharings(seats)]
    assert (2 * np.sum(shared, axis=0) == len(shared)).all()


@pytest.mark.parametrize("seats", [2, 3])
def test_an_array_is_not_ahead_of_itself(seats: int) -> None:
    own = distances("stragglers")[np.newaxis]
    assert PlanGames(seats).play(own, own, SEEDS).mean() == pytest.approx(0.0, abs=1e-12)


def test_who_goes_home_is_behind_and_the_same_games_come_out_the_same() -> None:
    games, own = PlanGames(2), distances("stragglers")[np.newaxis]
    came = games.play(-own, own, SEEDS)
    assert (came < -0.9).all()
    assert (came == games.play(-own, own, SEEDS)).all()


def test_threads_change_nothing() -> None:
    hand, own = distances("hand"), distances("stragglers")
    arrays, others = np.stack([hand, own, -own]), np.stack([own, hand])
    one, two = PlanGames(3), PlanGames(3, threads=2)
    np.testing.assert_array_equal(one.play(arrays, others, SEEDS), two.play(arrays, others, SEEDS))
    two.close()


def test_a_plan_is_the_best_of_two_moves_with_the_others_standing_still() -> None:
    game: Any = registry.get("chinese-checkers")
    st: Any = game.start(game.Options(), 2, {})
    shape = PlanGames(2).shape
    tables = distances("stragglers")[rotations(shape, st.corner[:2].tolist())]
    moves, after = (np.empty(rules.MAX_ACTIONS, np.int32) for _ in range(2))
    for _ in range(12):
        seat, own = int(st.side), tables[int(st.side)]
        before, key = own[st.pegs[seat, : st.each]].sum(), int(st.key)
        chosen = int(plan_move(st, own, moves, after))
        assert int(st.key) == key
        assert int(st.side) == seat
        found = {}
        for m in moves[: int(op.generate(st, moves))].tolist():
            op.play(st, np.int64(m))
            one = own[st.pegs[seat, : st.each]].sum()
            op.set_side_to_move(st, np.int64(seat))
            buffer = np.empty(rules.MAX_ACTIONS, np.int32)
            two = []
            for second in buffer[: int(op.generate(st, buffer))].tolist():
                op.play(st, np.int64(second))
                two.append(own[st.pegs[seat, : st.each]].sum())
                op.undo(st, np.int64(second))
            op.set_side_to_move(st, np.int64(1 - seat))
            op.undo(st, np.int64(m))
            found[m] = before - min(two) + (before - one) / 64
        assert found[chosen] == pytest.approx(max(found.values()))
        op.play(st, np.int64(chosen))


def test_arrays_are_written_for_one_goal() -> None:
    assert int(np.argmin(distances("stragglers"))) == PlanGames(2).shape.tips[GOAL]
