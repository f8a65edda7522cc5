"""Scenes as pictures."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

from kibitz_clients.matches.recorded_match import build_timeline, load_record
from kibitz_clients.render.match_picture import draw_svg, frame_scene
from kibitz_clients.render.svg import document
from kibitz_games.core.game import Game
from kibitz_games.core.scene import Cell, CellKind, Lattice, Mark, MarkKind, Scene
from kibitz_protocol.wire.recordfile import Record
from tests.clients import boards

Golden = Callable[[str, str], None]

NAMESPACE = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def star(game: Game, running: Record) -> Scene:
    return frame_scene(game, build_timeline(game, running).newest)


def test_picture_is_well_formed_and_has_a_place_for_every_place(star: Scene) -> None:
    root = ET.fromstring(document.render_svg(star))
    assert root.tag == f"{NAMESPACE}svg"
    fills = [circle.get("fill", "") for circle in root.iter(f"{NAMESPACE}circle")]
    pegs = sum(cell.owner is not None for cell in star.cells)
    assert sum(fill.startswith("url(#piece-") for fill in fills) == pegs
    assert fills.count("url(#hole)") == len(star.cells) - pegs


def test_the_same_scene_is_the_same_text(star: Scene) -> None:
    caption = document.Caption("a", "b", ["c", "d", "e"], ["f"])
    assert document.render_svg(star, caption) == document.render_svg(star, caption)


def test_picture_refers_to_nothing_outside_of_it(star: Scene) -> None:
    text = document.render_svg(star, document.Caption("t", players=["x", "y", "z"]))
    root = ET.fromstring(text)
    ids = {element.get("id") for element in root.iter()}
    used = {use.get("href", "")[1:] for use in root.iter(f"{NAMESPACE}use")}
    fills = [element.get("fill", "") for element in root.iter()]
    used |= {fill[5:-1] for fill in fills if fill.startswith("url(#")}
    assert used <= ids
    assert text.count("http") == 1


def test_words_are_escaped_and_shown() -> None:
    caption = document.Caption("a < b & c", "<i>", ["<ada>", "bo"], ["won", "lost"])
    root = ET.fromstring(document.render_svg(Scene("hex", (Cell("1", 0, 0),)), caption))
    words = [element.text for element in root.iter(f"{NAMESPACE}text")]
    assert {"a < b & c", "<i>", "<ada>", "bo", "won", "lost"} <= set(words)


def test_the_last_move_is_an_arrow_through_its_path() -> None:
    cells = tuple(Cell(str(i), 2 * i, 0, owner=0 if i == 4 else None) for i in range(5))
    still = document.render_svg(Scene("hex", cells))
    moved = document.render_svg(Scene("hex", cells, (Mark("path", ("0", "2", "4"), 0),)))
    added = [line for line in moved.splitlines() if line not in still.splitlines()]
    assert sum("<polygon" in line for line in added) == 1, "the head"
    assert sum("<circle" in line for line in added) == 2, "the stops before its end"


def test_every_lattice_and_ground_draws() -> None:
    lattices: tuple[Lattice, ...] = ("hex", "square")
    grounds: tuple[CellKind, ...] = get_args(CellKind)
    cells = tuple(
        Cell(str(i), i % 4, i // 4, ground, glyph="7" if ground == "number" else "")
        for i, ground in enumerate(grounds)
    )
    tank = Cell("tank", 0, 3, "floor", owner=8, heading=180)
    for lattice in lattices:
        for kind in get_args(MarkKind):
            marks = (Mark(kind, tuple(cell.name for cell in cells), 1),)
            root = ET.fromstring(document.render_svg(Scene(lattice, (*cells, tank), marks)))
            assert float(root.get("width", "0")) > 0


BOARDS = {
    "crossings": boards.crossings(5),
    "tiles": boards.battlefield(),
    "hexagons": boards.island(),
    "cards": boards.cards(),
}


@pytest.mark.parametrize("name", BOARDS)
def test_each_kind_of_board_is_drawn_as_it_was(name: str, golden: Golden) -> None:
    caption = document.Caption(
        name, "a board made by hand", ["ada", "bo", "cy", "di"][:2], ["", "won"]
    )
    golden(f"{name}.svg", document.render_svg(BOARDS[name], caption).rstrip("\n"))


def test_the_picture_of_the_readme_is_the_one_that_is_exported(games: dict[str, Game]) -> None:
    images = Path(__file__).parents[4] / "docs" / "images"
    record, picture = images / "chinese-checkers.jsonl", images / "chinese-checkers.svg"
    assert draw_svg(load_record(record, games), 60) == picture.read_text("utf-8")


def test_keys_are_not_drawn_and_take_no_room() -> None:
    keys = boards.battlefield()
    bare = replace(keys, cells=tuple(cell for cell in keys.cells if cell.kind != "button"))
    assert document.render_svg(keys) == document.render_svg(bare)


def test_hexagons_are_regular_and_touch() -> None:
    cells = (Cell("a", 0, 0, "floor"), Cell("b", 2, 0, "floor"), Cell("c", 1, 1, "floor"))
    tiles = []
    for polygon in ET.fromstring(document.render_svg(Scene("hex", cells))).iter(
        f"{NAMESPACE}polygon"
    ):
        corners = [tuple(map(float, c.split(","))) for c in polygon.get("points", "").split()]
        assert len(corners) == 6
        middle = [sum(axis) / 6 for axis in zip(*corners, strict=True)]
        radii = [math.dist(middle, corner) for corner in corners]
        assert max(radii) - min(radii) < 0.02
        tiles.append((middle, radii[0]))
    (first, radius), (second, _), (third, _) = tiles
    for other in (second, third):
        gap = math.dist(first, other) - 2 * radius * math.cos(math.pi / 6)
        assert 0 <= gap < 3


def test_a_gun_points_where_the_vehicle_faces_and_is_hidden_where_nobody_knows() -> None:
    def drawn(heading: int | None) -> str:
        cells = (Cell("a", 0, 0, "floor", owner=0, heading=heading), Cell("b", 1, 0, "wreck"))
        return document.render_svg(Scene("square", cells))

    assert "rotate(90)" in drawn(90)
    assert "rotate(180)" in drawn(180)
    assert "rotate(90)" not in drawn(None)
    assert drawn(0).count("<rect") == drawn(None).count("<rect") + 3


def test_the_last_stone_and_the_row_that_won_are_marked() -> None:
    scene = boards.crossings(5)
    still = document.render_svg(replace(scene, marks=()))
    marked = document.render_svg(scene)
    added = set(marked.splitlines()) - set(still.splitlines())
    rings = sum("<circle" in line and 'fill="none"' in line for line in added)
    assert rings == sum(len(mark.cells) for mark in scene.marks)


def test_an_empty_scene_is_a_picture_too() -> None:
    assert ET.fromstring(document.render_svg(Scene("square", ()))).tag == f"{NAMESPACE}svg"


def _stones(root: ET.Element) -> list[str]:
    fills = [circle.get("fill", "") for circle in root.iter(f"{NAMESPACE}circle")]
    return [fill for fill in fills if fill.startswith("url(#piece")]


def test_a_stone_has_the_colour_that_it_has_and_not_that_of_its_seat() -> None:
    swapped = boards.stones(("white", "black"))
    text = document.render_svg(
        swapped, document.Caption("five", players=["ada", "bo"], notes=["", "to move"])
    )
    root = ET.fromstring(text)
    black, white = "url(#piece-black)", "url(#piece-white)"
    assert _stones(root) == [black, white, black, *(white, black)], "and those of the legend"
    words = [element.text for element in root.iter(f"{NAMESPACE}text")]
    assert words.index("white") == words.index("ada") + 1
    assert words.index("black, to move") == words.index("bo") + 1


def test_stones_that_are_nobodys_yet_have_a_colour_and_no_emblem() -> None:
    open_yet = boards.stones(())
    root = ET.fromstring(
        document.render_svg(open_yet, document.Caption("five", players=["ada", "bo"]))
    )
    assert _stones(root) == ["url(#piece-black)", "url(#piece-white)", "url(#piece-black)"]
    triangles = list(root.iter(f"{NAMESPACE}polygon"))
    assert len(triangles) == 1, "only in the legend"
