"""The random bots."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from typing import Any

import pytest

from kibitz_bots.budget import Budget
from kibitz_bots.kinds.random_bot import RandomBot, WeightedRandomBot
from kibitz_bots.sdk import Match, Turn
from kibitz_games.compiled import operations as op
from kibitz_games.core import registry
from tests.tools.fake_server import snapshot

MOVES: list[dict[str, Any]] = [{"take": number} for number in range(1, 100)]


def chosen(bot: RandomBot, match: str) -> list[Any]:
    """Return a bot's moves on twenty plies of a match of a game without local rules."""
    played = Match.of(snapshot(match, game="nim"))
    turns = [
        Turn(match=played, ply=ply, observation={}, budget=Budget(1, None, 0.0), listed=MOVES)
        for ply in range(20)
    ]
    return [bot.choose(turn) for turn in turns]


def test_it_plays_any_game_and_all_sorts_of_moves() -> None:
    moves = chosen(RandomBot(), "m1")
    assert all(move in MOVES for move in moves)
    assert len({move["take"] for move in moves}) > 5


def test_a_seed_makes_it_repeatable() -> None:
    assert chosen(RandomBot(1), "m1") == chosen(RandomBot(1), "m2")
    assert chosen(RandomBot(1), "m1") != chosen(RandomBot(2), "m1")
    assert chosen(RandomBot(), "m1") != chosen(RandomBot(), "m2")


def turn_of(game: Any, state: Any, match: str, ply: int = 0) -> Turn:
    """Return the turn of seat 0 in a state of a built-in game."""
    return Turn(
        match=Match.of(snapshot(match, game=game.info.name)),
        ply=ply,
        observation=game.view(state, 0).to_wire(),
        budget=Budget(1, None, 0.0),
    )


def test_likely_moves_are_played_as_often_as_the_game_says() -> None:
    game, tries = registry.get("line-nim"), 4000
    options = game.Options.model_validate({"map": ["e5-g5", "f6"]})
    state: Any = game.start(options, 2, {})
    bot = WeightedRandomBot(5)
    turns = [turn_of(game, state, "m1", ply) for ply in range(tries)]
    seen = Counter(game.decode(state, game.Move.model_validate(bot.choose(turn))) for turn in turns)
    assert set(seen) == set(game.legal(state))
    for action, times in seen.items():
        share = float(op.policy_weight(state, action))
        assert abs(times - tries * share) < 5 * (tries * share * (1 - share)) ** 0.5


def test_where_a_game_says_nothing_all_moves_are_equally_likely() -> None:
    game = registry.get("chinese-checkers")
    turn = turn_of(game, game.start(game.Options(), 2, {}), "m1")
    assert WeightedRandomBot(3).choose(turn) == RandomBot(3).choose(turn)


def test_a_likely_bot_is_warmed_with_the_rules_of_its_games() -> None:
    bot = WeightedRandomBot()
    bot.games = ("line-nim",)
    bot.prepare(())


@pytest.mark.e2e
def test_random_moves_need_no_rules() -> None:
    """A uniformly random bot starts instantly, and plays games that are not installed here."""
    code = (
        "import sys, kibitz_bots.kinds.random_bot;"
        "print({'numpy', 'numba', 'kibitz_games.compiled.kernels'} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("set()\n", "")
