"""A search in phases: special knowledge where it has an answer, a general search in between.

"Fun With Chinese Checkers" proposes a bot in three phases: an opening book, a search against the
others in the middle, and the end of the game alone from a database. Here each kind of knowledge
is a *stage*. The stages are asked in their order, each turn anew, and the first answer is played;
where none has one, the *middle* search plays.
"""

from __future__ import annotations

import importlib
import time
from dataclasses import replace
from typing import Any, ClassVar, Protocol

import numpy as np

from kibitz_bots.search.found import Found
from kibitz_bots.search.limits import Limits
from kibitz_games.api import GameInfo


class Stage(Protocol):
    """Knowledge of some positions; a new one is made for every match, for the state of a start."""

    def __init__(self, state: np.record) -> None: ...
    @staticmethod
    def supports(state: np.record) -> str | None:
        """Return why the stage has no answers for a game and its options, or None if it has."""

    def answer(self, state: np.record, limits: Limits) -> Found | None:
        """Return what to play, None where the stage has nothing to say; `state` is unchanged."""


class Phases:
    """Stages and a middle search; subclasses say which.

    `middle` names another search for the middle, ``package.module:name``; `parameters` are that
    search's own.
    """

    stages: ClassVar[tuple[type[Stage], ...]] = ()
    middle: ClassVar[str] = ""

    def __init__(self, state: np.record, *, middle: str = "", **parameters: Any) -> None:
        self._middle = _search_named(middle or self.middle)(state, **parameters)
        self._stages = [stage(state) for stage in self.stages if stage.supports(state) is None]

    @classmethod
    def supports(cls, info: GameInfo, state: np.record) -> str | None:
        """Return why it cannot play a game: the middle's reason. A stage may be missing."""
        reason: str | None = _search_named(cls.middle).supports(info, state)
        return reason

    def rehearse(self, state: np.record, ev: np.record) -> None:
        """Ask everybody once, so that nothing is compiled when the first phase is over."""
        brief = Limits(0.001)
        for stage in self._stages:
            stage.answer(state, brief)
        self._middle.search(state, ev, brief)

    def search(self, state: np.record, ev: np.record, limits: Limits) -> Found:
        """Return what the first stage with an answer says, else what the middle search finds."""
        began = time.monotonic()
        for stage in self._stages:
            if (found := stage.answer(state, limits)) is not None:
                return found
        left = max(0.0, limits.seconds - (time.monotonic() - began))
        found = self._middle.search(state, ev, replace(limits, seconds=left))
        assert isinstance(found, Found)
        return found


def _search_named(name: str) -> Any:
    module, _, member = name.partition(":")
    return getattr(importlib.import_module(module), member)
