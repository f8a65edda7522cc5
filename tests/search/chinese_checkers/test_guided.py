"""The search by learned moves: what it plays with follows from the seats, unless it is told."""

from __future__ import annotations

from typing import Any

import pytest

from kibitz_games.core import registry
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.chinese_checkers.evaluation import stragglers
from kibitz_search.chinese_checkers.guided import (
    PLAYOUTS,
    STEPS_LEFT,
    GuidedMcts,
    GuidedPhases,
)
from kibitz_search.chinese_checkers.learned import GUIDED


def workspace(seats: int, **parameters: Any) -> Any:
    game: Any = registry.get("chinese-checkers")
    return GuidedMcts(game.start(game.Options(), seats, {}), table=1, **parameters)._ws


def test_there_are_playouts_wherever_there_are_priors() -> None:
    assert set(PLAYOUTS) == set(GUIDED)


@pytest.mark.parametrize("seats", GUIDED)
def test_what_is_not_given_follows_from_the_seats(seats: int) -> None:
    ws, fitting = workspace(seats), PLAYOUTS[seats]
    assert (ws.plies, ws.epsilon, ws.widen) == fitting
    assert workspace(seats, plies=9).plies == 9
    assert workspace(seats, epsilon=0.0).epsilon == 0.0
    assert workspace(seats, widen=0.0, plies=0).widen == 0.0
    assert workspace(seats, scale=5.0).scale == 5.0


@pytest.mark.parametrize("left", [STEPS_LEFT, STEPS_LEFT + 1])
def test_the_own_moves_are_planned_alone_when_the_seat_to_act_has_few_steps_left(left: int) -> None:
    game: Any = registry.get("chinese-checkers")
    state: Any = game.start(game.Options(), 6, {})
    game.play(state, game.legal(state)[0])
    search, ev = GuidedPhases(state, table=1, iterations=4), stragglers(state)
    state["distance"][1] = left
    found = search.search(state, ev, SearchLimits(depth=1))
    assert found.own_moves_only == (left == STEPS_LEFT)
    assert found.action in game.legal(state)


def test_it_is_made_ready_for_both_phases() -> None:
    game: Any = registry.get("chinese-checkers")
    state: Any = game.start(game.Options(), 6, {})
    search, asked = GuidedPhases(state, table=1), list[Any]()
    for part in (search._middle, search._end):
        part.search = lambda *given, part=part: asked.append(part)  # type: ignore
    search.warm_up(state, stragglers(state))
    assert asked == [search._middle, search._end]
