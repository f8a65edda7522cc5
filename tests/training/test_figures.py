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


def test_a_line_has_no_marks_between_its_indices() -> None:
    text = figures.line_chart("t", [0.0] * 11, across="plies")
    assert ">5<" in text
    assert ">2.5<" not in text


def contrast(ink: str, shade: tuple[int, ...]) -> float:
    """Return the contrast by WCAG 2."""

    def luminance(color: tuple[int, ...]) -> float:
        linear = [
            share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4
            for share in (part / 255 for part in color)
        ]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    dark, light = sorted([luminance(tuple(bytes.fromhex(ink[1:]))), luminance(shade)])
    return (light + 0.05) / (dark + 0.05)


def test_text_on_every_shade_is_readable() -> None:
    text = figures.dot_chart("t", [(at, 0) for at in range(50)], list(range(50)))
    dots = re.findall(r"rgb\(([\d,]+)\).*?<text.*? fill=\"(#\w+)\"", text)
    assert len(dots) == 50
    for shade, ink in dots:
        assert contrast(ink, tuple(map(int, shade.split(",")))) > 3.8
    grid = figures.grid_chart("t", [[(kind, kind) for kind in "abcd"]], "abcd")
    fills = re.findall(r"<rect[^>]*fill=\"(#\w+)\" stroke.*?<text.*? fill=\"(#\w+)\"", grid)
    assert len(fills) == 4
    assert all(contrast(ink, tuple(bytes.fromhex(fill[1:]))) > 3.8 for fill, ink in fills)


def test_a_small_tree_has_room_for_its_title() -> None:
    nodes = [figures.Node(-1, ("root",)), figures.Node(0, ("leaf",))]
    text = figures.tree_chart("a title that is longer than the tree is wide", nodes, ["", ""])
    width = float(ElementTree.fromstring(text).get("viewBox", "").split()[2])
    assert width > 9 * 44


def test_the_texts_at_the_lines_of_a_tree_are_outside() -> None:
    nodes = [figures.Node(-1, ("root",)), *(figures.Node(0, (x,), edge=x) for x in "ab")]
    texts = ElementTree.fromstring(figures.tree_chart("t", nodes, ["", ""])).iter(f"{SVG}text")
    anchors = [each.get("text-anchor") for each in texts if each.text in ("a", "b")]
    assert anchors[:2] == ["end", "start"]
