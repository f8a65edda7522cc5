"""A bot that combines a search and an evaluation, for any game that both support."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kibitz_bots.sdk import Bot, Move, Turn, rng_for
from kibitz_games.compiled import operations as op
from kibitz_games.core import registry
from kibitz_games.core.game import Game, GameInfo
from kibitz_protocol.wire.lobbies import ProgrammeItem
from kibitz_search.algorithms.interface import Evaluation, Search
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.algorithms.outcome import outcome
from kibitz_search.algorithms.result import SearchResult

MOST_LINE = 32
"""The maximum number of moves of a line in a comment (`records.Comment.line`)."""


@dataclass(frozen=True)
class Searcher:
    """A search and its evaluation for one match."""

    search_by: Search
    ev: np.record

    def search(self, state: np.record, limits: SearchLimits) -> SearchResult:
        """Return the best action that the search finds within limits."""
        return self.search_by.search(state, self.ev, limits)


class EngineBot(Bot):
    """Plays the moves that `search` finds with `evaluation`.

    If `evaluation` is None, every unfinished position has the value 0. `seconds` is the time limit
    per move, None to follow the clock. `depth` limits the search, in plies or in the search's own
    unit; 0 means no limit. `seed` makes the moves repeatable, unless a time limit stops the search.
    `blunder` is the share of moves that it picks at random instead of searching.
    `at_once` is the maximum number of concurrent matches. `parameters` are passed to the search as
    keyword arguments.

    `prepare` and `choose` raise `ValueError` for a game that the search does not support.
    """

    def __init__(
        self,
        search: type[Search],
        evaluation: Evaluation | None,
        *,
        seed: int | None = None,
        blunder: float = 0.0,
        seconds: float | None = None,
        depth: int = 0,
        at_once: int = 4,
        parameters: Mapping[str, Any] | None = None,
    ) -> None:
        self.at_once = at_once
        self._kind = search
        self._evaluation = evaluation or outcome
        self._seed = seed
        self._blunder = blunder
        self._seconds = seconds
        self._depth = depth
        self._parameters = dict(parameters or {})
        self._search: Search | None = None
        self._ev: np.record | None = None

    def prepare(self, programme: Sequence[ProgrammeItem]) -> None:
        """Compile or load everything for the programme by searching each start position once.

        The searches are discarded afterwards, because their tables are as large as in a match.
        """
        for state, info in _start_states(programme, self.games, self.seats):
            self._prepare(state, info)
            self._warm_up(state, info)
        self._search = self._ev = None

    def _warm_up(self, state: np.record, info: GameInfo) -> None:
        """Compile or load the code for matches with the options and seats of `state`."""
        sample = (lambda seed: state.copy()) if info.hidden else None
        result = self._find(state, SearchLimits(0.001, self._depth, sample=sample))
        line_notation(registry.get(info.name), state, result)
        if (warm_up := getattr(self._search, "warm_up", None)) is not None:
            warm_up(state, self._ev)
        _WARM.add((self._kind, state.dtype))

    def choose(self, turn: Turn) -> Move:
        """Run the search and return its move, or blunder."""
        if self._blunder:
            rng = rng_for(turn, self._seed_of(turn))
            if rng.random() < self._blunder:
                return rng.choice(turn.legal)
        state, budget = turn.state, turn.budget.at_most(self._seconds)
        if self._search is None:
            info = turn.match.game_rules.info
            self._prepare(state, info)
            if (self._kind, state.dtype) not in _WARM:
                # An unprepared bot compiles now, before it reads the remaining time.
                self._warm_up(state, info)
                # Discard its tables: how much a search with a time limit writes to them depends on
                # the machine's speed.
                self._search = self._ev = None
                self._prepare(state, info)
        seed = f"{self._seed_of(turn)}/{turn.seat}/{turn.ply}"
        sample = turn.sample if turn.match.game_rules.info.hidden else None

        def so_far(result: SearchResult) -> None:
            turn.suggest(turn.move(result.action))

        limits = SearchLimits(
            math.inf if budget.nodes else budget.left,
            self._depth,
            seed,
            turn.cancelled,
            sample,
            budget.nodes,
            on_improvement=so_far,
        )
        result = self._find(state, limits)
        turn.comment(
            value=round(result.value, 3),
            depth=result.depth,
            nodes=result.nodes,
            line=line_notation(turn.match.game_rules, state, result),
        )
        return turn.move(result.action)

    def _seed_of(self, turn: Turn) -> int | str:
        return turn.match.id if self._seed is None else self._seed

    def searcher(self, state: np.record, info: GameInfo) -> Searcher:
        """Return the searcher for a match that starts with `state`, or raise `ValueError`."""
        if (reason := self._kind.supports(info, state)) is not None:
            raise ValueError(f"{self._kind.__name__} cannot play: {reason}")
        make: Callable[..., Search] = self._kind
        return Searcher(make(state, **self._parameters), self._evaluation(state))

    def _prepare(self, state: np.record, info: GameInfo) -> None:
        searcher = self.searcher(state, info)
        self._search, self._ev = searcher.search_by, searcher.ev

    def _find(self, state: np.record, limits: SearchLimits) -> SearchResult:
        if self._search is None or self._ev is None:
            raise AssertionError("the search must be prepared before use")
        return self._search.search(state, self._ev, limits)


_WARM: set[tuple[type[Search], Any]] = set()
"""The searches warmed up in this process, each with the type of the states that it searched."""


def _start_states(
    programme: Sequence[ProgrammeItem], games: Sequence[str], seats: Sequence[int]
) -> list[tuple[np.record, GameInfo]]:
    """Return a start state for every item of the programme that a bot can play.

    Without a programme, return one for each of its games, with the fewest seats it supports.
    """
    wanted: list[tuple[str, dict[str, Any], int | None]] = [
        (item.game, dict(item.options), item.seats)
        for item in programme
        if not games or item.game in games
    ]
    starts = []
    for name, options, number in wanted or [(name, {}, None) for name in games]:
        game = registry.get(name)
        count = number or min(seats or game.info.seats)
        if seats and count not in seats:
            continue
        chosen = game.Options.model_validate(options)
        deal = game.deal(chosen, count, 0)
        starts.append((game.start(chosen, count, deal), game.info))
    return starts


def line_notation(game: Game, state: np.record, result: SearchResult) -> list[str]:
    """Return the principal variation of a search in notation."""
    st, texts = state.copy(), []
    seat = op.to_act(st)
    for action in result.line[:MOST_LINE]:
        texts.append(game.notation.format(game.encode(st, action)))
        op.play(st, action)
        if op.terminal(st):
            break
        if result.own_moves_only:
            op.set_side_to_move(st, seat)
    return texts
