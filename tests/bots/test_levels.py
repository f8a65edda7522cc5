"""The difficulty levels refer to existing bots and supported numbers of seats."""

from __future__ import annotations

import pytest

from kibitz_bots import catalog
from kibitz_bots.levels import levels, table
from kibitz_games.core import registry

GAMES = 200
LEAST, MOST = 0.6, 0.8
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
def test_every_level_scores_60_to_80_percent_against_the_one_below(game: str, seats: int) -> None:
    for upper in levels(game, seats)[1:]:
        assert upper.score is not None
        assert upper.commit
        assert upper.date
        assert upper.games >= GAMES
        assert LEAST <= upper.score <= MOST, upper.bot


def test_a_game_without_levels_has_none() -> None:
    assert levels("connect-four", 3) == ()
    assert levels("no-game", 2) == ()
