"""The bot that plays anything."""

from __future__ import annotations

from typing import Any

from kibitz_bots.budget import Budget
from kibitz_bots.chance import RandomBot
from kibitz_bots.rehearsal import snapshot
from kibitz_bots.sdk import Match, Turn

MOVES: list[dict[str, Any]] = [{"take": number} for number in range(1, 100)]


def chosen(bot: RandomBot, match: str) -> list[Any]:
    """Return what a bot plays on twenty plies of a match of a game that nobody has rules for."""
    table = Match.of(snapshot(match, game="nim"))
    turns = [
        Turn(match=table, ply=ply, view={}, budget=Budget(1, None, 0.0), listed=MOVES)
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
