"""The bot SDK from an author's perspective."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import kibitz
from kibitz_bots.budget import Budget
from kibitz_bots.running import inprocess
from kibitz_bots.sdk import BadAnswer, Bot, Decision, Match, Turn, parse_answer
from kibitz_games.core import registry
from kibitz_games.core.game import GameError
from kibitz_games.core.position import Position
from kibitz_protocol.wire.records import Comment
from tests.tools.fake_server import snapshot, your_turn
from tests.tools.numbers import Tensor

GAME = "chinese-checkers"


def turn_at(plies: int, *, legal: list[dict[str, Any]] | None = None) -> Turn:
    """Return a turn of seat 0 after some first legal moves."""
    game = registry.get(GAME)
    state = game.start(game.Options(), 2, {})
    for _ in range(plies):
        game.play(state, game.legal(state)[0])
    match = Match.of(snapshot("m1", game=GAME))
    view = game.view(state, 0).to_wire()
    return Turn(match=match, ply=plies, observation=view, budget=Budget(1, None, 0.0), listed=legal)


def test_legal_moves_are_those_of_the_server() -> None:
    turn = turn_at(0, legal=[{"from": 3, "to": 14}])
    assert turn.legal == [{"from": 3, "to": 14}]


def test_legal_moves_come_from_the_rules_where_the_server_lists_none() -> None:
    turn = turn_at(2)
    assert len(turn.legal) == len(registry.get(GAME).legal(turn.state)) > 0
    assert turn.legal[0] == turn.move(registry.get(GAME).legal(turn.state)[0])


def test_the_state_agrees_with_the_view() -> None:
    turn = turn_at(4)
    game = registry.get(GAME)
    assert game.view(turn.state, 0).to_wire() == turn.observation
    assert turn.state is turn.state


def test_unknown_rules_are_named() -> None:
    turn = Turn.of(your_turn("m1"), Match.of(snapshot("m1")), Budget(1, None, 0.0))
    assert turn.legal == [{}]
    with pytest.raises(GameError, match="'nim'"):
        _ = turn.state


def test_a_match_needs_a_seat() -> None:
    with pytest.raises(ValueError, match="no seat"):
        Match.of(snapshot("m1", you=None))


def test_a_turn_tells_who_plays_what() -> None:
    turn = turn_at(0)
    assert (turn.game, turn.seat, turn.match.players[1].name) == (GAME, 0, "they")
    assert turn.pending_comment is None


def test_a_bot_without_choose_says_so() -> None:
    class Empty(Bot):
        pass

    with pytest.raises(NotImplementedError, match=r"Empty needs a method choose\(self, turn\)"):
        Empty().choose(turn_at(0))


def test_the_view_is_the_games_model() -> None:
    turn = turn_at(4)
    game = registry.get(GAME)
    assert turn.view == game.view(turn.state, 0)
    assert turn.view is turn.view


def test_the_view_of_a_game_that_is_not_installed_is_what_was_sent() -> None:
    turn = Turn.of(your_turn("m1"), Match.of(snapshot("m1")), Budget(1, None, 0.0))
    assert turn.view is turn.observation


def test_the_position_is_the_bots_own() -> None:
    turn = turn_at(2)
    before, legal = turn.state.tobytes(), turn.legal
    position = turn.position
    assert [turn.move(action) for action in position.legal] == legal
    position.push(position.legal[0])
    assert position.to_act == 1
    assert position.copy().random_playout(random.Random(1)).ranks
    assert turn.state.tobytes() == before
    assert turn.legal == legal
    position.pop()
    assert position.state.tobytes() == before
    assert turn.position is position


def test_an_action_of_the_position_is_an_answer() -> None:
    turn = turn_at(2)
    action = turn.position.legal[3]
    assert parse_answer(action, turn) == (turn.move(action), None)
    for number in (np.int32, np.uint64, np.array, Tensor):
        assert parse_answer(number(action), turn) == (turn.move(action), None)
    said = Comment(text="so")
    assert parse_answer(Decision(action, said), turn) == (turn.move(action), said)
    for wrong in (-1, 10**9, 10**30):
        with pytest.raises(BadAnswer, match=f"not the action {wrong}"):
            parse_answer(wrong, turn)
    for nothing in (True, np.True_, Tensor(1, "torch.bool"), 1.0, None, "3-14", np.ones(2, int)):
        with pytest.raises(BadAnswer, match=r"such as turn.legal\[0\], not"):
            parse_answer(nothing, turn)


NUMBERS: list[Callable[[int], Any]] = [int, np.int8, np.int64, np.uint16, np.array, Tensor]


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("game", registry.names())
def test_integers_in_a_move_may_be_of_any_type(game: str, number: Callable[[int], Any]) -> None:
    play = Position(registry.get(game))
    turn = inprocess.local_turn(play, inprocess.local_match(play, play.to_act))
    for move in turn.legal[:3]:
        foreign = {
            name: number(each) if type(each) is int and each < 128 else each
            for name, each in move.items()
        }
        model = play.game.Move.model_construct(**foreign)
        for answer in (foreign, Decision(foreign), Decision(model)):
            wire, _ = parse_answer(answer, turn)
            assert wire == move
            assert all(type(each) in (int, str, bool) for each in wire.values())
            assert inprocess.action_from(answer, play, turn) in play.legal


@pytest.mark.parametrize("wrong", [True, np.True_, Tensor(1, "torch.bool"), 1.5, np.ones(2, int)])
def test_what_is_no_integer_is_no_part_of_a_move(wrong: Any) -> None:
    play = Position(registry.get("connect-four"))
    turn = inprocess.local_turn(play, inprocess.local_match(play, play.to_act))
    with pytest.raises(BadAnswer, match="not a move of connect-four"):
        inprocess.action_from({"column": wrong}, play, turn)


def test_a_bad_comment_raises_nothing_and_is_told_once() -> None:
    turn = turn_at(2)
    turn.comment("so", value=float("nan"), depth=3)
    turn.comment(value=float("nan"), line=["a"])
    assert turn.pending_comment == Comment(text="so", depth=3, line=["a"])
    assert len(turn.comment_faults) == 1
    action = turn.position.legal[0]
    kept = parse_answer(Decision(action, {"value": float("inf")}), turn)[1]
    assert kept == turn.pending_comment, "nothing of it could be read"
    assert parse_answer(Decision(action, {"value": 1}), turn)[1] == Comment(value=1)
    assert len(turn.comment_faults) == 2


def test_where_something_is_hidden_the_position_agrees_with_the_view() -> None:
    play = Position(registry.get("tanks"), seed=5)
    turn = inprocess.local_turn(play, inprocess.local_match(play, play.to_act))
    assert turn.position.view(turn.seat) == turn.view
    assert [turn.move(action) for action in turn.position.legal] == turn.legal


def test_a_name_that_never_was_is_named() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = kibitz.Nothing


class First(Bot):
    def choose(self, turn: Turn) -> Any:
        return turn.legal[0]


@pytest.mark.parametrize("start", [First.main, lambda argv: kibitz.run(First, argv)])
def test_a_class_runs_as_its_command_line_says(
    start: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="0"):
        start(["--help"])
    assert "--lobby" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="2"):
        start(["--", "node", "bot.js"])
    assert "expected options only, not 'node'" in capsys.readouterr().err


def test_the_package_has_what_an_author_needs() -> None:
    for name in kibitz.__all__:
        assert getattr(kibitz, name).__name__ == name
    assert kibitz.Position is Position
    assert kibitz.play_locally is inprocess.play_locally


def test_a_turn_needs_its_view() -> None:
    blind = your_turn("m1").model_copy(update={"view": None})
    with pytest.raises(ValueError, match="sent without its view"):
        Turn.of(blind, Match.of(snapshot("m1")), Budget(1, None, 0.0))
