"""Games between players that look one move ahead with an array of numbers, in machine code.

Opponents may also use an evaluation that is not such an array.

Each player takes the move that minimizes the sum of the numbers of its pegs' holes, and breaks ties
at random. The first to finish wins. The game is played with ``win=full``: only own pegs fill a
goal, as in the report on Chinese Checkers, where a peg left behind prevents a win.
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
"""The columns of a game's result."""
BY_EVALUATION = ("mobility",)
"""Judges that are not an array with one weight per hole."""
_BEGINS: dict[str, Callable[[int], range]] = {
    "turns": lambda seats: range(seats),
    "individual": lambda seats: range(1),
    "judge": lambda seats: range(1, seats),
}
"""For each choice of the first mover, the seats that the individual takes in successive games."""


@kernel
def _one_of(chance: Any, count: Any) -> Any:
    """Return True with probability 1 / `count`; used to choose uniformly among equal moves."""
    return draw(chance, i64(0), count) == 0


@kernel
def _greedy_move(st: op.Record, own: Any, moves: Any, chance: Any) -> Int:
    """Return the move with the greatest gain; break ties at random."""
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
    """Return the move with the best evaluation for the mover; break ties at random."""
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
    """Play until a player finishes, and return its seat; -1 if the game ends otherwise.

    All players except `own` use the evaluation `ev` if `judged` is set, and their arrays otherwise.
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
    """A batch of games: each individual, an array of numbers, plays the same opponents."""

    states: Any
    """The state that each individual's games use."""
    raw: Any
    """The bytes of each state."""
    start: Any
    """The bytes of the initial state."""
    arrays: Any
    turned: Any
    """The index of each hole in an individual's array from a seat's perspective, [seats, holes]."""
    others: Any
    """The opponents' arrays, [seats, holes], unless they use an evaluation."""
    judged: Any
    own_seats: Any
    """The seats that an individual takes in successive games; the list repeats."""
    first_game: Any
    games: Any
    most_restarts: Any
    stuck_is_start: Any
    """Whether a game without a winner is scored with the distance of the initial position."""
    by_own: Any
    """Whether a loser's distance is measured by its own array instead of the opponents'."""
    chances: Any
    out: Any
    """The results, [individuals, games, columns]; see `WON` and the other columns."""


@kernel
def play_games(games: Games, ev: op.Record, first: Int, end: Int) -> None:
    """Play the games of the individuals from `first` up to, but not including, `end`.

    `ev` is the opponents' evaluation, if they use one.
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
"""The name of the workers' task that `play_task` runs."""
Elsewhere: TypeAlias = tuple[Compute, dict[str, Any]]
"""The function that plays games in workers, and the arguments common to all tasks."""


class HoleGames:
    """Plays arrays against a fixed one, with 2 to 6 seats on the standard star.

    `opponent` is an array of distances for `GOAL`. If there is an `evaluation`, the opponents use
    that, and the array only measures a loser's remaining distance. A game in which nobody can
    finish is restarted, at most `most_restarts` times, and then counts as a loss. `begins` selects
    the first mover: each side in "turns", the "individual", or the "judge", which is the opponent.
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

        `seeds` has a seed for each array; the same seed gives the same games.
        """
        if self._elsewhere is not None:
            compute, common = self._elsewhere
            rest = {"first_game": first_game, "games": games}
            # numpy would convert a list of Python integers above 2**63 to floats.
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
        """Stop the threads."""
        self._slices.close()


def against(
    judge: str, seats: int = 2, *, threads: int = 1, compute: Compute | None = None, **options: Any
) -> HoleGames:
    """Return games against a named evaluation, with the options of `HoleGames`.

    An evaluation with one weight per hole plays as an array. Any other is called for each move.
    With `compute`, workers play the games.
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
    """Return the index of each hole in an array for `GOAL`, for each seat: [seats, holes]."""
    return np.array([turned_holes(shape, (at + 3) % geo.CORNERS) for at in corners], np.int64)
