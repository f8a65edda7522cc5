"""Analysis of a position: the best moves, their values and their lines."""

from __future__ import annotations

from typing import Any

import pytest

import kibitz
from kibitz_bots.kinds.engine_bot import EngineBot
from kibitz_bots.running.line_search import Line, analyze
from kibitz_games.core import registry
from kibitz_games.core.position import Position
from kibitz_search.algorithms.alphabeta import AlphaBeta
from kibitz_search.algorithms.limits import SearchLimits, UnsupportedLimit
from kibitz_search.algorithms.minimax import Minimax
from kibitz_search.number_merge.evaluation import points


def row(length: int = 8, seed: int = 3) -> Position:
    game = registry.get("number-merge")
    return Position(game, game.Options.model_validate({"length": length}), seed=seed)


def values(position: Position) -> dict[int, float]:
    """Return the value of each move for the seat to act, from a search after it."""
    found = {}
    for action in position.legal:
        position.push(action)
        st: Any = position.state
        value = Minimax(st).search(st, points(st), SearchLimits()).value
        position.pop()
        found[action] = -value
    return found


@pytest.mark.parametrize("search", [AlphaBeta, Minimax])
def test_it_ranks_all_moves_by_their_values(search: Any) -> None:
    position = row()
    before = position.state.tobytes()
    found = analyze(position, EngineBot(search, points), lines=100)
    assert position.state.tobytes() == before
    assert [line.number for line in found] == list(range(1, len(position.legal) + 1))
    assert {line.result.action for line in found} == set(position.legal)
    worth = values(position)
    signs = [(each > 0) - (each < 0) for each in (line.result.value for line in found)]
    wanted = [(each > 0) - (each < 0) for each in (worth[f.result.action] for f in found)]
    assert signs == wanted == sorted(wanted, reverse=True)


def test_a_line_is_in_notation_and_can_be_played() -> None:
    position = row()
    (line,) = kibitz.analyze(position)
    for action, move in zip(line.result.line, line.moves, strict=True):
        assert position.push_move(move) == action
    assert position.outcome is not None
    assert line.result.value != 0
    assert line.end_in == len(line.moves)


def test_each_improvement_is_reported() -> None:
    heard: list[Line] = []
    found = analyze(row(12), "number-merge/alphabeta", depth=3, lines=2, on_line=heard.append)
    assert [line.number for line in heard] == [1, 1, 1, 2, 2, 2]
    assert [heard[2], heard[5]] == found
    assert [line.result.depth for line in found] == [3, 3]


def test_limits_are_for_all_lines_together() -> None:
    found = analyze(row(30), nodes=3000, lines=3)
    assert sum(line.result.nodes for line in found) < 3300
    assert len(analyze(row(30), seconds=0.05, lines=2)) == 2


def test_hidden_information_is_not_used() -> None:
    tanks = Position(registry.get("tanks"))
    (line,) = analyze(tanks, nodes=50)
    assert line.result.action in tanks.legal


def test_a_bot_without_a_search_or_without_other_lines_is_refused() -> None:
    with pytest.raises(ValueError, match="expected a bot with a search, not number-merge/random"):
        analyze(row(), "number-merge/random")
    with pytest.raises(UnsupportedLimit, match="NumberMergeSolver finds only one line"):
        analyze(row(), "number-merge/solver", lines=2)
