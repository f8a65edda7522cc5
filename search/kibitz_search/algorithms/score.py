"""Scores of two-player searches: the static difference, and the values of finished plays.

A leaf is worth the difference of what the evaluation says to the two seats. A position that is won
after `n` plies is worth ``WIN_SCORE - n``, one that is lost ``n - WIN_SCORE``: a sooner win is
better, and a later loss. A draw is worth 0 (`terminal.two_player_value`).

Values change their sign where the seat to act changes, which is not always after one ply: a
player may pass, or have several actions in a row.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kibitz_games.compiled import operations as op
from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.core.game import GameInfo
from kibitz_search.algorithms.result import WIN_SCORE, SearchResult

DECIDED = WIN_SCORE / 2
"""The bound beyond which values encode a win or a loss, and its ply."""


@kernel
def static_eval_diff(ev: op.Record, st: op.Record, seat: Int) -> Any:
    """Return what an undecided position is worth to `seat`."""
    other = np.int64(1 - seat)
    return op.evaluate(ev, st, seat) - op.evaluate(ev, st, other)


def plies_to_end(value: float) -> int | None:
    """Return after how many plies a decided position is won or lost; None if it is undecided."""
    return round(WIN_SCORE - abs(value)) if abs(value) > DECIDED else None


def is_exact(ws: op.Record, best: SearchResult) -> bool:
    """Return whether no greater depth can change what was found, ``ws.leaves`` being undecided."""
    end = plies_to_end(best.value)
    return int(ws.leaves) == 0 or (end is not None and end <= best.depth)


def two_player_only(info: GameInfo, state: np.record) -> str | None:
    """Return why a game is not one of two seats with nothing hidden, or None if it is."""
    if info.hidden:
        return f"{info.name} hides something from its players"
    if int(state["seats"]) != 2:
        return f"{info.name} has {int(state['seats'])} seats here, not 2"
    return None
