"""The drawing of a match for clients without the rules: a stage, its patches, and picks.

A client with `views` `drawn` in its `hello` gets a stage with each snapshot, and with each event
the merge patch of the stage (`wire/merge_patch.py`). Cells are an object by name, so a patch has
the fields of a cell that changed, and null for a cell that is gone.

Coordinates are lattice units, x to the right and y downwards. On a ``square`` lattice neighbors
are one unit apart both ways. On a ``hex`` lattice neighbors in a row are two units of x apart and
rows are one unit of y apart, which must be drawn sqrt(3) times as long.

The client decides what a place or a mark looks like, and ignores words that it does not know.
"""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypeAlias

from pydantic import Field
from typing_extensions import TypedDict

from kibitz_protocol.wire.values import Fields, SeatIndex

Coordinate: TypeAlias = int | float
"""A coordinate, written without a fraction if it is an integer."""
Glyph: TypeAlias = Annotated[str, Field(description="at most three characters to write on it")]


class StageCell(TypedDict):
    """A place of the board and what is on it; absent fields mean that there is none."""

    x: Coordinate
    y: Coordinate
    kind: Annotated[
        str,
        Field(
            description="the ground: hole, home, goal, point, floor, fog, seen, rock, wreck, gone,"
            " number or button"
        ),
    ]
    owner: NotRequired[Annotated[SeatIndex, Field(description="the seat whose piece stands there")]]
    tint: NotRequired[Annotated[SeatIndex, Field(description="the seat that tints the ground")]]
    glyph: NotRequired[Glyph]
    heading: NotRequired[Annotated[int, Field(description="degrees clockwise from the top")]]
    colour: NotRequired[
        Annotated[
            Literal["black", "white"],
            Field(description="of the piece; without it a piece looks as its owner does"),
        ]
    ]


class StageLabel(TypedDict):
    """A coordinate at the edge of the board."""

    text: str
    x: Coordinate
    y: Coordinate


class StageMark(TypedDict):
    """A highlight over cells, in order, such as the last move's ends or path, or a winning line."""

    kind: Annotated[str, Field(description="from, to, path, win or vision")]
    cells: Annotated[list[str], Field(description="names of cells")]
    seat: NotRequired[SeatIndex]


class Stage(TypedDict):
    """A position as a viewer sees it."""

    lattice: Literal["square", "hex"]
    cells: Annotated[dict[str, StageCell], Field(description="by their names, in any order")]
    labels: list[StageLabel]
    marks: list[StageMark]
    text: Annotated[list[str], Field(description="lines below the board: how the match stands")]
    colours: Annotated[
        list[Literal["black", "white"]],
        Field(description="which colour each seat has; empty where pieces have none"),
    ]


class Pick(TypedDict):
    """A legal action, and the cells that a person picks, in order, to play it.

    No action's cells are a prefix of another's. A single legal action, such as a pass, may have no
    cells.
    """

    cells: list[str]
    action: Fields
