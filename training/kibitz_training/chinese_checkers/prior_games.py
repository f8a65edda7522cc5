"""Games of Monte Carlo search among planners, to which priors are fitted.

Some seats, which change from game to game, are planners (`beam`); the others are Monte Carlo
searches. A game begins with two random moves per player. It is stored as its actions; replaying
them gives the choices.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kibitz_games.compiled import operations as op
from kibitz_games.core import registry
from kibitz_search.algorithms.beam import Beam
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.algorithms.mcts import Mcts
from kibitz_search.chinese_checkers.evaluation import of_distances

OPENING = 2
"""Random moves per player."""


@dataclass(frozen=True)
class Choice:
    """The legal moves of a player, and the one that it chose."""

    goal: int
    """The corner of the player's goal."""
    legal: tuple[int, ...]
    chosen: int


def start(seats: int) -> tuple[Any, Any]:
    """Return the game and the initial state with default options."""
    game = registry.get("chinese-checkers")
    return game, game.start(game.Options(), seats, {})


def play(
    seats: int, planners: int, distances: tuple[float, ...], iterations: int, seed: int
) -> list[int]:
    """Return the actions of a game between players that evaluate positions by these distances."""
    game, state = start(seats)
    search, plan = Mcts(state, iterations=iterations), Beam(state)
    ev = of_distances(state, distances)
    planning = set(random.Random(f"{seed}/planners").sample(range(seats), planners))
    chance, actions = random.Random(seed), list[int]()
    while game.outcome(state) is None:
        if len(actions) < OPENING * seats:
            action = chance.choice(game.legal(state))
        else:
            limits = SearchLimits(seconds=math.inf, seed=f"{seed}/{len(actions)}")
            chosen = plan if int(op.to_act(state)) in planning else search
            action = chosen.search(state, ev, limits).action
        game.play(state, action)
        actions.append(action)
    return actions


def choices(seats: int, actions: list[int]) -> Iterator[Choice]:
    """Yield the choices of a game, except for random moves and forced moves.

    Raises `ValueError` if the actions are not a legal game.
    """
    game, state = start(seats)
    for number, action in enumerate(actions):
        legal = tuple(game.legal(state))
        if action not in legal:
            raise ValueError(f"expected a legal action at ply {number}, not {action}")
        if number >= OPENING * seats and len(legal) > 1:
            yield Choice(int(state["goal"][int(op.to_act(state))]), legal, action)
        game.play(state, action)
