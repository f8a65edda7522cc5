"""What is done to a slice of a batch of plays, from `begin` up to before `end`.

The plays do not touch each other, so slices may be worked on by as many threads as there are; the
interpreter's lock is released meanwhile. Random numbers are counters that are hashed (splitmix64:
Steele, Lea and Flood, 2014), one for each play, so that what a play gets depends on the seed, the
number of the play and what was asked before in that play, and on nothing else.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from kibitz_games.compiled import kernels
from kibitz_games.compiled import operations as op
from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.compiled.mode import compiled

Array: TypeAlias = Any
"""An array over all plays; `States` are records, or what stands for them in plain mode."""

i64 = kernels.int64_cast()
u64: Any = np.uint64 if compiled() else int
_MASK = u64(2**64 - 1)
_GAMMA, _FIRST, _SECOND = u64(0x9E3779B97F4A7C15), u64(0xBF58476D1CE4E5B9), u64(0x94D049BB133111EB)
_S27, _S30, _S31, _S32 = u64(27), u64(30), u64(31), u64(32)


@kernel
def mix(counter: Any) -> Any:
    """Return the hash of a 64-bit number."""
    x = (counter + _GAMMA) & _MASK
    x = ((x ^ (x >> _S30)) * _FIRST) & _MASK
    x = ((x ^ (x >> _S27)) * _SECOND) & _MASK
    return x ^ (x >> _S31)


@kernel
def pick(seed: Any, play: Int, episode: Int, n: Int) -> Int:
    """Return which of `n` starts a play begins from, in its episode."""
    drawn = mix(mix(mix(u64(seed)) ^ u64(play)) ^ u64(episode))
    return i64(((drawn >> _S32) * u64(n)) >> _S32)


@kernel
def _show(states: Array, moves: Array, counts: Array, masks: Array, seats: Array, i: Int) -> None:
    """Find out who is to act in a play, and what is legal; the mask has it all 0 before."""
    st = states[i]
    n = i64(op.generate(st, moves[i]))
    for k in range(n):
        number = i64(op.dense_index(st, i64(moves[i, k])))
        moves[i, k] = number
        masks[i, number] = 1
    counts[i] = n
    seats[i] = op.to_act(st)


@kernel
def _clear(moves: Array, counts: Array, masks: Array, i: Int) -> None:
    """Take the legal actions of a play out of its mask."""
    for k in range(counts[i]):
        masks[i, moves[i, k]] = 0
    counts[i] = 0


@kernel
def _begin(raw: Array, starts: Array, seed: Any, episodes: Array, i: Int) -> None:
    """Let a play begin again, from the start that is next for it."""
    episodes[i] += 1
    start = pick(seed, i, i64(episodes[i]), i64(len(starts)))
    raw[i, :] = starts[start, :]


@kernel
def begin(
    states: Array,
    raw: Array,
    starts: Array,
    seed: Any,
    episodes: Array,
    moves: Array,
    counts: Array,
    masks: Array,
    seats: Array,
    chosen: Array,
    first: Int,
    end: Int,
) -> None:
    """Let the chosen plays begin again."""
    for i in range(first, end):
        if chosen[i]:
            _clear(moves, counts, masks, i)
            _begin(raw, starts, seed, episodes, i)
            _show(states, moves, counts, masks, seats, i)


@kernel
def first_illegal(masks: Array, seats: Array, actions: Array, first: Int, end: Int) -> Int:
    """Return the first play that goes on and whose action is not legal, or -1."""
    for i in range(first, end):
        action = i64(actions[i])
        if seats[i] >= 0 and (action < 0 or action >= masks.shape[1] or masks[i, action] == 0):
            return i64(i)
    return i64(-1)


@kernel
def act(
    states: Array,
    actions: Array,
    moves: Array,
    counts: Array,
    masks: Array,
    seats: Array,
    over: Array,
    first: Int,
    end: Int,
) -> None:
    """Play the actions in the plays that go on, and tell which of those are over now."""
    for i in range(first, end):
        over[i] = False
        if seats[i] >= 0:
            st = states[i]
            op.play(st, i64(op.dense_action(st, i64(actions[i]))))
            over[i] = op.terminal(st)
            _clear(moves, counts, masks, i)
            _show(states, moves, counts, masks, seats, i)


@kernel
def reward_outcomes(states: Array, over: Array, rewards: Array, first: Int, end: Int) -> None:
    """Give -1 to 1 for the outcomes of the plays that have just ended."""
    scores = np.zeros(op.MAX_SEATS)
    for i in range(first, end):
        for seat in range(rewards.shape[1]):
            rewards[i, seat] = 0.0
        if over[i]:
            op.returns(states[i], scores)
            for seat in range(rewards.shape[1]):
                rewards[i, seat] = 2.0 * scores[seat] - 1.0


@kernel
def reward_points(states: Array, points: Array, rewards: Array, first: Int, end: Int) -> None:
    """Give the points that each seat has won since `points`, and keep what it has now there."""
    found = np.zeros(op.MAX_SEATS)
    for i in range(first, end):
        op.points(states[i], found)
        for seat in range(rewards.shape[1]):
            rewards[i, seat] = found[seat] - points[i, seat]
            points[i, seat] = found[seat]


@kernel
def observe(states: Array, seats: Array, out: Array, first: Int, end: Int) -> None:
    """Write what the seat to act knows, seat 0 where a play is over."""
    for i in range(first, end):
        op.observe(states[i], max(i64(seats[i]), i64(0)), out[i])


@kernel
def sample(
    chances: Array, moves: Array, counts: Array, actions: Array, first: Int, end: Int
) -> None:
    """Draw a legal action for each play, all as likely as each other; -1 where none is."""
    for i in range(first, end):
        actions[i] = -1
        if counts[i] > 0:
            drawn = mix(u64(chances[i]))
            chances[i] = (u64(chances[i]) + _GAMMA) & _MASK
            actions[i] = moves[i, i64(((drawn >> _S32) * u64(counts[i])) >> _S32)]
