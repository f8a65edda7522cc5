"""Pairs of games between two engines in one process."""

from __future__ import annotations

import threading
import time
from dataclasses import replace

import pytest

from kibitz.builtin_games import load_games
from kibitz.local.engine_pairs import EngineLimit, EnginePairs
from kibitz_bots.catalog import find
from kibitz_bots.kinds.engine_bot import EngineBot
from kibitz_games.core.game import TERMINAL


def pairs(a: str, b: str, game: str = "connect-four", nodes: int = 200) -> EnginePairs:
    rules, limit = load_games("compiled")[game], EngineLimit(nodes=nodes)
    return EnginePairs(rules, {}, (engine(a), engine(b)), limit, random_plies=4)


def engine(name: str) -> EngineBot:
    bot = find(name)()
    assert isinstance(bot, EngineBot)
    return bot


def test_an_engine_scores_half_of_every_pair_against_itself() -> None:
    plan = pairs("connect-four/alphabeta", "connect-four/alphabeta")
    for number in range(4):
        pair = plan.play(number)
        assert sum(pair.points) == 1
        assert pair.moves[0] == pair.moves[1]


def test_a_pair_is_the_same_each_time_and_others_have_other_openings() -> None:
    plan = pairs("connect-four/alphabeta", "connect-four/greedy")
    assert plan.play(3) == plan.play(3)
    assert len({tuple(plan.play(number).opening) for number in range(5)}) > 1


def test_the_games_of_a_pair_have_one_opening_and_are_whole() -> None:
    plan = pairs("connect-four/alphabeta", "connect-four/greedy")
    pair, game = plan.play(1), plan.game
    assert len(pair.opening) == 4
    for moves in pair.moves:
        state = game.start(game.Options(), 2, {})
        for move in [*pair.opening, *moves]:
            assert game.to_act(state) != TERMINAL
            game.play(state, game.decode(state, game.notation.parse(move)))
        assert game.to_act(state) == TERMINAL


def test_the_stronger_engine_has_the_points_whichever_it_is() -> None:
    plan = pairs("connect-four/alphabeta", "connect-four/greedy", nodes=2000)
    swapped = replace(plan, engines=plan.engines[::-1])
    ours = sum(sum(plan.play(number).points) for number in range(4))
    theirs = sum(sum(swapped.play(number).points) for number in range(4))
    assert ours > 5
    assert theirs == 8 - ours


def test_openings_are_used_in_turn() -> None:
    plan = pairs("five-in-a-row/greedy", "five-in-a-row/greedy", "five-in-a-row")
    plan = replace(plan, openings=[{"opening": ["e5", "f6"]}, {"opening": ["a1", "b2"]}])
    assert [plan.play(number).opening for number in range(3)] == [
        ["e5", "f6"],
        ["a1", "b2"],
        ["e5", "f6"],
    ]


def test_random_plies_that_end_every_game_are_refused() -> None:
    plan = replace(pairs("line-nim/greedy", "line-nim/greedy", "line-nim"), random_plies=90)
    with pytest.raises(ValueError, match="90 random plies end every game of line-nim"):
        plan.check()


def test_a_limit_of_processor_time_ends_a_search() -> None:
    begin = time.thread_time()
    with EngineLimit(seconds=0.02).limits("0") as limits:
        while not limits.cancelled.is_set():
            pass
        assert time.thread_time() - begin >= 0.02
    before = threading.active_count()
    with EngineLimit(seconds=60.0).limits("0") as limits:
        pass
    assert threading.active_count() == before
    assert not limits.cancelled.is_set()
