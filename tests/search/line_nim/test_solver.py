"""The solver's moves compared with brute force, and its moves in unproven positions."""

from __future__ import annotations

import math
import random
import subprocess
import sys
import time
from typing import Any

import pytest
from hypothesis import given, settings

from kibitz_games.compiled import kernels
from kibitz_games.compiled import operations as op
from kibitz_games.core import registry
from kibitz_games.line_nim import geometry as geo
from kibitz_games.line_nim import maps
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.algorithms.result import WIN_SCORE
from kibitz_search.cancellation import CancelToken
from kibitz_search.line_nim import solver
from kibitz_search.line_nim.solver import LineNimSolver
from tests.search.line_nim.positions import GAME, positions, state, wins
from tests.tools import profiles

SHARED = LineNimSolver(state([0]))
SMALL = LineNimSolver(state([0]), table=1)
SMALL._most = 10  # so that boards small enough for brute force use the code without a table


def after(free: list[int], action: int) -> list[int]:
    return [cell for cell in free if cell not in geo.LINES[action]]


def board(number: int) -> Any:
    """Return a connected position with more cells than maps have."""
    return state(range(number))


@given(positions)
@settings(max_examples=profiles.examples(80), deadline=None, derandomize=True)
def test_it_wins_what_can_be_won_and_knows_what_is_lost(free: list[int]) -> None:
    found = SHARED.search(state(free), None, SearchLimits())
    assert found.value == (WIN_SCORE if wins(free) else -WIN_SCORE)
    assert wins(after(free, found.action)) != wins(free) or not wins(free)
    assert found.line[0] == found.action


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(30))
def test_it_never_errs_in_thousands_of_turns(seed: int) -> None:
    """Complete plays from 16 cells against random moves; brute force checks up to 12 cells."""
    source = random.Random(seed)
    for number in range(12):
        st, search = state(maps.grow(12 * seed + number, 16)), SHARED
        while not op.terminal(st):
            free = [cell for cell in range(geo.CELLS) if st.board[cell] == 1]
            found = search.search(st, None, SearchLimits(seed=seed))
            if len(free) <= 12:
                assert (found.value == WIN_SCORE) == wins(free)
                assert found.value < 0 or not wins(after(free, found.action))
            op.play(st, found.action)
            if not op.terminal(st):
                op.play(st, source.choice(GAME.legal(st)))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("number", [11, 12])
def test_what_is_too_large_for_its_table_is_proven_otherwise(seed: int, number: int) -> None:
    free = random.Random(seed).sample(maps.grow(seed, 20), number)
    found = SMALL.search(state(free), None, SearchLimits())
    assert found.value == (WIN_SCORE if wins(free) else -WIN_SCORE)
    assert wins(after(free, found.action)) != wins(free) or not wins(free)


@pytest.mark.parametrize("beyond", [1, 2, 3])
def test_tables_without_a_line_find_moves_that_win(beyond: int) -> None:
    proven = 0
    for seed in range(3):
        free = list(maps.grow(seed, 12))
        verdicts = SHARED._tried(free, beyond, math.inf, CancelToken())
        won = [each for each in verdicts or [] if each.wins]
        assert all(not wins(after(free, each.action)) for each in won)
        assert not won or wins(free)
        proven += bool(won)
    assert proven


def test_the_table_of_one_turn_serves_the_later_ones() -> None:
    st, search = state(maps.grow(5, 18)), LineNimSolver(state([0]))
    nodes = []
    while not op.terminal(st):
        found = search.search(st, None, SearchLimits())
        nodes.append(found.nodes)
        op.play(st, found.action)
    assert nodes[0] == 1 << 18
    assert not any(nodes[1:])


def test_when_all_is_lost_it_leaves_few_answers_that_win() -> None:
    for seed in range(8):
        before = random.Random(seed).sample(maps.grow(seed, 14), 9)
        free = after(before, SHARED.search(state(before), None, SearchLimits()).action)
        assert free
        found = SHARED.search(state(free), None, SearchLimits())
        assert found.value == -WIN_SCORE
        chosen = _winning_share(after(free, found.action))
        every = [_winning_share(after(free, each)) for each in GAME.legal(state(free))]
        assert chosen <= min(every) + 0.2  # canceling isolated cells are not counted


def _winning_share(free: list[int]) -> float:
    answers = GAME.legal(state(free))
    return sum(not wins(after(free, each)) for each in answers) / len(answers)


FRESH = """
from kibitz_search.line_nim import retrograde
from kibitz_search.line_nim.solver import LineNimSolver
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_games.line_nim import maps
from tests.search.line_nim.positions import state

search = LineNimSolver(state([0]))
fits = search._fits(27, 3.0)
found = search.search(state(maps.grow(3, 27)), None, SearchLimits(seconds=60))
print(fits, len(retrograde.fill.signatures), found.value != 0.0)
"""


@pytest.mark.e2e
@pytest.mark.skipif(not kernels.compiled(), reason="a table of 27 cells takes machine code")
def test_a_fresh_process_is_exact_with_27_cells_and_3_seconds() -> None:
    """The speed is measured in CPU time, so a busy machine gives the same result."""
    run = [sys.executable, "-c", FRESH]
    done = subprocess.run(run, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "True 1 True\n"


@pytest.mark.parametrize("number", [10, 11, 13, 14])
def test_all_the_time_is_for_the_proof_where_there_is_none_for_a_table(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    free, given = list(maps.grow(2, 20))[:number], []

    def proven(cells: Any, island: Any, deadline: float, flag: CancelToken) -> None:
        given.append(deadline - time.monotonic())

    monkeypatch.setattr(SMALL, "_proven", proven)
    monkeypatch.setattr(SMALL, "_pace", 1e9)
    monkeypatch.setattr(solver, "QUICK", 0)
    found = SMALL.search(state(free), None, SearchLimits(seconds=100))
    assert (found.value, found.action in GAME.legal(state(free))) == (0.0, True)
    assert len(given) == 1
    assert given[0] > 90


def test_what_tables_leave_of_the_time_is_for_the_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    free, given = list(maps.grow(2, 20))[:12], []

    def proven(cells: Any, island: Any, deadline: float, flag: CancelToken) -> None:
        given.append(deadline - time.monotonic())

    monkeypatch.setattr(SMALL, "_proven", proven)
    monkeypatch.setattr(SMALL, "_tried", lambda *_: None)
    SMALL.search(state(free), None, SearchLimits(seconds=100))
    assert [round(each, -1) for each in given] == [40, 100]


def test_too_many_cells_leave_the_first_table_to_the_one_who_comes_after() -> None:
    """With 80 cells all moves are equally good; the remaining number compensates."""
    st = board(80)
    found = SHARED.search(st, None, SearchLimits(seconds=0.01))
    assert (found.value, found.depth) == (0.0, 0)
    left = 80 - len(geo.LINES[found.action])
    assert (left - SHARED._most - 1) % solver.PERIOD == 0


@pytest.mark.parametrize("free", [1, 9, 20, 28, 33, 64, 70, 144])
@pytest.mark.parametrize("seconds", [0.0, 0.003, 0.05])
def test_it_has_an_answer_whenever_it_is_stopped(free: int, seconds: float) -> None:
    st = board(free)
    before = st.tobytes()
    found = SHARED.search(st, None, SearchLimits(seconds=seconds))
    assert found.action in GAME.legal(st)
    assert st.tobytes() == before


def test_a_turn_that_is_called_off_ends_it() -> None:
    flag = CancelToken()
    flag.set()
    began = time.monotonic()
    found = SHARED.search(board(40), None, SearchLimits(cancelled=flag))
    assert found.action in GAME.legal(board(40))
    assert time.monotonic() - began < 20


def test_a_position_of_another_match_is_told_apart() -> None:
    search = LineNimSolver(state([0]))
    for seed in range(3):
        free = random.Random(seed).sample(maps.grow(seed, 20), 9)
        assert search.search(state(free), None, SearchLimits()).value == (
            WIN_SCORE if wins(free) else -WIN_SCORE
        )


def test_memory_is_what_the_parameter_says() -> None:
    assert LineNimSolver(state([0]), table=1)._memory.nbytes == 1 << 20
    assert LineNimSolver(state([0]), table=3)._memory.nbytes == 2 << 20
    assert SHARED._most == 28


def test_the_seed_decides_among_equals() -> None:
    found = {
        SHARED.search(board(70), None, SearchLimits(seconds=0.0, seed=seed)).action
        for seed in range(10)
    }
    assert len(found) > 1
    again = [
        SHARED.search(board(70), None, SearchLimits(seconds=0.0, seed=4)).action for _ in range(2)
    ]
    assert again[0] == again[1]


def test_it_plays_its_own_game_only() -> None:
    other: Any = registry.get("number-merge")
    st = other.start(other.Options(), 2, other.deal(other.Options(), 2, 0))
    assert "another game" in str(LineNimSolver.supports(other.info, st))
    assert LineNimSolver.supports(GAME.info, board(9)) is None
