"""The text of a view has exactly the content of its scene, place by place."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import replace

import pytest

from kibitz_games.core import registry
from kibitz_games.core.game import TERMINAL, Game, Model
from kibitz_games.core.position import Position
from kibitz_games.core.scene import Cell, Mark, Scene
from kibitz_games.core.text_view import scene_text, symbol
from tests.games import cases

CASES = [
    pytest.param(*setup, id=f"{name}-{i}-{setup[2]}")
    for name in registry.names()
    for i, setup in enumerate(cases.setups(name))
]
PLAYERS = ("ada", "bob", "cyd", "dan", "eve", "fay")
LOOKED_AT = frozenset({0, 1, 5, 21, 60})
"""The plies of a random play to check, in addition to the last one."""


def positions(game: Game, options: Model, seats: int) -> Iterator[Position]:
    """Yield some positions of a random play."""
    position = Position(game, options, seats=seats)
    source = random.Random(7)
    for ply in range(max(LOOKED_AT)):
        if ply in LOOKED_AT:
            yield position
        if position.to_act == TERMINAL:
            return
        position.push(source.choice(position.legal))
    yield position


def rows_of(text: str, scene: Scene) -> list[tuple[str, str]]:
    """Return the name of the first place of each row and the row's content."""
    rows = len({cell.y for cell in scene.cells if cell.kind != "button"})
    lines = text.splitlines()[len(scene.text) :][:rows]
    found = [re.fullmatch(r" *(\S+)  (.*)", line) for line in lines]
    return [(each[1], each[2]) for each in found if each]


def check(scene: Scene) -> None:
    """Parse the text and compare its content at every place with the scene."""
    text = scene_text(scene, PLAYERS)
    lines = text.splitlines()
    board = sorted(
        (cell for cell in scene.cells if cell.kind != "button"), key=lambda cell: (cell.y, cell.x)
    )
    rows: dict[float, list[Cell]] = {}
    for cell in board:
        rows.setdefault(cell.y, []).append(cell)
    read = rows_of(text, scene)
    assert [first for first, _ in read] == [row[0].name for row in rows.values()]
    for (_, written), row in zip(read, rows.values(), strict=True):
        assert written.split() == [symbol(cell) for cell in row]
    for seat in {cell.owner for cell in board} - {None}:
        assert seat is not None
        [told] = [line for line in lines if line.startswith(f"{PLAYERS[seat]}: ")]
        own = [cell for cell in board if cell.owner == seat]
        assert [word for word in told.split() if word in {cell.name for cell in own}] == [
            cell.name for cell in own
        ]
    for mark in scene.marks:
        assert any(" ".join(mark.cells) in line for line in lines)


def check_legend(scene: Scene) -> None:
    """Each symbol has a single meaning in a text."""
    cells = [cell for cell in scene.cells if cell.kind != "button" and cell.glyph != cell.name]
    contents: dict[str, set[tuple[object, ...]]] = {}
    for cell in cells:
        if cell.owner is not None:
            content: tuple[object, ...] = ("piece", cell.owner)
        elif cell.kind == "number":
            continue
        else:
            ground = {"home": "hole", "goal": "hole"}.get(cell.kind, cell.kind)
            content = (ground, cell.colour, cell.tint)
        contents.setdefault(symbol(cell), set()).add(content)
    assert all(len(each) == 1 for each in contents.values()), contents


@pytest.mark.parametrize(("game", "options", "seats"), CASES)
def test_every_place_is_told(game: Game, options: Model, seats: int) -> None:
    for position in positions(game, options, seats):
        for viewer in (None, *range(seats)):
            scene = position.scene(viewer)
            check(replace(scene, text=()))
            check_legend(scene)


@pytest.mark.parametrize(("game", "options", "seats"), CASES)
def test_the_lines_of_the_scene_come_first_with_names(
    game: Game, options: Model, seats: int
) -> None:
    scene = Position(game, options, seats=seats).scene(0)
    text = scene_text(scene, PLAYERS)
    assert len(text.splitlines()) >= len(scene.text)
    assert "seat 1" not in text
    assert scene_text(scene).splitlines()[: len(scene.text)] == [*scene.text]


def test_a_board_of_squares() -> None:
    cells = (
        Cell("a1", 0, 0, "floor"),
        Cell("b1", 1, 0, "rock"),
        Cell("a2", 0, 1, "floor", owner=1, heading=90),
        Cell("b2", 1, 1, "floor", tint=0),
        Cell("wait", 4, 0, "button", glyph="w"),
    )
    marks = (Mark("from", ("b2",), 1), Mark("vision", ("a1", "b1"), 1))
    scene = Scene("square", cells, marks, ("seat 2 to move",))
    assert scene_text(scene, ("ada", "bob")).splitlines() == [
        "bob to move",
        "a1  . #",
        "a2  2 a",
        "# rock; . free; 2 bob; a free, visited by ada",
        "bob: a2 facing east",
        "last move from b2 by bob",
        "in sight of bob: a1 b1",
        "other choices: wait",
    ]


def test_hexagons_are_shifted_and_free_ones_show_their_names() -> None:
    cells = (
        Cell("a1", 0, 0, "floor", glyph="a1"),
        Cell("b1", 2, 0, "gone", tint=0, glyph="x"),
        Cell("a10", 1, 1, "floor", glyph="a10"),
        Cell("b10", 3, 1, "floor", glyph="b10"),
    )
    assert scene_text(Scene("hex", cells)).splitlines() == [
        " a1  a1  a",
        "a10    a10 b10",
        "a crossed out by seat 1; a cell's name: free",
    ]


def test_a_scene_without_places_has_its_lines() -> None:
    assert scene_text(Scene("square", (), (), ("nothing is left",))) == "nothing is left"
