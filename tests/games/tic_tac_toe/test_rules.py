"""Tic-tac-toe: lines, refusals, drawing, and the numbers of games and positions."""

from __future__ import annotations

import pytest

from kibitz_games.core.game import IllegalAction
from kibitz_games.core.position import Position
from kibitz_games.tic_tac_toe import GAME, Move

LINES = (
    *("a1 b1 c1", "a2 b2 c2", "a3 b3 c3"),
    *("a1 a2 a3", "b1 b2 b3", "c1 c2 c3"),
    *("a1 b2 c3", "c1 b2 a3"),
)


def played(moves: str) -> Position:
    position = Position(GAME)
    for move in moves.split():
        position.push_move(move)
    return position


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("seat", [0, 1])
def test_three_in_a_line_win(line: str, seat: int) -> None:
    cells = line.split()
    free = [name for name in GAME.action_names if name not in cells]
    other = [free[0], free[-1], free[2]]  # never in a line
    position = played("")
    while position.outcome is None:
        position.push_move((cells if position.to_act == seat else other).pop(0))
    assert not cells
    assert (position.outcome.ranks[seat], position.outcome.reason) == (1, "line")
    assert position.scene().text == (f"seat {seat + 1} wins: line",)


def test_a_line_on_a_full_board_wins() -> None:
    position = played("a1 b1 c1 a2 b2 c2 b3 a3 c3")
    assert position.outcome is not None
    assert (position.outcome.ranks, position.outcome.reason) == ((1, 2), "line")


def test_a_full_board_without_a_line_is_a_draw() -> None:
    position = played("a1 b1 c1 b2 a2 c2 b3 a3 c3")
    assert position.outcome is not None
    assert (position.outcome.scores, position.outcome.reason) == ((0.5, 0.5), "full")
    assert position.scene().text == ("draw: full",)


def test_a_cell_with_a_piece_is_refused() -> None:
    position = played("b2")
    with pytest.raises(IllegalAction, match=r"expected one of a1, b1, .*, not b2"):
        position.push_move("b2")
    with pytest.raises(IllegalAction, match="'d1'"):
        position.push_move("d1")


def test_the_view_has_the_rows_from_the_top() -> None:
    position = played("b1 c3")
    assert position.view().to_wire() == {"board": [".x.", "...", "..o"], "ply": 2, "to_act": 0}
    assert position.move(4) == Move(cell=4)
    assert position.format(4) == "b2"


def test_games_and_positions_are_as_many_as_known() -> None:
    """Count 255,168 games (OEIS A061526) and 5,478 positions."""
    known: dict[int, int] = {}

    def games(position: Position) -> int:
        if position.key not in known:
            total = 0 if position.legal else 1
            for action in position.legal:
                position.push(action)
                total += games(position)
                position.pop()
            known[position.key] = total
        return known[position.key]

    assert games(Position(GAME)) == 255_168
    assert len(known) == 5_478
