"""A bot made of a search and an evaluation."""

from __future__ import annotations

import json
import time
import weakref
from dataclasses import replace
from typing import Any

import pytest

from kibitz_bots import load
from kibitz_bots.budget import Budget
from kibitz_bots.kinds.engine_bot import EngineBot
from kibitz_bots.sdk import Match, Turn
from kibitz_games.core import registry
from kibitz_protocol.wire.lobbies import ProgrammeItem
from kibitz_search.algorithms.greedy import Greedy
from kibitz_search.chinese_checkers.evaluation import hand
from tests.search.algorithms.drawn import two_seats
from tests.tools.fake_server import snapshot

GAME: Any = registry.get("chinese-checkers")


def turn(ms: int = 20, **options: Any) -> Turn:
    state = GAME.start(GAME.Options(**options), 2, {})
    match = Match.of(snapshot("m1", game="chinese-checkers", options=options))
    view = GAME.view(state, 0).to_wire()
    return Turn(match=match, ply=0, observation=view, budget=Budget(ms, None, time.monotonic()))


@pytest.mark.parametrize(
    "spec", ["chinese-checkers/greedy-hand", "chinese-checkers/iddfs-euclid:time=0.01"]
)
@pytest.mark.parametrize("options", [{}, {"size": 2}, {"board": "rhombus"}])
def test_it_plays_a_legal_move_and_says_why(spec: str, options: dict[str, Any]) -> None:
    asked = turn(**options)
    move = load(spec)().choose(asked)
    assert move in asked.legal
    said = asked.pending_comment
    assert said is not None
    assert said.value is not None
    assert said.value < 0
    assert said.nodes
    assert said.line
    assert said.line[0] == GAME.notation.format(GAME.Move.model_validate(move))


def test_a_seed_makes_the_play_repeatable() -> None:
    moves = [load("chinese-checkers/greedy-euclid:seed=3")().choose(turn()) for _ in range(3)]
    assert moves[0] == moves[1] == moves[2]
    others = {
        str(load(f"chinese-checkers/greedy-euclid:seed={s}")().choose(turn())) for s in "45678"
    }
    assert len(others) > 1


def test_it_plays_the_given_share_of_moves_at_random() -> None:
    def moves(blunder: float) -> list[str]:
        spec = "chinese-checkers/greedy-hand:blunder={},seed={}"
        return [str(load(spec.format(blunder, seed))().choose(turn())) for seed in range(40)]

    best, some, all_random = moves(0), moves(0.5), moves(1)
    same = sum(move == kept for move, kept in zip(some, best, strict=True))
    assert 10 <= same <= 30
    assert len(set(all_random)) > len(set(best))
    assert moves(0.5) == some


def test_the_parameters_bound_the_search() -> None:
    asked = turn(ms=60_000)
    load("chinese-checkers/iddfs-hand:depth=2,time=0")().choose(asked)
    assert asked.pending_comment is not None
    assert asked.pending_comment.depth == 2


def test_warming_reads_the_programme_and_passes_over_other_games() -> None:
    bot = load("chinese-checkers/greedy-hand")()
    bot.prepare(
        [
            ProgrammeItem(game="chinese-checkers", options={"size": 2}, seats=3),
            ProgrammeItem(game="nim"),
        ]
    )
    bot.prepare([])


def test_a_search_that_cannot_play_a_game_says_why() -> None:
    class Picky(Greedy):
        @staticmethod
        def supports(info: Any, state: Any) -> str | None:
            return f"{info.name} is beneath it"

    bot = EngineBot(Picky, hand)
    with pytest.raises(ValueError, match="Picky cannot play: chinese-checkers is beneath it"):
        bot.choose(turn())


def test_a_search_is_made_with_the_parameters_that_are_its_own() -> None:
    made: list[dict[str, Any]] = []

    class Tuned(Greedy):
        def __init__(self, state: Any, **parameters: Any) -> None:
            super().__init__(state)
            made.append(parameters)

    EngineBot(Tuned, hand, parameters={"table": 3}).choose(turn())
    assert made == [{"table": 3}] * 2, "one to compile with, and one to play with"


def test_warming_uses_what_a_start_does_not_show() -> None:
    warmed: list[int] = []

    class Later(Greedy):
        def warm_up(self, state: Any, ev: Any) -> None:
            warmed.append(int(state.seats))

    bot = EngineBot(Later, hand)
    bot.prepare([ProgrammeItem(game="chinese-checkers", seats=3)])
    assert warmed == [3]


def test_warming_keeps_no_table() -> None:
    made: list[weakref.ref[Any]] = []

    class Kept(Greedy):
        def __init__(self, state: Any) -> None:
            super().__init__(state)
            made.append(weakref.ref(self))

    bot = EngineBot(Kept, hand)
    bot.prepare([ProgrammeItem(game="chinese-checkers", seats=2)])
    assert [each() for each in made] == [None]


def test_warming_passes_over_what_it_does_not_play_with_so_many() -> None:
    seen: list[int] = []

    class Counting(Greedy):
        def __init__(self, state: Any) -> None:
            super().__init__(state)
            seen.append(int(state.seats))

    bot = EngineBot(Counting, hand)
    bot.games, bot.seats = ("chinese-checkers",), (2, 4)
    bot.prepare([ProgrammeItem(game="chinese-checkers", seats=seats) for seats in (2, 3, 4)])
    assert seen == [2, 4]


@pytest.mark.parametrize("spec", ["greedy-hand", "iddfs-hand:depth=1,time=60"])
def test_a_bot_on_a_server_avoids_a_draw_when_it_is_ahead(spec: str) -> None:
    """It sees only views, and must recognize from them that a position would occur a third time."""
    for case in two_seats(1):
        state, options = case.state, {"board": "rhombus", "size": 5, "pegs": 3}
        match = replace(Match.of(snapshot("m1", game="chinese-checkers", options=options)), seat=1)
        asked: Turn[Any] = Turn(
            match=match,
            ply=int(state["ply"]),
            observation=json.loads(GAME.view_json(state, 1)),
            budget=Budget(60_000, None, time.monotonic()),
        )
        move = load(f"chinese-checkers/{spec}")().choose(asked)
        drawn = GAME.encode(state, case.action).to_wire()
        assert (move == drawn) is not case.ahead
