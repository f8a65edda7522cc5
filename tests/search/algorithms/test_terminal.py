"""The values of results are the same for every search and game."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kibitz_search.algorithms
from kibitz_games.compiled import operations as op
from kibitz_games.core import registry
from kibitz_search.algorithms.alphabeta import AlphaBeta
from kibitz_search.algorithms.beam import Beam
from kibitz_search.algorithms.brs import Brs
from kibitz_search.algorithms.greedy import Greedy
from kibitz_search.algorithms.iddfs import Iddfs
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.algorithms.maxn import Maxn
from kibitz_search.algorithms.maxprob import MaxProb
from kibitz_search.algorithms.mcts import Mcts
from kibitz_search.algorithms.minimax import Minimax
from kibitz_search.algorithms.mpmix import MpMix
from kibitz_search.algorithms.outcome import outcome
from kibitz_search.algorithms.paranoid import Paranoid
from kibitz_search.algorithms.result import WIN_SCORE
from kibitz_search.chinese_checkers.evaluation import euclid
from tests.search.algorithms import drawn, reference
from tests.search.algorithms.drawn import GAME, Repetition

ONE_PLY: dict[str, Callable[[Any], Any]] = {
    "greedy": Greedy,
    "iddfs": Iddfs,
    "beam": Beam,
}
"""Searches that consider only the next move or only their own moves."""
REPLIES: dict[str, Callable[[Any], Any]] = {
    "minimax": Minimax,
    "alphabeta": lambda state: AlphaBeta(state, table=1),
    "alphabeta, strict": lambda state: AlphaBeta(state, table=1, strict=True),
    "maxn": Maxn,
    "paranoid": Paranoid,
    "brs": Brs,
    "mpmix": MpMix,
    "maxprob": MaxProb,
    "mcts": lambda state: Mcts(state, table=1),
}
ALL = ONE_PLY | REPLIES
FOR_TWO = ("minimax", "alphabeta", "alphabeta, strict")
SHARES = ("maxprob", "mcts")
"""Searches with shares as values, in which a draw is 0.5."""
NODES = 4000


def found(name: str, state: np.record, ev: np.record, depth: int) -> Any:
    limits = SearchLimits(nodes=NODES) if name == "mcts" else SearchLimits(depth=depth)
    return ALL[name](state).search(state, ev, limits)


def one_ply() -> list[Any]:
    cases = [*drawn.two_seats(1), *drawn.three_seats()]
    return [
        pytest.param(name, case, id=f"{name}: {case.name}")
        for name in ALL
        for case in cases
        if name not in FOR_TWO or int(case.state["seats"]) == 2
    ]


@pytest.mark.parametrize(("name", "case"), one_ply())
def test_who_is_ahead_avoids_a_repetition_and_who_is_behind_takes_it(
    name: str, case: Repetition
) -> None:
    state = case.state.copy()
    GAME.play(state, case.action)
    assert GAME.outcome(state).reason == "repetition"
    result = found(name, case.state, euclid(case.state), 1)
    assert (result.action == case.action) is not case.ahead
    if not case.ahead and int(case.state["seats"]) == 2:
        assert result.value == pytest.approx(0.5 if name in SHARES else 0.0)


@pytest.mark.parametrize("name", REPLIES)
def test_who_is_ahead_does_not_let_the_other_one_repeat(name: str) -> None:
    cases = drawn.two_seats(2)
    assert cases
    for case in cases:
        assert found(name, case.state, euclid(case.state), 2).action != case.action, case.name


def last_ply(ahead: int) -> np.record:
    """Return a position at the ply limit with the seat to act a number of steps ahead."""
    options: dict[str, Any] = {"board": "rhombus", "size": 5, "pegs": 3}
    view = GAME.view(GAME.start(GAME.Options(**options), 2, {}), None)
    pegs = [list(view.pegs[0]), list(view.pegs[1])]
    pegs[1][0] -= ahead  # each hole is a step
    changed = {"pegs": pegs, "best": [99, 99], "ply": 999, "idle": 1}
    state: np.record = GAME.sample(view.model_copy(update=changed), 0)
    return state


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("other", [1, 2])
def test_at_the_limit_of_plies_the_best_result_is_taken(name: str, other: int) -> None:
    """Choose a win if possible, else a draw, else any move."""
    state = last_ply(other)
    shares = {}
    for action in GAME.legal(state):
        st = state.copy()
        GAME.play(st, action)
        shares[action] = GAME.outcome(st).scores[0]
    assert len(set(shares.values())) > 1
    result = found(name, state, euclid(state), 1)
    assert shares[result.action] == max(shares.values())
    if name not in SHARES:
        assert np.sign(result.value) == np.sign(2 * max(shares.values()) - 1)


SMALL = [
    pytest.param("connect-four", {}, marks=pytest.mark.slow),
    pytest.param("five-in-a-row", {"size": 5}, marks=pytest.mark.slow),
    pytest.param("five-in-a-row", {"size": 5, "dead_board_draw": True}, marks=pytest.mark.slow),
    pytest.param("number-merge", {"length": 8}),
]
"""Games with draws; all but one require compiling six searches."""


def ends(name: str, options: dict[str, Any], left: int, count: int) -> list[tuple[Any, float]]:
    """Return positions at most `left` plies from the end with their exact values.

    Most of them are draws under perfect play, since other tests cover decided positions.
    """
    game, chance, cases = registry.get(name), random.Random(7), list[tuple[Any, float]]()
    chosen = game.Options.model_validate(options)
    while sum(value == 0.5 for _, value in cases) < count:
        state = game.start(chosen, 2, game.deal(chosen, 2, chance.randrange(2**31)))
        path = list[int]()
        while game.outcome(state) is None:
            path.append(chance.choice(game.legal(state)))
            game.play(state, path[-1])
        for action in path[: -left - 1 : -1]:
            game.undo(state, action)
        cases.append((state, reference.exact(state)))
    return cases[-3 * count :]


@pytest.mark.slow
@pytest.mark.parametrize(("game", "options"), SMALL)
@pytest.mark.parametrize("left", [1, 2, 4])
def test_the_ends_of_all_games_for_two_are_worth_what_they_are(
    game: str, options: dict[str, Any], left: int
) -> None:
    for state, exact in ends(game, options, left, count=4):
        for name in (*FOR_TWO, "maxn", "paranoid"):
            value = found(name, state, outcome(state), left + 1).value
            assert np.sign(value) == 2 * exact - 1, name
            assert (value == 0.0) == (exact == 0.5), name
        if left == 1:
            value = found("greedy", state, outcome(state), 1).value
            assert value == WIN_SCORE * (2 * exact - 1)
        if len(registry.get(game).legal(state)) > 1:  # forced moves are played without a search
            value = found("mcts", state, outcome(state), 0).value
            assert value == pytest.approx(exact, abs=0.13)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["greedy", "mcts"])
def test_who_can_share_the_first_place_of_four_does_not_stay_last(name: str) -> None:
    game = registry.get("tanks")
    state = game.start(game.Options(turns=4), 4, {})
    for _ in range(3):
        game.play(state, next(m for m in game.legal(state) if op.move_score(state, m) == 3))
    ev = outcome(state)
    result = found(name, state, ev, 1)
    game.play(state, result.action)
    end = game.outcome(state)
    assert end is not None
    assert end.ranks == (1, 1, 1, 1)
    assert result.value == pytest.approx(0.5 if name == "mcts" else 0.0)


def test_scores_of_results_come_from_one_place() -> None:
    """No other module of the general searches reads them."""
    folder = Path(kibitz_search.algorithms.__file__).parent
    users = [path.name for path in folder.glob("*.py") if "op.returns(" in path.read_text()]
    assert users == ["terminal.py"]
