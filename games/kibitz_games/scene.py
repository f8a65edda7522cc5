"""A neutral drawing of a position: what every renderer draws and no renderer understands.

A game turns a view into a `Scene`; the terminal, the image export and the web page draw
scenes. Nothing in a scene is a rule, so no client needs to know one.

Coordinates are lattice units, x to the right and y downwards. On a ``"square"`` lattice
neighbours are one unit apart both ways. On a ``"hex"`` lattice neighbours in a row are two
units of x apart, rows are one unit of y apart, and odd rows are shifted by one unit of x;
a renderer scales y by sqrt(3) there to make hexagons regular.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Lattice = Literal["square", "hex"]
Ground = Literal["hole", "home", "goal", "floor", "fog", "seen", "rock", "wreck", "gone", "number"]
MarkKind = Literal["from", "to", "path", "win", "vision"]


@dataclass(frozen=True, slots=True)
class Cell:
    """One place of the board.

    `name` is what a person types and what `Game.touches` answers; `owner` is the seat whose
    piece stands there; `tint` the seat whose colour tints the ground (a home triangle, say).
    `glyph` is at most two terminal columns wide; `heading` is degrees clockwise from north
    for pieces that face somewhere.
    """

    name: str
    x: float
    y: float
    ground: Ground = "hole"
    owner: int | None = None
    tint: int | None = None
    glyph: str = ""
    heading: int | None = None


@dataclass(frozen=True, slots=True)
class Mark:
    """A highlight over cells, in order: the last move's ends, its path, a winning line."""

    kind: MarkKind
    cells: tuple[str, ...]
    seat: int | None = None


@dataclass(frozen=True, slots=True)
class Scene:
    """Everything a renderer needs: the cells, the highlights, and lines of text below."""

    lattice: Lattice
    cells: tuple[Cell, ...]
    marks: tuple[Mark, ...] = ()
    text: tuple[str, ...] = ()
