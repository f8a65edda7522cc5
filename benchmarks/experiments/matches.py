"""Matches between searches in one process, without a server or game clocks."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from kibitz_games.core import registry
from kibitz_games.core.game import Game, Outcome
from kibitz_protocol.wire.shares import share_interval
from kibitz_search.algorithms.interface import Evaluation, Search
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.algorithms.result import SearchResult

Chooser: TypeAlias = Callable[[np.record, str], int]
"""Returns the action in a position; the text is the seed that breaks ties."""


@dataclass(frozen=True)
class Player:
    """A search with its evaluation and limits; `chooser` prepares it for a match."""

    search: type[Search]
    evaluation: Evaluation | None = None
    seconds: float = math.inf
    depth: int = 0
    parameters: Mapping[str, Any] = field(default_factory=dict)
    watch: Callable[[SearchResult], object] | None = None
    """A function that is called with the result of every search."""

    def chooser(self, start: np.record) -> Chooser:
        """Return a function that chooses the actions of one match from `start`."""
        make: Callable[..., Search] = self.search
        search = make(start, **self.parameters)
        ev: Any = None if self.evaluation is None else self.evaluation(start)

        def choose(state: np.record, seed: str) -> int:
            limits = SearchLimits(seconds=self.seconds, depth=self.depth, seed=seed)
            result = search.search(state, ev, limits)
            if self.watch is not None:
                self.watch(result)
            return result.action

        return choose


def start(name: str, seats: int, seed: int, **options: Any) -> tuple[Game, np.record]:
    """Return a game and the initial position for a seed."""
    game = registry.get(name)
    chosen = game.Options.model_validate(options)
    return game, game.start(chosen, seats, game.deal(chosen, seats, seed))


def scatter(game: Game, state: np.record, plies: int, seed: int) -> None:
    """Play `plies` random plies, or fewer if the match ends."""
    chance = random.Random(seed)
    for _ in range(plies):
        if game.outcome(state) is not None:
            return
        game.play(state, chance.choice(game.legal(state)))


def play(game: Game, state: np.record, choosers: Sequence[Chooser], seed: int) -> Outcome:
    """Play a match to its end, with a chooser for each seat."""
    while (outcome := game.outcome(state)) is None:
        seat = game.to_act(state)
        game.play(state, choosers[seat](state, f"{seed}/{seat}/{int(state['ply'])}"))
    return outcome


def share(wins: float, games: float) -> tuple[str, str]:
    """Return a share and its 95% interval as text; a draw counts as half a win."""
    low, high = share_interval(wins / games, games)
    return f"{100 * wins / games:.1f}%", f"{100 * low:.1f}% to {100 * high:.1f}%"
