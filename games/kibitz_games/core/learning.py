"""Observations and dense action numbers for learners, the same for every game.

Dense action numbers begin at 0 and have no holes, as far as options and geometry tell. A game whose
own numbers have holes implements the operations `num_dense`, `dense_index` and `dense_action`; one
that implements `observe` writes observations straight from the state.
"""

# Operations are imported when they are first used: a program settles the mode of its kernels
# before that.

from __future__ import annotations

import functools
from typing import Any, cast

import numpy as np

from kibitz_games.core.game import Features, Game, State


def observe(game: Game, state: State, seat: int, out: Features | None = None) -> Features:
    """Return ``game.features(game.view(state, seat), seat)``, in `out` if given.

    `out` is a contiguous array of float32 with the shape `observation_shape`: machine code would
    write beyond a smaller one. Raises `ValueError` for another kind of array. If the operation
    `observe` is implemented for `state_type`, the numbers come straight from the state, in a
    microsecond or two; otherwise they go through the view.
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
    """Return the shape of the observations of plays like the one of `state`."""
    return cast("tuple[int, ...]", game.features(game.view(state, 0), 0).shape)


def num_dense_actions(game: Game, state: State) -> int:
    """Return how many dense action numbers there are in plays like the one of `state`."""
    if _offers(game, "num_dense"):
        return cast(int, _calls().num_dense(state))
    return game.defaults.codec.count


def dense_index(game: Game, state: State, action: int) -> int:
    """Return the dense number of an action: itself, unless the operation says otherwise."""
    if not _offers(game, "dense_index"):
        return action
    return cast(int, _calls().dense_index(state, action))


def dense_action(game: Game, state: State, index: int) -> int:
    """Return the action that has a dense number."""
    if not _offers(game, "dense_action"):
        return index
    return cast(int, _calls().dense_action(state, index))


def action_mask(
    game: Game, state: State, count: int | None = None
) -> np.ndarray[Any, np.dtype[np.int8]]:
    """Return int8 with 1 for each action that is legal now, by dense number.

    `count` is the result of `num_dense_actions`, for callers that have it.
    """
    mask = np.zeros(num_dense_actions(game, state) if count is None else count, np.int8)
    _calls().write_mask(state, mask)
    return mask


@functools.cache
def _offers(game: Game, name: str) -> bool:
    from kibitz_games.compiled import operations

    return operations.offers(game.state_type, name)


@functools.cache
def _calls() -> Any:
    from kibitz_games.compiled import calls

    return calls
