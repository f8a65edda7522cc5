"""A neutral drawing of a position, which renderers draw without knowing the game.

A game turns a view into a `Scene`; the terminal, the image export and the web page draw scenes. A
scene contains no rules, so clients need none.

Coordinates are lattice units, x to the right and y downwards. On a ``"square"`` lattice neighbors
are one unit apart both ways. On a ``"hex"`` lattice neighbors in a row are two units of x apart,
rows are one unit of y apart, and odd rows are shifted by one unit of x. A renderer scales y by
sqrt(3) there to make hexagons regular.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

Lattice = Literal["square", "hex"]
CellKind = Literal[
    "hole",  # a hollow in a wooden board, for pegs
    "home",  # the same, in the color of the seat whose home it is
    "goal",
    "point",  # a crossing of the lines of a board, for stones
    "floor",  # a tile that may be entered or taken
    "fog",  # a tile unknown to the viewer
    "seen",  # a tile that the viewer has been on, or remembers
    "rock",  # a tile that nothing enters
    "wreck",
    "gone",  # a tile that is no longer there
    "number",  # a card with a number on it
    "button",  # not a place of the board: a button that a player picks to act
]
"""The look of a place; renderers implement these words for all games."""
PieceColour = Literal["black", "white"]
"""The color of a piece in games whose pieces have one, whichever seat plays them."""
MarkKind = Literal["from", "to", "path", "win", "vision"]


@dataclass(frozen=True, slots=True)
class Cell:
    """One place of the board.

    `name` is what a person types and what `Notation.cells` returns; `owner` is the seat whose
    piece stands there; `tint` the seat whose color tints the ground (a home triangle, say).
    `colour` is that of a stone on a ``point``, in games where the seats may change colors; without
    it the owner determines the look of a piece. A stone without an owner yet has a color only.
    `glyph` is at most three terminal columns wide; `heading` is degrees clockwise from north for
    pieces that face somewhere.
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
    """A coordinate at the edge of the board: text of at most three columns, centered on a place."""

    text: str
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Scene:
    """Everything a renderer needs: the cells, the highlights, and lines of text below.

    The text names players with `seat_name`, since a view does not contain their names; renderers
    fill these in with `with_names`.

    Labels stand one place outside of the cells, where no cell is. `colours` has the seats' colors,
    by seat; it is empty if pieces have none, or while they are undecided.
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

    def name(match: re.Match[str]) -> str:
        seat = int(match[1]) - 1
        return names[seat] if seat < len(names) else match[0]

    return replace(scene, text=tuple(_SEAT_NAME.sub(name, line) for line in scene.text))
