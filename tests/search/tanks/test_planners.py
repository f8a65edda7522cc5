"""The planners of Tanks: their paths, their knowledge, and their strength."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.compiled.operations import Record
from kibitz_games.core import registry
from kibitz_games.core.game import TERMINAL
from kibitz_games.core.position import Position
from kibitz_games.tanks import geometry as geo
from kibitz_games.tanks import rules
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.tanks.planners import (
    BELIEF,
    Planner,
    decide,
    explorer,
    hunter,
    new_belief,
    update_belief,
)

GAME: Any = registry.get("tanks")
PLANS = [explorer, hunter]


def _state(*words: str, **options: Any) -> Any:
    play = Position(GAME, GAME.Options(**options))
    for word in words:
        play.push_move(word)
    return play.state


def _choice(plan: Any, state: Any, planner: Planner | None = None) -> str:
    action = (planner or Planner(state)).search(state, plan(state), SearchLimits()).action
    return str(GAME.notation.format(GAME.encode(state, action)))


def _know(state: Any, ev: Any) -> Any:
    """Return the planner's memory for the seat to act after its first look at `state`."""
    mind = new_belief()
    update_belief(mind, ev, state, np.int64(state.side))
    return mind


# ------------------------------------------------------------------------------ the explorer


def test_the_explorer_visits_what_it_can_reach_when_nobody_shoots() -> None:
    state, planner = _state(), Planner(_state())
    ev = explorer(state)
    while GAME.to_act(state) != TERMINAL:
        turn = planner.search(state, ev, SearchLimits()).action if state.side == 0 else 5
        GAME.play(state, turn)
    assert int(state.cells[0]) >= 165  # of 193 without another tank, in 250 turns


def test_the_explorer_never_fires_and_hardly_ever_turns() -> None:
    state, planner = _state(), Planner(_state())
    ev, actions = explorer(state), []
    for _ in range(200):
        actions.append(planner.search(state, ev, SearchLimits()).action)
        GAME.play(state, actions[-1])
        for _ in range(3):
            GAME.play(state, 5)
    assert set(actions) <= {1, 2, 3, 4}


def test_a_place_where_it_got_stuck_is_left_alone_for_a_while() -> None:
    """It moves up into a rock that it does not see because its hull faces elsewhere."""
    state, planner = _state(), Planner(_state())
    ev = explorer(state)
    state.memory[0] = -1
    state.memory[0, geo.number((14, 1))] = -2
    state.memory[0, geo.number((15, 1))] = 11
    assert _choice(explorer, state, planner) == "right"
    GAME.play(state, 5)  # the other action leaves it in place
    for _ in range(3):
        GAME.play(state, 5)
    state.memory[0] = -1
    state.memory[0, geo.number((14, 1))] = -2
    assert planner.search(state, ev, SearchLimits()).action != 3


def test_it_turns_when_there_is_nowhere_to_go() -> None:
    state = _state()
    state.visited[:] = 15
    assert _choice(explorer, state) == "turn-right"


# -------------------------------------------------------------------------------- the hunter


def test_the_hunter_fires_at_a_tank_in_its_line() -> None:
    assert _choice(hunter, _state(start="table1", rocks="none")) == "fire"


def test_a_tank_that_has_just_fired_is_where_it_fired() -> None:
    state = _state("up", "fire", "right", "left")
    mind = _know(state, hunter(state))
    assert mind.belief[1, geo.number((1, 15))] == 1.0
    assert mind.belief[2].max() < 1.0


def test_what_it_believes_is_a_probability_and_never_in_sight() -> None:
    state, chance = _state(), random.Random(3)
    ev, mind = hunter(state), new_belief()
    while GAME.to_act(state) != TERMINAL and int(state.ply) < 400:
        if state.side == 0:
            decide(mind, ev, state)
            for other in (1, 2, 3):
                total = float(mind.belief[other].sum())
                assert total == pytest.approx(0.0 if state.fell[other] else 1.0)
            for cell in geo.NUMBERS:
                if state.memory[0, cell] in (-2, -3):
                    assert mind.belief[:, cell].sum() == 0
        GAME.play(state, chance.randrange(1, 8))


def test_the_belief_is_the_share_of_random_players_who_come_there() -> None:
    """A tank whose shot was heard, four turns later without another shot: exact and estimated."""
    state = _state(*["turn-right"] * 1, "fire", *["turn-right"] * 2, rocks="none")
    ev, chance = hunter(state), random.Random(1)
    mind = new_belief()
    state.memory[0] = -1  # seeing nothing
    counts = np.zeros(geo.CELLS)
    for _ in range(4000):
        row, column = 1, 15
        for _ in range(2):
            down, right = chance.choice([(-1, 0), (0, 1), (1, 0), (0, -1), (0, 0), (0, 0)])
            if 1 <= row + down <= 15 and 1 <= column + right <= 15:
                row, column = row + down, column + right
        counts[geo.number((row, column))] += 1
    for _ in range(2):
        update_belief(mind, ev, state, np.int64(0))
        mind.slot = state.slot
        state.slot += 4
    update_belief(mind, ev, state, np.int64(0))
    assert np.abs(mind.belief[1] - counts / 4000).max() < 0.03


HEARD = ("down", "left", "right", "turn-right", "down", "down", "up", "fire")
"""Seat 3 has fired upwards from 15,15, in the same row as seat 0; no other seats are aligned."""


def test_the_hunter_leaves_or_faces_a_shooter() -> None:
    assert _choice(hunter, _state(*HEARD, rocks="none")) in ("up", "turn-right")


def test_it_does_not_enter_a_line_that_a_shooter_holds() -> None:
    """The nearest new place is in line with a tank that just fired; another is equally near."""
    state = _state(rocks="none")
    for cell in geo.NUMBERS:
        state.visited[cell] |= 1
    crossing, other = geo.number((8, 7)), geo.number((7, 8))
    for cell in (crossing, other):
        state.visited[cell] &= 14
    home = geo.number((7, 7))
    state.memory[0, state.place[0]] = 0
    state.place[0] = home
    state.memory[0, home] = 11
    state.fired[1] = state.slot = 4
    state.shots[3] = geo.number((8, 14))
    ev: Any = hunter(state)
    ev.kill = ev.relief = 0  # aiming gains nothing
    careful = Planner(state).search(state, ev, SearchLimits()).action
    ev.shot = 0  # no danger
    careless = Planner(state).search(state, ev, SearchLimits()).action
    assert (careful, careless) == (3, 2)


# ------------------------------------------------------------------------- hidden information


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("seed", range(3))
def test_worlds_that_differ_in_what_is_hidden_make_no_difference(plan: Any, seed: int) -> None:
    """The true state and two others that agree with the view yield the same action."""
    state, chance = _state(), random.Random(seed)
    seat = seed % 4
    planners = [Planner(state) for _ in range(3)]
    ev = plan(state)
    different = 0
    while GAME.to_act(state) != TERMINAL and int(state.ply) < 160:
        action = chance.randrange(1, 8)
        if state.side == seat:
            view = GAME.view(state, seat)
            worlds = [state, GAME.sample(view, 2 * int(state.ply)), GAME.sample(view, 1)]
            different += len({world.tobytes() for world in worlds}) == 3
            found = {
                p.search(w, ev, SearchLimits()).action
                for p, w in zip(planners, worlds, strict=True)
            }
            assert len(found) == 1
            action = found.pop()
        GAME.play(state, action)
    assert different > 20


@pytest.mark.parametrize("plan", PLANS)
def test_it_does_not_touch_the_state(plan: Any) -> None:
    state = _state(*HEARD)
    before = state.tobytes()
    _choice(plan, state)
    assert state.tobytes() == before


def test_a_planner_that_comes_into_a_running_match_plays_on() -> None:
    state, chance = _state(), random.Random(5)
    for _ in range(203):
        GAME.play(state, chance.randrange(1, 8))
    while state.side >= 0:
        assert Planner(state).search(state, hunter(state), SearchLimits()).action in range(1, 8)
        GAME.play(state, chance.randrange(1, 8))
        if int(state.ply) > 230:
            break


def test_it_plays_tanks_and_nothing_else() -> None:
    other = np.zeros(1, BELIEF)[0]
    assert "another game" in str(Planner.supports(GAME.info, other))
    assert Planner.supports(GAME.info, _state()) is None


# ----------------------------------------------------------------------------------- strength


@kernel
def _play_out(st: Record, mind: Record, ev: Record, seat: Int, seed: Int) -> None:
    """Play to the end: a planner in `seat`, random players in the others."""
    np.random.seed(seed)
    while st.side >= 0:
        if st.side == seat:
            rules.play(st, np.int64(decide(mind, ev, st)))
        else:
            rules.play(st, np.int64(np.random.randint(rules.UP, rules.FIRE + 1)))


def _games(ev: np.record, number: int) -> np.ndarray:
    """Play against three random players with the planner in every seat in turn.

    Return the planner's points, and whether it is first, for each game.
    """
    rows = []
    for index in range(number):
        st: Any = _state()
        seat = index % rules.SEATS
        _play_out(st, new_belief(), ev, np.int64(seat), np.int64(index))
        points = [10 * int(st.cells[s]) + 50 * int(st.kills[s]) for s in range(rules.SEATS)]
        rows.append((points[seat], int(points[seat] == max(points))))
    return np.array(rows, np.int64)


@pytest.mark.slow
def test_the_explorer_has_a_thousand_points() -> None:
    assert _games(explorer(_state()), 200)[:, 0].mean() > 1000


def test_the_hunter_has_many_more_and_is_nearly_always_first() -> None:
    rows = _games(hunter(_state()), 200)
    assert rows[:, 0].mean() > 1800
    assert rows[:, 1].mean() > 0.93


@pytest.mark.slow
def test_a_thousand_games_with_the_seats_in_turn() -> None:
    walks, hunts = _games(explorer(_state()), 1000), _games(hunter(_state()), 1000)
    assert walks[:, 0].mean() >= 1000
    assert hunts[:, 0].mean() >= 1850
    assert hunts[:, 1].mean() >= 0.95
