"""The interfaces of a search and of an evaluation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias

import numpy as np

from kibitz_games.core.game import GameInfo
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.algorithms.result import SearchResult

Evaluation: TypeAlias = Callable[[np.record], np.record]
"""Makes the evaluation record that fits a state, such as the weights for its board. The type of the
record selects what ``operations.evaluate(record, state, seat)`` does."""


class Search(Protocol):
    """A search for the best action; a new one is made for every match.

    A search class is called with the state of a start, to make its workspace for, and as keywords
    with the parameters that are its own, such as the size of its table. A search that does not use
    all of its code on a start may have a method ``warm_up(state, ev)`` that does; it is called
    before the match, so that nothing is compiled in a turn.
    """

    @staticmethod
    def supports(info: GameInfo, state: np.record) -> str | None:
        """Return why the search cannot play plays like that of `state`, or None if it can."""

    def search(self, state: np.record, ev: np.record, limits: SearchLimits) -> SearchResult:
        """Return the best action that can be found within `limits`, and what it is worth.

        `state` must not be over, and is unchanged afterwards. `ev` is the evaluation's record for
        it. In games with hidden information `state` is one state that is consistent with the view
        of the seat to act, and ``limits.sample`` gives others. The search returns an action however
        low the limits are. Raises `limits.UnsupportedLimit` for a limit that it cannot keep.
        """
