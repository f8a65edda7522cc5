"""Kernels over a slice of a batch of matches, from `first` to `end`, exclusive.

Matches are independent, so threads can work on different slices in parallel; the kernels release
the interpreter's lock. A step finishes one match before the next, while the state is in the
processor's cache.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np

from kibitz_games.compiled import kernels
from kibitz_games.compiled import operations as op
from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.vector.chance import below, draw, mix, u64

Array: TypeAlias = Any
"""An array over all matches; `States` are records, or their proxies in plain mode."""

i64 = kernels.int64_cast()


class Plays(NamedTuple):
    """A batch of matches, with its observations."""

    states: Array
    raw: Array
    """The bytes of each state."""
    starts: Array
    """The bytes of the states that matches start from."""
    seed: Any
    """The seed for choosing among the starts."""
    episodes: Array
    """How many times each match has been started."""
    points: Array
    """Each seat's points after the last step, in the game's own scoring."""
    moves: Array
    """The dense numbers of the legal actions; `counts` gives their number."""
    counts: Array
    masks: Array
    """1 for each legal action, indexed by dense number."""
    seats: Array
    """The seat to act; -1 if the match is over."""
    seen: Array
    """The observations for the seats to act, if the game has a kernel for them."""
    over: Array
    """Whether the last step ended the match."""
    rewards: Array
    observes: Any
    """Whether the game has a kernel for observations."""
    counts_points: Any
    """Whether rewards are points instead of outcomes."""
    auto_reset: Any
    """Whether a match restarts immediately after its end."""


@kernel
def pick(seed: Any, play: Int, episode: Int, n: Int) -> Int:
    """Return which of `n` starts a match uses in an episode."""
    return below(mix(mix(mix(u64(seed)) ^ u64(play)) ^ u64(episode)), n)


@kernel
def _show(plays: Plays, i: Int) -> None:
    """Write the seat to act, the mask and the observation of a match.

    On entry, the mask still contains the previous legal actions. If the match is over, the
    observation is that of seat 0.
    """
    st, moves, masks = plays.states[i], plays.moves, plays.masks
    for k in range(plays.counts[i]):
        masks[i, moves[i, k]] = 0
    n = i64(op.generate(st, moves[i]))
    for k in range(n):
        number = i64(op.dense_index(st, i64(moves[i, k])))
        moves[i, k] = number
        masks[i, number] = 1
    plays.counts[i] = n
    seat = i64(op.to_act(st))
    plays.seats[i] = seat
    if plays.observes:
        op.observe(st, max(seat, i64(0)), plays.seen[i])


@kernel
def _begin(plays: Plays, i: Int) -> None:
    """Restart a match from its next start."""
    plays.episodes[i] += 1
    start = pick(plays.seed, i, i64(plays.episodes[i]), i64(len(plays.starts)))
    plays.raw[i, :] = plays.starts[start, :]
    op.points(plays.states[i], plays.points[i])


@kernel
def begin(plays: Plays, chosen: Array, first: Int, end: Int) -> None:
    """Restart the chosen matches."""
    for i in range(first, end):
        if chosen[i]:
            _begin(plays, i)
            _show(plays, i)


@kernel
def first_illegal(masks: Array, seats: Array, actions: Array, first: Int, end: Int) -> Int:
    """Return the first unfinished match with an illegal action, or -1."""
    for i in range(first, end):
        action = i64(actions[i])
        if seats[i] >= 0 and (action < 0 or action >= masks.shape[1] or masks[i, action] == 0):
            return i64(i)
    return i64(-1)


@kernel
def _reward_outcome(st: op.Record, is_over: Any, values: Array, rewards: Array) -> None:
    """Write rewards from -1 to 1 if the match has just ended, otherwise 0."""
    if is_over:
        op.returns(st, values)
    for seat in range(len(rewards)):
        rewards[seat] = 2.0 * values[seat] - 1.0 if is_over else 0.0


@kernel
def _reward_points(st: op.Record, values: Array, points: Array, rewards: Array) -> None:
    """Write the points that each seat has won since `points`, and update `points`."""
    op.points(st, values)
    for seat in range(len(rewards)):
        rewards[seat] = values[seat] - points[seat]
        points[seat] = values[seat]


@kernel
def step(plays: Plays, actions: Array, first: Int, end: Int) -> None:
    """Play the actions in the unfinished matches, and write their rewards and observations."""
    values = np.zeros(op.MAX_SEATS)
    for i in range(first, end):
        goes_on = plays.seats[i] >= 0
        st = plays.states[i]
        if goes_on:
            op.play(st, i64(op.dense_action(st, i64(actions[i]))))
        is_over = goes_on and op.terminal(st)
        plays.over[i] = is_over
        if plays.counts_points:
            _reward_points(st, values, plays.points[i], plays.rewards[i])
        else:
            _reward_outcome(st, is_over, values, plays.rewards[i])
        if is_over and plays.auto_reset:
            _begin(plays, i)
        if goes_on:
            _show(plays, i)


@kernel
def sample(
    counters: Array, moves: Array, counts: Array, actions: Array, first: Int, end: Int
) -> None:
    """Draw a uniformly random legal action for each match; -1 if it has none."""
    for i in range(first, end):
        actions[i] = -1
        if counts[i] > 0:
            actions[i] = moves[i, draw(counters, i64(i), counts[i])]
