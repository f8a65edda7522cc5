"""Charts of a training run as SVG, without any library.

The charts include a background, so that they are readable on light and dark pages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 720, 340, 56, 20, 56, 44
MOST_POINTS = 240
"""The maximum number of points of a line; each is the mean of the values that it covers."""
GROUND, INK, FAINT, GRID = "#ffffff", "#1b2530", "#5a6775", "#e3e7ec"
LINES = ("#1f5fa8", "#d9822b", "#2f8f5b", "#8a4fa3", "#b23a48")
"""The colors of a chart's lines."""
LOWEST, HIGHEST = (8, 48, 107), (236, 243, 250)
"""The colors of the smallest and the largest value in a dot chart."""


def line_chart(
    title: str,
    values: Sequence[float] | Mapping[str, Sequence[float]],
    *,
    across: str,
    up: str = "",
    low: float | None = None,
    high: float | None = None,
) -> str:
    """Return a chart of values over their indices: one line, or several named lines.

    `across` and `up` label the axes. `low` and `high` set the range of the scale, which otherwise
    fits the values.
    """
    series = values if isinstance(values, Mapping) else {"": values}
    thinned = {name: _thinned(values) for name, values in series.items()}
    shown = [value for points in thinned.values() for _, value in points] or [0.0]
    marks = _marks(min(shown) if low is None else low, max(shown) if high is None else high)
    last = max([len(line) - 1 for line in series.values()] + [1])
    steps = [mark for mark in _marks(0, last) if mark <= last and mark == round(mark)]
    parts = [
        *(_level(mark, marks) for mark in marks),
        *(_column(mark, last) for mark in steps),
        *(
            _line(points, last, marks, colour)
            for points, colour in zip(thinned.values(), LINES, strict=False)
        ),
        _legend(list(series)),
        _text(WIDTH - RIGHT, HEIGHT - 10, escape(across), "end"),
        _text(WIDTH - RIGHT, 43, escape(up), "end"),
    ]
    return _picture(title, WIDTH, HEIGHT, parts)


def _thinned(values: Sequence[float]) -> list[tuple[float, float]]:
    """Return the index and value of each point; if there are too many, a point is a mean."""
    each = -(-len(values) // MOST_POINTS) or 1
    parts = [values[at : at + each] for at in range(0, len(values), each)]
    return [
        (at * each + (len(part) - 1) / 2, sum(part) / len(part)) for at, part in enumerate(parts)
    ]


def _marks(low: float, high: float) -> list[float]:
    """Return at least four round numbers, from at most `low` to at least `high`."""
    if high <= low:
        low, high = low - 1, high + 1
    step = 10.0 ** _digits((high - low) / 4)
    step *= max(factor for factor in (1, 2, 2.5, 5) if step * factor <= (high - low) / 4)
    first = low // step
    marks = [step * first]
    while marks[-1] < high - step * 1e-9:
        marks.append(step * (first + len(marks)))
    return marks


def _digits(number: float) -> int:
    """Return the largest power of ten that is not above a number."""
    return int(f"{number:e}".partition("e")[2])


def _level(mark: float, marks: Sequence[float]) -> str:
    y = _y(mark, marks)
    line = f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="{GRID}"/>'
    return line + _text(LEFT - 8, y + 4, f"{mark:,.6g}", "end")


def _column(mark: float, last: float) -> str:
    return _text(_x(mark, last), HEIGHT - BOTTOM + 18, f"{mark:,.6g}", "middle")


def _line(
    points: Sequence[tuple[float, float]], last: float, marks: Sequence[float], colour: str
) -> str:
    places = " ".join(f"{_x(at, last):.1f},{_y(value, marks):.1f}" for at, value in points)
    return (
        f'<polyline fill="none" stroke="{colour}" stroke-width="1.8" stroke-linejoin="round" '
        f'points="{places}"/>'
    )


def _legend(names: Sequence[str]) -> str:
    """Return the names of the lines, side by side below the title."""
    if len(names) < 2:
        return ""
    parts, at = [], LEFT
    for name, colour in zip(names, LINES, strict=False):
        parts.append(f'<rect x="{at}" y="37" width="16" height="4" rx="2" fill="{colour}"/>')
        parts.append(_text(at + 22, 43, escape(name), "start"))
        at += 22 + 7 * len(name) + 24
    return "".join(parts)


def _x(index: float, last: float) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * index / last


def _y(value: float, marks: Sequence[float]) -> float:
    share = (value - marks[0]) / (marks[-1] - marks[0])
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * min(max(share, 0.0), 1.0)


def dot_chart(title: str, places: Sequence[tuple[float, float]], values: Sequence[float]) -> str:
    """Return a chart of dots that are labeled with their values; smaller values are darker.

    The shade depends on the value's rank, so that an outlier does not make all others look alike.
    """
    size, margin, top = 34, 34, 64
    left, first = min(x for x, _ in places), min(y for _, y in places)
    width = (max(x for x, _ in places) - left) * size + 2 * margin
    height = (max(y for _, y in places) - first) * size + margin + top
    ranks = {value: at for at, value in enumerate(sorted(set(values)))}
    dots = [
        _dot(
            margin + (x - left) * size,
            top + (y - first) * size,
            value,
            ranks[value] / max(len(ranks) - 1, 1),
        )
        for (x, y), value in zip(places, values, strict=True)
    ]
    return _picture(title, round(width), round(height), dots)


def _dot(x: float, y: float, value: float, share: float) -> str:
    shade = [round(a + (b - a) * share) for a, b in zip(LOWEST, HIGHEST, strict=True)]
    text = _short(value)
    size = 10 if len(text) < 5 else 9
    return (
        f'<circle cx="{x:g}" cy="{y:g}" r="15.5" fill="rgb({",".join(map(str, shade))})" '
        f'stroke="#8fa3b8" stroke-width="0.7"/>'
        f'<text x="{x:g}" y="{y + 3.6:g}" text-anchor="middle" font-size="{size}" '
        f'fill="{_ink(*shade)}">{text}</text>'
    )


def _ink(red: int, green: int, blue: int) -> str:
    """Return the color of text with the higher contrast on a color."""
    light = 0.21 * red**2.2 + 0.72 * green**2.2 + 0.07 * blue**2.2
    return INK if light > 0.216 * 255**2.2 else GROUND


def _short(value: float) -> str:
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text.replace("-", "−")


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{FAINT}">{text}</text>'


def _picture(title: str, width: int, height: int, parts: Sequence[str]) -> str:
    """Return a picture that is at least as wide as its title."""
    width = max(width, 32 + 9 * len(title))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'font-family="system-ui, sans-serif" font-size="12"><title>{escape(title)}</title>'
        f'<rect width="{width}" height="{height}" rx="8" fill="{GROUND}"/>'
        f'<text x="16" y="24" font-size="14" font-weight="600" fill="{INK}">{escape(title)}</text>'
        f"{''.join(parts)}</svg>\n"
    )


@dataclass(frozen=True)
class Node:
    """A node of a tree: the index of its parent (-1 for the root), and its lines of text."""

    parent: int
    lines: tuple[str, ...]
    edge: str = ""
    """The label of the line from its parent."""
    marked: bool = False
    """Whether the node and the line from its parent are highlighted."""


def tree_chart(title: str, nodes: Sequence[Node], levels: Sequence[str]) -> str:
    """Return a chart of a tree from top to bottom, with the name of each level on the left.

    In `nodes`, parents precede their children.
    """
    depths = list[int]()
    for node in nodes:
        depths.append(0 if node.parent < 0 else depths[node.parent] + 1)
    across = _spread(nodes)
    wide = 10 + max(7 * len(line) for node in nodes for line in node.lines)
    high = 8 + 14 * max(len(node.lines) for node in nodes)
    margin = 24 + 7 * max(len(name) for name in levels)
    places = [
        (margin + (wide + 14) * (at + 0.5), TOP + (high + 48) * depth)
        for at, depth in zip(across, depths, strict=True)
    ]
    parts = [
        _text(12, TOP + (high + 48) * depth + high / 2 + 4, escape(name), "start")
        for depth, name in enumerate(levels)
    ]
    for node, place in zip(nodes, places, strict=True):
        if node.parent >= 0:
            parts.append(_branch(places[node.parent], place, high, node))
    parts += [_box(x, y, wide, high, node) for (x, y), node in zip(places, nodes, strict=True)]
    width = margin + (wide + 14) * (max(across) + 1) + 12
    height = TOP + (high + 48) * max(depths) + high + 16
    return _picture(title, round(width), round(height), parts)


def _spread(nodes: Sequence[Node]) -> list[float]:
    """Return each node's horizontal position in leaves; parents are centered above children."""
    children = list[list[int]]([] for _ in nodes)
    for at, node in enumerate(nodes):
        if node.parent >= 0:
            children[node.parent].append(at)
    across, pending, leaves = [0.0] * len(nodes), [0], 0
    while pending:
        at = pending.pop()
        if not children[at]:
            across[at], leaves = float(leaves), leaves + 1
        pending += reversed(children[at])
    for at in reversed(range(len(nodes))):
        if own := children[at]:
            across[at] = (across[own[0]] + across[own[-1]]) / 2
    return across


def _branch(above: tuple[float, float], below: tuple[float, float], high: int, node: Node) -> str:
    (x1, y1), (x2, y2) = above, below
    stroke = f'stroke="{LINES[1]}" stroke-width="2.4"' if node.marked else f'stroke="{FAINT}"'
    line = f'<line x1="{x1:.1f}" y1="{y1 + high:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" {stroke}/>'
    aside, anchor = (-4, "end") if x2 < x1 else (4, "start")
    return line + _text(x2 + aside, y2 - 8, escape(node.edge), anchor)


def _box(x: float, y: float, wide: int, high: int, node: Node) -> str:
    stroke = LINES[1] if node.marked else LINES[0]
    text = "".join(
        f'<text x="{x:.1f}" y="{y + 15 + 14 * at:.1f}" text-anchor="middle" xml:space="preserve" '
        f'font-family="monospace" fill="{INK}">{escape(line)}</text>'
        for at, line in enumerate(node.lines)
    )
    return (
        f'<rect x="{x - wide / 2:.1f}" y="{y:.1f}" width="{wide}" height="{high}" rx="5" '
        f'fill="{GROUND}" stroke="{stroke}"/>{text}'
    )


def grid_chart(title: str, cells: Sequence[Sequence[tuple[str, str]]], kinds: Sequence[str]) -> str:
    """Return a chart of a grid of cells. Each cell has a text, and a kind that determines its
    color.

    The legend lists `kinds` in their order. Cells of any other kind are white.
    """
    size, left, top = 44, 16, 64
    shades = dict(zip(kinds, LINES, strict=False))
    parts = [_legend(kinds)]
    for y, line in enumerate(cells):
        for x, (text, kind) in enumerate(line):
            fill = shades.get(kind, GROUND)
            ink = _ink(*bytes.fromhex(fill[1:]))
            parts.append(
                f'<rect x="{left + x * size}" y="{top + y * size}" width="{size}" height="{size}" '
                f'fill="{fill}" stroke="{GRID}"/>'
                f'<text x="{left + (x + 0.5) * size:g}" y="{top + (y + 0.5) * size + 4:g}" '
                f'text-anchor="middle" fill="{ink}">{escape(text)}</text>'
            )
    width = max(2 * left + size * len(cells[0]), LEFT + sum(7 * len(k) + 46 for k in kinds))
    return _picture(title, width, top + size * len(cells) + left, parts)


def flow_chart(title: str, steps: Sequence[tuple[str, str]]) -> str:
    """Return a flow chart from top to bottom.

    Each step is a text and a result. A step with a result is a question: "yes" leads to the result
    at its right, and "no" to the next step. A step without a result is a box.
    """
    wide = 24 + 7 * max(len(text) for text, _ in steps)
    aside = 24 + 7 * max(len(result) for _, result in steps)
    left, high, apart = 16, 26, 44
    parts = list[str]()
    for at, (text, result) in enumerate(steps):
        y, middle = TOP + at * apart, left + wide / 2
        parts.append(_step(left, y, wide, high, text, 13 if result else 4))
        if at + 1 < len(steps):
            parts.append(_arrow(middle, y + high, middle, y + apart, "no" if result else ""))
        if result:
            parts.append(_arrow(left + wide, y + high / 2, left + wide + 60, y + high / 2, "yes"))
            parts.append(_step(left + wide + 60, y, aside, high, result, 4))
    width = left + wide + 60 + aside + 16
    return _picture(title, width, TOP + apart * (len(steps) - 1) + high + 16, parts)


def _step(x: float, y: float, wide: float, high: float, text: str, round_by: int) -> str:
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{wide:g}" height="{high:g}" rx="{round_by}" '
        f'fill="{GROUND}" stroke="{LINES[0]}"/>'
        f'<text x="{x + wide / 2:g}" y="{y + high / 2 + 4:g}" text-anchor="middle" '
        f'fill="{INK}">{escape(text)}</text>'
    )


def _arrow(x1: float, y1: float, x2: float, y2: float, text: str) -> str:
    """Return an arrow to the right or down with a text beside it."""
    down = x1 == x2
    head = "-4,-7 4,-7 0,0 " if down else "-7,-4 -7,4 0,0 "
    label = _text(x1 + 6, y1 + 13, text, "start") if down else _text(x1 + 16, y1 - 3, text, "start")
    return (
        f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke="{FAINT}"/>'
        f'<polygon transform="translate({x2:g} {y2:g})" points="{head.strip()}" fill="{FAINT}"/>'
        f"{label if text else ''}"
    )
