from __future__ import annotations

from typing import Any

from kibitz_games.conformance.playthrough import render_text
from kibitz_games.core.position import Position
from kibitz_games.core.scene import Mark
from kibitz_games.line_nim import GAME
from kibitz_games.line_nim import models as line_nim_models


def _play(*moves: str, **options: Any) -> Position:
    play = Position(GAME, line_nim_models.Options.model_validate(options))
    for move in moves:
        play.push_move(move)
    return play


def test_each_free_cell_of_the_island_carries_its_name() -> None:
    scene = _play(map=["e6-g6", "f7"]).scene()
    assert scene.lattice == "hex"
    assert [(c.name, c.x, c.y) for c in scene.cells] == [
        ("e6", 9, 5),
        ("f6", 11, 5),
        ("g6", 13, 5),
        ("f7", 10, 6),
    ]
    assert {c.kind for c in scene.cells} == {"floor"}
    assert all(c.glyph == c.name for c in scene.cells)
    assert scene.labels == ()
    assert scene.marks == ()
    assert scene.text == ("seat 1 (x) to move", "4 cells free")


def test_a_cell_that_is_gone_shows_who_took_it_and_the_last_line_is_marked() -> None:
    scene = _play("e7-f7", "h7", map=["e7-i7", "e8"]).scene()
    cells = {cell.name: cell for cell in scene.cells}
    assert (cells["e7"].kind, cells["e7"].tint, cells["e7"].glyph) == ("gone", 0, "x")
    assert (cells["h7"].kind, cells["h7"].tint, cells["h7"].glyph) == ("gone", 1, "o")
    assert (cells["g7"].kind, cells["g7"].tint, cells["g7"].glyph) == ("floor", None, "g7")
    assert {cell.owner for cell in scene.cells} == {None}
    assert scene.marks == (Mark("to", ("h7",), 1),)
    assert scene.text == ("seat 1 (x) to move", "3 cells free in 3 parts: 3x1")


def test_the_last_line_is_marked_from_end_to_end() -> None:
    assert _play("h7-f7", map=["e7-i7"]).scene().marks == (Mark("to", ("f7", "g7", "h7"), 0),)


def test_parts_of_several_sizes() -> None:
    scene = _play("e7", map=["a7-i7", "f8"]).scene()
    assert scene.text[1] == "9 cells free in 2 parts: 5 + 4"


def test_the_end_is_told_in_words() -> None:
    play = _play("f7", "g7", map=["f7-g7"])
    assert play.scene().text == ("seat 2 crossed out the last cell, seat 1 wins",)
    dropped = _play("f7", map=["f7-g7"])
    dropped.forfeit(0)
    assert dropped.scene().text == ("seat 1 left, seat 2 wins", "1 cell free")


def test_every_map_fits_a_small_terminal() -> None:
    """52 columns and 18 rows, with four columns per hexagon."""
    scene = _play(map=[f"a{y}-l{y}" for y in range(1, 13)]).scene()
    assert 2 * (max(c.x for c in scene.cells) + 2) <= 52
    assert len({c.y for c in scene.cells}) == 12
    for seed in range(20):
        assert all(len(line) <= 76 for line in Position(GAME, seed=seed).scene().text)


def test_odd_rows_are_shifted() -> None:
    drawn = render_text(_play(map=["a1-c1", "a2-b2", "a3"]).scene())
    assert drawn[:3] == ["a1  b1  c1", "  a2  b2", "a3"]
