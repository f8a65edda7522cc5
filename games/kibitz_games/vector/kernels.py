"""Kernels over a slice of a batch of plays, from `first` up to before `end`.

Plays are independent, so any number of threads may work on slices; the interpreter's lock is
released meanwhile. A step completes one play before the next, while its state is in the processor's
cache.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np

from kibitz_games.compiled import kernels
from kibitz_games.compiled import operations as op
from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.vector.chance import below, draw, mix, u64

Array: TypeAlias = Any
"""An array over all plays; `States` are records, or their proxies in plain mode."""

i64 = kernels.int64_cast()


class Plays(NamedTuple):
    """A batch of plays, with its observations."""

    states: Array
    raw: Array
    """The bytes of each state."""
    starts: Array
    """The bytes of the states that plays begin from."""
    seed: Any
    """The seed that chooses among the starts."""
    episodes: Array
    """How often each play has begun."""
    points: Array
    """Each seat's points after the last step, as the game counts them."""
    moves: Array
    """The legal actions by their dense numbers, `counts` of them."""
    counts: Array
    masks: Array
    """1 for each legal action, by its dense number."""
    seats: Array
    """The seat to act, -1 in a play that is over."""
    seen: Array
    """The observations of the seats to act, if the game has a kernel for them."""
    over: Array
    """Whether the last step ended the play."""
    rewards: Array
    observes: Any
    """Whether the game has a kernel for observations."""
    counts_points: Any
    """Whether points are rewarded, instead of outcomes."""
    auto_reset: Any
    """Whether a play that has ended begins again at once."""


@kernel
def pick(seed: Any, play: Int, episode: Int, n: Int) -> Int:
    """Return which of `n` starts a play begins from, in its episode."""
    return below(mix(mix(mix(u64(seed)) ^ u64(play)) ^ u64(episode)), n)


@kernel
def _show(plays: Plays, i: Int) -> None:
    """Write the seat to act, the mask, and the observation of a play.

    On entry the mask still has the previous legal actions. A play that is over shows the
    observation of seat 0.
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
    """Let a play begin again, from the start that is next for it."""
    plays.episodes[i] += 1
    start = pick(plays.seed, i, i64(plays.episodes[i]), i64(len(plays.starts)))
    plays.raw[i, :] = plays.starts[start, :]
    op.points(plays.states[i], plays.points[i])


@kernel
def begin(plays: Plays, chosen: Array, first: Int, end: Int) -> None:
    """Let the chosen plays begin again."""
    for i in range(first, end):
        if chosen[i]:
            _begin(plays, i)
            _show(plays, i)


@kernel
def first_illegal(masks: Array, seats: Array, actions: Array, first: Int, end: Int) -> Int:
    """Return the first unfinished play whose action is not legal, or -1."""
    for i in range(first, end):
        action = i64(actions[i])
        if seats[i] >= 0 and (action < 0 or action >= masks.shape[1] or masks[i, action] == 0):
            return i64(i)
    return i64(-1)


@kernel
def _reward_outcome(st: op.Record, is_over: Any, values: Array, rewards: Array) -> None:
    """Give -1 to 1 for the outcome of a play that has just ended, and 0 to one that goes on."""
    if is_over:
        op.returns(st, values)
    for seat in range(len(rewards)):
        rewards[seat] = 2.0 * values[seat] - 1.0 if is_over else 0.0


@kernel
def _reward_points(st: op.Record, values: Array, points: Array, rewards: Array) -> None:
    """Reward each seat with the points won since `points`, and store the present ones there."""
    op.points(st, values)
    for seat in range(len(rewards)):
        rewards[seat] = values[seat] - points[seat]
        points[seat] = values[seat]


@kernel
def step(plays: Plays, actions: Array, first: Int, end: Int) -> None:
    """Play the actions in the unfinished plays, reward them, and show the results."""
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
    """Draw a legal action for each play, all equally likely; -1 if there is none."""
    for i in range(first, end):
        actions[i] = -1
        if counts[i] > 0:
            actions[i] = moves[i, draw(counters, i64(i), counts[i])]
