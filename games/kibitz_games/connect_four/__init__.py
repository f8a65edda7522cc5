"""Connect Four for two players: pieces drop into seven columns, and four in a line win."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from pydantic import Field

from kibitz_games.connect_four import rules
from kibitz_games.core.declared import BoardView
from kibitz_games.core.game import Game, GameInfo, Model, NoOptions


class Move(Model):
    """The column that a piece is dropped into; 0 is on the left."""

    column: int = Field(ge=0, lt=rules.COLUMNS)


class ConnectFour(Game[NoOptions, Move, BoardView]):
    """Connect Four on an upright board of seven columns and six rows."""

    info = GameInfo(
        name="connect-four",
        title="Connect Four",
        summary="Drop pieces into seven columns; four in a line win; two players.",
        rules_version=1,
        seats=(2,),
        balanced=True,
        max_plies=rules.CELLS,
    )
    state_type = rules.STATE
    reasons = ("", "four", "full", "dropped")
    reason_texts: ClassVar[Mapping[str, str]] = {
        "four": "with four in a row",
        "full": "on a full board",
    }
    action_names = tuple("abcdefg")


GAME = ConnectFour()
