"""Plain functions as bots."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kibitz_bots import inprocess
from kibitz_bots.function_bot import FunctionBot, move_of
from kibitz_bots.sdk import BadAnswer, Turn
from kibitz_games.core import registry
from kibitz_games.core.position import Position


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
    assert move_of(last, turn) == move_of(np.int64(last), turn) == turn.legal[-1]
    assert move_of(turn.legal[1], turn) == turn.legal[1]


@pytest.mark.parametrize("index", [-1, 10_000])
def test_an_index_that_points_nowhere_says_where_it_may_point(index: int) -> None:
    _, turn = turn_of("line-nim")
    with pytest.raises(BadAnswer, match=rf"index from 0 to {len(turn.legal) - 1}, not {index}"):
        move_of(index, turn)


@pytest.mark.parametrize("answer", [True, None, "3-4"])
def test_what_is_neither_is_no_answer(answer: object) -> None:
    play, turn = turn_of("line-nim")
    with pytest.raises(BadAnswer, match="expected a move such as"):
        inprocess.choose_action(FunctionBot(lambda seen: answer, "odd"), play, turn.match)
