"""The m,n,k game: an unregistered game that tests pass to servers.

Two seats put marks on a board of `columns` by `rows` cells; `row` marks in a row win. Moves and
views use cell numbers, from the top left.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pydantic import Field

from kibitz_games.core.game import IllegalAction, Model, State
from tests.server.match.toy_games import Grid, GridOptions

MAX_CELLS = 225
GLYPHS = bytes.maketrans(b"\0\1\2", b".XO")


class Options(GridOptions):
    columns: int = Field(10, ge=3, le=15)
    rows: int = Field(10, ge=3, le=15)
    row: int = Field(5, ge=3, le=MAX_CELLS)


class Move(Model):
    cell: int = Field(ge=0, lt=MAX_CELLS)


class View(Model):
    columns: int
    cells: str
    ply: int


class MNK(Grid):
    info = replace(
        Grid.info,
        name="mnk",
        title="m,n,k",
        seats=(2,),
        max_plies=MAX_CELLS,
        legal_rule="any empty cell",
        drops=False,
    )
    Options = Options
    Move = Move
    View = View

    def view(self, state: State, seat: int | None) -> Model:
        s: Any = state
        size = int(s["columns"]) * int(s["rows"])
        cells = s["cells"][:size].tobytes().translate(GLYPHS).decode("ascii")
        return View(columns=int(s["columns"]), cells=cells, ply=size - int(s["empty"]))

    def decode(self, state: State, move: Model) -> int:
        assert isinstance(move, Move)
        if move.cell not in self.legal(state):
            raise IllegalAction(f"cell {move.cell} is not empty")
        return move.cell

    def encode(self, state: State, action: int) -> Model:
        return Move(cell=action)


GAME = MNK()
