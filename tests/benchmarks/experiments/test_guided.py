"""Matches of house bots without a server."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from benchmarks.experiments import guided, matches
from kibitz_games.core import registry
from kibitz_search.algorithms.greedy import Greedy
from kibitz_search.chinese_checkers.evaluation import hand


class Good(guided.Opponent):
    def chooser(self, start: np.record) -> matches.Chooser:
        return matches.Player(Greedy, hand).chooser(start)


class Bad(guided.Opponent):
    def chooser(self, start: np.record) -> matches.Chooser:
        game: Any = registry.get(guided.GAME)
        return lambda state, seed: int(random.Random(seed).choice(game.legal(state)))


def test_who_is_better_wins_from_either_seat() -> None:
    assert guided._meet(Good("good"), Bad("bad"), 4) == (4, 0)
    assert guided._meet(Bad("bad"), Good("good"), 4) == (0, 0)


def test_at_a_table_of_six_the_side_with_the_higher_mean_wins() -> None:
    assert guided._meet(Good("good"), Bad("bad"), 4, 6, guided.SIX) == (4, 0)
    assert guided._meet(Bad("bad"), Good("good"), 4, 6, guided.SIX) == (0, 0)


@pytest.mark.parametrize("seats", [2, 6])
@pytest.mark.parametrize("name", [guided.SUBJECT, "maxn"])
def test_a_house_bot_plays_with_its_own_parameters_and_counts(
    name: str, seats: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guided, "SECONDS", 0.001)
    game, state = matches.start(guided.GAME, seats, 0)
    bot = guided.Opponent(name)
    assert bot.chooser(state)(state, "a seed") in game.legal(state)
    assert bot.moves == 1
    assert bot.effort == str(bot.nodes)
    assert bot.nodes > 0
