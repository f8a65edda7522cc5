"""Board themes: the look of some kinds of cells, as data for the common renderer.

A `Theme` names the kinds of cells that it draws (wood: hollows; tiles: floor, fog, rock). It has
tables for elements that differ only in size and color, such as the highlights (`MarkStyle`), and
small functions for elements with their own shapes: the board below the cells, a cell, a piece.
`BoardRenderer` draws the cells of one theme from back to front. A scene with cells from several
themes has a renderer for each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

from kibitz_clients.palette import blend
from kibitz_clients.render.svg.layout import BoardLayout
from kibitz_clients.render.svg.primitives import INK, Point, circle, piece_colour
from kibitz_games.core.scene import Cell, CellKind, Mark, MarkKind


@dataclass(frozen=True)
class Board:
    """The cells of a scene drawn by one theme, and their positions on the page."""

    layout: BoardLayout
    cells: Sequence[Cell]

    @cached_property
    def points(self) -> dict[str, Point]:
        """The center of each cell in pixels, by name."""
        return {cell.name: self.layout.points[cell.name] for cell in self.cells}

    @cached_property
    def has_vehicles(self) -> bool:
        """Whether the pieces have headings, even if all of them are hidden from the viewer."""
        return any(cell.heading is not None or cell.kind == "wreck" for cell in self.cells)


@dataclass(frozen=True, slots=True)
class MarkStyle:
    """An element drawn at a highlighted cell, under the pieces.

    `attributes` are those of the SVG element; ``{colour}`` in them stands for the color of the
    mark. A `circle` has the radius `size`; a `cell` has the shape of the cell, `size` pixels
    smaller on every side.
    """

    shape: Literal["circle", "cell"]
    size: float
    attributes: str


CellPainter: TypeAlias = Callable[[Board, Cell, Point], Iterator[str]]
CellShape: TypeAlias = Callable[[Board, Point, str, float], str]
"""A function of the board, the center, the attributes, and the inset in pixels."""
PathPainter: TypeAlias = Callable[[Sequence[Point], str], Iterator[str]]
"""A function of the points of a mark's cells, in order, and its color."""


@dataclass(frozen=True, kw_only=True)
class Theme:
    """The look of some kinds of cells. Parts that are None are not drawn."""

    kinds: frozenset[CellKind]
    definitions: Callable[[Board, Sequence[int]], Iterator[str]]
    """A function that yields gradients and shapes, also for the pieces of the given seats."""
    backdrop: Callable[[Board], Iterator[str]] | None = None
    """A function that yields the board below the cells."""
    cell: CellPainter | None = None
    piece: CellPainter
    """A function that yields the piece on a cell."""
    legend_piece: Callable[[Board, int, Point], Iterator[str]]
    """A function that yields a seat's piece for the legend, around a point."""
    marks: Mapping[MarkKind, Sequence[MarkStyle]]
    """The highlights under the pieces."""
    mark_colour: Callable[[Mark], str]
    cell_shape: CellShape | None = None
    """A function that draws the outline of a cell, for marks in its shape."""
    paths: Mapping[MarkKind, PathPainter]
    """The highlights over the pieces."""


def darkened(share: float) -> Callable[[Mark], str]:
    """Return a `mark_colour`: the seat's color darkened by `share`, or ink if there is no seat."""

    def colour(mark: Mark) -> str:
        return INK if mark.seat is None else blend(piece_colour(mark.seat), "#000000", share)

    return colour


class BoardRenderer:
    """Draws the cells of one theme, in layers from back to front."""

    def __init__(self, theme: Theme, layout: BoardLayout, cells: Sequence[Cell]) -> None:
        self._theme = theme
        self._board = Board(layout, cells)

    def definitions(self, seats: Sequence[int]) -> Iterator[str]:
        """Yield gradients and shapes, also for the pieces of `seats`."""
        return self._theme.definitions(self._board, seats)

    def board(self) -> Iterator[str]:
        """Yield the board and its cells."""
        if self._theme.backdrop is not None:
            yield from self._theme.backdrop(self._board)
        if self._theme.cell is not None:
            yield from self._each_cell(self._theme.cell)

    def marks(self) -> Iterator[str]:
        """Yield the highlights under the pieces."""
        for mark in self._board.layout.scene.marks:
            colour = self._theme.mark_colour(mark)
            for at in self._points(mark):
                for style in self._theme.marks.get(mark.kind, ()):
                    yield self._mark(style, at, style.attributes.format(colour=colour))

    def pieces(self) -> Iterator[str]:
        """Yield the pieces on the cells."""
        return self._each_cell(self._theme.piece)

    def paths(self) -> Iterator[str]:
        """Yield the highlights over the pieces."""
        for mark in self._board.layout.scene.marks:
            paint = self._theme.paths.get(mark.kind)
            if paint is not None:
                yield from paint(self._points(mark), self._theme.mark_colour(mark))

    def legend_piece(self, seat: int, at: Point) -> Iterator[str]:
        """Yield a piece of `seat` for the legend, around a point."""
        return self._theme.legend_piece(self._board, seat, at)

    def _each_cell(self, paint: CellPainter) -> Iterator[str]:
        for cell in self._board.cells:
            yield from paint(self._board, cell, self._board.points[cell.name])

    def _points(self, mark: Mark) -> list[Point]:
        points = self._board.points
        return [points[name] for name in mark.cells if name in points]

    def _mark(self, style: MarkStyle, at: Point, attributes: str) -> str:
        if style.shape == "circle":
            return circle(at, style.size, attributes)
        if self._theme.cell_shape is None:
            raise AssertionError("marks in the shape of a cell need the theme's cell shape")
        return self._theme.cell_shape(self._board, at, attributes, style.size)
