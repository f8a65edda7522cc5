"""Bots in matches without a server."""

from __future__ import annotations

from typing import Any

import pytest

from kibitz_bots import SpecError, load
from kibitz_bots.running import inprocess
from kibitz_bots.sdk import BadAnswer, Bot, Match, Turn
from kibitz_games.core import registry
from kibitz_games.core.game import GameError, IllegalAction, InvalidSetup
from kibitz_games.core.position import Position
from kibitz_protocol.wire.records import Result

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
    play = Position(GAME)
    return inprocess.choose_action(bot, play, inprocess.local_match(play, play.to_act))


def test_a_bot_is_asked_as_at_a_server() -> None:
    legal = Position(GAME).legal
    assert ask(First()) == legal[0]
    assert ask(Later()) == legal[-1]


def test_what_is_no_move_and_what_is_illegal_are_told_apart() -> None:
    with pytest.raises(IllegalAction):
        ask(Wrong())
    with pytest.raises(BadAnswer, match="not a move of chinese-checkers"):
        ask(Rubbish())


def test_a_turn_shows_what_the_seat_may_know() -> None:
    play = Position(GAME, seats=3)
    match = inprocess.local_match(play, 0, "m1")
    turn = inprocess.local_turn(play, match, 20)
    assert turn.observation == play.view(0).to_wire()
    assert turn.legal == [play.move(action).to_wire() for action in play.legal]
    assert (turn.ply, turn.budget.ms) == (0, 20)
    assert [player.name for player in match.players] == ["seat 1", "seat 2", "seat 3"]


class Listening(Bot):
    """Plays the first legal move and stores its messages."""

    def __init__(self) -> None:
        self.heard: list[Any] = []

    def prepare(self, programme: Any) -> None:
        self.heard.append([(item.game, item.seats) for item in programme])

    def on_match_start(self, match: Match) -> None:
        self.heard.append((match.seat, len(match.players), dict(match.options)))

    def choose(self, turn: Turn) -> Any:
        return turn.legal[0]

    def on_match_end(self, match: Match, result: Result) -> None:
        self.heard.append(result)


def test_a_whole_match_needs_no_server() -> None:
    first, plies = Listening(), []
    end = inprocess.play_locally(
        "number-merge",
        first,
        "number-merge/random:seed=1",
        options={"length": 7},
        seed=7,
        on_move=lambda position: plies.append(len(position.history)),
    )
    assert end.outcome is not None
    assert plies == list(range(1, len(end.history) + 1))
    programme, (seat, players, options), result = first.heard
    assert programme == [("number-merge", 2)]
    assert (seat, players, options["length"]) == (0, 2, 7)
    assert isinstance(result, Result)
    assert tuple(each.rank for each in result.seats) == end.outcome.ranks
    assert result.plies == len(end.history)


def test_a_seed_makes_a_local_match_repeatable() -> None:
    def history(seed: int) -> Any:
        bots = [First, lambda: load("line-nim/random:seed=2")()]
        end = inprocess.play_locally("line-nim", *bots, options={"free": 12}, seed=seed)
        return end.deal, end.history

    assert history(3) == history(3)
    assert history(3) != history(4)


def test_a_local_match_says_what_is_wrong() -> None:
    class Nonsense(Bot):
        def choose(self, turn: Turn) -> Any:
            return {"x": "nonsense"}

    class Broken(Bot):
        async def choose(self, turn: Turn) -> Any:
            raise RuntimeError("so be it")

    other = "number-merge/random"
    with pytest.raises(GameError, match="unknown game 'chess'"):
        inprocess.play_locally("chess", First, First)
    with pytest.raises(InvalidSetup, match="seats"):
        inprocess.play_locally("number-merge", First, First, First)
    with pytest.raises(InvalidSetup, match=r"options\.length"):
        inprocess.play_locally("number-merge", First, other, options={"length": "long"})
    with pytest.raises(SpecError, match="unknown bot"):
        inprocess.play_locally("number-merge", First, "number-merge/nobody")
    with pytest.raises(BadAnswer, match="not a move of number-merge"):
        inprocess.play_locally("number-merge", Nonsense, other)
    with pytest.raises(RuntimeError, match="so be it"):
        inprocess.play_locally("number-merge", Broken, other)
