"""The check that a search for one game is given a state of that game."""

from __future__ import annotations

from typing import Any

import numpy as np

from kibitz_games.core.game import GameInfo


def one_game_only(info: GameInfo, state: np.record, known: np.dtype[Any]) -> str | None:
    """Return why an expert in the game whose states are `known` cannot play one, None if it can."""
    return None if state.dtype == known else f"it knows another game, not {info.name}"
