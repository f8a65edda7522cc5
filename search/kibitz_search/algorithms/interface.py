"""The interfaces of searches and evaluations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias

import numpy as np

from kibitz_games.core.game import GameInfo
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.algorithms.result import SearchResult

Evaluation: TypeAlias = Callable[[np.record], np.record]
"""Returns the evaluation record for a state, for example with the weights for its board. The
record's type selects the implementation of ``operations.evaluate(record, state, seat)``."""


class Search(Protocol):
    """A search for the best action; a new one is created for each match.

    A search class is called with an initial state, which determines the workspace, and with
    parameters of its own as keywords, such as the size of its table. If a search does not use all
    of its code on an initial state, it can define ``warm_up(state, ev)``, which is called before
    the match, so that nothing is compiled during a turn.
    """

    @staticmethod
    def supports(info: GameInfo, state: np.record) -> str | None:
        """Return why the search does not support the setup of `state`, or None if it does."""

    def search(self, state: np.record, ev: np.record, limits: SearchLimits) -> SearchResult:
        """Return the best action found within `limits`, and its value.

        `state` must not be terminal and is unchanged afterwards. `ev` is its evaluation record. In
        games with hidden information, `state` is one state that is consistent with the view of the
        seat to act, and ``limits.sample`` returns others. The search returns an action even if the
        limits are very low. Raises `limits.UnsupportedLimit` for limits that it does not support.
        """
