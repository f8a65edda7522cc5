"""Scenes as pictures."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from kibitz_clients import svg
from kibitz_clients.replay import fold, scene
from kibitz_games.api import Game
from kibitz_games.scene import Cell, Ground, Lattice, Mark, Scene
from kibitz_protocol.recordfile import Record

NAMESPACE = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def star(game: Game, running: Record) -> Scene:
    return scene(game, fold(game, running).newest)


def test_picture_is_well_formed_and_has_a_place_for_every_place(star: Scene) -> None:
    root = ET.fromstring(svg.render(star))
    assert root.tag == f"{NAMESPACE}svg"
    fills = [circle.get("fill", "") for circle in root.iter(f"{NAMESPACE}circle")]
    pegs = sum(cell.owner is not None for cell in star.cells)
    assert sum(fill.startswith("url(#seat") for fill in fills) == pegs
    assert fills.count("url(#hole)") == len(star.cells) - pegs


def test_the_same_scene_is_the_same_text(star: Scene) -> None:
    caption = svg.Caption("a", "b", ["c", "d", "e"], ["f"])
    assert svg.render(star, caption) == svg.render(star, caption)


def test_picture_refers_to_nothing_outside_of_it(star: Scene) -> None:
    text = svg.render(star, svg.Caption("t", players=["x", "y", "z"]))
    root = ET.fromstring(text)
    ids = {element.get("id") for element in root.iter()}
    used = {use.get("href", "")[1:] for use in root.iter(f"{NAMESPACE}use")}
    fills = [element.get("fill", "") for element in root.iter()]
    used |= {fill[5:-1] for fill in fills if fill.startswith("url(#")}
    assert used <= ids
    assert text.count("http") == 1


def test_words_are_escaped_and_shown() -> None:
    caption = svg.Caption("a < b & c", "<i>", ["<ada>", "bo"], ["won", "lost"])
    root = ET.fromstring(svg.render(Scene("hex", (Cell("1", 0, 0),)), caption))
    words = [element.text for element in root.iter(f"{NAMESPACE}text")]
    assert {"a < b & c", "<i>", "<ada>", "bo", "won", "lost"} <= set(words)


def test_the_last_move_is_an_arrow_through_its_path() -> None:
    cells = tuple(Cell(str(i), 2 * i, 0, owner=0 if i == 4 else None) for i in range(5))
    still = svg.render(Scene("hex", cells))
    moved = svg.render(Scene("hex", cells, (Mark("path", ("0", "2", "4"), 0),)))
    assert "<polygon" in moved.replace(still, "")
    assert moved.count("Q") == still.count("Q") + 4


def test_every_lattice_and_ground_draws() -> None:
    lattices: tuple[Lattice, ...] = ("hex", "square")
    grounds: list[Ground] = [
        "hole",
        "home",
        "goal",
        "floor",
        "fog",
        "seen",
        "rock",
        "wreck",
        "gone",
        "number",
    ]
    cells = tuple(
        Cell(str(i), i % 4, i // 4, ground, glyph="7" if ground == "number" else "")
        for i, ground in enumerate(grounds)
    )
    tank = Cell("tank", 0, 3, "floor", owner=8, heading=180)
    for lattice in lattices:
        root = ET.fromstring(svg.render(Scene(lattice, (*cells, tank))))
        assert float(root.get("width", "0")) > 0


def test_an_empty_scene_is_a_picture_too() -> None:
    assert ET.fromstring(svg.render(Scene("square", ()))).tag == f"{NAMESPACE}svg"
