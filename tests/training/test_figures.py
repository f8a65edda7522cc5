"""Charts: well-formed SVG with correctly placed marks and points."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from kibitz_training import figures

SVG = "{http://www.w3.org/2000/svg}"


def points(text: str) -> list[list[tuple[float, float]]]:
    lines = [each.get("points", "") for each in ElementTree.fromstring(text).iter(f"{SVG}polyline")]
    return [
        [(float(x), float(y)) for x, y in (place.split(",") for place in line.split())]
        for line in lines
    ]


def test_a_line_rises_as_its_values_do_and_stays_in_the_picture() -> None:
    text = figures.line_chart("A & B", [float(at) for at in range(1000)], across="x", up="y")
    (line,) = points(text)
    assert len(line) <= figures.MOST_POINTS
    assert [x for x, _ in line] == sorted(x for x, _ in line)
    assert [y for _, y in line] == sorted((y for _, y in line), reverse=True)
    assert all(0 < x < figures.WIDTH and 0 < y < figures.HEIGHT for x, y in line)


@pytest.mark.parametrize("values", [[], [3.0], [2.0, 2.0], [-1e9, 1e9], [1e-9, 2e-9]])
def test_few_equal_and_extreme_values_are_drawn(values: list[float]) -> None:
    (line,) = points(figures.line_chart("t", values, across="x"))
    assert len(line) == len(values)


def test_several_lines_have_a_legend() -> None:
    text = figures.line_chart("t", {"one<": [1.0, 2.0], "two": [2.0, 1.0]}, across="x")
    assert len(points(text)) == 2
    assert "one&lt;" in text


def test_the_scale_is_the_one_that_is_given() -> None:
    (line,) = points(figures.line_chart("t", [0.0, 100.0], across="x", low=0, high=100))
    assert [y for _, y in line] == [figures.HEIGHT - figures.BOTTOM, figures.TOP]


def test_dots_are_the_darker_the_smaller_their_values() -> None:
    text = figures.dot_chart("t", [(0, 0), (1, 0), (2, 1)], [-25.0, 3.0, 1e6])
    reds = [int(shade) for shade in re.findall(r"rgb\((\d+),", text)]
    assert reds == sorted(reds)
    assert len(set(reds)) == 3
    ElementTree.fromstring(text)
