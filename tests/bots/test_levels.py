"""The difficulty levels refer to existing bots and supported numbers of seats."""

from __future__ import annotations

from itertools import pairwise

import pytest

from kibitz_bots import catalog
from kibitz_bots.levels import levels, table
from kibitz_games.core import registry

LADDERS = [(game, seats) for game, by_seats in table().games.items() for seats in by_seats]


@pytest.mark.parametrize("game", sorted(table().games))
def test_a_game_has_levels_for_all_its_numbers_of_seats(game: str) -> None:
    assert sorted(table().games[game]) == sorted(registry.get(game).info.seats)


@pytest.mark.parametrize(("game", "seats"), LADDERS)
def test_three_to_eight_levels_are_bots_of_the_game(game: str, seats: int) -> None:
    ladder = levels(game, seats)
    assert 3 <= len(ladder) <= 8
    for level in ladder:
        catalog.find(level.bot)()
        bot = catalog.named(level.bot.partition(":")[0])
        assert bot.game == game
        assert not bot.seats or seats in bot.seats
    assert len({level.bot for level in ladder}) == len(ladder)


@pytest.mark.parametrize(("game", "seats"), LADDERS)
def test_every_level_has_beaten_the_one_below_in_games_that_are_named(
    game: str, seats: int
) -> None:
    for _, upper in pairwise(levels(game, seats)):
        assert upper.score is not None
        assert upper.score >= 0.5
        assert upper.games
        assert upper.commit
        assert upper.date


def test_a_game_without_levels_has_none() -> None:
    assert levels("connect-four", 3) == ()
    assert levels("no-game", 2) == ()
