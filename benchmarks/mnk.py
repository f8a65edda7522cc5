"""The m,n,k game, which any game server can be put to: the benchmark's common workload.

Two seats alternate placing stones on an m by n board; k in a row wins, a full board is a
draw. It is written against the public game interface and handed to the server beside the
registered games, as anybody's own game would be.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from kibitz_games.core.game import (
    TERMINAL,
    Game,
    GameInfo,
    IllegalAction,
    InvalidSetup,
    Json,
    Model,
    Outcome,
    State,
)
from kibitz_games.core.scene import Cell, Scene

MAX_CELLS = 225
EMPTY = ord(".")
STONES = (ord("X"), ord("O"))
ONGOING = -1

# Numbers are read all at once: a field access costs more than the arithmetic of a move.
STATE = np.dtype([("cells", np.uint8, MAX_CELLS), ("numbers", np.int64, 5)])
COLUMNS, ROWS, ROW, PLY, WINNER = range(5)


class Options(Model):
    columns: int = Field(10, ge=3, le=15)
    rows: int = Field(10, ge=3, le=15)
    row: int = Field(5, ge=3, le=225, description="stones in a row that win")


class Move(Model):
    cell: int = Field(ge=0, lt=MAX_CELLS, description="row-major from the top left")


class View(Model):
    columns: int
    cells: str
    ply: int


class MNK(Game):
    info: ClassVar[GameInfo] = GameInfo(
        name="mnk",
        title="m,n,k",
        summary="k stones in a row on an m by n board",
        rules_version=1,
        seats=(2,),
        max_plies=MAX_CELLS,
        legal_rule="any empty cell",
        drops=False,
    )
    Options = Options
    Move = Move
    View = View

    def deal(self, options: Model, seats: int, seed: int) -> dict[str, Json]:
        return {}

    def start(self, options: Model, seats: int, deal: Mapping[str, Json]) -> State:
        assert isinstance(options, Options)
        if seats != 2:
            raise InvalidSetup("seats", f"2 expected, not {seats}")
        state: State = np.zeros(1, STATE)[0]
        state["cells"][: options.columns * options.rows] = EMPTY
        state["numbers"][:] = (options.columns, options.rows, options.row, 0, ONGOING)
        return state

    def to_act(self, state: State) -> int:
        columns, rows, _, ply, winner = state["numbers"].tolist()
        return TERMINAL if winner != ONGOING or ply == columns * rows else int(ply % 2)

    def legal(self, state: State) -> list[int]:
        if self.to_act(state) == TERMINAL:
            return []
        cells: list[int] = np.flatnonzero(state["cells"] == EMPTY).tolist()
        return cells

    def play(self, state: State, action: int) -> None:
        numbers = state["numbers"]
        columns, rows, need, ply, _ = numbers.tolist()
        cells = state["cells"]
        cells[action] = STONES[ply % 2]
        numbers[PLY] = ply + 1
        if _wins(cells.tobytes(), columns, rows, need, action):
            numbers[WINNER] = ply % 2

    def undo(self, state: State, action: int) -> None:
        state["cells"][action] = EMPTY
        state["numbers"][PLY] -= 1
        state["numbers"][WINNER] = ONGOING

    def forfeit(self, state: State, seat: int) -> None:
        if self.to_act(state) != TERMINAL:
            state["numbers"][WINNER] = 1 - seat

    def outcome(self, state: State) -> Outcome | None:
        columns, rows, _, ply, winner = state["numbers"].tolist()
        if winner != ONGOING:
            ranks = (1, 2) if winner == 0 else (2, 1)
            return Outcome(ranks, (1.0 - winner, float(winner)), "row")
        if ply == columns * rows:
            return Outcome((1, 1), (0.5, 0.5), "full")
        return None

    def view(self, state: State, seat: int | None) -> Model:
        columns, rows, _, ply, _ = state["numbers"].tolist()
        cells = state["cells"].tobytes()[: columns * rows].decode("ascii")
        return View(columns=columns, cells=cells, ply=ply)

    def referee_view(self, state: State) -> Model:
        return self.view(state, None)

    def sample(self, view: Model, seed: int) -> State:
        raise AssertionError("nothing samples the benchmark's game")

    def decode(self, state: State, move: Model) -> int:
        assert isinstance(move, Move)
        if state["cells"][move.cell] != EMPTY or self.to_act(state) == TERMINAL:
            raise IllegalAction(f"cell {move.cell} is not empty")
        return move.cell

    def encode(self, state: State, action: int) -> Model:
        return Move(cell=action)

    def dump_moves(self, state: State, actions: Sequence[int]) -> list[dict[str, Any]]:
        return [{"cell": action} for action in actions]

    def count_legal(self, state: State) -> int:
        columns, rows, _, ply, winner = state["numbers"].tolist()
        return 0 if winner != ONGOING else int(columns * rows - ply)

    def format_move(self, move: Model) -> str:
        assert isinstance(move, Move)
        return str(move.cell)

    def parse_move(self, text: str) -> Model:
        if not text.isdigit():
            raise IllegalAction(f"expected the number of a cell, not {text!r}")
        return Move(cell=int(text))

    def move_cells(self, move: Model) -> tuple[str, ...]:
        return (self.format_move(move),)

    def scene(self, view: Model) -> Scene:
        assert isinstance(view, View)
        cells = tuple(
            Cell(str(i), float(i % view.columns), float(i // view.columns), "floor", glyph=glyph)
            for i, glyph in enumerate(view.cells)
        )
        return Scene("square", cells)

    def dump(self, model: Model) -> dict[str, Any]:
        return dict(model.__dict__)


def _wins(cells: bytes, columns: int, rows: int, need: int, action: int) -> bool:
    """Whether the stone on `action` is part of a row of at least `need`."""
    if need > max(columns, rows):
        return False
    own, x, y = cells[action], action % columns, action // columns
    for dx, dy in ((1, 0), (0, 1), (1, 1), (1, -1)):
        count = 1
        for sign in (1, -1):
            cx, cy = x + sign * dx, y + sign * dy
            while 0 <= cx < columns and 0 <= cy < rows and cells[cy * columns + cx] == own:
                count += 1
                cx, cy = cx + sign * dx, cy + sign * dy
        if count >= need:
            return True
    return False


GAME = MNK()
