"""Games between players that look one move ahead by an array of numbers, in machine code.

Opponents may also look one move ahead by an evaluation that is not such an array.

Each player takes the move that minimizes the sum of the numbers of its pegs' holes, with ties
broken at random. The first to finish wins. The rules are the game's, with ``win=full``: only own
pegs fill a goal, as in the report on Chinese Checkers, where a peg left behind prevents a win.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from kibitz_games.chinese_checkers import geometry as geo
from kibitz_games.chinese_checkers import rules
from kibitz_games.compiled import kernels, records
from kibitz_games.compiled import operations as op
from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.core import registry
from kibitz_games.vector.chance import draw
from kibitz_games.vector.slices import Slices, new_states
from kibitz_search.algorithms.interface import Evaluation
from kibitz_search.chinese_checkers.evaluation import EVALUATIONS, distances, hand
from kibitz_search.chinese_checkers.hole_arrays import Array, turned_holes
from kibitz_training.experiment import Compute
from kibitz_training.parts import computed

i64 = kernels.int64_cast()

WON, PLIES, LOST_BY, RESTARTS = range(4)
"""The columns of what came of a game."""
BY_EVALUATION = ("mobility",)
"""Judges that have more than a weight for every hole."""
_BEGINS: dict[str, Callable[[int], range]] = {
    "turns": lambda seats: range(seats),
    "individual": lambda seats: range(1),
    "judge": lambda seats: range(1, seats),
}
"""The seats of an individual, game by game, by who begins."""


@kernel
def _one_of(chance: Any, count: Any) -> Any:
    """Return whether the last of `count` equal ones is drawn."""
    return draw(chance, i64(0), count) == 0


@kernel
def _greedy_move(st: op.Record, own: Any, moves: Any, chance: Any) -> Int:
    """Return the move that takes the most off, any of equal ones."""
    holes, n = i64(st.holes), i64(op.generate(st, moves))
    best, equal, chosen = -1e300, i64(0), i64(moves[0])
    for k in range(n):
        m = i64(moves[k])
        gain = 0.0
        if m < holes * holes:
            origin = rules.source_hole(st, m)
            gain = own[origin] - own[m - origin * holes]
        if gain > best:
            best, equal, chosen = gain, i64(1), m
        elif gain == best:
            equal += 1
            if _one_of(chance, equal):
                chosen = m
    return chosen


@kernel
def _judged_move(st: op.Record, ev: op.Record, moves: Any, chance: Any) -> Int:
    """Return the move after which an evaluation says the most to the mover, any of equal ones."""
    seat, n = i64(st.side), i64(op.generate(st, moves))
    best, equal, chosen = -1e300, i64(0), i64(moves[0])
    for k in range(n):
        m = i64(moves[k])
        op.play(st, m)
        worth = op.evaluate(ev, st, seat)
        op.undo(st, m)
        if worth > best:
            best, equal, chosen = worth, i64(1), m
        elif worth == best:
            equal += 1
            if _one_of(chance, equal):
                chosen = m
    return chosen


@kernel
def _play_out(
    st: op.Record, arrays: Any, judged: Any, ev: op.Record, own: Int, moves: Any, chance: Any
) -> Int:
    """Play until somebody finishes, and return who; -1 where the play ends otherwise.

    All but `own` play by the evaluation `ev` where `judged` says so, and by their arrays otherwise.
    """
    while st.placed == 0 and st.side >= 0:
        if judged and st.side != own:
            op.play(st, _judged_move(st, ev, moves, chance))
        else:
            op.play(st, _greedy_move(st, arrays[st.side], moves, chance))
    for seat in range(st.seats):
        if st.rank[seat] == 1 and st.placed > 0:
            return i64(seat)
    return i64(-1)


@kernel
def _distance(st: op.Record, own: Any, seat: Int) -> Any:
    """Return the sum of the numbers of a seat's pegs."""
    total = 0.0
    for slot in range(st.each):
        total += own[st.pegs[seat, slot]]
    return total


class Games(NamedTuple):
    """Games of individuals, each with an array of numbers, against opponents that are the same."""

    states: Any
    """The state that each individual plays on."""
    raw: Any
    """The bytes of each."""
    start: Any
    """The bytes of the start."""
    arrays: Any
    turned: Any
    """The index of a hole in an individual's array as a seat sees it, [seats, holes]."""
    others: Any
    """The opponents' arrays, [seats, holes], unless they play by an evaluation."""
    judged: Any
    own_seats: Any
    """The seats that the individual takes in turn, game by game."""
    first_game: Any
    games: Any
    most_restarts: Any
    stuck_is_start: Any
    """After as many restarts as there may be, whether it is as far from winning as at the start."""
    by_own: Any
    """Whether its own array measures how far from winning it was, instead of its opponents'."""
    chances: Any
    out: Any
    """The result of each game of each individual: see `WON` and the other columns."""


@kernel
def play_games(games: Games, ev: op.Record, first: Int, end: Int) -> None:
    """Play the games of each individual from `first` up to before `end`.

    `ev` is the evaluation that the opponents play by, where they are judged by one.
    """
    others, seats, holes = games.others, games.others.shape[0], games.others.shape[1]
    moves = np.empty(rules.MAX_ACTIONS, np.int32)
    tables = np.zeros((seats, holes))
    for i in range(first, end):
        st, chance = games.states[i], games.chances[i]
        for game in range(games.games):
            seat = i64(games.own_seats[(games.first_game + game) % len(games.own_seats)])
            for other in range(seats):
                for hole in range(holes):
                    tables[other, hole] = others[other, hole]
            for hole in range(holes):
                tables[seat, hole] = games.arrays[i, games.turned[seat, hole]]
            restarts = i64(0)
            games.raw[i, :] = games.start
            winner = _play_out(st, tables, games.judged, ev, seat, moves, chance)
            while winner < 0 and restarts < games.most_restarts:
                restarts += 1
                games.raw[i, :] = games.start
                winner = _play_out(st, tables, games.judged, ev, seat, moves, chance)
            games.out[i, game, WON] = 1.0 if winner == seat else 0.0
            games.out[i, game, PLIES] = i64(st.ply)
            if winner < 0 and games.stuck_is_start:
                games.raw[i, :] = games.start
            measure = tables if games.by_own else others
            games.out[i, game, LOST_BY] = _distance(st, measure[seat], seat)
            games.out[i, game, RESTARTS] = restarts


TASK = "hole-games"
"""The task of workers that `play_task` carries out."""
Elsewhere: TypeAlias = tuple[Compute, dict[str, Any]]
"""The function that plays games elsewhere, and the arguments that all tasks share."""


class HoleGames:
    """Plays arrays against a fixed one, with 2 to 6 seats on the usual star.

    `opponent` is an array of distances for `GOAL`; with an `evaluation` the opponents play by that,
    and the array only says how far a loser was from winning. A game in which nobody can finish is
    restarted, at most `most_restarts` times, and then counts as lost. `begins` selects the first
    mover: each side in "turns", the "individual", or the "judge", which is the opponent.
    """

    def __init__(
        self,
        opponent: Array,
        seats: int = 2,
        *,
        threads: int = 1,
        compute: Elsewhere | None = None,
        most_restarts: int = 10,
        stuck_is_start: bool = True,
        by_own: bool = False,
        begins: str = "turns",
        evaluation: Evaluation | None = None,
    ) -> None:
        game = registry.get("chinese-checkers")
        options = game.Options.model_validate({"win": "full"})
        self._start: Any = game.start(options, seats, {})
        self.shape = geo.geometry(*geo.ALL[int(self._start.geometry)])
        self.seats, self.most_restarts, self._by_own = seats, most_restarts, by_own
        self._stuck_is_start = stuck_is_start
        self._own_seats = np.array(_BEGINS[begins](seats), np.int64)
        self._turned = rotations(self.shape, self._start.corner[:seats].tolist())
        self._judged = evaluation is not None
        self._evaluation: Any = (evaluation or hand)(self._start)
        self._others = np.ascontiguousarray(opponent[self._turned])
        self._slices = Slices(threads)
        self._elsewhere = compute

    def play(self, arrays: Array, seeds: Sequence[int], first_game: int, games: int) -> Array:
        """Return the results of `games` games of each array: see `WON` and the other columns.

        `seeds` has a number for each array; the same number gives the same games.
        """
        if self._elsewhere is not None:
            compute, common = self._elsewhere
            rest = {"first_game": first_game, "games": games}
            # A list of Python integers would become floats beyond 2**63.
            batches = {"arrays": arrays, "seeds": np.array(seeds, np.uint64)}
            return computed(compute, TASK, common | rest, batches, (games, 4))
        count, dtype = len(arrays), self._start.dtype
        states, raw = new_states(dtype, count)
        out = np.zeros((count, games, 4))
        chances = np.array(seeds, np.uint64).reshape(count, 1)
        batch = Games(
            states=states,
            raw=raw,
            start=records.as_bytes(self._start),
            arrays=np.ascontiguousarray(arrays),
            turned=self._turned,
            others=self._others,
            judged=self._judged,
            own_seats=self._own_seats,
            first_game=first_game,
            games=games,
            most_restarts=self.most_restarts,
            stuck_is_start=self._stuck_is_start,
            by_own=self._by_own,
            chances=chances,
            out=out,
        )
        self._slices.run(play_games, count, batch, self._evaluation)
        return out

    def close(self) -> None:
        """End the threads."""
        self._slices.close()


def against(
    judge: str, seats: int = 2, *, threads: int = 1, compute: Compute | None = None, **options: Any
) -> HoleGames:
    """Return games against an evaluation by its name, with the options of `HoleGames`.

    One that is a weight for every hole plays by them, all others look one move ahead. With
    `compute` the games are played there.
    """
    made = EVALUATIONS[judge]
    evaluation = made if judge in BY_EVALUATION else None
    common = {"judge": judge, "seats": seats, "options": options}
    elsewhere = None if compute is None else (compute, common)
    return HoleGames(
        distances(judge),
        seats,
        threads=threads if compute is None else 1,
        compute=elsewhere,
        evaluation=evaluation,
        **options,
    )


def play_task(given: dict[str, Any]) -> dict[str, Any]:
    """Play the games that `HoleGames` sends to a worker."""
    games = against(given["judge"], given["seats"], **given["options"])
    arrays = np.array(given["arrays"], np.float64)
    out = games.play(arrays, given["seeds"], given["first_game"], given["games"])
    return {"out": out.tolist()}


def rotations(shape: geo.Geometry, corners: Sequence[int]) -> np.ndarray[Any, Any]:
    """Return the index of each hole in an array for `GOAL` as each seat sees it, [seats, holes]."""
    return np.array([turned_holes(shape, (at + 3) % geo.CORNERS) for at in corners], np.int64)
