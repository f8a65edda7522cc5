"""The check that a search for one game is not used for another."""

from __future__ import annotations

from typing import Any

import numpy as np

from kibitz_games.core.game import GameInfo


def one_game_only(info: GameInfo, state: np.record, known: np.dtype[Any]) -> str | None:
    """Return None if a state has one of the `known` types, otherwise the reason for refusal."""
    return None if state.dtype == known else f"this search is for another game, not {info.name}"
