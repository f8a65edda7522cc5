"""Where the places of a scene are on the page, and what every material of a board answers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final, Protocol

from kibitz_clients.pictures.ink import Point
from kibitz_games.scene import Cell, Label, Scene

UNIT: Final = 22.0
"""Pixels of half the distance between neighbours on a hexagonal lattice."""
EDGE: Final = 44.0
"""Pixels between the outermost places and the edge of the drawing."""
LABELS: Final = 18.0
"""Pixels more where coordinates stand there."""
CARD: Final = (62.0, 46.0)
"""Pixels between neighbours in a row of cards, and between the lines."""
BESIDE: Final = 38.0
"""Pixels from the outermost places to the coordinates beside them."""


class Plan:
    """The places of a board in pixels. Keys to press are no part of a picture."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.hexagonal = scene.lattice == "hex"
        self.cells: Sequence[Cell] = [c for c in scene.cells if c.ground != "button"]
        self.across, self.down = self._pitch()
        self.left = min((cell.x for cell in self.cells), default=0.0)
        self.top = min((cell.y for cell in self.cells), default=0.0)
        self.right = max((cell.x for cell in self.cells), default=0.0)
        self.bottom = max((cell.y for cell in self.cells), default=0.0)
        self.edge = EDGE + LABELS if scene.labels else EDGE
        self.board_width = (self.right - self.left) * self.across + 2 * self.edge
        self.board_height = (self.bottom - self.top) * self.down + 2 * self.edge
        self.points: dict[str, Point] = {}
        self._origin: Point = (0.0, 0.0)

    def _pitch(self) -> Point:
        if self.hexagonal:
            return UNIT, UNIT * math.sqrt(3)
        if self.cells and all(cell.ground == "number" for cell in self.cells):
            return CARD
        return 2 * UNIT, 2 * UNIT

    def lay(self, left: float, top: float) -> None:
        """Put the board's upper left corner at a point of the page."""
        self._origin = left + self.edge, top + self.edge
        self.points = {cell.name: self.place(cell.x, cell.y) for cell in self.cells}

    def place(self, x: float, y: float) -> Point:
        """Return where a place of the lattice is."""
        left, top = self._origin
        return left + (x - self.left) * self.across, top + (y - self.top) * self.down

    def label(self, label: Label) -> Point:
        """Return the middle of a label: near the board where it stands beside it."""
        x, y = self.place(label.x, label.y)
        left, top = self.place(self.left, self.top)
        right, bottom = self.place(self.right, self.bottom)
        beside = CARD[1] if (self.across, self.down) == CARD else BESIDE
        step = 2 if self.hexagonal else 1
        if label.x <= self.left - step:
            x = left - BESIDE
        elif label.x >= self.right + step:
            x = right + BESIDE
        if label.y < self.top:
            y = top - beside
        elif label.y > self.bottom:
            y = bottom + beside
        return x, y


class Material(Protocol):
    """What some of a board's places are made of, drawn from back to front."""

    def definitions(self, seats: Sequence[int]) -> Iterator[str]:
        """Yield gradients and shapes, for the pieces of `seats` too."""

    def ground(self) -> Iterator[str]:
        """Yield the board and its places."""

    def marks(self) -> Iterator[str]:
        """Yield highlights under the pieces."""

    def pieces(self) -> Iterator[str]:
        """Yield what stands on the places."""

    def ways(self) -> Iterator[str]:
        """Yield highlights over the pieces."""

    def token(self, seat: int, x: float, y: float) -> Iterator[str]:
        """Yield a piece of `seat` for the legend, around a point."""
