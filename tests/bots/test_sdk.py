"""What the author of a bot sees."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kibitz
import kibitz_bots
from kibitz_bots.budget import Budget
from kibitz_bots.running import inprocess
from kibitz_bots.sdk import BadAnswer, Bot, Decision, Match, Turn, parse_answer
from kibitz_bots.testing import snapshot, your_turn
from kibitz_games.core import registry
from kibitz_games.core.game import GameError
from kibitz_games.core.position import Position
from kibitz_protocol.wire.records import Cause, Comment, Result, SeatResult
from tests.tools.numbers import Tensor

GAME = "chinese-checkers"


def turn_at(plies: int, *, legal: list[dict[str, Any]] | None = None) -> Turn:
    """Return a turn of seat 0 after some first legal moves."""
    game = registry.get(GAME)
    state = game.start(game.Options(), 2, {})
    for _ in range(plies):
        game.play(state, game.legal(state)[0])
    match = Match.of(snapshot("m1", game=GAME))
    view = game.dump(game.view(state, 0))
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
    assert game.dump(game.view(turn.state, 0)) == turn.observation
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


def test_a_view_can_still_be_read_as_json_for_a_while() -> None:
    turn = turn_at(1)
    name = next(iter(turn.observation))
    with pytest.warns(DeprecationWarning, match=f"is .{name} now"):
        assert turn.view[name] == turn.observation[name]


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


def test_old_names_of_a_bot_work_and_warn() -> None:
    heard: list[str] = []
    with pytest.warns(DeprecationWarning, match=r"Old\.(warm|started|finished|rules)") as warned:

        class Old(Bot):
            rules = "plain"

            def warm(self, programme: Any) -> None:
                heard.append("warm")

            def started(self, match: Match) -> None:
                heard.append("started")

            def finished(self, match: Match, result: Result) -> None:
                heard.append("finished")

    assert len(warned) == 4
    assert {Path(each.filename).name for each in warned} == {"test_sdk.py"}
    bot = Old()
    bot.prepare([])
    bot.on_match_start(turn_at(0).match)
    bot.on_match_end(turn_at(0).match, RESULT)
    assert heard == ["warm", "started", "finished"]
    assert bot.jit is False


def test_a_base_class_is_reached_by_its_old_names() -> None:
    heard: list[str] = []

    class New(Bot):
        def prepare(self, programme: Any) -> None:
            heard.append("new")

    with pytest.warns(DeprecationWarning, match="Old.warm"):

        class Old(New):
            def warm(self, programme: Any) -> None:
                super().warm(programme)  # type: ignore[misc]
                heard.append("old")

    with pytest.warns(DeprecationWarning, match="warm is prepare now"):
        Old().prepare([])
    assert heard == ["new", "old"]
    with pytest.warns(DeprecationWarning, match="finished is on_match_end now"):
        Bot().finished(turn_at(0).match, RESULT)  # type: ignore[attr-defined]


def test_old_names_of_a_turn_and_a_match_work_and_warn() -> None:
    turn = turn_at(0)
    turn.comment("hm")
    for old, new in (("called_off", "cancelled"), ("said", "pending_comment")):
        with pytest.warns(DeprecationWarning, match=f"Turn.{old} is {new} now"):
            assert getattr(turn, old) == getattr(turn, new)
    with pytest.warns(DeprecationWarning, match="Match.rules is game_rules now"):
        assert turn.match.rules is turn.match.game_rules


@pytest.mark.parametrize("package", [kibitz, kibitz_bots])
def test_a_decision_was_called_a_choice(package: Any) -> None:
    with pytest.warns(DeprecationWarning, match=r"Choice is \w+\.Decision now"):
        assert package.Choice is Decision
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = package.Nothing


RESULT = Result(
    seats=[SeatResult(rank=1, score=1.0), SeatResult(rank=2, score=0.0)],
    cause=Cause.RULES,
    reason="goal",
    plies=1,
)


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
