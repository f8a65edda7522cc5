from __future__ import annotations

import pytest

from kibitz_games.tanks import geometry as geo
from tests.games.tanks import reference


def _turned(place: geo.Place) -> geo.Place:
    """Return a place after a quarter turn of the board, clockwise."""
    return place[1], geo.SIDE + 1 - place[0]


def _reachable(start: geo.Place, rocks: set[geo.Place]) -> set[geo.Place]:
    found, frontier = {start}, [start]
    while frontier:
        row, column = frontier.pop()
        for there in ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)):
            inside = min(there) >= 1 and max(there) <= geo.SIDE
            if inside and there not in rocks | found:
                found.add(there)
                frontier.append(there)
    return found


def test_there_are_29_rocks_and_196_places_that_are_all_connected() -> None:
    rocks = set(geo.CLASSIC)
    assert len(geo.CLASSIC) == len(rocks) == 29
    assert rocks == reference.rocks()
    assert len(_reachable((15, 1), rocks)) == 196 == geo.SIDE**2 - 29


def test_rocks_and_starts_are_one_orbit_of_the_quarter_turn() -> None:
    assert {_turned(rock) for rock in geo.CLASSIC} == set(geo.CLASSIC)
    corners = dict(zip(geo.STARTS["corners"], geo.FACING, strict=True))
    for place, hull in corners.items():
        turned = geo.HULLS[(geo.HULLS.index(hull) + 1) % 4]
        assert corners[_turned(place)] == turned


@pytest.mark.parametrize("start", geo.STARTS)
def test_nobody_starts_on_a_rock(start: geo.Start) -> None:
    assert len(set(geo.STARTS[start])) == 4
    assert not set(geo.STARTS[start]) & set(geo.CLASSIC)


def test_numbers_and_places() -> None:
    assert [geo.number(geo.place(cell)) for cell in geo.NUMBERS] == list(geo.NUMBERS)
    assert geo.place(geo.NUMBERS[0]) == (1, 1)
    assert geo.place(geo.NUMBERS[-1]) == (15, 15)
