"""Connect Four for two: pieces fall down seven columns, and four of one's own in a line win."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from pydantic import Field

from kibitz_games.connect_four import rules
from kibitz_games.core.declared import BoardView
from kibitz_games.core.game import Game, GameInfo, Model, NoOptions


class Move(Model):
    """The column that a piece falls down, from 0 at the left."""

    column: int = Field(ge=0, lt=rules.COLUMNS)


class ConnectFour(Game[NoOptions, Move, BoardView]):
    """Four in a line on a standing board of seven columns and six rows."""

    info = GameInfo(
        name="connect-four",
        title="Connect Four",
        summary="Drop pieces down seven columns; four of your own in a line win; two players.",
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
