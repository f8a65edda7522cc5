"""A game-independent description of a drawing of a position.

A game converts a view to a `Scene`; the terminal, the image export and the web page draw scenes.
They need no knowledge of the rules.

Coordinates are lattice units, x to the right and y downwards. On a ``"square"`` lattice, neighbors
are one unit apart in both directions. On a ``"hex"`` lattice, neighbors in a row are two units of x
apart, rows are one unit of y apart, and odd rows are shifted by one unit of x. Renderers scale its
y by sqrt(3) to make the hexagons regular.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

Lattice = Literal["square", "hex"]
CellKind = Literal[
    "hole",  # a hole for pegs in a wooden board
    "home",  # a hole in the color of the seat whose home it is
    "goal",
    "point",  # an intersection of lines, for stones
    "floor",  # a tile that pieces may enter or take
    "fog",  # a tile that the viewer has not seen
    "seen",  # a tile that the viewer has visited or remembers
    "rock",  # an impassable tile
    "wreck",
    "gone",  # a tile that was removed
    "number",  # a card with a number on it
    "button",  # a button for an action, not a cell of the board
]
"""The look of a cell; renderers implement these kinds for all games."""
PieceColour = Literal["black", "white"]
"""The color of a piece, in games where it does not depend on the seat."""
MarkKind = Literal["from", "to", "path", "win", "vision"]


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of the board.

    `name` is what a person types and what `Notation.cells` returns; `owner` is the seat whose piece
    stands there; `tint` is the seat whose color tints the ground (for example of a home triangle).
    `colour` is the color of a stone on a ``point``, in games where the seats may swap colors;
    without it, the owner determines the look of a piece. A stone that has no owner yet has only a
    color. `glyph` is at most three terminal columns wide; `heading` is degrees clockwise from north
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
    """A highlight over cells, in order: both ends of the last move, its path, a winning line."""

    kind: MarkKind
    cells: tuple[str, ...]
    seat: int | None = None


@dataclass(frozen=True, slots=True)
class Label:
    """A coordinate at the edge of the board: centered text at most three columns wide."""

    text: str
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Scene:
    """Everything a renderer needs: the cells, the highlights, and the lines of text below.

    The text refers to players by `seat_name`, since a view does not contain their names; renderers
    insert these with `with_names`.

    Labels are one unit outside the cells. `colours` are the seats' colors, by seat; it is empty if
    pieces have no colors, or while they are undecided.
    """

    lattice: Lattice
    cells: tuple[Cell, ...]
    marks: tuple[Mark, ...] = ()
    text: tuple[str, ...] = ()
    labels: tuple[Label, ...] = ()
    colours: tuple[PieceColour, ...] = ()


_SEAT_NAME = re.compile(r"\bseat ([1-9]\d*)\b")


def seat_name(seat: int) -> str:
    """Return the placeholder for a player in a scene's text: ``seat 1`` is the first."""
    return f"seat {seat + 1}"


def with_names(scene: Scene, names: Sequence[str]) -> Scene:
    """Return `scene` with every `seat_name` in its text replaced by the player's name."""

    def name(match: re.Match[str]) -> str:
        seat = int(match[1]) - 1
        return names[seat] if seat < len(names) else match[0]

    return replace(scene, text=tuple(_SEAT_NAME.sub(name, line) for line in scene.text))
