"""The operations on a single state for calls from Python; each takes 1 to 2 us. numba needs 5 us to
determine the type of a record passed from Python, so these functions pass it as an array (see
`records.as_array`).

Arguments and results are plain Python values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from kibitz_games.compiled import operations
from kibitz_games.compiled.kernels import Int, as_array, bound, int64_cast, kernel, kernel_array

i64 = int64_cast()

StateArray: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"
"""The result of `as_array`: an array with the state as its only element."""


@kernel
def _generate(states: StateArray, moves: operations.Moves) -> Any:
    return operations.generate(states[0], moves)


@kernel
def _play(states: StateArray, action: Int) -> Any:
    operations.play(states[0], action)
    return i64(states[0].side)


@kernel
def _undo(states: StateArray, action: Int) -> None:
    operations.undo(states[0], action)


@kernel
def _forfeit(states: StateArray, seat: Int) -> None:
    operations.forfeit(states[0], seat)


@kernel
def _compute_key(states: StateArray) -> Any:
    return operations.compute_key(states[0])


@kernel
def _returns(states: StateArray, out: operations.Values) -> None:
    operations.returns(states[0], out)


@kernel
def _observe(states: StateArray, out: operations.Planes, seat: Int) -> None:
    operations.observe(states[0], seat, out)


@kernel
def _dense_index(states: StateArray, action: Int) -> Any:
    return operations.dense_index(states[0], action)


@kernel
def _dense_action(states: StateArray, index: Int) -> Any:
    return operations.dense_action(states[0], index)


@kernel
def _num_dense(states: StateArray) -> Any:
    return operations.num_dense(states[0])


@kernel
def _write_mask(states: StateArray, most: Int, mask: Any) -> None:
    moves = np.empty(most, np.int32)
    for i in range(operations.generate(states[0], moves)):
        mask[operations.dense_index(states[0], i64(moves[i]))] = 1


@kernel
def _step(states: StateArray, most: Int, mask: Any, seen: operations.Planes, number: Int) -> Int:
    """Play the action with a dense number, or nothing if it is negative; show the result.

    Return the seat to act, or -2 if `mask` does not allow the action.
    """
    st = states[0]
    if number >= 0:
        if number >= len(mask) or mask[number] == 0:
            return i64(-2)
        operations.play(st, operations.dense_action(st, number))
    for index in range(len(mask)):
        mask[index] = 0
    _write_mask(states, most, mask)
    seat = i64(operations.to_act(st))
    if len(seen) > 0:
        operations.observe(st, max(seat, i64(0)), seen)
    return seat


def legal(state: np.record) -> list[int]:
    """Return the legal actions in the order of generation."""
    moves = np.empty(operations.max_actions(state.dtype), np.int32)
    count = _generate(as_array(state), kernel_array(moves))
    actions: list[int] = moves[:count].tolist()
    return actions


def play(state: np.record, action: int) -> None:
    """Apply a legal action."""
    _play(as_array(state), action)


def play_turn(state: np.record, action: int) -> int:
    """Apply a legal action, and return the seat to act next."""
    return int(_play(as_array(state), action))


def undo(state: np.record, action: int) -> None:
    """Take back `action`, the last one played."""
    _undo(as_array(state), action)


def forfeit(state: np.record, seat: int) -> None:
    """Remove a seat from an unfinished match."""
    _forfeit(as_array(state), seat)


def compute_key(state: np.record) -> int:
    """Return the key of the position, computed from scratch."""
    return int(_compute_key(as_array(state)))


def returns(state: np.record) -> tuple[float, ...]:
    """Return the score of each seat, 0.0 to 1.0; the match must be over."""
    out = np.zeros(operations.MAX_SEATS)
    _returns(as_array(state), kernel_array(out))
    return tuple(out[: int(state["seats"])].tolist())


def observe(state: np.record, seat: int, out: np.ndarray[Any, np.dtype[np.float32]]) -> None:
    """Write ``Game.features`` for `seat` into a contiguous float32 array."""
    if out.dtype != np.float32 or not out.flags.c_contiguous:
        raise ValueError(f"out: expected a contiguous float32 array, not {out.dtype}")
    _observe(as_array(state), kernel_array(out.reshape(-1)), seat)


def num_dense(state: np.record) -> int:
    """Return the number of dense actions for matches with this setup."""
    return int(_num_dense(as_array(state)))


def dense_index(state: np.record, action: int) -> int:
    """Return the dense number of an action."""
    return int(_dense_index(as_array(state), action))


def dense_action(state: np.record, index: int) -> int:
    """Return the action for a dense number."""
    return int(_dense_action(as_array(state), index))


def write_mask(state: np.record, mask: np.ndarray[Any, np.dtype[np.int8]]) -> None:
    """Set `mask` to 1 at the dense number of each legal action."""
    _write_mask(as_array(state), operations.max_actions(state.dtype), kernel_array(mask))


class Steps(NamedTuple):
    """Operations on one state, bound to it and to the arrays that they write."""

    step: Callable[[int], int]
    """Play the action with a dense number, and write `mask` and, for the seat to act, `seen`.

    Returns the seat to act. A negative number plays nothing; if the mask does not allow the action,
    the result is -2 and nothing changes."""
    observe: Callable[[int], None]
    """Write the observation of a seat to `other`."""
    returns: Callable[[], None]
    """Write the score of each seat, 0.0 to 1.0, to `scores`; the match must be over."""


def steps(
    state: np.record,
    mask: np.ndarray[Any, np.dtype[np.int8]],
    seen: np.ndarray[Any, np.dtype[np.float32]],
    other: np.ndarray[Any, np.dtype[np.float32]],
    scores: np.ndarray[Any, np.dtype[np.float64]],
) -> Steps:
    """Return the operations on `state` that write these contiguous arrays.

    `seen` and `other` are one-dimensional; if `seen` is empty, `step` does not write it.
    """
    states, most = as_array(state), operations.max_actions(state.dtype)
    return Steps(
        step=bound(_step, states, most, kernel_array(mask), kernel_array(seen), integers=1),
        observe=bound(_observe, states, kernel_array(other), integers=1),
        returns=bound(_returns, states, kernel_array(scores)),
    )
