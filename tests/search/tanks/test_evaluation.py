"""The greedy player of Tanks and its evaluation of positions."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from kibitz_games.compiled import kernels
from kibitz_games.compiled import operations as op
from kibitz_games.core import registry
from kibitz_games.core.game import TERMINAL
from kibitz_games.core.position import Position
from kibitz_search.algorithms.greedy import Greedy
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.tanks.evaluation import hand

GAME: Any = registry.get("tanks")


def _state(*words: str, **options: Any) -> Any:
    play = Position(GAME, GAME.Options(**options))
    for word in words:
        play.push_move(word)
    return play.state


def _choice(state: Any) -> str:
    """Return the greedy player's action, based on its seat's knowledge."""
    world = GAME.sample(GAME.view(state, GAME.to_act(state)), 0)
    action = Greedy(world).search(world, hand(world), SearchLimits(seed=1)).action
    return str(GAME.notation.format(GAME.encode(world, action)))


def test_it_fires_at_a_tank_in_its_line() -> None:
    assert _choice(_state(start="table1", rocks="none")) == "fire"


def test_it_goes_where_it_has_not_been() -> None:
    assert _choice(_state()) in ("up", "right")


HEARD = ("down", "left", "right", "turn-right", "down", "down", "up", "fire")
"""Seat 3 has fired upwards from 15,15, in the same row as seat 0; no other seats are aligned."""


def _worth(*words: str, **weights: float) -> float:
    """Return seat 0's evaluation of the position after some actions, with only these weights."""
    state = _state(*HEARD, *words, rocks="none")
    ev: Any = kernels.new(hand(state).dtype)
    for name, weight in weights.items():
        ev[name] = weight
    return float(op.evaluate(ev, state, 0))


def test_it_leaves_the_line_of_a_shooter() -> None:
    assert _worth("down", danger=14, lately=8) == 10 - 14
    assert _worth("down", sight=4) == 10 - 4
    assert _worth("up", danger=14, lately=8) == 20
    assert _choice(_state(*HEARD, rocks="none")) == "up"


def test_it_likes_to_aim_at_a_tank_that_it_knows() -> None:
    assert _worth("turn-right", aim=12) == 10 + 12
    assert _worth("turn-left", aim=12) == 10


def test_a_shot_makes_noise_and_the_way_to_the_next_place_counts() -> None:
    assert _worth("fire", noise=0.5) == 10 - 0.5
    assert _worth("down", pull=0.25) == 10 - 0.25


def test_no_way_to_a_new_place_outweighs_one() -> None:
    """Otherwise it would stop next to the last places of a region."""
    ev: Any = hand(_state())
    assert ev.pull * 45 < 10


def _greedy_among_random(seed: int) -> tuple[list[int], int]:
    """Return the points of all seats and the greedy player's seat, which rotates with the seed."""
    state: Any = _state()
    search, ev, source = Greedy(state), hand(state), random.Random(seed)
    while (seat := GAME.to_act(state)) != TERMINAL:
        action = source.randrange(1, 8)
        if seat == seed % 4:
            world = GAME.sample(GAME.view(state, seat), int(state.ply))
            action = search.search(world, ev, SearchLimits(seed=f"{seed}/{state.ply}")).action
        GAME.play(state, action)
    tanks = GAME.referee_view(state).tanks
    return [tank.score for tank in tanks], seed % 4


def _scores(games: int) -> tuple[float, float]:
    """Return the greedy player's mean points and its share of first places."""
    points, wins = [], 0
    for seed in range(games):
        scores, seat = _greedy_among_random(seed)
        points.append(scores[seat])
        wins += scores[seat] == max(scores)
    return float(np.mean(points)), wins / games


@pytest.mark.slow
def test_greedy_beats_three_random_players() -> None:
    mean, wins = _scores(12)
    assert mean > 1000
    assert wins >= 0.75


@pytest.mark.slow
def test_greedy_has_five_times_the_points_of_random() -> None:
    mean, wins = _scores(200)
    assert mean > 1550
    assert wins > 0.9
