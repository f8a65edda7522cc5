"""Cells, neighbors and lines, compared with the table in the rules and with cube coordinates."""

from __future__ import annotations

import itertools

import pytest

from kibitz_games.line_nim import geometry as geo
from tests.games.line_nim import reference

AT: dict[reference.Point, int] = {
    reference.point(x, y): 12 * y + x for y in range(12) for x in range(12)
}
"""Cell numbers by cube coordinates."""


def test_there_are_869_lines() -> None:
    sizes = [len(line) for line in geo.LINES]
    assert [sizes.count(n) for n in (1, 2, 3)] == [144, 385, 340]
    assert len(set(map(frozenset, geo.LINES))) == 869


def test_lines_are_those_of_cube_coordinates() -> None:
    expected = {frozenset(AT[at] for at in line) for line in reference.lines(reference.BOARD)}
    assert set(map(frozenset, geo.LINES)) == expected
    for number, line in enumerate(geo.LINES):
        assert geo.LINE_OF[frozenset(line)] == number


def test_lines_are_numbered_from_their_heads_on() -> None:
    assert [line[0] for line in geo.LINES] == sorted(line[0] for line in geo.LINES)
    for line, heading in zip(geo.LINES, geo.DIRECTION_OF, strict=True):
        assert list(line) == sorted(line)
        if heading is None:
            assert len(line) == 1
        else:
            assert geo.walk(line[0], len(line), heading) == line


@pytest.mark.parametrize(
    ("x", "y", "near"),
    [
        (5, 7, [(5, 6), (6, 6), (4, 7), (6, 7), (5, 8), (6, 8)]),
        (5, 6, [(4, 5), (5, 5), (4, 6), (6, 6), (4, 7), (5, 7)]),
    ],
)
def test_neighbours_of_odd_and_even_rows(x: int, y: int, near: list[tuple[int, int]]) -> None:
    found = [geo.neighbour(12 * y + x, d) for d in geo.DIRECTIONS]
    assert found == [12 * b + a for a, b in near]


def test_a_step_and_its_opposite_cancel() -> None:
    for cell, d in itertools.product(range(geo.CELLS), geo.DIRECTIONS):
        there = geo.neighbour(cell, d)
        assert there is None or geo.neighbour(there, 7 - d) == cell


@pytest.mark.parametrize(
    ("written", "cells"),
    [
        ("a1", (0,)),
        ("L12", (143,)),
        (" f7 - h7 ", (77, 78, 79)),
        ("h7-f7", (79, 78, 77)),
        ("f7-f7", (77,)),
        ("a1-a3", None),  # hexagons have no straight vertical lines
        ("a1-b3", (0, 12, 25)),
        ("a1-c2", None),
        ("a12-l12", tuple(range(132, 144))),
        ("", None),
        ("f13", None),
        ("f0", None),
        ("f07", None),
        ("m1", None),
        ("f7-", None),
        ("f7-g7-h7", None),
        ("f٧", None),
    ],
)
def test_stretches(written: str, cells: tuple[int, ...] | None) -> None:
    assert geo.parse_row(written) == cells


def test_every_line_is_read_from_both_ends() -> None:
    for line in geo.LINES:
        first, last = geo.NAMES[line[0]], geo.NAMES[line[-1]]
        assert geo.parse_row(f"{first}-{last}") == line
        assert geo.parse_row(f"{last}-{first}") == line[::-1]


def test_components_are_told_apart_the_largest_first() -> None:
    cells = frozenset({0, 1, 12, 40, 42, 143})
    assert geo.components(cells) == [(0, 1, 12), (40,), (42,), (143,)]
    assert geo.components(frozenset()) == []
