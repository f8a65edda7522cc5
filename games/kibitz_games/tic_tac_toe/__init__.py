"""Tic-tac-toe for two players: three in a line on a three-by-three board win."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from pydantic import Field

from kibitz_games.core.declared import BoardView
from kibitz_games.core.game import Game, GameInfo, Model, NoOptions
from kibitz_games.core.grid import cell_names
from kibitz_games.tic_tac_toe import rules


class Move(Model):
    """The cell that gets a piece, counted row by row from the top left."""

    cell: int = Field(ge=0, lt=rules.CELLS)


class TicTacToe(Game[NoOptions, Move, BoardView]):
    """Tic-tac-toe on three by three cells."""

    info = GameInfo(
        name="tic-tac-toe",
        title="Tic-tac-toe",
        summary="Three in a line on a three-by-three board win; two players.",
        rules_version=1,
        seats=(2,),
        balanced=True,
        max_plies=rules.CELLS,
    )
    state_type = rules.STATE
    reasons = ("", "line", "full", "dropped")
    reason_texts: ClassVar[Mapping[str, str]] = {
        "line": "with three in a line",
        "full": "on a full board",
    }
    action_names = cell_names(rules.SIDE, rules.SIDE)


GAME = TicTacToe()
