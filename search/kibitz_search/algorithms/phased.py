"""A search in phases: oracles when they have an answer, a general search otherwise.

"Fun With Chinese Checkers" proposes a bot in three phases: an opening book, a search against the
others in the middle, and the end of the game alone from a database. Here each kind of knowledge is
an *oracle*. Each turn the oracles are asked in order, and the first answer is played. If none has
an answer, the *middle* search plays.
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
        """Return the action to play, or None if it has no answer; `state` is unchanged."""


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
        self._oracles = [oracle(state) for oracle in self.oracles if oracle.supports(state) is None]

    @classmethod
    def supports(cls, info: GameInfo, state: np.record) -> str | None:
        """Return why it cannot play a game: the middle's reason. An oracle may be missing."""
        return cls.middle.supports(info, state)

    def warm_up(self, state: np.record, ev: np.record) -> None:
        """Run all parts once, so that nothing is compiled when the first phase is over."""
        brief = SearchLimits(0.001)
        for oracle in self._oracles:
            oracle.probe(state, brief)
        self._middle.search(state, ev, brief)

    def search(self, state: np.record, ev: np.record, limits: SearchLimits) -> SearchResult:
        """Return the first oracle's answer, or the result of the middle search if there is none."""
        thinking = ThinkingTime(limits.seconds)
        for oracle in self._oracles:
            if (result := oracle.probe(state, limits)) is not None:
                return result
        return self._middle.search(state, ev, replace(limits, seconds=thinking.left))
