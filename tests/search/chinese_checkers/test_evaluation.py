"""Weights of holes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kibitz_games.chinese_checkers import geometry as geo
from kibitz_games.compiled import operations as op
from kibitz_games.core import registry
from kibitz_search.algorithms.greedy import Greedy
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.algorithms.result import WIN_SCORE
from kibitz_search.chinese_checkers import weights_file
from kibitz_search.chinese_checkers.evaluation import (
    BESIDE,
    EVOLVED,
    HOP,
    LEFT_BEHIND,
    RESOLUTION,
    cohesion,
    euclid,
    evolved,
    hand,
    mobility,
    race,
    stragglers,
    vacant,
)
from kibitz_search.chinese_checkers.race_db import MOVE
from kibitz_training.chinese_checkers.hole_games import WON, against

FOLDER = Path(weights_file.__file__).with_name("weights")
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


@pytest.mark.parametrize("evaluation", [euclid, hand, stragglers, evolved])
@pytest.mark.parametrize("seats", [2, 3, 6])
def test_the_priors_are_the_scores_of_moves(evaluation: Any, seats: int) -> None:
    state, chance = start(seats), np.random.default_rng(seats)
    ev = evaluation(state)
    for _ in range(60):
        legal = GAME.legal(state)
        for move in map(np.int64, legal):
            assert float(op.move_prior(ev, state, move)) == int(op.move_score(state, move))
        GAME.play(state, int(chance.choice(legal)))


def test_a_pass_promises_nothing() -> None:
    state = start()
    nothing = np.int64(int(state["holes"]) ** 2)
    assert float(op.move_prior(hand(state), state, nothing)) == 0.0


@pytest.mark.parametrize("evaluation", [euclid, hand])
@pytest.mark.parametrize("seats", [2, 3, 4, 5, 6])
def test_the_start_is_worth_the_same_to_everybody(evaluation: Any, seats: int) -> None:
    state = start(seats)
    ev = evaluation(state)
    assert len({float(op.evaluate(ev, state, seat)) for seat in range(seats)}) == 1


@pytest.mark.parametrize("evaluation", [euclid, hand])
def test_weights_are_exact_so_that_equal_sums_are_equal(evaluation: Any) -> None:
    weights = evaluation(start()).weights / RESOLUTION
    assert np.array_equal(weights, np.round(weights))


def test_euclid_is_the_straight_distance() -> None:
    state = start()
    weights = euclid(state).weights[3]
    assert weights[120] == 0
    assert weights[119] == weights[118] == -1
    assert weights[0] == pytest.approx(-16 * 3**0.5 / 2, abs=RESOLUTION)


def test_hand_prefers_near_central_and_nobody_left_behind() -> None:
    weights = hand(start()).weights[3]
    row = geo.geometry("star", 4).rows[8]
    centre = len(row) // 2
    assert list(row).index(int(row[np.argmax(weights[list(row)])])) == centre
    assert weights[row[centre]] > weights[row[0]]
    assert weights[3] - weights[1] > LEFT_BEHIND  # out of the three deepest holes
    assert weights[6] - weights[3] < LEFT_BEHIND  # no bonus further on


@pytest.mark.parametrize("evaluation", [euclid, hand])
def test_a_player_who_has_finished_has_won_whoever_is_in_the_goal(evaluation: Any) -> None:
    state = start(3)
    ev = evaluation(state)
    state.rank[1] = 1
    state.placed = 1
    assert op.evaluate(ev, state, 1) == WIN_SCORE
    assert abs(op.evaluate(ev, state, 0)) < WIN_SCORE / 1000


@pytest.mark.parametrize("evaluation", [euclid, hand])
def test_compiled_and_plain_agree(evaluation: Any) -> None:
    state = start(4)
    ev = evaluation(state)
    for _ in range(30):
        GAME.play(state, GAME.legal(state)[-1])
        for seat in range(4):
            pegs = state.pegs[seat, : state.each]
            assert op.evaluate(ev, state, seat) == ev.weights[state.goal[seat], pegs].sum()


@pytest.mark.parametrize("seats", EVOLVED)
def test_the_evolved_weights_are_one_array_turned_to_every_goal(seats: int) -> None:
    weights = evolved(start(seats)).weights
    assert not np.array_equal(weights, hand(start(seats)).weights)
    for goal in range(6):
        assert sorted(weights[goal, :121]) == sorted(weights[3, :121])


def test_there_are_evolved_weights_for_two_and_three_seats_on_the_usual_star() -> None:
    assert not np.array_equal(evolved(start(2)).weights, evolved(start(3)).weights)
    for seats, size in ((2, 3), (3, 3), (4, 4), (6, 4)):
        state = start(seats, size=size)
        assert np.array_equal(evolved(state).weights, hand(state).weights)


@pytest.mark.parametrize("seats", EVOLVED)
def test_the_files_that_come_with_the_package_are_whole_and_say_how_they_were_made(
    seats: int,
) -> None:
    file = weights_file.read(FOLDER / f"{EVOLVED[seats]}.json")
    assert file.shape["seats"] == seats
    assert file.command.startswith("kibitz train chinese-checkers/genetic")


@pytest.mark.parametrize(("seats", "least"), [(2, 0.9), (3, 0.5)])
def test_the_evolved_weights_beat_the_hand_tuned_ones_one_ply_ahead(
    seats: int, least: float
) -> None:
    file = weights_file.read(FOLDER / f"{EVOLVED[seats]}.json")
    came = against("hand", seats).play(np.array([file.weights]), [5], 0, 200)[0]
    assert came[:, WON].mean() > least


# ------------------------------------------------------------------------- the other evaluations

SMALL: list[Any] = [stragglers, vacant, mobility, cohesion, race]


def placed(pegs: list[int], **options: Any) -> Any:
    """Return a state with these pegs of seat 0 and seat 1 in its goal."""
    state = start(**options)
    view = GAME.view(state, None)
    seen = view.model_copy(update={"pegs": [pegs, list(range(len(pegs)))], "best": [99, 99]})
    return GAME.sample(seen, 0)


@pytest.mark.parametrize("evaluation", SMALL)
def test_all_players_are_alike_and_judging_changes_nothing(evaluation: Any) -> None:
    state = start(6, size=3)
    ev, before = evaluation(state), state.tobytes()
    assert len({float(op.evaluate(ev, state, seat)) for seat in range(6)}) == 1
    assert state.tobytes() == before


@pytest.mark.parametrize("evaluation", SMALL)
def test_who_has_finished_has_won_by_all_of_them(evaluation: Any) -> None:
    state = start(3, size=3)
    ev = evaluation(state)
    state.rank[1] = state.placed = 1
    assert op.evaluate(ev, state, 1) == WIN_SCORE
    assert abs(op.evaluate(ev, state, 0)) < WIN_SCORE / 1000


@pytest.mark.parametrize("evaluation", SMALL)
def test_values_are_exact_whatever_the_order_of_the_pegs(evaluation: Any) -> None:
    state = start(size=3)
    ev, each = evaluation(state), int(state.each)
    for _ in range(12):
        GAME.play(state, GAME.legal(state)[3])
        turned = state.copy()
        turned.pegs[0, :each] = turned.pegs[0, :each][::-1]
        value = float(op.evaluate(ev, state, 0))
        assert value == float(op.evaluate(ev, turned, 0))
        assert value / RESOLUTION == round(value / RESOLUTION)


def test_a_straggler_costs_more_than_two_who_are_half_way() -> None:
    weights = stragglers(start()).weights[3]
    assert weights[120] == 0
    assert weights[60] * 2 > weights[0]
    assert weights[0] == -64  # sixteen steps to the power of 1.5


def test_the_last_peg_is_drawn_to_the_hole_that_is_empty() -> None:
    """A bug of row sums: they rate the goal's corner at the end of a row like any other hole."""
    goal = list(geo.geometry("star", 3).home(3, 6))
    corner, tip = goal[0], goal[-1]
    inside = [hole for hole in goal if hole not in (corner, tip)]
    for empty in (corner, tip):
        rest = corner if empty == tip else tip
        state = placed([*inside, rest, 30], size=3)
        ev = vacant(state)
        ev.weights[:] = 0
        shape = geo.geometry("star", 3)
        assert op.evaluate(ev, state, 0) == -shape.steps(30, empty)


@pytest.mark.slow
@pytest.mark.parametrize("evaluation", [vacant, race])
def test_no_peg_stalls_in_front_of_the_goal(evaluation: Any) -> None:
    """Alone on the board, a greedy player with either evaluation reaches the goal."""
    shape = geo.geometry("star", 3)
    goal = shape.home(3, 6)
    for left_out in goal:
        front = max(set(range(shape.holes)) - set(goal))
        state = placed([*(set(goal) - {left_out}), front], size=3)
        ev, search = evaluation(state), Greedy(state)
        for _ in range(12):
            if GAME.outcome(state) is not None:
                break
            GAME.play(state, search.search(state, ev, SearchLimits()).action)
            if GAME.outcome(state) is None:
                op.set_side_to_move(state, np.int64(0))
        assert GAME.outcome(state).reason == "goal"


def test_mobility_counts_what_the_best_move_of_each_peg_gains() -> None:
    state = start()
    ev, shape = mobility(state), geo.geometry("star", 4)
    tip, gains = shape.tips[3], dict[int, int]()
    for action in GAME.legal(state):
        origin, target = divmod(action, 121)
        gain = shape.steps(origin, tip) - shape.steps(target, tip)
        gains[origin] = max(gains.get(origin, 0), gain)
    hops = sum(gains.values()) * HOP
    assert op.evaluate(ev, state, 0) == op.evaluate(hand(state), state, 0) + hops


def test_cohesion_counts_pegs_that_stand_side_by_side() -> None:
    state, shape = start(), geo.geometry("star", 4)
    home = [int(hole) for hole in state.pegs[0, : int(state.each)]]
    pairs = sum(shape.steps(a, b) == 1 for a in home for b in home if a < b)
    assert pairs == 18
    worth = op.evaluate(cohesion(state), state, 0)
    assert worth == op.evaluate(hand(state), state, 0) + 18 * BESIDE


def test_race_is_the_number_of_moves_left_where_the_database_knows_it() -> None:
    goal = list(geo.geometry("star", 3).home(3, 6))
    front = min(goal) - 6  # in the row before the goal
    state = placed([*goal[1:], front], size=3)
    assert op.evaluate(race(state), state, 0) == -1
    far = float(op.evaluate(race(state), start(size=3), 0))
    assert -40 < far < -10
    assert far * MOVE == round(far * MOVE)


def test_without_a_database_race_is_the_hand_tuned_weights() -> None:
    state = start(long_jumps=True)
    assert np.array_equal(race(state).weights, hand(state).weights)


def test_mobility_beats_hand_one_ply_ahead() -> None:
    """Ten games with alternating seats, from openings of two random plies."""
    wins = sum(_winner(seed) == seed % 2 for seed in range(10))
    assert wins >= 7


def _winner(seed: int) -> int:
    """Play a game on the default star, with mobility in the seat given by the seed's parity."""
    state, chance = start(), np.random.default_rng(seed // 2)
    for _ in range(2):
        GAME.play(state, int(chance.choice(GAME.legal(state))))
    makers = [mobility, hand] if seed % 2 == 0 else [hand, mobility]
    evs, search = [make(state) for make in makers], Greedy(state)
    while GAME.outcome(state) is None:
        found = search.search(state, evs[int(state.side)], SearchLimits(seed=int(state.ply)))
        GAME.play(state, found.action)
    return int(np.argmax(GAME.outcome(state).scores))
