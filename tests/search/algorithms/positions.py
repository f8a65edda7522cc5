"""Small two-player games with evaluations, and positions of them, for tests of searches."""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from kibitz_games.core import registry
from kibitz_games.core.game import Game


@dataclass(frozen=True)
class Setting:
    """A game with options, and the name of an evaluation in the game's module."""

    game: str
    evaluation: str
    options: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        given = ",".join(f"{name}={value}" for name, value in self.options.items())
        return f"{self.game}:{given}"

    @property
    def rules(self) -> Game:
        return registry.get(self.game)

    def start(self, seed: int = 0) -> np.record:
        """Return a start position; `seed` determines the chance outcomes."""
        chosen = self.rules.Options.model_validate(self.options)
        return self.rules.start(chosen, 2, self.rules.deal(chosen, 2, seed))

    def after(self, choices: Sequence[int], seed: int = 0) -> np.record:
        """Return the position after moves chosen by number, or the last one before the end."""
        state = self.start(seed)
        for choice in choices:
            legal = self.rules.legal(state)
            action = legal[choice % len(legal)]
            self.rules.play(state, action)
            if self.rules.outcome(state) is not None:
                self.rules.undo(state, action)
                break
        return state

    def weights(self, state: np.record) -> np.record:
        """Return the evaluation record for a state."""
        module = f"kibitz_search.{self.game.replace('-', '_')}.evaluation"
        made: np.record = getattr(importlib.import_module(module), self.evaluation)(state)
        return made


SETTINGS = (
    Setting("chinese-checkers", "hand", {"size": 2}),
    Setting("chinese-checkers", "euclid", {"board": "rhombus", "size": 4, "pegs": 3}),
    Setting("chinese-checkers", "hand", {"board": "rhombus", "size": 3, "pegs": 3}),
    Setting("number-merge", "points", {"length": 7}),
    Setting("five-in-a-row", "usual", {"size": 5, "swap": True}),
    Setting("line-nim", "parts", {"free": 12}),
)
"""Games small enough for minimax; one has passes, one a swap with two turns in a row."""
QUICK = (SETTINGS[0], SETTINGS[3])
"""The two games of the quick tests; each further game requires compiling a search."""


def one_by_one(settings: Sequence[Setting]) -> list[Any]:
    """Return test parameters; settings that are not `QUICK` are marked as slow."""
    return [
        pytest.param(each, id=str(each), marks=[] if each in QUICK else pytest.mark.slow)
        for each in settings
    ]


def products(*values: Sequence[Any], slow: Collection[tuple[Any, ...]]) -> list[Any]:
    """Return the product of test parameters; `slow` values are combined with the slow settings."""
    return [
        pytest.param(*each, marks=pytest.mark.slow if each in slow else [])
        for each in itertools.product(*values)
    ]


def rhombus(size: int, pegs: Sequence[Sequence[int]]) -> np.record:
    """Return the position on a small rhombus with the given pegs of seats 0 and 1; seat 0 moves."""
    game: Any = registry.get("chinese-checkers")
    options = game.Options(board="rhombus", size=size, pegs=len(pegs[0]))
    view = game.view(game.start(options, 2, {}), None)
    changed = {"pegs": [sorted(each) for each in pegs], "best": [99, 99]}
    made: np.record = game.sample(view.model_copy(update=changed), 0)
    return made
