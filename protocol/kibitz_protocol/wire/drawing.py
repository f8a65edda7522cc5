"""The drawing of a match for clients without the rules: a stage, its patches, and picks.

A client whose `hello` has `"views": "drawn"` gets a stage with each snapshot, and with each event a
merge patch for the stage (`wire/merge_patch.py`). Cells are an object by name, so a patch has the
changed fields of a cell, and null for a removed cell.

Coordinates are lattice units, x to the right and y downwards. On a ``square`` lattice neighbors are
one unit apart in both directions. On a ``hex`` lattice neighbors in a row are two units of x apart,
and rows are one unit of y apart; a unit of y must be drawn sqrt(3) times as long as a unit of x.

The client decides how to draw cells and marks, and ignores kinds that it does not know.
"""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypeAlias

from pydantic import Field
from typing_extensions import TypedDict

from kibitz_protocol.wire.values import Fields, SeatIndex

Coordinate: TypeAlias = int | float
"""A coordinate, serialized without a fraction if it is an integer."""
Glyph: TypeAlias = Annotated[str, Field(description="up to three characters to draw on it")]


class StageCell(TypedDict):
    """A cell of the board and what is on it. Each field is absent if there is nothing to draw."""

    x: Coordinate
    y: Coordinate
    kind: Annotated[
        str,
        Field(
            description="kind of ground: hole, home, goal, point, floor, fog, seen, rock, wreck,"
            " gone, number or button"
        ),
    ]
    owner: NotRequired[Annotated[SeatIndex, Field(description="seat that owns the piece on it")]]
    tint: NotRequired[Annotated[SeatIndex, Field(description="seat whose color tints the ground")]]
    glyph: NotRequired[Glyph]
    heading: NotRequired[Annotated[int, Field(description="degrees clockwise from the top")]]
    colour: NotRequired[
        Annotated[
            Literal["black", "white"],
            Field(description="color of the piece; if absent, the color of its owner"),
        ]
    ]


class StageLabel(TypedDict):
    """A label at the edge of the board, such as the letter of a column."""

    text: str
    x: Coordinate
    y: Coordinate


class StageMark(TypedDict):
    """A highlight of cells, in order, such as the ends or the path of the last move, or a winning
    line."""

    kind: Annotated[str, Field(description="from, to, path, win or vision")]
    cells: Annotated[list[str], Field(description="names of cells")]
    seat: NotRequired[SeatIndex]


class Stage(TypedDict):
    """A drawing of a position as a viewer sees it."""

    lattice: Literal["square", "hex"]
    cells: Annotated[dict[str, StageCell], Field(description="cells by name, in any order")]
    labels: list[StageLabel]
    marks: list[StageMark]
    text: Annotated[list[str], Field(description="lines below the board, such as the score")]
    colours: Annotated[
        list[Literal["black", "white"]],
        Field(description="color of each seat; empty if pieces have no colors"),
    ]


class Pick(TypedDict):
    """A legal action, and the cells that a person picks, in order, to play it.

    No action's cells are a prefix of another's. A single legal action, such as a pass, may have no
    cells.
    """

    cells: list[str]
    action: Fields
