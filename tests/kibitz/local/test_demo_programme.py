"""The demo's programme: the built-in games that fill a terminal, with suitable bots."""

from __future__ import annotations

import pytest

from kibitz.builtin_games import load_games
from kibitz.commands.host import most_seats
from kibitz.local.demo_programme import DEMO, DemoGame
from kibitz_bots.loading import load
from kibitz_clients.matches.timeline import Frame
from kibitz_clients.palette import DARK
from kibitz_clients.render.match_picture import frame_scene
from kibitz_clients.tui.widgets.match_grid import fit_board
from kibitz_games.core import registry
from kibitz_games.core.position import Position


def test_six_built_in_games_are_played_with_several_numbers_of_seats() -> None:
    left_out = {"tic-tac-toe"}  # the smallest terminal has room for six
    assert sorted(game.name for game in DEMO) == sorted({*registry.BUILT_IN} - left_out)
    assert {item.seats for game in DEMO for item in game.items} >= {2, 3, 4, 6}


@pytest.mark.parametrize("demo", DEMO, ids=lambda demo: demo.name)
def test_every_item_can_be_played_by_the_bots_of_its_game(demo: DemoGame) -> None:
    game, settings = load_games("plain")[demo.name], demo.settings()
    assert settings.at_once == 1
    for item in demo.items:
        assert item.game == demo.name
        assert item.seats <= most_seats(item.game, settings.seats)
        options = game.Options.model_validate(item.options)
        game.start(options, item.seats, game.deal(options, item.seats, 0))
    for bot in demo.bots:
        assert set(load(f"{demo.name}/{bot}")().games) == {demo.name}


@pytest.mark.parametrize("demo", DEMO, ids=lambda demo: demo.name)
def test_every_board_fits_a_tile_of_the_smallest_terminal(demo: DemoGame) -> None:
    """Six tiles of 26 columns and 11 rows, with 11 columns for the players next to a board."""
    game = load_games("plain")[demo.name]
    for item in demo.items:
        options = game.Options.model_validate(item.options)
        for seed in range(8):
            play = Position(game, options, item.seats, seed=seed)
            view = game.referee_view(play.state).to_wire()
            scene = frame_scene(game, Frame(0, 0, 0, view))
            assert fit_board(scene, 15, 9, DARK) or fit_board(scene, 26, 7, DARK), (
                item.options,
                seed,
            )
