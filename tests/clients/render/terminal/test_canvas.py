"""Scenes as terminal cells."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from rich.cells import cell_len

from kibitz_clients import palette
from kibitz_clients.matches.recorded_match import build_timeline
from kibitz_clients.render.match_picture import frame_scene
from kibitz_clients.render.terminal import canvas
from kibitz_clients.render.terminal.canvas import TileSize
from kibitz_clients.render.terminal.cell_style import NO_OVERLAY, Overlay
from kibitz_games.core.game import Game
from kibitz_games.core.scene import Cell, CellKind, Label, Mark, PieceColour, Scene
from kibitz_protocol.wire.recordfile import Record
from tests.clients import boards

Golden = Callable[[str, str], None]


@pytest.fixture(scope="module")
def star(game: Game, running: Record) -> Scene:
    return frame_scene(game, build_timeline(game, running).newest)


def square() -> Scene:
    """Nine places with every feature of scenes."""
    cells = [Cell(f"{'abc'[x]}{y + 1}", x, y, "floor") for y in range(3) for x in range(3)]
    cells[0] = Cell("a1", 0, 0, "floor", owner=0, heading=90)
    cells[1] = Cell("b1", 1, 0, "fog")
    cells[2] = Cell("c1", 2, 0, "rock")
    cells[4] = Cell("b2", 1, 1, "floor", owner=1, glyph="K")
    cells[5] = Cell("c2", 2, 1, "wreck")
    cells[8] = Cell("c3", 2, 2, "number", glyph="12")
    marks = (Mark("from", ("a3",), 1), Mark("path", ("a3", "a2", "b2"), 1), Mark("to", ("b2",), 1))
    return Scene("square", tuple(cells), marks)


def test_star_of_seventeen_rows_beside_a_panel_in_80x24(star: Scene, golden: Golden) -> None:
    scale = canvas.fit_tile_size(star, 52, 20)
    assert scale == TileSize(4, 1)
    assert canvas.board_size(star, scale) == (51, 17)
    golden("star.txt", canvas.draw(star, scale).plain())


def test_star_on_a_large_terminal(star: Scene, golden: Golden) -> None:
    scale = canvas.fit_tile_size(star, 80, 40)
    assert scale == TileSize(6, 2)
    golden("star-large.txt", canvas.draw(star, scale).plain())


def test_star_on_a_tiny_terminal(star: Scene, golden: Golden) -> None:
    scale = canvas.fit_tile_size(star, 30, 10)
    assert scale == TileSize(2, 1)
    golden("star-small.txt", canvas.draw(star, scale).plain())


def test_names_of_places_stand_where_they_are(star: Scene, golden: Golden) -> None:
    golden("star-names.txt", canvas.draw(star, TileSize(4, 1), Overlay(names=True)).plain())


def test_what_is_being_chosen_reads_without_colour(star: Scene, golden: Golden) -> None:
    free = next(cell.name for cell in star.cells if cell.owner is None)
    mine = next(cell.name for cell in star.cells if cell.owner == 1)
    overlay = Overlay(cursor=free, picked=(mine,), targets=frozenset({"60", "61"}))
    golden("star-choosing.txt", canvas.draw(star, TileSize(4, 1), overlay).plain())


def test_square_lattice_with_headings_ground_and_marks(golden: Golden) -> None:
    golden("square.txt", canvas.draw(square(), TileSize(3, 1)).plain())


@pytest.mark.parametrize("scale", [*canvas.HEX_TILE_SIZES])
def test_every_place_is_found_where_it_is_drawn(star: Scene, scale: TileSize) -> None:
    picture = canvas.draw(star, scale)
    assert set(picture.places.values()) == {cell.name for cell in star.cells}
    width, height = canvas.board_size(star, scale)
    assert (picture.width, picture.height) == (width, height)
    assert all(0 <= x < width and 0 <= y < height for x, y in picture.places)


@pytest.mark.parametrize("scale", [*canvas.SQUARE_TILE_SIZES])
def test_square_places_do_not_overlap(scale: TileSize) -> None:
    picture = canvas.draw(square(), scale)
    names = list(picture.places.values())
    for cell in square().cells:
        columns = scale.inner if cell.kind == "number" else scale.columns
        assert names.count(cell.name) == columns * scale.rows


SCENES = {
    "crossings": boards.crossings(6),
    "crossings-20": boards.crossings(20),
    "battlefield": boards.battlefield(),
    "island": boards.island(),
    "cards": boards.cards(),
}


@pytest.mark.parametrize("name", SCENES)
def test_every_ground_at_every_scale(name: str, golden: Golden) -> None:
    scene = SCENES[name]
    scales = scales_of(scene)[-1:] if name == "crossings-20" else scales_of(scene)
    pictures = [
        f"{scale.columns}x{scale.rows}\n{canvas.draw(scene, scale).plain()}" for scale in scales
    ]
    golden(f"{name}.txt", "\n\n".join(pictures))


@pytest.mark.parametrize("name", SCENES)
def test_highlights_and_names_stay_inside_of_the_picture(name: str) -> None:
    """With the cursor at any place, the picture has the announced size and all places."""
    scene = SCENES[name]
    for scale in scales_of(scene):
        for cell in scene.cells[:: max(1, len(scene.cells) // 6)]:
            overlay = Overlay(cursor=cell.name, targets=frozenset({cell.name}), names=True)
            picture = canvas.draw(scene, scale, overlay)
            assert (picture.width, picture.height) == canvas.board_size(scene, scale)
            assert all(sum(map(cell_len, row)) == picture.width for row in texts(picture))
            assert set(picture.places.values()) == {cell.name for cell in scene.cells}


def scales_of(scene: Scene) -> tuple[TileSize, ...]:
    return canvas.HEX_TILE_SIZES if scene.lattice == "hex" else canvas.SQUARE_TILE_SIZES


def texts(picture: canvas.DrawnBoard) -> list[list[str]]:
    return [[text for text, _ in row] for row in picture.rows]


def test_grounds_differ_without_colour_and_with_it() -> None:
    grounds: tuple[CellKind, ...] = ("floor", "fog", "seen", "rock", "wreck", "gone")
    for lattice, scale in (("square", TileSize(3, 1)), ("hex", TileSize(4, 1))):
        scenes = [Scene(lattice, (Cell("a", 0, 0, ground),)) for ground in grounds]  # type: ignore[arg-type]
        assert len({canvas.draw(scene, scale).plain() for scene in scenes}) == len(grounds)
    assert len({palette.DARK.cells[ground] for ground in grounds}) == len(grounds)


def test_numbers_are_never_cut() -> None:
    assert canvas.fit_tile_size(boards.cards(), 52, 18) == TileSize(6, 3)
    assert canvas.fit_tile_size(boards.cards(), 20, 2) == TileSize(4, 1)
    for width in range(16, 60):
        scale = canvas.fit_tile_size(boards.cards(), width, 4)
        plain = canvas.draw(boards.cards(), scale).plain()
        assert ("130" in plain) == (scale.inner >= 3)
    assert "…" in canvas.draw(boards.cards(), TileSize(2, 1)).plain()


def test_stones_that_share_a_column_share_a_bracket() -> None:
    line = canvas.draw(boards.crossings(6), TileSize(2, 1)).plain().splitlines()[2]
    assert line == "2 ├(●|●|●)┼─┤"


def test_vehicles_show_seat_and_direction_at_three_columns() -> None:
    plain = canvas.draw(boards.battlefield(), TileSize(3, 1)).plain()
    assert all(piece in plain for piece in ("●→", "▲↓", "■↑", "◆←"))


def test_a_board_of_twenty_fits_beside_the_panel() -> None:
    scene = boards.crossings(20)
    assert canvas.fit_tile_size(scene, 52, 21) == TileSize(2, 1)
    assert canvas.board_size(scene, TileSize(2, 1)) == (43, 21)


def test_labels_take_a_margin_and_crowded_ones_are_left_out() -> None:
    cells = tuple(Cell(str(x), x, 0, "floor") for x in range(12))
    labels = tuple(Label(str(x), x, -1) for x in range(12))
    scene = Scene("square", cells, (), (), (*labels, Label("row", -1, 0), Label("end", 12, 0)))
    bare = Scene("square", cells)
    for scale in canvas.SQUARE_TILE_SIZES:
        width, height = canvas.board_size(bare, scale)
        spare = width - scale.columns * 12
        assert canvas.board_size(scene, scale) == (width - spare + 8, height + 1)
    assert canvas.draw(scene, TileSize(2, 1)).plain().split("\n")[0].split() == [
        *"0123456789",
        "10",
    ]


def test_pieces_have_the_colour_and_the_glyph_of_their_seat(star: Scene) -> None:
    picture = canvas.draw(star, TileSize(4, 1))
    where = {name: at for at, name in picture.places.items()}
    for cell in star.cells:
        if cell.owner is None:
            continue
        right, row = where[cell.name]
        character, style = picture.rows[row][right - 1]
        assert character == palette.seat_glyph(cell.owner)
        assert style.color is not None
        assert style.color.name == palette.DARK.seat(cell.owner)


def test_segments_and_text_say_the_same_as_the_plain_picture(star: Scene) -> None:
    picture = canvas.draw(star, TileSize(4, 1))
    rows = ["".join(part.text for part in picture.segments(y)) for y in range(picture.height)]
    assert [row.rstrip() for row in rows] == picture.plain().split("\n")
    assert [row.rstrip() for row in picture.text().plain.split("\n")] == [r.rstrip() for r in rows]


def test_a_scene_without_places_is_empty() -> None:
    picture = canvas.draw(Scene("hex", ()), TileSize(4, 1), NO_OVERLAY)
    assert (picture.width, picture.height, picture.plain()) == (0, 0, "")
    assert canvas.fit_tile_size(Scene("hex", ()), 10, 10) == TileSize(6, 2)


def test_marks_of_places_that_are_not_there_are_passed_over() -> None:
    scene = Scene("square", (Cell("a", 0, 0),), (Mark("to", ("elsewhere",), 0),))
    assert canvas.draw(scene, TileSize(3, 1)).plain() == " ·"


def test_six_colours_differ_and_seats_beyond_six_have_glyphs_of_their_own() -> None:
    assert len(set(palette.DARK.seats)) == 6
    assert len({palette.seat_glyph(seat) for seat in range(16)}) == 16


def test_a_stone_shows_its_colour_by_its_glyph_and_its_seat_by_its_ink() -> None:
    both: list[tuple[tuple[PieceColour, ...], tuple[int, ...]]]
    both = [(("white", "black"), (1, 0, 1)), (("black", "white"), (0, 1, 0))]
    for colours, inks in both:
        picture = canvas.draw(boards.stones(colours), TileSize(4, 1))
        where = {name: at for at, name in picture.places.items()}
        for name, glyph, seat in zip(("a1", "b1", "c1"), "●○●", inks, strict=True):
            right, row = where[name]
            character, style = picture.rows[row][right - 1]
            assert character == glyph
            assert style.color is not None
            assert style.color.name == palette.DARK.seat(seat)


def test_a_large_stone_has_its_colour_in_the_middle() -> None:
    picture = canvas.draw(boards.stones(("white", "black")), TileSize(6, 3))
    found = {text: style for row in picture.rows for text, style in row if text in "●○"}
    for colour, glyph in palette.PIECE_GLYPHS.items():
        ink = found[glyph].color
        assert ink is not None
        assert ink.name == palette.PIECE_TEXT_COLOURS[colour]


def test_a_stone_of_nobody_is_no_free_place() -> None:
    scene = boards.stones(())
    overlay = Overlay(targets=frozenset({"a1", "d1"}))
    drawn = canvas.draw(scene, TileSize(4, 1), overlay).plain()
    assert drawn.count("●") == 2
    assert drawn.count("◎") == 1


@pytest.mark.parametrize("colors", [palette.DARK, palette.LIGHT], ids=["dark", "light"])
def test_texts_and_seats_are_readable_on_every_ground(colors: palette.Palette) -> None:
    texts = (colors.text, colors.hint, colors.warning, colors.error, colors.accent, *colors.seats)
    for text in texts:
        assert contrast(text, colors.background) >= 4.5, text
    assert contrast(colors.dim, colors.background) >= 3
    for text in colors.seats:
        assert min(contrast(text, ground) for ground in colors.cells.values()) >= 2, text


def contrast(one: str, other: str) -> float:
    """Return the WCAG contrast ratio."""
    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def luminance(color: str) -> float:
    channels = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
