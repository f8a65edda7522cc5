"""What the author of a bot sees."""

from __future__ import annotations

from typing import Any

import pytest

from kibitz_bots.budget import Budget
from kibitz_bots.rehearsal import snapshot, your_turn
from kibitz_bots.sdk import Bot, Match, Turn
from kibitz_games import registry
from kibitz_games.api import GameError

GAME = "chinese-checkers"


def turn_at(plies: int, *, legal: list[dict[str, Any]] | None = None) -> Turn:
    """Return a turn of seat 0 after some first legal moves."""
    game = registry.get(GAME)
    state = game.start(game.Options(), 2, {})
    for _ in range(plies):
        game.play(state, game.legal(state)[0])
    match = Match.of(snapshot("m1", game=GAME))
    view = game.dump(game.view(state, 0))
    return Turn(match=match, ply=plies, view=view, budget=Budget(1, None, 0.0), listed=legal)


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
    assert game.dump(game.view(turn.state, 0)) == turn.view
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
    assert turn.said is None


def test_a_bot_without_choose_says_so() -> None:
    class Empty(Bot):
        pass

    with pytest.raises(NotImplementedError, match=r"Empty needs a method choose\(self, turn\)"):
        Empty().choose(turn_at(0))
