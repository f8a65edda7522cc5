"""Weights of holes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kibitz_bots.evaluate.chinese_checkers import GRAIN, LEFT_BEHIND, euclid, hand
from kibitz_bots.search.found import WON
from kibitz_games import operations as op
from kibitz_games import registry
from kibitz_games.chinese_checkers import geometry as geo

GAME: Any = registry.get("chinese-checkers")
BOARDS = [{"board": board, "size": size} for board, size in geo.ALL]


def start(seats: int = 2, **options: Any) -> Any:
    return GAME.start(GAME.Options(**options), seats, {})


@pytest.mark.parametrize("evaluation", [euclid, hand])
@pytest.mark.parametrize("options", BOARDS, ids=str)
def test_every_player_sees_the_same_board_from_its_side(
    evaluation: Any, options: dict[str, Any]
) -> None:
    state = start(**options)
    ev = evaluation(state)
    shape = geo.geometry(options["board"], options["size"])
    for goal in geo.corners_of(options["board"]):
        ours = np.sort(ev.weights[goal, : shape.holes])
        assert np.array_equal(ours, np.sort(ev.weights[0, : shape.holes]))
        best = int(np.argmax(ev.weights[goal, : shape.holes]))
        assert best == shape.tips[goal]


@pytest.mark.parametrize("evaluation", [euclid, hand])
@pytest.mark.parametrize("seats", [2, 3, 4, 5, 6])
def test_the_start_is_worth_the_same_to_everybody(evaluation: Any, seats: int) -> None:
    state = start(seats)
    ev = evaluation(state)
    assert len({float(op.evaluate(ev, state, seat)) for seat in range(seats)}) == 1


@pytest.mark.parametrize("evaluation", [euclid, hand])
def test_weights_are_exact_so_that_equal_sums_are_equal(evaluation: Any) -> None:
    weights = evaluation(start()).weights / GRAIN
    assert np.array_equal(weights, np.round(weights))


def test_euclid_is_the_straight_distance() -> None:
    state = start()
    weights = euclid(state).weights[3]
    assert weights[120] == 0
    assert weights[119] == weights[118] == -1
    assert weights[0] == pytest.approx(-16 * 3**0.5 / 2, abs=GRAIN)


def test_hand_prefers_near_central_and_nobody_left_behind() -> None:
    weights = hand(start()).weights[3]
    row = geo.geometry("star", 4).rows[8]
    centre = len(row) // 2
    assert list(row).index(int(row[np.argmax(weights[list(row)])])) == centre
    assert weights[row[centre]] > weights[row[0]]
    assert weights[3] - weights[1] > LEFT_BEHIND  # out of the three deepest holes
    assert weights[6] - weights[3] < LEFT_BEHIND  # there is nothing special further on


@pytest.mark.parametrize("evaluation", [euclid, hand])
def test_a_player_who_has_finished_has_won_whoever_is_in_the_goal(evaluation: Any) -> None:
    state = start(3)
    ev = evaluation(state)
    state.rank[1] = 1
    state.placed = 1
    assert op.evaluate(ev, state, 1) == WON
    assert abs(op.evaluate(ev, state, 0)) < WON / 1000


@pytest.mark.parametrize("evaluation", [euclid, hand])
def test_compiled_and_plain_agree(evaluation: Any) -> None:
    state = start(4)
    ev = evaluation(state)
    for _ in range(30):
        GAME.play(state, GAME.legal(state)[-1])
        for seat in range(4):
            pegs = state.pegs[seat, : state.each]
            assert op.evaluate(ev, state, seat) == ev.weights[state.goal[seat], pegs].sum()
