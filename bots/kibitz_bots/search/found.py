"""What searches have in common: what they answer, and what a decided position is worth."""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np

from kibitz_games import operations as op

WON = 1e6
"""What a play that is won is worth; `-WON` one that is lost. Evaluations of positions that are
not decided stay far inside, and those that know a seat to have reached its aim say `WON`."""


@dataclass(frozen=True)
class Found:
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
    alone: bool = False
    """Whether the others stand still in `line`, which then has the own moves only."""


def roots(state: np.record, seed: int | str) -> list[int]:
    """Return the legal actions, shuffled by `seed`; searches choose the first of equals."""
    moves = np.zeros(op.widest(state.dtype), np.int32)
    actions: list[int] = sorted(moves[: op.generate(state, moves)].tolist())
    random.Random(seed).shuffle(actions)
    return actions
