from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from kibitz_games.core.position import Position
from kibitz_games.core.scene import Label, Mark
from kibitz_games.number_merge import GAME
from kibitz_games.number_merge import models as number_merge_models
from kibitz_games.number_merge import render as number_merge_render


def _play(**options: Any) -> Position:
    return Position(GAME, number_merge_models.Options.model_validate(options), seed=1)


def test_a_row_at_the_start() -> None:
    scene = _play().scene()
    assert scene.lattice == "square"
    assert [cell.glyph for cell in scene.cells] == ["3", "2", "5", "2", "8", "8", "8", "7"]
    assert [cell.name for cell in scene.cells] == list("01234567")
    assert {cell.kind for cell in scene.cells} == {"number"}
    assert scene.labels[7] == Label("7", 7, 1)
    assert scene.marks == ()
    assert scene.text == (
        "threshold 17 1/5 (2/5 of the total 43)",
        "a sum above it earns +1, below it -1",
        "seat 1: 0, to move",
        "seat 2: 0",
    )


def test_the_last_merge_is_marked_and_told() -> None:
    play = _play(row=[3, 1, 4, 1], threshold=5)
    play.push_move("2+3")
    play.push_move("1+2")
    scene = play.scene()
    assert [cell.glyph for cell in scene.cells] == ["3", "6"]
    assert scene.marks == (Mark("to", ("1",), 1),)
    assert scene.text[2:] == ("seat 1: 0, to move", "seat 2: +1", "last: 1 + 5 = 6, +1 for seat 2")


def test_who_has_left_is_told() -> None:
    play = _play()
    play.forfeit(1)
    assert play.scene().text[3] == "seat 2: 0, out"


@pytest.mark.parametrize(("length", "lines"), [(2, 1), (12, 1), (13, 2), (40, 4), (64, 6)])
def test_long_rows_are_wrapped(length: int, lines: int) -> None:
    scene = _play(length=length).scene()
    assert {cell.y for cell in scene.cells} == {2 * line for line in range(lines)}
    assert max(cell.x for cell in scene.cells) == min(length, number_merge_render.ACROSS) - 1
    places = {(cell.x, cell.y) for cell in scene.cells}
    assert len(places) == length
    assert not places & {(label.x, label.y) for label in scene.labels}


@pytest.mark.parametrize("options", [{"length": 64}, {"row": [499, 500]}])
def test_everything_fits(options: dict[str, Any]) -> None:
    play = _play(threshold="999/998", **options)
    while True:
        scene = play.scene()
        assert max(len(cell.glyph) for cell in scene.cells) <= 3
        assert max(map(len, scene.text)) <= 76
        if play.outcome is not None:
            break
        play.push(play.legal[-1])


@pytest.mark.parametrize(
    ("value", "text"),
    [("86/5", "17 1/5"), ("12", "12"), ("2/3", "2/3"), ("0", "0"), ("7/7", "1")],
)
def test_thresholds_are_written_exactly(value: str, text: str) -> None:
    assert number_merge_render.mixed(Fraction(value)) == text
