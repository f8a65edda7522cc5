"""Connect Four: wins, refusals, drawing, and published position counts."""

from __future__ import annotations

import random

import pytest

from kibitz_games.connect_four import GAME, Move, rules
from kibitz_games.core.game import TERMINAL, IllegalAction
from kibitz_games.core.position import Position


def _played(moves: str) -> Position:
    position = Position(GAME)
    for move in moves:
        position.push_move(move)
    return position


def _four_by_search(rows: list[str]) -> set[str]:
    """Return the symbols with four in a line, by checking every line of the board."""
    found = set()
    for y in range(rules.ROWS):
        for x in range(rules.COLUMNS):
            for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
                cells = [(y + k * down, x + k * right) for k in range(4)]
                inside = all(
                    0 <= row < rules.ROWS and 0 <= column < rules.COLUMNS for row, column in cells
                )
                if inside:
                    line = {rows[row][column] for row, column in cells}
                    found |= line if len(line) == 1 else set()
    return found - {"."}


@pytest.mark.parametrize(
    "moves",
    ["agbgcgd", "abababa", "abbccdcddgd", "gffeededdad"],
    ids=["row", "column", "rising", "falling"],
)
def test_four_in_a_line_win(moves: str) -> None:
    position = _played(moves[:-1])
    assert position.outcome is None
    position.push_move(moves[-1])
    assert position.outcome is not None
    assert (position.outcome.ranks, position.outcome.reason) == ((1, 2), "four")
    assert position.scene().text == ("seat 1 wins: four",)


def test_plays_end_exactly_when_a_slow_search_finds_a_line() -> None:
    for seed in range(40):
        position, source = Position(GAME), random.Random(seed)
        while position.to_act != TERMINAL:
            assert not _four_by_search(position.view().board)  # type: ignore[attr-defined]
            position.push(source.choice(position.legal))
        view = GAME.view(position.state, None)
        lines = _four_by_search(view.board)
        assert lines == (set() if view.winner is None else {GAME.symbols[view.winner + 1]})
        assert view.over == ("four" if lines else "full")


def test_a_full_board_without_a_line_is_a_draw() -> None:
    position = _played("abababbababacdcdcddcdcdcefefeffefefegggggg")
    assert position.outcome is not None
    assert (position.outcome.scores, position.outcome.reason) == ((0.5, 0.5), "full")
    assert position.scene().text == ("draw: full",)


def test_a_full_column_is_refused() -> None:
    position = _played("aaaaaa")
    with pytest.raises(IllegalAction, match="expected one of b, c, d, e, f, g, not a"):
        position.push_move("A")
    with pytest.raises(IllegalAction, match="expected a column from a to g, not 'h'"):
        position.push_move("h")


def test_pieces_fall_and_columns_are_picked_above_the_board() -> None:
    position = _played("dd")
    assert position.view().to_wire() == {
        "board": [".......", ".......", ".......", ".......", "...o...", "...x..."],
        "ply": 2,
        "to_act": 0,
    }
    scene = position.scene()
    buttons = [cell.name for cell in scene.cells if cell.kind == "button"]
    assert tuple(buttons) == GAME.action_names
    assert GAME.notation.cells(Move(column=3)) == ("d",)
    assert {(cell.name, cell.owner) for cell in scene.cells if cell.owner is not None} == {
        ("d6", 0),
        ("d5", 1),
    }


def test_whoever_leaves_has_lost() -> None:
    position = _played("dd")
    position.forfeit(0)
    assert position.outcome is not None
    assert (position.outcome.ranks, position.outcome.reason) == ((2, 1), "dropped")


def test_learners_see_their_own_pieces_first() -> None:
    position = _played("abc")
    planes = GAME.features(GAME.view(position.state, 1), 1)
    assert planes.shape == (2, rules.ROWS, rules.COLUMNS)
    assert (planes[0].sum(), planes[1].sum()) == (1, 2)
    assert planes[0, 5, 1] == 1
