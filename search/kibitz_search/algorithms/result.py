"""Results of searches: `SearchResult`, and the scores of decided positions."""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np

from kibitz_games.compiled import operations as op

WIN_SCORE = 1e6
"""The value of a won play; `-WON` is that of a lost one. Evaluations of undecided positions stay
far inside; an evaluation that sees that a seat has reached its aim returns `WIN_SCORE`."""


@dataclass(frozen=True)
class SearchResult:
    """The result of a search."""

    action: int
    value: float
    """The value of `action` to the seat to act, in the evaluation's units."""
    depth: int
    """Plies of the last depth that was searched completely."""
    nodes: int
    """Positions that were judged."""
    line: tuple[int, ...]
    """The actions that lead to `value`, the first one being `action`."""
    values: tuple[float, ...] = ()
    """The value of the position to each seat, from searches that compute it for each."""
    own_moves_only: bool = False
    """Whether the others stand still in `line`, which then has the own moves only."""


def root_moves(state: np.record, seed: int | str) -> list[int]:
    """Return the legal actions of `state` in an order drawn from `seed`.

    Searches choose the first of equals.
    """
    moves = np.zeros(op.max_actions(state.dtype), np.int32)
    actions: list[int] = sorted(moves[: op.generate(state, moves)].tolist())
    random.Random(seed).shuffle(actions)
    return actions
