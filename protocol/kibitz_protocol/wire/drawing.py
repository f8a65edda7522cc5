"""How a match is drawn by a client that knows no rules: a stage, paints, and what is picked.

Who says `views` `drawn` in `hello` gets a stage with each snapshot, and with each event a paint:
what the event has changed of it. To apply a paint is

1. to take the cells away that are `gone`,
2. to put each cell of `cells` in the place of the one of its name, or beside the others,
3. to put `labels`, `marks`, `text` and `colours` in the place of those of the stage, where the
   paint has them.

Coordinates are lattice units, x to the right and y downwards. On a ``square`` lattice neighbours
are one unit apart both ways. On a ``hex`` lattice neighbours in a row are two units of x apart and
rows are one unit of y apart, which is to be drawn sqrt(3) times as long.

What a place or a mark looks like is for the client to decide, which passes over words that it does
not know.
"""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypeAlias

from pydantic import Field
from typing_extensions import TypedDict

from kibitz_protocol.wire.values import Fields, SeatIndex

Coordinate: TypeAlias = int | float
"""Written without a fraction where it has none, as all integers are."""
Glyph: TypeAlias = Annotated[str, Field(description="at most three characters to write on it")]


class StageCell(TypedDict):
    """A place of the board, and what stands on it; what is absent is not there."""

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
    """A highlight over cells, in order: the last move's ends or path, a winning line."""

    kind: Annotated[str, Field(description="from, to, path, win or vision")]
    cells: Annotated[list[str], Field(description="names of cells")]
    seat: NotRequired[SeatIndex]


class Stage(TypedDict):
    """A position as its viewer sees it."""

    lattice: Literal["square", "hex"]
    cells: Annotated[dict[str, StageCell], Field(description="by their names, in any order")]
    labels: list[StageLabel]
    marks: list[StageMark]
    text: Annotated[list[str], Field(description="lines below the board: how the match stands")]
    colours: Annotated[
        list[Literal["black", "white"]],
        Field(description="which colour each seat has; empty where pieces have none"),
    ]


class Paint(TypedDict, total=False):
    """What has changed of a stage; what is absent is as it was."""

    cells: Annotated[dict[str, StageCell], Field(description="new and changed cells, whole")]
    gone: Annotated[list[str], Field(description="names of cells that are no longer there")]
    labels: list[StageLabel]
    marks: list[StageMark]
    text: list[str]
    colours: list[Literal["black", "white"]]


class Pick(TypedDict):
    """A legal action, and the cells that a person picks, in order, to play it.

    No action is picked by the beginning of what another is picked by. An action that is the only
    one, such as a pass, may be picked by no cell.
    """

    cells: list[str]
    action: Fields
