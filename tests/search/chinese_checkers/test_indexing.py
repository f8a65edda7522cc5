"""Numbering sets of pegs, and the triangle on the boards."""

from __future__ import annotations

import itertools

import pytest

from kibitz_games.chinese_checkers import geometry as geo
from kibitz_search.chinese_checkers.indexing import Triangle, holes, largest

SMALL = [(2, 1), (3, 3), (4, 3), (4, 6), (5, 6)]


@pytest.mark.parametrize(("side", "pegs"), SMALL)
def test_ranks_are_the_places_of_masks_in_ascending_order(side: int, pegs: int) -> None:
    triangle = Triangle(side, pegs)
    low, high = triangle.low(), triangle.high()
    chosen = itertools.combinations(range(triangle.holes), pegs)
    masks = sorted(sum(1 << bit for bit in bits) for bits in chosen)
    assert len(masks) == triangle.sets
    for rank, mask in enumerate(masks):
        lower = mask & ((1 << triangle.half) - 1)
        assert low[lower] + high[lower.bit_count(), mask >> triangle.half] == rank


def test_the_common_star_has_28_holes_and_13_million_sets() -> None:
    triangle = largest(geo.geometry("star", 4), 10)
    assert (triangle.side, triangle.holes, triangle.sets) == (7, 28, 13_123_110)


@pytest.mark.parametrize(("board", "size"), geo.ALL, ids=str)
def test_the_goal_is_the_first_holes_of_every_corner(board: geo.Board, size: int) -> None:
    shape = geo.geometry(board, size)
    pegs = geo.usual_pegs(board, size)
    triangle = largest(shape, pegs)
    for goal in geo.corners_of(board):
        places = holes(shape, triangle, goal)
        assert sorted(places[:pegs]) == list(shape.home(goal, pegs))
        assert places[0] == shape.tips[goal]
        assert len(set(places)) == triangle.holes


@pytest.mark.parametrize(("board", "size"), [("star", 3), ("star", 4), ("rhombus", 6)])
def test_neighbours_in_the_triangle_are_neighbours_on_the_board(
    board: geo.Board, size: int
) -> None:
    shape = geo.geometry(board, size)
    triangle = largest(shape, geo.usual_pegs(board, size))
    for goal in geo.corners_of(board):
        places = holes(shape, triangle, goal)
        for far in (1, 2):
            table = triangle.neighbours(far)
            for hole, row in enumerate(table.tolist()):
                ways = {shape.away(places[hole], way, far) for way in range(6)}
                assert {places[each] for each in row if each >= 0} == ways & set(places)


def test_a_goal_without_room_in_front_has_no_triangle() -> None:
    with pytest.raises(ValueError, match="too many"):
        largest(geo.geometry("rhombus", 3), 6)
