from __future__ import annotations

import pytest

from kibitz_games.chinese_checkers import geometry as geo

BOARDS = [geo.geometry(board, size) for board, size in geo.ALL]
STAR = geo.geometry("star", 4)


def test_the_star_has_121_holes_in_17_rows() -> None:
    widths = [len(row) for row in STAR.rows]
    assert widths == [1, 2, 3, 4, 13, 12, 11, 10, 9, 10, 11, 12, 13, 4, 3, 2, 1]
    assert STAR.holes == 121
    assert [hole for row in STAR.rows for hole in row] == list(range(121))


@pytest.mark.parametrize(("size", "holes", "pegs"), [(1, 13, 1), (2, 37, 3), (3, 73, 6)])
def test_small_stars(size: int, holes: int, pegs: int) -> None:
    assert geo.geometry("star", size).holes == holes
    assert geo.usual_pegs("star", size) == pegs


@pytest.mark.parametrize("size", geo.SIZES["rhombus"])
def test_rhombi_are_square_in_number(size: int) -> None:
    shape = geo.geometry("rhombus", size)
    assert shape.holes == size * size
    assert shape.home(0, 3) == (0, 1, 2)


@pytest.mark.parametrize("shape", BOARDS, ids=lambda shape: f"{shape.board}{shape.size}")
def test_half_a_turn_maps_each_hole_to_its_counterpart(shape: geo.Geometry) -> None:
    last = shape.holes - 1
    for hole in range(shape.holes):
        for d in range(6):
            there = shape.away(hole, d, 1)
            back = shape.away(last - hole, (d + 3) % 6, 1)
            assert back == (None if there is None else last - there)


@pytest.mark.parametrize("shape", BOARDS, ids=lambda shape: f"{shape.board}{shape.size}")
def test_homes_are_full_and_apart(shape: geo.Geometry) -> None:
    pegs = geo.usual_pegs(shape.board, shape.size)
    homes = [shape.home(corner, pegs) for corner in geo.corners_of(shape.board)]
    assert all(len(home) == pegs for home in homes)
    assert len({hole for home in homes for hole in home}) == pegs * len(homes)
    for corner in geo.corners_of(shape.board):
        opposite = tuple(sorted(shape.holes - 1 - h for h in shape.home(corner, pegs)))
        assert shape.home((corner + 3) % 6, pegs) == opposite
        assert shape.tips[corner] in shape.home(corner, pegs)


def test_corners_run_clockwise_from_the_top() -> None:
    assert STAR.tips == (0, 22, 110, 120, 98, 10)
    assert STAR.home(0, 10) == tuple(range(10))
    assert STAR.home(1, 10) == (19, 20, 21, 22, 32, 33, 34, 44, 45, 55)


def test_distances() -> None:
    assert STAR.steps(0, 120) == 16
    assert STAR.steps(0, 0) == 0
    assert STAR.euclid(0, 1) == pytest.approx(1)
    assert STAR.euclid(0, 120) == pytest.approx(16 * 3**0.5 / 2)
    for hole in range(121):
        near = [h for d in range(6) if (h := STAR.away(hole, d, 1)) is not None]
        assert all(STAR.steps(hole, h) == 1 for h in near)
        assert all(STAR.steps(h, 0) >= STAR.steps(hole, 0) - 1 for h in near)


@pytest.mark.parametrize("shape", BOARDS, ids=lambda shape: f"{shape.board}{shape.size}")
def test_a_jump_keeps_the_parity_class_and_a_step_never_does(shape: geo.Geometry) -> None:
    for hole in range(shape.holes):
        for d in range(6):
            one, two = shape.away(hole, d, 1), shape.away(hole, d, 2)
            assert one is None or shape.parity(one) != shape.parity(hole)
            assert two is None or shape.parity(two) == shape.parity(hole)


@pytest.mark.parametrize("shape", BOARDS, ids=lambda shape: f"{shape.board}{shape.size}")
def test_places_in_a_drawing_are_a_hexagonal_lattice(shape: geo.Geometry) -> None:
    places = [shape.lattice(hole) for hole in range(shape.holes)]
    assert min(x for x, _ in places) in (0, 1)
    assert all((x - y) % 2 == 0 for x, y in places)
    assert len(set(places)) == shape.holes
