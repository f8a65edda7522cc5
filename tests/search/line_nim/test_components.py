"""Canonical forms, and facts of misere theory verified by brute force."""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from kibitz_games.compiled import kernels
from kibitz_games.line_nim import geometry as geo
from kibitz_search.line_nim import components
from kibitz_search.line_nim.bitboard import CellBitboard
from tests.games.line_nim import reference
from tests.search.line_nim.positions import cells, positions, wins
from tests.tools import profiles

CHART: Any = kernels.new(components.CHART)
Shape = frozenset[tuple[int, int]]


def surveyed(free: list[int]) -> tuple[int, int]:
    """Return the name of a position and its theoretical value."""
    island = CellBitboard(free)
    components.write_chart(CHART, island)
    named = int(components.analyse(CHART, np.uint64(island.bits(free))))
    return named, int(CHART.verdict)


def axial(cell: int) -> tuple[int, int]:
    return reference.point(cell % geo.SIDE, cell // geo.SIDE)


BOARD = {axial(cell): cell for cell in range(geo.CELLS)}


def turned(shape: Shape) -> Shape:
    return frozenset((-r, q + r) for q, r in shape)


def images(shape: Shape) -> list[Shape]:
    """Return a shape in all twelve orientations."""
    found = []
    for _ in range(6):
        shape = turned(shape)
        found += [shape, frozenset((r, q) for q, r in shape)]
    return found


def placed(shape: Shape, source: random.Random) -> list[int]:
    """Return the cells of a shape placed on the board where it fits."""
    (q, r), targets = min(shape), sorted(BOARD)
    source.shuffle(targets)
    for to_q, to_r in targets:
        moved = [(a - q + to_q, b - r + to_r) for a, b in shape]
        if BOARD.keys() >= set(moved):
            return [BOARD[each] for each in moved]
    raise AssertionError(f"{sorted(shape)} has no room on the board")


@given(positions)
@settings(max_examples=profiles.examples(15), deadline=None, derandomize=True)
def test_a_part_has_one_name_in_all_its_images(free: list[int]) -> None:
    island = CellBitboard(free)
    source = random.Random(len(free))
    for part in geo.components(frozenset(free)):
        shape = frozenset(map(axial, part))
        names = {surveyed(placed(image, source))[0] for image in images(shape)}
        assert len(names) == 1, part
    assert island.size <= len(free)


@functools.cache
def shapes(number: int) -> tuple[Shape, ...]:
    """Return every connected shape of a number of cells, one per symmetry class."""
    if number == 1:
        return (frozenset({(0, 0)}),)
    grown = {
        least(shape | {(q + dq, r + dr)})
        for shape in shapes(number - 1)
        for q, r in shape
        for dq, dr in reference.STEPS.values()
        if (q + dq, r + dr) not in shape
    }
    return tuple(sorted(grown, key=sorted))


def least(shape: Shape) -> Shape:
    """Return the canonical image: shifted to the corner, the smallest one."""
    moved = []
    for image in images(shape):
        left, top = min(q for q, _ in image), min(r for _, r in image)
        moved.append(sorted((q - left, r - top) for q, r in image))
    return frozenset(min(moved))


def test_different_shapes_have_different_names() -> None:
    """There are 1, 3, 7 and 22 shapes of 2 to 5 cells."""
    source = random.Random(0)
    counted = {n: {surveyed(placed(each, source))[0] for each in shapes(n)} for n in range(2, 6)}
    assert [len(names) for names in counted.values()] == [1, 3, 7, 22]
    assert len(set[int]().union(*counted.values())) == 33


def sums(*numbers: int) -> Iterator[list[int]]:
    """Yield sums of shapes with these sizes, separated on one board."""
    for chosen in itertools.product(*map(shapes, numbers)):
        free: list[int] = []
        for column, shape in enumerate(chosen):
            q, r = min(shape)
            at = axial(2 * geo.SIDE + 4 * column)
            moved = [(a - q + at[0], b - r + at[1]) for a, b in shape]
            free += [cell for point in moved if (cell := BOARD.get(point)) is not None]
        if sorted(map(len, geo.components(frozenset(free)))) == sorted(numbers):
            yield free


@pytest.mark.parametrize("number", range(1, 8))
def test_isolated_cells_are_lost_when_they_are_odd(number: int) -> None:
    free = cells("a1", "c1", "e1", "g1", "i1", "k1", "a3")[:number]
    assert surveyed(free)[1] == (components.LOST if number % 2 else components.WON)
    assert wins(free) == (number % 2 == 0)


@pytest.mark.parametrize("number", [2, 3, 4])
def test_two_isolated_cells_cancel(number: int) -> None:
    for free in sums(number):
        with_two = [*free, *cells("a12", "c12")]
        assert wins(free) == wins(with_two)
        assert surveyed(free)[0] == surveyed(with_two)[0]
        assert surveyed(free)[0] != surveyed([*free, *cells("a12")])[0]


@pytest.mark.parametrize("numbers", [(2, 2), (2, 3), (3, 3), (2, 4), (3, 4), (2, 2, 3)], ids=str)
def test_sums_of_small_parts_follow_the_rule(numbers: tuple[int, ...]) -> None:
    """Every part of up to four cells is tame, so theory decides each sum."""
    tried = 0
    for free in sums(*numbers):
        verdict = surveyed(free)[1]
        assert verdict == (components.WON if wins(free) else components.LOST), free
        tried += 1
    assert tried


@pytest.mark.slow
@pytest.mark.parametrize("numbers", [(4, 4), (5, 2), (5, 3), (5, 4), (3, 3, 3)], ids=str)
def test_larger_sums_follow_it_wherever_it_says_anything(numbers: tuple[int, ...]) -> None:
    sure = 0
    for free in sums(*numbers):
        verdict = surveyed(free)[1]
        if verdict != components.UNKNOWN:
            assert verdict == (components.WON if wins(free) else components.LOST), free
            sure += 1
    assert sure


def test_half_of_the_parts_of_five_cells_are_tame() -> None:
    """A wild part is undecided next to another part, although it is solved on its own."""
    tame = [surveyed(free)[1] != components.UNKNOWN for free in sums(5, 2)]
    assert 0.3 < sum(tame) / len(tame) < 0.7


@given(positions)
@settings(max_examples=profiles.examples(80), deadline=None, derandomize=True)
def test_what_theory_says_is_true(free: list[int]) -> None:
    verdict = surveyed(free)[1]
    assert verdict in (components.UNKNOWN, components.WON if wins(free) else components.LOST)
