"""Bots at a table without a server."""

from __future__ import annotations

from typing import Any

import pytest

from kibitz_bots import parlour
from kibitz_bots.sdk import BadAnswer, Bot, Turn
from kibitz_games import registry
from kibitz_games.api import IllegalAction
from kibitz_games.play import Play

GAME = registry.get("chinese-checkers")


class First(Bot):
    def choose(self, turn: Turn) -> Any:
        return turn.legal[0]


class Later(Bot):
    async def choose(self, turn: Turn) -> Any:
        return turn.legal[-1]


class Wrong(Bot):
    def choose(self, turn: Turn) -> Any:
        return {"from": 0, "to": 0}


class Rubbish(Bot):
    def choose(self, turn: Turn) -> Any:
        return {"colour": "red"}


def ask(bot: Bot) -> int:
    play = Play(GAME)
    return parlour.decide(bot, play, parlour.match_of(play, play.to_act))


def test_a_bot_is_asked_as_at_a_server() -> None:
    legal = Play(GAME).legal
    assert ask(First()) == legal[0]
    assert ask(Later()) == legal[-1]


def test_what_is_no_move_and_what_is_illegal_are_told_apart() -> None:
    with pytest.raises(IllegalAction):
        ask(Wrong())
    with pytest.raises(BadAnswer, match="not a move of chinese-checkers"):
        ask(Rubbish())


def test_a_turn_shows_what_the_seat_may_know() -> None:
    play = Play(GAME, seats=3)
    match = parlour.match_of(play, 0, "m1")
    turn = parlour.turn_of(play, match, 20)
    assert turn.view == GAME.dump(play.view(0))
    assert turn.legal == GAME.moves(play.state, play.legal)
    assert (turn.ply, turn.budget.ms, len(match.players)) == (0, 20, 3)
