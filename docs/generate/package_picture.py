"""Draw the packages and their imports as `docs/images/packages.svg`."""

from __future__ import annotations

from html import escape
from typing import Final

import grimp
import networkx as nx

PACKAGES: Final = {
    "kibitz": "commands and processes",
    "kibitz_server": "the server",
    "kibitz_clients": "terminal, browser, replay",
    "kibitz_arena": "tournaments, ladder",
    "kibitz_bots": "SDK and house bots",
    "kibitz_training": "weights from self-play",
    "kibitz_protocol": "messages, client session",
    "kibitz_search": "search algorithms",
    "kibitz_games": "rules of the games",
}
BOX: Final = (190, 52)
GAP: Final = (24, 56)
STYLE: Final = (
    "text{font:13px sans-serif;text-anchor:middle;fill:#222}"
    ".name{font-weight:bold}rect{fill:#e8f3f1;stroke:#2a7f72}"
    "path{fill:none;stroke:#777;marker-end:url(#head)}"
)


def imports() -> nx.DiGraph:
    """Return the graph of imports between packages, without those that are also indirect."""
    modules = grimp.build_graph(*PACKAGES, cache_dir=None)
    for package in PACKAGES:
        modules.squash_module(package)
    direct = nx.DiGraph(
        (package, target)
        for package in PACKAGES
        for target in modules.find_modules_directly_imported_by(package) - {package}
    )
    return nx.transitive_reduction(direct)


def floors(imported: nx.DiGraph) -> list[list[str]]:
    """Return the packages in layers from top to bottom, each below all packages that import it."""
    return [sorted(layer, key=[*PACKAGES].index) for layer in nx.topological_generations(imported)]


def picture() -> str:
    """Return the picture as SVG. Arrows point from a package to its imports."""
    imported = imports()
    rows = floors(imported)
    width = max(map(len, rows)) * (BOX[0] + GAP[0]) + GAP[0]
    height = len(rows) * (BOX[1] + GAP[1])
    places = {
        name: (
            _column(width, column, len(row)),
            GAP[1] / 2 + BOX[1] / 2 + number * (BOX[1] + GAP[1]),
        )
        for number, row in enumerate(rows)
        for column, name in enumerate(row)
    }
    arrows = [
        _arrow(places[name], places[target])
        for name in PACKAGES
        for target in sorted(imported[name])
    ]
    boxes = [_box(*places[name], name) for name in PACKAGES]
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">'
        f"<title>The packages of kibitz and their imports</title><style>{STYLE}</style>"
        '<defs><marker id="head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8"'
        ' markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8" style="marker-end:none"/>'
        "</marker></defs>"
    )
    return "\n".join([head, *arrows, *boxes, "</svg>", ""])


def _column(width: float, number: int, count: int) -> float:
    """Return the x center of a box in a row that spans the whole width."""
    margin = BOX[0] / 2 + GAP[0] / 2
    return width / 2 if count == 1 else margin + number * (width - 2 * margin) / (count - 1)


def _arrow(start: tuple[float, float], end: tuple[float, float]) -> str:
    (x0, y0), (x1, y1) = start, end
    top, bottom = y0 + BOX[1] / 2, y1 - BOX[1] / 2
    middle = (top + bottom) / 2
    return f'<path d="M{x0:g} {top:g}C{x0:g} {middle:g} {x1:g} {middle:g} {x1:g} {bottom:g}"/>'


def _box(x: float, y: float, name: str) -> str:
    width, height = BOX
    return (
        f'<rect x="{x - width / 2:g}" y="{y - height / 2:g}" width="{width}" height="{height}"'
        f' rx="6"/><text class="name" x="{x:g}" y="{y - 4:g}">{name}</text>'
        f'<text x="{x:g}" y="{y + 15:g}">{escape(PACKAGES[name])}</text>'
    )
