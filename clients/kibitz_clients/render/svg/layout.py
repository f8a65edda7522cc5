"""The positions of a scene's cells and labels on the page, in pixels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from kibitz_clients.render.svg.primitives import Point
from kibitz_games.core.scene import Cell, Label, Scene

HALF_PITCH: Final = 22.0
"""Half the distance between neighbors on a hexagonal lattice, in pixels."""
EDGE_MARGIN: Final = 44.0
"""Pixels between the outermost cells and the edge of the drawing."""
LABEL_MARGIN: Final = 18.0
"""Additional pixels at edges with coordinates."""
CARD_PITCH: Final = (62.0, 46.0)
"""Pixels between neighbors in a row of cards, and between rows."""
LABEL_DISTANCE: Final = 38.0
"""Pixels from the outermost cells to the coordinates beside them."""


class BoardLayout:
    """The cells of a board in pixels, without buttons."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.hexagonal = scene.lattice == "hex"
        self.cells: Sequence[Cell] = [c for c in scene.cells if c.kind != "button"]
        self.pitch_x, self.pitch_y = self._pitch()
        self.left = min((cell.x for cell in self.cells), default=0.0)
        self.top = min((cell.y for cell in self.cells), default=0.0)
        self.right = max((cell.x for cell in self.cells), default=0.0)
        self.bottom = max((cell.y for cell in self.cells), default=0.0)
        self.edge = EDGE_MARGIN + LABEL_MARGIN if scene.labels else EDGE_MARGIN
        self.board_width = (self.right - self.left) * self.pitch_x + 2 * self.edge
        self.board_height = (self.bottom - self.top) * self.pitch_y + 2 * self.edge
        self.points: dict[str, Point] = {}
        self._origin: Point = (0.0, 0.0)

    def _pitch(self) -> Point:
        if self.hexagonal:
            return HALF_PITCH, HALF_PITCH * math.sqrt(3)
        if self.cells and all(cell.kind == "number" for cell in self.cells):
            return CARD_PITCH
        return 2 * HALF_PITCH, 2 * HALF_PITCH

    def place_at(self, left: float, top: float) -> None:
        """Move the board's upper left corner to a point on the page."""
        self._origin = left + self.edge, top + self.edge
        self.points = {cell.name: self.point_at(cell.x, cell.y) for cell in self.cells}

    def point_at(self, x: float, y: float) -> Point:
        """Return the position of a lattice point."""
        left, top = self._origin
        return left + (x - self.left) * self.pitch_x, top + (y - self.top) * self.pitch_y

    def label_point(self, label: Label) -> Point:
        """Return the center of a label; labels beside the board are moved close to it."""
        x, y = self.point_at(label.x, label.y)
        left, top = self.point_at(self.left, self.top)
        right, bottom = self.point_at(self.right, self.bottom)
        beside = CARD_PITCH[1] if (self.pitch_x, self.pitch_y) == CARD_PITCH else LABEL_DISTANCE
        step = 2 if self.hexagonal else 1
        if label.x <= self.left - step:
            x = left - LABEL_DISTANCE
        elif label.x >= self.right + step:
            x = right + LABEL_DISTANCE
        if label.y < self.top:
            y = top - beside
        elif label.y > self.bottom:
            y = bottom + beside
        return x, y
