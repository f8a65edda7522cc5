"""The results of searches: `SearchResult`, and the score of won positions."""

from __future__ import annotations

import random
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from kibitz_games.compiled import operations as op

WIN_SCORE = 1e6
"""The value of a win; the value of a loss is `-WIN_SCORE`. Evaluations of undecided positions are
much smaller. An evaluation returns `WIN_SCORE` for a seat that has reached its goal."""


@dataclass(frozen=True)
class SearchResult:
    """The result of a search."""

    action: int
    value: float
    """The value of `action` for the seat to act, in the evaluation's units. A win after `n` plies
    is ``WIN_SCORE - n``, or `WIN_SCORE` if the search does not know `n`; a loss is the negative."""
    depth: int
    """The last depth that was searched completely, in plies."""
    nodes: int
    """The number of positions searched."""
    line: tuple[int, ...]
    """The actions that lead to `value`, starting with `action`."""
    values: tuple[float, ...] = ()
    """The value of the position for each seat, from searches that compute it."""
    own_moves_only: bool = False
    """Whether `line` contains only the player's own moves, because the others do not move in this
    search."""


def root_moves(state: np.record, seed: int | str, excluded: Collection[int] = ()) -> list[int]:
    """Return the legal actions of `state` in a random order drawn from `seed`.

    Actions in `excluded` are left out; at least one other must be legal. Searches choose the first
    of several equally good actions.
    """
    moves = np.zeros(op.max_actions(state.dtype), np.int32)
    legal: list[int] = moves[: op.generate(state, moves)].tolist()
    actions = sorted(action for action in legal if action not in excluded)
    random.Random(seed).shuffle(actions)
    return actions
