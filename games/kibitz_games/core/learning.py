"""Observations and dense action numbers for learners, for every game.

Dense action numbers start at 0 and have no gaps for the given options and geometry. A game whose
actions have gaps implements the operations `num_dense`, `dense_index` and `dense_action`. A game
that implements `observe` writes observations directly from the state.
"""

# Operations are imported on first use, so that a program can choose its kernel mode first.

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, cast

import numpy as np

from kibitz_games.compiled import records
from kibitz_games.core.game import Features, Game, State

NOTHING = -1
"""The number with which `Stepper.step` plays no action."""
ILLEGAL = -2
"""The result of `Stepper.step` for an illegal action."""


def observe(game: Game, state: State, seat: int, out: Features | None = None) -> Features:
    """Return ``game.features(game.view(state, seat), seat)``, in `out` if given.

    `out` must be a contiguous float32 array of the shape `observation_shape`, since machine code
    would write past the end of a smaller one; raises `ValueError` otherwise. If the operation
    `observe` is implemented for `state_type`, it reads the state directly, in one or two
    microseconds; otherwise the observation is computed from the view.
    """
    if _offers(game, "observe"):
        if out is None:
            out = np.empty(observation_shape(game, state), np.float32)
        _calls().observe(state, seat, out)
        return out
    seen = game.features(game.view(state, seat), seat)
    if out is None:
        return seen
    out[...] = seen
    return out


def observation_shape(game: Game, state: State) -> tuple[int, ...]:
    """Return the shape of observations for matches with the setup of `state`."""
    return cast("tuple[int, ...]", game.features(game.view(state, 0), 0).shape)


def num_dense_actions(game: Game, state: State) -> int:
    """Return the number of dense actions for matches with the setup of `state`."""
    if _offers(game, "num_dense"):
        return cast(int, _calls().num_dense(state))
    return game.defaults.codec.count


def dense_index(game: Game, state: State, action: int) -> int:
    """Return the dense number of an action; by default, this is the action itself."""
    if not _offers(game, "dense_index"):
        return action
    return cast(int, _calls().dense_index(state, action))


def dense_action(game: Game, state: State, index: int) -> int:
    """Return the action for a dense number."""
    if not _offers(game, "dense_action"):
        return index
    return cast(int, _calls().dense_action(state, index))


def action_mask(
    game: Game, state: State, count: int | None = None
) -> np.ndarray[Any, np.dtype[np.int8]]:
    """Return an int8 array, indexed by dense number, with 1 for each legal action.

    Pass `count`, the result of `num_dense_actions`, to avoid computing it again.
    """
    mask = np.zeros(num_dense_actions(game, state) if count is None else count, np.int8)
    _calls().write_mask(state, mask)
    return mask


class Stepper:
    """A match that a learner steps, with one call of machine code per ply.

    `mask` has a 1 for each legal action, indexed by dense number; `seen` is the observation of the
    seat to act, or of seat 0 at the end. The next step overwrites both.

    ``step(number)`` plays the action with a dense number and returns the seat to act (`TERMINAL` at
    the end). If the action is illegal, it returns `ILLEGAL` and changes nothing.
    """

    def __init__(self, game: Game, state: State) -> None:
        self.game, self.state = game, state.copy()
        self.mask = np.zeros(num_dense_actions(game, state), np.int8)
        self.seen = np.zeros(observation_shape(game, state), np.float32)
        self._bind()

    def _bind(self) -> None:
        self._bytes = records.as_bytes(self.state)
        self._scores = np.zeros(int(self.state["seats"]))
        self._other = np.zeros_like(self.seen)
        self._observes = _offers(self.game, "observe")
        seen = self.seen if self._observes else np.zeros(0, np.float32)
        self._calls = _calls().steps(
            self.state, self.mask, seen.reshape(-1), self._other.reshape(-1), self._scores
        )
        self.step: Callable[[int], int]
        self.step = self._calls.step if self._observes else self._step_by_view

    def _step_by_view(self, number: int) -> int:
        """Step a game that has no kernel for observations."""
        seat: int = self._calls.step(number)
        if seat != ILLEGAL:
            self.seen[...] = self.observe(max(seat, 0))
        return seat

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields that `_bind` does not set."""
        return {name: getattr(self, name) for name in ("game", "state", "mask", "seen")}

    def __setstate__(self, fields: dict[str, Any]) -> None:
        vars(self).update(fields)
        self._bind()

    def start(self, state: State) -> int:
        """Continue from `state`, which must have the same setup; return the seat to act."""
        self._bytes[:] = records.as_bytes(state)
        return self.step(NOTHING)

    def observe(self, seat: int) -> Features:
        """Return a seat's observation, which later steps do not change."""
        if not self._observes:
            return observe(self.game, self.state, seat)
        self._calls.observe(seat)
        return self._other.copy()

    def rewards(self) -> list[float]:
        """Return each seat's reward at the end: 1 for the first place, -1 for the last place."""
        self._calls.returns()
        return [2.0 * score - 1.0 for score in self._scores.tolist()]


@functools.cache
def _offers(game: Game, name: str) -> bool:
    from kibitz_games.compiled import operations

    return operations.offers(game.state_type, name)


@functools.cache
def _calls() -> Any:
    from kibitz_games.compiled import calls

    return calls
