"""The search with learned move probabilities: its default settings depend on the seats."""

from __future__ import annotations

from typing import Any

import pytest

from kibitz_games.core import registry
from kibitz_search.chinese_checkers.guided import PLAYOUTS, GuidedMcts


def workspace(seats: int, **parameters: Any) -> Any:
    game: Any = registry.get("chinese-checkers")
    return GuidedMcts(game.start(game.Options(), seats, {}), table=1, **parameters)._ws


def test_there_are_playouts_wherever_there_are_priors() -> None:
    assert set(PLAYOUTS) == set(range(2, 7))


@pytest.mark.parametrize("seats", range(2, 7))
def test_what_is_not_given_follows_from_the_seats(seats: int) -> None:
    ws, fitting = workspace(seats), PLAYOUTS[seats]
    assert (ws.plies, ws.epsilon, ws.widen) == fitting
    assert workspace(seats, plies=9).plies == 9
    assert workspace(seats, epsilon=0.0).epsilon == 0.0
    assert workspace(seats, widen=0.0, plies=0).widen == 0.0
    assert workspace(seats, scale=5.0).scale == 5.0
