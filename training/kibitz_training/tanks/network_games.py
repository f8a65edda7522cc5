"""Games of networks against three random players, in machine code.

With *quirks*, the games follow the program that was published with the report: a shell that hits a
wreck scores as many points as one that hits a tank, and a blocked move turns the hull in its
direction.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from kibitz_games.compiled import kernels, records
from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.tanks import rules
from kibitz_games.vector.chance import draw
from kibitz_games.vector.slices import Slices, new_states
from kibitz_search.tanks import networks
from kibitz_training.evolution import Array
from kibitz_training.experiment import Compute
from kibitz_training.parts import computed

Kind = Literal["report", "eyes"]

i64 = kernels.int64_cast()


class Games(NamedTuple):
    """Games of networks against random players."""

    states: Any
    """The state that each network's games use."""
    raw: Any
    """Each state, encoded as bytes."""
    start: Any
    """The bytes of the initial state."""
    minds: Any
    """The memory of each network."""
    weights: Any
    scale: Any
    with_eyes: Any
    seats: Any
    """The network's seat in each game."""
    seeds: Any
    """The seeds of the random players, [networks, games]."""
    quirks: Any
    """Whether the games have the quirks of the published program."""
    whole: Any
    """Whether games continue to their end after the network's tank is destroyed."""
    out: Any
    """The points, [networks, games, seats]."""


@kernel
def _play_quirk(st: Any, action: Int) -> Int:
    """Turn the hull of a tank whose move is blocked; return the points for a wreck that is hit.

    The action itself is played afterwards.
    """
    seat = i64(st.side)
    here = i64(st.place[seat])
    if action == rules.FIRE:
        hit = i64(st.board[rules.first_obstacle(st.board, here, i64(st.hull[seat]))])
        return i64(rules.KILL) if hit == rules.WRECK else i64(0)
    if action <= rules.LEFT:
        direction = i64(rules.DIRECTION[action])
        if st.board[here + i64(rules.AHEAD[direction])] != rules.FREE:
            rules.turn_hull(st, seat, (direction - i64(st.hull[seat])) & 3)
    return i64(0)


@kernel
def play_games(games: Games, first: Int, end: Int) -> None:
    """Play the games of the networks from `first` up to before `end`; write the points."""
    chance = np.zeros(1, np.uint64)
    for i in range(first, end):
        st, mind, weights = games.states[i], games.minds[i], games.weights[i]
        for game in range(len(games.seats)):
            games.raw[i, :] = games.start
            networks.reset_mind(mind)
            chance[0] = games.seeds[i, game]
            own_seat = i64(games.seats[game])
            games.out[i, game, :] = 0.0
            while st.side >= 0 and (games.whole or st.fell[own_seat] == 0):
                if st.side != own_seat:
                    action = rules.UP + draw(chance, i64(0), rules.MAX_ACTIONS)
                elif games.with_eyes:
                    action = networks.eyes_action(mind, weights, st)
                else:
                    action = networks.report_action(weights, games.scale, st)
                if games.quirks:
                    games.out[i, game, st.side] += _play_quirk(st, i64(action))
                rules.play(st, action)
            for seat in range(rules.SEATS):
                games.out[i, game, seat] += rules.score(st, i64(seat))


TASK = "network-games"
"""The name of the workers' task that `play_task` runs."""


def play_task(given: dict[str, Any]) -> dict[str, Any]:
    """Play the games that `NetworkGames` sends to a worker."""
    common = {key: given[key] for key in ("scale", "turns", "quirks")}
    games = NetworkGames(given["kind"], **common)
    weights = np.array(given["weights"], np.float64)
    seeds = np.array(given["seeds"], np.uint64)
    return {"out": games.play(weights, given["seats"], seeds, whole=given["whole"]).tolist()}


class NetworkGames:
    """Plays networks of one kind against random players; `close` stops its threads."""

    def __init__(
        self,
        kind: Kind,
        *,
        scale: float = 1.0,
        turns: int = rules.MAX_TURNS,
        quirks: bool = False,
        threads: int = 1,
        compute: Compute | None = None,
    ) -> None:
        self._compute = compute
        self._common = {"kind": kind, "scale": scale, "turns": turns, "quirks": quirks}
        self._with_eyes, self._scale, self._quirks = kind == "eyes", scale, quirks
        # The report's network reads the report's local board, including outdated marks.
        memory = rules.MEMORY_LAST if self._with_eyes else rules.MEMORY_REPORT
        self._start: Any = rules.make_state("corners", "classic", turns, memory)
        self._slices = Slices(threads)

    def play(self, weights: Array, seats: Any, seeds: Any, *, whole: bool = False) -> Array:
        """Return the points of all seats, [networks, games, seats].

        `seats` has the networks' seat in each game, `seeds` [networks, games] the seed of each
        game.
        """
        if self._compute is not None:
            common = self._common | {"seats": np.asarray(seats).tolist(), "whole": whole}
            batches = {"weights": weights, "seeds": np.asarray(seeds, np.uint64)}
            return computed(self._compute, TASK, common, batches, (len(seats), rules.SEATS))
        count, dtype = len(weights), self._start.dtype
        (states, raw), (minds, _) = new_states(dtype, count), new_states(networks.MIND, count)
        out = np.zeros((count, len(seats), rules.SEATS))
        games = Games(
            states=states,
            raw=raw,
            start=records.as_bytes(self._start),
            minds=minds,
            weights=np.ascontiguousarray(weights, np.float64),
            scale=self._scale,
            with_eyes=self._with_eyes,
            seats=np.asarray(seats, np.int64),
            seeds=np.asarray(seeds, np.uint64),
            quirks=self._quirks,
            whole=whole,
            out=out,
        )
        self._slices.run(play_games, count, games)
        return out

    def own_points(self, weights: Array, seats: Any, seeds: Any) -> Array:
        """Return the points of the networks, [networks, games]."""
        points = self.play(weights, seats, seeds)
        own: Array = points[:, np.arange(len(seats)), np.asarray(seats)]
        return own

    def close(self) -> None:
        """Stop the threads."""
        self._slices.close()
