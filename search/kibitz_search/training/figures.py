"""Charts of a training run as SVG, without any library."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 720, 320, 64, 16, 32, 40
MOST_POINTS = 720
"""A line has a point for each pixel at most: the mean of what falls on it."""


def line_chart(title: str, values: Sequence[float], *, across: str, up: str) -> str:
    """Return a chart of values over their indices, with the scale of both axes."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    if low == high:
        low, high = low - 1, high + 1
    last = max(len(values) - 1, 1)
    points = " ".join(
        f"{_x(index, last):.1f},{_y(value, low, high):.1f}" for index, value in _thinned(values)
    )
    marks = [low + (high - low) * part / 4 for part in range(5)]
    grid = "".join(
        f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{_y(mark, low, high):.1f}" '
        f'y2="{_y(mark, low, high):.1f}" stroke="#ddd"/>'
        f'<text x="{LEFT - 6}" y="{_y(mark, low, high) + 4:.1f}" '
        f'text-anchor="end">{mark:.4g}</text>'
        for mark in marks
    )
    numbers = "".join(
        f'<text x="{_x(last * part // 4, last):.1f}" y="{HEIGHT - BOTTOM + 16}" '
        f'text-anchor="middle">{last * part // 4}</text>'
        for part in range(5)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'font-family="sans-serif" font-size="12"><title>{escape(title)}</title>'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>{grid}{numbers}'
        f'<text x="{LEFT}" y="18" font-size="14">{escape(title)}</text>'
        f'<text x="{WIDTH - RIGHT}" y="{HEIGHT - 6}" text-anchor="end">{escape(across)}</text>'
        f'<text x="{WIDTH - RIGHT}" y="18" text-anchor="end">{escape(up)}</text>'
        f'<polyline fill="none" stroke="#1f5fa8" stroke-width="1.2" points="{points}"/></svg>\n'
    )


def _thinned(values: Sequence[float]) -> list[tuple[float, float]]:
    """Return index and value of each point, means where there are more than fit."""
    each = -(-len(values) // MOST_POINTS) or 1
    parts = [values[at : at + each] for at in range(0, len(values), each)]
    return [
        (at * each + (len(part) - 1) / 2, sum(part) / len(part)) for at, part in enumerate(parts)
    ]


def _x(index: float, last: int) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * index / last


def _y(value: float, low: float, high: float) -> float:
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (value - low) / (high - low)


def dot_chart(title: str, places: Sequence[tuple[float, float]], values: Sequence[float]) -> str:
    """Return dots at places, the brighter the smaller their value, with the values on them."""
    low, high = min(values), max(values)
    size, margin = 34, 30
    left, top = min(x for x, _ in places), min(y for _, y in places)
    width = (max(x for x, _ in places) - left) * size + 2 * margin
    height = (max(y for _, y in places) - top) * size + 2 * margin + 20
    dots = []
    for (x, y), value in zip(places, values, strict=True):
        share = (value - low) / (high - low) if high > low else 0.0
        grey = round(245 - 205 * share)
        ink = "#000" if grey > 128 else "#fff"
        cx, cy = margin + (x - left) * size, margin + 20 + (y - top) * size
        dots.append(
            f'<circle cx="{cx:.1f}" cy="{cy:.1f}" r="15" fill="rgb({grey},{grey},{grey})" '
            f'stroke="#555"/><text x="{cx:.1f}" y="{cy + 3:.1f}" text-anchor="middle" '
            f'fill="{ink}">{value:.3g}</text>'
        )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'font-family="sans-serif" font-size="9"><title>{escape(title)}</title>'
        f'<rect width="100%" height="100%" fill="#fff"/>'
        f'<text x="10" y="18" font-size="13">{escape(title)}</text>{"".join(dots)}</svg>\n'
    )
