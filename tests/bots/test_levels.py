"""The difficulty levels refer to existing bots and supported numbers of seats."""

from __future__ import annotations

import pytest

from kibitz_bots import catalog
from kibitz_bots.levels import levels, table
from kibitz_games.core import registry

GAMES = 200
LEAST, MOST = 0.6, 0.8
PRELIMINARY = {("tanks", 4), *(("chinese-checkers", seats) for seats in range(2, 7))}
"""Ladders with fewer games or wider steps. Their games take up to a second of CPU time each, so the
measurement takes about an hour."""
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
        assert upper.games
        assert upper.commit
        assert upper.date
        if (game, seats) not in PRELIMINARY:
            assert upper.games >= GAMES
            assert LEAST <= upper.score <= MOST, upper.bot


@pytest.mark.parametrize(("game", "seats"), sorted(PRELIMINARY))
def test_a_ladder_is_preliminary_only_until_it_is_measured(game: str, seats: int) -> None:
    assert any(
        upper.games < GAMES or not LEAST <= (upper.score or 0) <= MOST
        for upper in levels(game, seats)[1:]
    )


def test_a_game_without_levels_has_none() -> None:
    assert levels("connect-four", 3) == ()
    assert levels("no-game", 2) == ()
