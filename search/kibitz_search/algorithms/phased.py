"""A search in phases: it plays an oracle's answer if there is one, otherwise it searches.

"Fun With Chinese Checkers" proposes a bot with three phases: an opening book, a search that
includes the opponents in the middle game, and an endgame database for one's own pegs. Here, each
source of knowledge is an *oracle*. On each turn, the oracles are queried in order, and the first
answer is played. If none has an answer, the *middle* search chooses the action.
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
    """A source of moves for some positions; created for each match with its first state."""

    def __init__(self, state: np.record) -> None: ...
    @staticmethod
    def supports(state: np.record) -> str | None:
        """Return why the oracle does not support a game with its options, or None if it does."""

    def probe(self, state: np.record, limits: SearchLimits) -> SearchResult | None:
        """Return the action to play, or None if there is no answer; `state` is not modified."""


class PhasedSearch:
    """Oracles and a middle search, defined by subclasses.

    `middle` replaces the middle search; `parameters` are passed to it.
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
        """Return why the middle search does not support a game, or None; oracles are optional."""
        return cls.middle.supports(info, state)

    def warm_up(self, state: np.record, ev: np.record) -> None:
        """Run all parts once, so that later phases do not have to compile."""
        brief = SearchLimits(0.001)
        for oracle in self._oracles:
            oracle.probe(state, brief)
        self._middle.search(state, ev, brief)

    def search(self, state: np.record, ev: np.record, limits: SearchLimits) -> SearchResult:
        """Return the first oracle's answer, or the result of the middle search if none has one."""
        thinking = ThinkingTime(limits.seconds)
        for oracle in self._oracles:
            if (result := oracle.probe(state, limits)) is not None:
                return result
        return self._middle.search(state, ev, replace(limits, seconds=thinking.left))
