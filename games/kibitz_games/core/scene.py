"""A neutral drawing of a position: what every renderer draws and no renderer understands.

A game turns a view into a `Scene`; the terminal, the image export and the web page draw
scenes. Nothing in a scene is a rule, so no client needs to know one.

Coordinates are lattice units, x to the right and y downwards. On a ``"square"`` lattice
neighbours are one unit apart both ways. On a ``"hex"`` lattice neighbours in a row are two
units of x apart, rows are one unit of y apart, and odd rows are shifted by one unit of x;
a renderer scales y by sqrt(3) there to make hexagons regular.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

Lattice = Literal["square", "hex"]
CellKind = Literal[
    "hole",  # a hollow in a wooden board, for pegs
    "home",  # the same, in the colour of the seat whose home it is
    "goal",
    "point",  # a crossing of the lines of a board, for stones
    "floor",  # a tile that may be entered or taken
    "fog",  # a tile that the viewer knows nothing of
    "seen",  # a tile that the viewer has been on, or remembers
    "rock",  # a tile that nothing enters
    "wreck",
    "gone",  # a tile that is no longer there
    "number",  # a card with a number on it
    "button",  # not a place of the board: something that a player picks to act
]
"""What a place looks like; renderers know these words and no game."""
PieceColour = Literal["black", "white"]
"""The colour of a piece where the game gives pieces one, whoever plays with them."""
MarkKind = Literal["from", "to", "path", "win", "vision"]


@dataclass(frozen=True, slots=True)
class Cell:
    """One place of the board.

    `name` is what a person types and what `Game.move_cells` answers; `owner` is the seat whose
    piece stands there; `tint` the seat whose colour tints the ground (a home triangle, say).
    `colour` is that of a stone on a ``point``, in games where the seats may change colours; without
    it a piece looks as its owner does. A stone that belongs to nobody yet has a colour only.
    `glyph` is at most three terminal columns wide; `heading` is degrees clockwise from north
    for pieces that face somewhere.
    """

    name: str
    x: float
    y: float
    kind: CellKind = "hole"
    owner: int | None = None
    tint: int | None = None
    glyph: str = ""
    heading: int | None = None
    colour: PieceColour | None = None


@dataclass(frozen=True, slots=True)
class Mark:
    """A highlight over cells, in order: the last move's ends, its path, a winning line."""

    kind: MarkKind
    cells: tuple[str, ...]
    seat: int | None = None


@dataclass(frozen=True, slots=True)
class Label:
    """A coordinate at the edge of the board: text of at most three columns, centred on a place."""

    text: str
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Scene:
    """Everything a renderer needs: the cells, the highlights, and lines of text below.

    The text names players with `seat_name`, since a view does not know what they are called;
    whoever draws the scene puts their names there with `with_names`.

    Labels stand one place outside of the cells, where no cell is. `colours` says, by seat, who has
    which colour; it is empty where pieces have none, and while that is open.
    """

    lattice: Lattice
    cells: tuple[Cell, ...]
    marks: tuple[Mark, ...] = ()
    text: tuple[str, ...] = ()
    labels: tuple[Label, ...] = ()
    colours: tuple[PieceColour, ...] = ()


_SEAT_NAME = re.compile(r"\bseat ([1-9]\d*)\b")


def seat_name(seat: int) -> str:
    """Return how the text of a scene names a player: ``seat 1`` is the first one."""
    return f"seat {seat + 1}"


def with_names(scene: Scene, names: Sequence[str]) -> Scene:
    """Return `scene` with the players' `names`, by seat, wherever its text has `seat_name`."""

    def name(found: re.Match[str]) -> str:
        seat = int(found[1]) - 1
        return names[seat] if seat < len(names) else found[0]

    return replace(scene, text=tuple(_SEAT_NAME.sub(name, line) for line in scene.text))
