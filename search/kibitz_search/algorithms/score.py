"""Scores in two-player searches: static differences, and the values of finished games.

The value of a leaf is the difference between the evaluations for the two seats. The value of a win
after `n` plies is ``WIN_SCORE - n``, that of a loss ``n - WIN_SCORE``: earlier wins and later
losses are better. The value of a draw is 0 (`terminal.two_player_value`).

Values change sign when the seat to act changes, which is not necessarily after each ply: a seat may
have several actions in a row.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kibitz_games.compiled import operations as op
from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.core.game import GameInfo
from kibitz_search.algorithms.result import WIN_SCORE, SearchResult

DECIDED = WIN_SCORE / 2
"""Values beyond this bound encode a win or a loss and its ply."""


@kernel
def static_eval_diff(ev: op.Record, st: op.Record, seat: Int) -> Any:
    """Return the value of an undecided position for `seat`."""
    other = np.int64(1 - seat)
    return op.evaluate(ev, st, seat) - op.evaluate(ev, st, other)


def plies_to_end(value: float) -> int | None:
    """Return the number of plies to a win or loss, or None if the position is undecided."""
    return round(WIN_SCORE - abs(value)) if abs(value) > DECIDED else None


def is_exact(ws: op.Record, best: SearchResult) -> bool:
    """Return whether a deeper search cannot change the result.

    That is so if the game was over at every leaf (``ws.leaves`` counts the others), or if the value
    is a win or loss within the searched depth.
    """
    end = plies_to_end(best.value)
    return int(ws.leaves) == 0 or (end is not None and end <= best.depth)


def two_player_only(info: GameInfo, state: np.record) -> str | None:
    """Return None for a two-seat game without hidden information, otherwise the reason."""
    if info.hidden:
        return f"{info.name} has hidden information"
    if int(state["seats"]) != 2:
        return f"{info.name} has {int(state['seats'])} seats here, not 2"
    return None
