"""A bot made of a search and an evaluation, for any game that both support."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from kibitz_bots.sdk import Bot, Move, Turn
from kibitz_bots.search.found import Found
from kibitz_bots.search.limits import Limits
from kibitz_games import kernels, registry
from kibitz_games import operations as op
from kibitz_games.api import Game, GameInfo
from kibitz_protocol.rooms import ProgrammeItem

Evaluation = Callable[[np.record], np.record]
"""Makes the evaluation record that fits a state, such as the weights for its board."""


class Search(Protocol):
    """What a search has to offer; a new one is made for every match.

    A search class takes the state of a start, to make its workspace for, and as keywords the
    parameters that are its own, such as the size of its table. `search` must not change `state`;
    where something is hidden, `state` is one that agrees with what the seat knows and
    `limits.sample` gives others. A search that does not use all that it has on a start may have
    a method ``rehearse(state, ev)`` that does.
    """

    @staticmethod
    def supports(info: GameInfo, state: np.record) -> str | None: ...
    def search(self, state: np.record, ev: np.record, limits: Limits) -> Found: ...


class Searcher(Bot):
    """Plays what `search` finds by `evaluation`.

    `evaluation` names a function, ``"package.module:function"``, that makes the evaluation record
    for a state; it is imported when the bot is warmed or plays its first turn. It is empty for a
    search that judges nothing by weights, which is given an empty record. `seconds` is the
    most time for a move, None for what the clock allows; `depth` the search's limit, 0 for none;
    `seed` makes the play repeatable, as far as the time spent on it is. `parameters` are the
    search's own.
    """

    def __init__(
        self,
        search: type[Search],
        evaluation: str,
        *,
        seed: int | None = None,
        seconds: float | None = None,
        depth: int = 0,
        at_once: int = 4,
        parameters: Mapping[str, Any] | None = None,
    ) -> None:
        self.at_once = at_once
        self._kind = search
        self._evaluation = evaluation
        self._seed = seed
        self._seconds = seconds
        self._depth = depth
        self._parameters = dict(parameters or {})
        self._search: Search | None = None
        self._ev: np.record | None = None

    def warm(self, programme: Sequence[ProgrammeItem]) -> None:
        """Compile or load everything that the programme needs, by searching each start once.

        Nothing is kept of that but the machine code: a table would be as large as in a match.
        """
        for state, info in _starts(programme, self.games, self.seats):
            self._prepare(state, info)
            sample = (lambda seed, st=state: st.copy()) if info.hidden else None
            found = self._find(state, Limits(0.001, self._depth, sample=sample))
            _texts(registry.get(info.name), state, found)
            rehearse = getattr(self._search, "rehearse", None)
            if rehearse is not None:
                rehearse(state, self._ev)
        self._search = self._ev = None

    def choose(self, turn: Turn) -> Move:
        """Return the move that the search finds."""
        state, budget = turn.state, turn.budget.within(self._seconds)
        if self._search is None:
            self._prepare(state, turn.match.rules.info)
        seed = f"{turn.match.id if self._seed is None else self._seed}/{turn.seat}/{turn.ply}"
        sample = turn.sample if turn.match.rules.info.hidden else None

        def so_far(found: Found) -> None:
            turn.suggest(turn.move(found.action))

        limits = Limits(budget.left, self._depth, seed, turn.called_off, sample, hear=so_far)
        found = self._find(state, limits)
        turn.comment(
            value=round(found.value, 3),
            depth=found.depth,
            nodes=found.nodes,
            line=_texts(turn.match.rules, state, found),
        )
        return turn.move(found.action)

    def _prepare(self, state: np.record, info: GameInfo) -> None:
        if (reason := self._kind.supports(info, state)) is not None:
            raise ValueError(f"{self._kind.__name__} cannot play: {reason}")
        self._ev = _evaluation(self._evaluation)(state)
        make: Callable[..., Search] = self._kind
        self._search = make(state, **self._parameters)

    def _find(self, state: np.record, limits: Limits) -> Found:
        if self._search is None or self._ev is None:
            raise AssertionError("a search is prepared before it is used")
        return self._search.search(state, self._ev, limits)


def _evaluation(name: str) -> Evaluation:
    """Return the function of that name; for none, one that makes a record without fields."""
    if not name:
        return lambda state: kernels.new(kernels.record("nothing", [], source=__file__))
    module, _, function = name.partition(":")
    evaluation: Evaluation = getattr(importlib.import_module(module), function)
    return evaluation


def _starts(
    programme: Sequence[ProgrammeItem], games: Sequence[str], seats: Sequence[int]
) -> list[tuple[np.record, GameInfo]]:
    """Return the first states of what a bot of these games and numbers of seats can play.

    Without a programme that is each game with the fewest seats.
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


def _texts(game: Game, state: np.record, found: Found) -> list[str]:
    """Write what a search expects to be played."""
    st, texts = state.copy(), []
    seat = op.to_act(st)
    for action in found.line:
        texts.append(game.text(game.encode(st, action)))
        op.play(st, action)
        if op.terminal(st):
            break
        if found.alone:
            op.hold(st, seat)
    return texts
