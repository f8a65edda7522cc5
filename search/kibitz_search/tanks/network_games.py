"""Games of networks against three random players, in machine code."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, Literal, TypeAlias

import numpy as np

from kibitz_games.compiled import kernels, records
from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.tanks import rules
from kibitz_games.vector.kernels import mix
from kibitz_search.tanks import networks

Array: TypeAlias = "np.ndarray[Any, np.dtype[np.float64]]"
Kind = Literal["report", "eyes"]

i64 = kernels.int64_cast()
u64: Any = np.uint64 if kernels.compiled() else int
_STEP, _MASK, _S32, _SEVEN = u64(0x9E3779B97F4A7C15), u64(2**64 - 1), u64(32), u64(7)


@kernel
def _random_action(chance: Any) -> Int:
    """Return any of the seven actions, all alike."""
    chance[0] = (u64(chance[0]) + _STEP) & _MASK
    return i64(((mix(u64(chance[0])) >> _S32) * _SEVEN) >> _S32) + rules.UP


@kernel
def play_games(
    states: Any,
    raw: Any,
    start: Any,
    minds: Any,
    weights: Any,
    scale: float,
    with_eyes: bool,
    seats: Any,
    seeds: Any,
    whole: bool,
    out: Any,
    first: Int,
    end: Int,
) -> None:
    """Play the games of each network from `first` up to before `end`; write the points.

    `seats` [games] has where the network sits, `seeds` [networks, games] what the others draw from.
    A game is played to its end where it is to be `whole`, and as far as the network lives else.
    """
    chance = np.zeros(1, np.uint64)
    for i in range(first, end):
        st, mind = states[i], minds[i]
        for game in range(len(seats)):
            raw[i, :] = start
            networks.reset_mind(mind)
            chance[0] = seeds[i, game]
            seat = i64(seats[game])
            while st.side >= 0 and (whole or st.fell[seat] == 0):
                if st.side != seat:
                    action = _random_action(chance)
                elif with_eyes:
                    action = networks.eyes_action(mind, weights[i], st)
                else:
                    action = networks.report_action(weights[i], scale, st)
                rules.play(st, action)
            for each in range(rules.SEATS):
                out[i, game, each] = rules.score(st, i64(each))


class NetworkGames:
    """Plays networks of a kind against random players; ends its threads when it is closed."""

    def __init__(
        self, kind: Kind, *, scale: float = 1.0, turns: int = rules.MAX_TURNS, threads: int = 1
    ) -> None:
        self._with_eyes, self._scale, self._threads = kind == "eyes", scale, threads
        # The report's network has the report's local board, with its old marks.
        memory = rules.MEMORY_LAST if self._with_eyes else rules.MEMORY_REPORT
        self._start: Any = rules.make_state("corners", "classic", turns, memory)
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None

    def play(self, weights: Array, seats: Any, seeds: Any, *, whole: bool = False) -> Array:
        """Return the points of all seats, [networks, games, seats].

        `seats` has where the networks sit in each game, `seeds` [networks, games] what the games
        are drawn from.
        """
        count, dtype = len(weights), self._start.dtype
        states, minds = np.zeros(count, dtype), np.zeros(count, networks.MIND)
        raw = states.view(np.uint8).reshape(count, dtype.itemsize)
        out = np.zeros((count, len(seats), rules.SEATS))
        everything: Any = (
            *(records.batch(states), raw, records.as_bytes(self._start), records.batch(minds)),
            *(np.ascontiguousarray(weights, np.float64), self._scale, self._with_eyes),
            *(np.asarray(seats, np.int64), np.asarray(seeds, np.uint64), whole, out),
        )
        kernel: Any = play_games
        if self._pool is None:
            kernel(*everything, 0, count)
            return out
        ends = np.linspace(0, count, self._threads + 1).astype(int).tolist()
        for done in [self._pool.submit(kernel, *everything, *each) for each in pairwise(ends)]:
            done.result()
        return out

    def own_points(self, weights: Array, seats: Any, seeds: Any) -> Array:
        """Return the points of the networks, [networks, games]."""
        found = self.play(weights, seats, seeds)
        own: Array = found[:, np.arange(len(seats)), np.asarray(seats)]
        return own

    def close(self) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown()
