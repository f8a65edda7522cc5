from __future__ import annotations

import random

import pytest

from kibitz_games import registry
from kibitz_games.api import OVER, IllegalAction, InvalidSetup
from kibitz_games.play import Acted, Dropped, Play

GAME = registry.get("chinese-checkers")


def test_a_play_folds_moves_into_a_state() -> None:
    play = Play(GAME)
    assert (play.to_act, play.outcome, play.seats) == (0, None, 2)
    assert play.apply("6-14") == 6 * 121 + 14
    assert play.apply(GAME.parse("114-106")) == 114 * 121 + 106
    assert play.entries == [Acted(0, 740), Acted(1, 13900)]
    assert play.scene().marks


def test_entries_and_setup_determine_the_state() -> None:
    source = random.Random(5)
    play = Play(GAME, seats=4)
    for ply in range(40):
        if ply == 20:
            play.drop(2)
        play.act(source.choice(play.legal))
    again = Play(GAME, seats=4)
    again.extend(play.entries)
    assert again.state.tobytes() == play.state.tobytes()
    assert Dropped(2) in again.entries


def test_undo_takes_back_actions_but_not_drops() -> None:
    play = Play(GAME, seats=3)
    start = play.state.tobytes()
    play.act(play.legal[0])
    play.undo()
    assert play.state.tobytes() == start
    assert not play.entries
    with pytest.raises(IllegalAction, match="no action"):
        play.undo()
    play.drop(1)
    with pytest.raises(IllegalAction, match="no action"):
        play.undo()


def test_an_illegal_move_changes_nothing() -> None:
    play = Play(GAME)
    before = play.state.tobytes()
    with pytest.raises(IllegalAction, match="no step"):
        play.apply("3-60")
    assert play.state.tobytes() == before
    assert not play.entries


def test_a_play_that_is_over_has_an_outcome() -> None:
    play = Play(GAME)
    play.drop(0)
    assert play.to_act == OVER
    assert play.outcome is not None
    assert play.outcome.ranks == (2, 1)
    assert not play.legal


def test_a_bad_setup_is_refused() -> None:
    with pytest.raises(InvalidSetup, match="seats"):
        Play(GAME, seats=7)
