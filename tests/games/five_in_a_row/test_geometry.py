from __future__ import annotations

import pytest

from kibitz_games.five_in_a_row import geometry as geo
from tests.games.five_in_a_row import reference

SIZES = range(geo.SMALLEST, geo.LARGEST + 1)


def test_the_board_of_ten_has_192_windows_on_42_lines() -> None:
    assert len(geo.windows(10)) == 192
    assert len(geo.lines(10)) == 42
    assert len(geo.board(10)) == 100


@pytest.mark.parametrize("size", SIZES)
def test_windows_are_those_of_the_reference(size: int) -> None:
    ours = [[geo.place(cell) for cell in window] for window in geo.windows(size)]
    assert sorted(map(sorted, ours)) == sorted(map(sorted, reference.windows(size)))


@pytest.mark.parametrize("size", SIZES)
def test_no_walk_of_a_five_leaves_the_padded_board(size: int) -> None:
    inside = set(geo.board(size))
    for x in range(size):
        for y in range(size):
            for step, (dx, dy) in zip(geo.STEPS, ((1, 0), (0, 1), (1, 1), (-1, 1)), strict=True):
                for far in range(-geo.REACH, geo.REACH + 1):
                    cell = geo.cell(x, y) + far * step
                    there = (x + far * dx, y + far * dy)
                    assert 0 <= cell < geo.CELLS
                    assert (cell in inside) == (min(there) >= 0 and max(there) < size)


def test_cells_are_named_from_the_top_left() -> None:
    assert [geo.name(0, 0), geo.name(7, 7), geo.name(19, 19)] == ["a1", "h8", "t20"]
    assert geo.place(geo.cell(19, 3)) == (19, 3)


@pytest.mark.parametrize("size", [5, 20])
def test_names_are_read_back(size: int) -> None:
    for x in range(size):
        for y in range(size):
            text = geo.name(x, y)
            assert geo.read(text) == geo.read(f" {text.upper()} ") == (x, y)


@pytest.mark.parametrize(
    "text", ["", "a", "8", "a0", "a21", "u1", "a01", "8h", "h8h8", "h٣", "ａ1"]
)
def test_what_names_no_cell(text: str) -> None:
    assert geo.read(text) is None
