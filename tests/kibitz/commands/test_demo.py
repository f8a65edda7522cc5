"""The programme of the demo: every game that is in the box, and all of them at the same time."""

from __future__ import annotations

from kibitz.builtin_games import load_games
from kibitz.commands.demo import AT_ONCE, BOTS, PROGRAMME, settings
from kibitz.commands.host import most_seats
from kibitz_bots.loading import load


def test_the_programme_has_every_game_and_several_numbers_of_seats() -> None:
    assert {item.game for item in PROGRAMME} == set(load_games("plain"))
    assert {item.seats for item in PROGRAMME} >= {2, 3, 4, 6}


def test_every_item_can_be_played_by_the_bots_of_its_game() -> None:
    known, seats = load_games("plain"), settings().seats
    for item in PROGRAMME:
        assert item.seats <= most_seats(item.game, seats)
        game = known[item.game]
        options = game.Options.model_validate(item.options)
        game.start(options, item.seats, game.deal(options, item.seats, 0))


def test_every_bot_is_one_that_the_house_has_and_that_plays_something() -> None:
    played = {item.game for item in PROGRAMME}
    for bot in BOTS:
        assert set(load(bot)().games) <= played


def test_every_kind_runs_at_the_same_time_as_the_others() -> None:
    """The first match of each kind is among those that run at once from the beginning."""
    known = load_games("plain")
    begun = [
        item.game
        for item in PROGRAMME
        for _ in range(item.games or (item.seats if known[item.game].info.balanced else 1))
    ]
    assert set(begun[:AT_ONCE]) == set(known)
