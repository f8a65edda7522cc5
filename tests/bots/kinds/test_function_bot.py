"""Plain functions as bots."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kibitz_bots.kinds.function_bot import (
    FunctionBot,
    flaw,
    move_of,
    observation,
    takes_configuration,
)
from kibitz_bots.running import inprocess
from kibitz_bots.sdk import BadAnswer, Turn
from kibitz_games.core import registry
from kibitz_games.core.position import Position
from tests.tools.numbers import Tensor


def turn_of(game: str) -> tuple[Position, Turn]:
    play = Position(registry.get(game))
    return play, inprocess.local_turn(play, inprocess.local_match(play, play.to_act), 70)


@pytest.mark.parametrize("game", registry.names())
def test_a_function_sees_the_position_and_all_legal_moves(game: str) -> None:
    seen: list[dict[str, Any]] = []
    play, turn = turn_of(game)
    answer = FunctionBot(lambda each: seen.append(each) or 0, "taker").choose(turn)  # type: ignore[func-returns-value]
    assert answer == turn.legal[0]
    assert seen[0]["view"] == turn.observation
    assert len(seen[0]["legal"]) == len(play.legal)
    assert [seen[0][key] for key in ("seat", "ply", "ms", "game")] == [play.to_act, 0, 70, game]
    assert seen[0]["legal_rule"] == (play.game.info.legal_rule or None)
    assert seen[0]["options"] == turn.match.options
    assert len(seen[0]) == 8


def test_an_answer_is_a_move_or_its_index() -> None:
    _, turn = turn_of("line-nim")
    last = len(turn.legal) - 1
    for number in (int, np.int16, np.uint64, np.array, Tensor):
        assert move_of(number(last), turn) == turn.legal[-1]
    assert move_of(turn.legal[1], turn) == turn.legal[1]


@pytest.mark.parametrize("index", [-1, 10_000])
def test_an_index_that_points_nowhere_says_where_it_may_point(index: int) -> None:
    _, turn = turn_of("line-nim")
    with pytest.raises(BadAnswer, match=rf"index from 0 to {len(turn.legal) - 1}, not {index}"):
        move_of(index, turn)


@pytest.mark.parametrize("answer", [True, np.True_, 1.0, None, "3-4", np.ones(2, int)])
def test_what_is_neither_is_no_answer(answer: object) -> None:
    play, turn = turn_of("line-nim")
    with pytest.raises(BadAnswer, match="expected a move such as"):
        inprocess.choose_action(FunctionBot(lambda seen: answer, "odd"), play, turn.match)


class Caller:
    def __call__(self, observation: Any, configuration: Any) -> int:
        return int(configuration["size"] == 10)


def one(observation: dict[str, Any]) -> Any:
    return observation["legal"][1]


def kaggle(observation: Any, configuration: Any) -> Any:
    assert configuration.actTimeout == configuration["actTimeout"] == 0.07
    return observation.legal[configuration.size - 9]


def optional(observation: Any, config: Any = None) -> Any:
    return observation.legal[config.size - 9]


def own_default(observation: Any, number: int = 1) -> Any:
    return observation["legal"][number]


def anything(*arguments: Any) -> Any:
    assert len(arguments) == 1
    return arguments[0]["legal"][1]


@pytest.mark.parametrize("function", [one, kaggle, optional, own_default, anything, Caller()])
def test_a_function_takes_one_argument_or_kaggles_two(function: Callable[..., Any]) -> None:
    _, turn = turn_of("five-in-a-row")
    assert flaw(function) is None
    assert FunctionBot(function, "any").choose(turn) == turn.legal[1]


def test_a_function_without_a_signature_is_called_with_the_observation() -> None:
    assert flaw(max) is None
    assert not takes_configuration(max)


def test_what_it_is_given_is_a_dict_whose_fields_are_attributes_too() -> None:
    _, turn = turn_of("line-nim")
    seen = observation(turn)
    assert seen.seat == seen["seat"] == 0
    assert json.loads(json.dumps(seen)) == seen
    with pytest.raises(AttributeError, match="no field 'board'; known fields: view, legal, "):
        _ = seen.board


@pytest.mark.parametrize("function", [lambda: 0, lambda a, b, c: 0])
def test_other_numbers_of_arguments_are_refused(function: Callable[..., Any]) -> None:
    reason = flaw(function)
    assert reason is not None
    assert reason.startswith(
        "expected agent(observation) or agent(observation, configuration), not"
    )


def test_a_function_can_play_locally_as_it_is() -> None:
    end = inprocess.play_locally("line-nim", one, lambda seen: 0, options={"free": 12})
    assert end.outcome is not None
