"""Results of searches: `SearchResult`, and the scores of decided positions."""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np

from kibitz_games.compiled import operations as op

WIN_SCORE = 1e6
"""What a play that is won is worth; `-WON` one that is lost. Evaluations of positions that are
not decided stay far inside, and those that know a seat to have reached its aim say `WIN_SCORE`."""


@dataclass(frozen=True)
class SearchResult:
    """What a search found out about a position."""

    action: int
    value: float
    """What `action` is worth to the seat to act, in the evaluation's units."""
    depth: int
    """Plies of the last depth that was searched completely."""
    nodes: int
    """Positions that were judged."""
    line: tuple[int, ...]
    """The actions that lead to `value`, the first one being `action`."""
    values: tuple[float, ...] = ()
    """What the position is worth to each seat, from searches that tell them apart."""
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
