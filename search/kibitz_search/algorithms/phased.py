"""A search in phases: special knowledge where it has an answer, a general search in between.

"Fun With Chinese Checkers" proposes a bot in three phases: an opening book, a search against the
others in the middle, and the end of the game alone from a database. Here each kind of knowledge is
an *oracle*. The oracles are asked in their order, each turn anew, and the first answer is played;
where none has one, the *middle* search plays.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar, Protocol

import numpy as np

from kibitz_games.core.game import GameInfo
from kibitz_search.algorithms.interface import Search
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.algorithms.result import SearchResult
from kibitz_search.algorithms.timer import ThinkingTime


class Oracle(Protocol):
    """Knowledge of some positions; a new one is made for every match, for the state of a start."""

    def __init__(self, state: np.record) -> None: ...
    @staticmethod
    def supports(state: np.record) -> str | None:
        """Return why the oracle has no answers for a game and its options, or None if it has."""

    def probe(self, state: np.record, limits: SearchLimits) -> SearchResult | None:
        """Return what to play, None where it has nothing to say; `state` is unchanged."""


class PhasedSearch:
    """Oracles and a middle search; subclasses say which.

    `middle` is another search for the middle; `parameters` are that search's own.
    """

    oracles: ClassVar[tuple[type[Oracle], ...]] = ()
    middle: ClassVar[type[Search]]

    def __init__(
        self, state: np.record, *, middle: type[Search] | None = None, **parameters: Any
    ) -> None:
        make: Callable[..., Search] = middle or self.middle
        self._middle = make(state, **parameters)
        self._oracles = [each(state) for each in self.oracles if each.supports(state) is None]

    @classmethod
    def supports(cls, info: GameInfo, state: np.record) -> str | None:
        """Return why it cannot play a game: the middle's reason. An oracle may be missing."""
        return cls.middle.supports(info, state)

    def warm_up(self, state: np.record, ev: np.record) -> None:
        """Ask everybody once, so that nothing is compiled when the first phase is over."""
        brief = SearchLimits(0.001)
        for oracle in self._oracles:
            oracle.probe(state, brief)
        self._middle.search(state, ev, brief)

    def search(self, state: np.record, ev: np.record, limits: SearchLimits) -> SearchResult:
        """Return what the first oracle with an answer says, else what the middle search finds."""
        thinking = ThinkingTime(limits.seconds)
        for oracle in self._oracles:
            if (found := oracle.probe(state, limits)) is not None:
                return found
        return self._middle.search(state, ev, replace(limits, seconds=thinking.left))
