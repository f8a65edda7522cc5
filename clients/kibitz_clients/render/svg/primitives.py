"""Primitives of the pictures: colors, the emblems of the seats, and SVG elements."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Final, TypeAlias
from xml.sax.saxutils import escape

from kibitz_protocol import printable

PIECE_COLOURS: Final = ("#e4531d", "#2f86d4", "#f2c51d", "#149a70", "#b7609f", "#f8f4ea")
"""The seats' colors on wood, slightly darker than in the terminal."""
INK: Final = "#3a2c1c"
FAINT_INK: Final = "#7a6546"
"""The color of small text."""

_EMBLEMS: Final = (
    (),
    ((0.0, -1.0), (0.87, 0.5), (-0.87, 0.5)),
    ((-0.8, -0.8), (0.8, -0.8), (0.8, 0.8), (-0.8, 0.8)),
    ((0.0, -1.1), (0.85, 0.0), (0.0, 1.1), (-0.85, 0.0)),
    tuple(
        (
            (1.15 if i % 2 == 0 else 0.48) * math.sin(i * math.pi / 5),
            (-1.15 if i % 2 == 0 else -0.48) * math.cos(i * math.pi / 5),
        )
        for i in range(10)
    ),
    tuple(
        (x / 3, y / 3)
        for x, y in (
            *((-1, -3), (1, -3), (1, -1), (3, -1), (3, 1), (1, 1)),
            *((1, 3), (-1, 3), (-1, 1), (-3, 1), (-3, -1), (-1, -1)),
        )
    ),
)
"""Emblems of the first six seats, the shapes of `palette.SEAT_GLYPHS`; the first is a disc."""

Point: TypeAlias = tuple[float, float]


def piece_colour(seat: int) -> str:
    """Return the color of a seat's pieces on wood."""
    return PIECE_COLOURS[seat % len(PIECE_COLOURS)]


def emblem(seat: int, x: float, y: float, size: float, colour: str) -> str:
    """Draw the emblem of a seat, the counterpart of its glyph in the terminal."""
    shape = _EMBLEMS[seat % len(_EMBLEMS)]
    attributes = f'fill="{colour}"'
    if not shape:
        return circle((x, y), size * 0.85, attributes)
    return polygon(((x + size * a, y + size * b) for a, b in shape), attributes)


def circle(at: Point, radius: float, attributes: str) -> str:
    """Draw a circle around a point."""
    return element("circle", attributes, cx=at[0], cy=at[1], r=radius)


def polygon(corners: Iterable[Point], attributes: str) -> str:
    """Draw a polygon."""
    points = " ".join(f"{number(x)},{number(y)}" for x, y in corners)
    return f'<polygon points="{points}" {attributes}/>'


def rectangle(at: Point, half: Point, radius: float, attributes: str) -> str:
    """Draw a rectangle around a point; `half` is half its width and height."""
    x, y = at[0] - half[0], at[1] - half[1]
    return element("rect", attributes, x=x, y=y, width=2 * half[0], height=2 * half[1], rx=radius)


def element(tag: str, attributes: str, **measures: float) -> str:
    """Return an empty SVG element: its measures in order, then its other attributes."""
    measured = " ".join(f'{name}="{number(value)}"' for name, value in measures.items())
    return f"<{tag} {measured} {attributes}/>"


def polar_offset(at: Point, angle: float, length: float) -> Point:
    """Return the point at distance `length` from `at`, `angle` radians clockwise from the right."""
    return at[0] + length * math.cos(angle), at[1] + length * math.sin(angle)


_DIRECTIONS: Final[Mapping[str, str]] = {
    "linear": 'linearGradient id="{0}" x1="0" y1="0" x2="0" y2="1"',
    "ball": 'radialGradient id="{0}" cx="0.36" cy="0.30" r="0.72"',
    "hole": 'radialGradient id="{0}" cx="0.5" cy="0.35" r="0.65"',
}


def gradient(name: str, stops: Iterable[tuple[float, str]], kind: str) -> str:
    """Define a gradient from ``(offset, colour)``; `kind` is linear, ball or hole."""
    opening = _DIRECTIONS[kind].format(name)
    inner = "".join(f'<stop offset="{number(at)}" stop-color="{tone}"/>' for at, tone in stops)
    return f"<{opening}>{inner}</{opening.split(' ', 1)[0]}>"


def text(
    x: float,
    y: float,
    words: str,
    size: int,
    *,
    fill: str = INK,
    anchor: str = "start",
    weight: str = "normal",
    style: str = "normal",
) -> str:
    """Draw text; `y` is its baseline."""
    attributes = (
        f'font-size="{size}" fill="{fill}" text-anchor="{anchor}" '
        f'font-weight="{weight}" font-style="{style}"'
    )
    content = escape(printable.line(words))
    return f'<text x="{number(x)}" y="{number(y)}" {attributes}>{content}</text>'


def number(value: float) -> str:
    """Format a number with at most two decimals."""
    return f"{value:.2f}".rstrip("0").rstrip(".")
