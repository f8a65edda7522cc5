from __future__ import annotations

from kibitz_clients import palette
from kibitz_clients.render.terminal import miniature
from kibitz_games.core.scene import Cell, Scene
from tests.clients import boards


def test_two_rows_of_the_board_are_one_line() -> None:
    scene = Scene(
        "square",
        (
            Cell("a", 0, 0, "floor"),
            Cell("b", 1, 0, "rock"),
            Cell("c", 0, 1, "floor", owner=1),
            Cell("d", 1, 1, "fog"),
            Cell("e", 0, 2, "floor", owner=0),
        ),
    )
    drawn = miniature.draw(scene)
    assert miniature.size(scene) == (2, 2) == (drawn.width, drawn.height)
    assert drawn.plain() == "▲▀\n●▀"
    assert [drawn.at(0, 0), drawn.at(1, 0), drawn.at(0, 1)] == ["c", "d", "e"]
    rock, below = drawn.rows[0][1][1], drawn.rows[1][1][1]
    assert rock.color is not None
    assert rock.color.name == palette.DARK.cells["rock"]
    assert below.bgcolor is not None
    assert below.bgcolor.name == palette.DARK.background


def test_two_pieces_above_each_other_keep_their_colours() -> None:
    scene = Scene("square", (Cell("a", 0, 0, owner=0), Cell("b", 0, 1, owner=1)))
    ((text, style),) = miniature.draw(scene).rows[0]
    assert text == "▀"
    assert style.color is not None
    assert style.bgcolor is not None
    assert (style.color.name, style.bgcolor.name) == (
        palette.DARK.seat(0),
        palette.DARK.seat(1),
    )


def test_numbers_on_cards_cannot_be_told_by_colours() -> None:
    assert not miniature.suits(boards.cards())
    assert miniature.suits(Scene("square", (Cell("a", 0, 0, "floor", glyph="a10"),)))
    assert miniature.draw(Scene("square", ())).height == 0
