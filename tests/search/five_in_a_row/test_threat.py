"""The threat search: its moves, its claimed wins, and threats it must not miss."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.algorithms.result import SearchResult
from kibitz_search.cancellation import CancelToken
from kibitz_search.five_in_a_row import pattern_board, pattern_classes, threat
from kibitz_search.five_in_a_row.threat import DECIDED, Threat
from tests.search.five_in_a_row import cases
from tests.tools import profiles


def found(state: Any, depth: int = 4, seed: int = 0) -> SearchResult:
    search = Threat(state, table=1)
    return search.search(state, pattern_classes.usual(state), SearchLimits(depth=depth, seed=seed))


def by_fours(state: Any, left: int = threat.FOURS) -> tuple[int, int]:
    """Return the plies of a win by fours and its first action (-1 for none)."""
    tb = pattern_classes.vocabulary(bool(state.exact))
    fd, ws = pattern_board.from_state(state, tb), Threat(state, table=1)._ws
    entries = np.zeros(1024, threat.ENTRY)
    plies = int(threat.by_fours(fd, tb, ws, entries, np.int64(left)))
    return plies, pattern_board.action_of(fd, int(ws.choice)) if plies else -1


def prove(state: Any, plies: int) -> None:
    """Verify a claimed win by trying every answer: each must lose in time."""
    seat = cases.GAME.to_act(state)
    claimed, action = by_fours(state)
    assert 0 < claimed <= plies, cases.rows(state)
    cases.GAME.play(state, action)
    if claimed == 1:
        assert cases.GAME.outcome(state).scores[seat] == 1.0
    else:
        assert cases.GAME.to_act(state) == 1 - seat
        for answer in cases.GAME.legal(state):
            cases.GAME.play(state, answer)
            assert cases.GAME.to_act(state) == seat, cases.rows(state)
            prove(state, claimed - 2)
            cases.GAME.undo(state, answer)
    cases.GAME.undo(state, action)


@given(
    seed=st.integers(0, 2**32),
    plies=st.integers(6, 24),
    size=st.sampled_from([5, 6, 7]),
    exact=st.booleans(),
)
@settings(deadline=None, max_examples=profiles.examples(20))  # the first example may compile
def test_what_fours_are_said_to_win_they_win(seed: int, plies: int, size: int, exact: bool) -> None:
    for number in range(10):
        state = cases.at_random(seed + number, plies, size=size, exact=exact)
        claimed, _ = by_fours(state)
        if claimed:
            prove(state, claimed)


@pytest.mark.parametrize(
    ("moves", "plies", "first"),
    [
        ("e5 a1 f5 a2 g5 a3 h5 a4", 1, "d5 i5"),
        ("e5 a1 f5 j1 g5 a10", 3, "d5 h5"),
        ("a5 j1 b5 j10 c5 a10 d6 j5 d7 j7", 5, "d5"),  # four and three
        # A four in row 5 and its block, then in column e a four with an open three in row 6.
        ("a5 e9 b5 a1 c5 d1 e7 j2 e8 j9 f6 a9 g6 g1", 7, "e5"),
    ],
)
def test_fours_in_order(moves: str, plies: int, first: str) -> None:
    state = cases.after(moves)
    claimed, action = by_fours(state)
    assert claimed == plies
    assert cases.name(state, action) in first.split()
    result = found(state)
    assert result.value > DECIDED
    assert len(result.line) <= plies
    st_ = state.copy()
    for each in result.line:
        cases.GAME.play(st_, each)
    assert cases.GAME.outcome(st_).scores[cases.GAME.to_act(state)] == 1.0


def test_a_block_that_makes_a_four_spoils_a_four_and_three() -> None:
    open_ = cases.after("a5 j1 b5 j10 c5 a10 d6 j5 d7 j7")
    assert by_fours(open_)[0] == 5
    # White's e-stones: the forced block in e5 makes a four, which must be answered.
    spoilt = cases.after("a5 e1 b5 e2 c5 e3 d6 j5 d7 j7")
    assert by_fours(spoilt)[0] != 5


@pytest.mark.parametrize(
    ("moves", "good"),
    [
        ("e5 a1 f5 a2 g5 a3 j10 a4", "a5"),  # a five must be stopped
        ("e5 a10 f5 j1 g5", "c5 d5 h5 i5"),  # an open three: its ends, or the cells behind them
        ("a1 e5 c1 e6 j1 e7", "e3 e4 e8 e9"),
    ],
)
def test_what_is_forced_is_played(moves: str, good: str) -> None:
    state = cases.after(moves)
    for seed in range(4):
        result = found(state, seed=seed)
        assert cases.name(state, result.action) in good.split()


def test_two_fives_of_the_other_side_are_lost_and_still_answered() -> None:
    state = cases.after("e5 a1 f5 j1 g5 a10 h5")
    result = found(state)
    assert result.value < -DECIDED
    assert cases.name(state, result.action) in ("d5", "i5")
    assert len(result.line) == 2


def test_six_in_a_row_is_no_win_where_exactly_five_win() -> None:
    moves = "c5 a1 d5 c1 e5 e1 g5 g1 h5 i1"
    assert found(cases.after(moves)).value > DECIDED
    state = cases.after(moves, exact=True)
    assert by_fours(state)[0] != 1
    result = found(state, depth=2)
    assert len(result.line) != 1
    assert cases.name(state, result.action) != "f5" or result.value < DECIDED


@given(
    seed=st.integers(0, 2**32),
    plies=st.integers(0, 25),
    size=st.sampled_from([5, 6, 8, 10, 20]),
    exact=st.booleans(),
    swap=st.booleans(),
)
@settings(deadline=None, max_examples=profiles.examples(40))  # the first example may compile
def test_answers_are_legal_and_lines_can_be_played(
    seed: int, plies: int, size: int, exact: bool, swap: bool
) -> None:
    state = cases.at_random(seed, plies, size=size, exact=exact, swap=swap)
    before = state.tobytes()
    result = found(state, depth=2, seed=seed)
    assert state.tobytes() == before
    assert result.line[0] == result.action
    for action in result.line:
        assert cases.GAME.to_act(state) >= 0
        assert action in cases.GAME.legal(state)
        cases.GAME.play(state, action)


@pytest.mark.parametrize("exact", [False, True])
def test_it_plays_a_small_board_to_a_draw_against_itself(exact: bool) -> None:
    state = cases.start(size=5, exact=exact)
    search, ev = Threat(state, table=1), pattern_classes.usual(state)
    while cases.GAME.to_act(state) >= 0:
        result = search.search(state, ev, SearchLimits(depth=4))
        cases.GAME.play(state, result.action)
    assert cases.GAME.outcome(state).reason == "full"


@pytest.mark.parametrize(
    ("moves", "first"),
    [
        ("d3 d5 g3 g6 e5 e6 d6 f4 f7 f3 f6 h4 f8 f5", "e7"),
        ("g5 d4 h3 g6 f5 h5 f7 f4 f6 g4 e4 i4 f3 h4 d9 e8 j4 b4", "d5"),
    ],
)
def test_answers_to_open_threes_cost_no_depth(moves: str, first: str) -> None:
    """A win of nine plies with fours and open threes is found at depth three."""
    state = cases.after(moves)
    result = found(state, depth=3)
    assert (cases.name(state, result.action), result.value > DECIDED) == (first, True)
    assert 7 <= len(result.line) <= 9


def test_what_fours_find_pushes_nothing_else_out_of_the_table() -> None:
    state = cases.after("a5 e9 b5 a1 c5 d1 e7 j2 e8 j9 f6 a9 g6 g1")
    tb = pattern_classes.vocabulary(False)
    entries = np.zeros(1024, threat.ENTRY)
    ws = Threat(state, table=1)._ws
    assert threat.by_fours(
        pattern_board.from_state(state, tb), tb, ws, entries, np.int64(threat.FOURS)
    )
    assert entries["key"][512:].any()
    assert not entries["key"][:512].any()


def test_a_search_that_is_called_off_has_an_answer_at_once() -> None:
    state, flag = cases.after("e5 f6 f5 g5"), CancelToken()
    search, ev = Threat(state), pattern_classes.usual(state)
    flag.set()
    result = search.search(state, ev, SearchLimits(cancelled=flag))
    assert result.action in cases.GAME.legal(state)
    assert result.nodes < 1_000_000  # of the positions it would have searched in that time


def test_it_ends_when_the_time_is_up() -> None:
    state = cases.after("e5 f6 f5 g5")
    search, ev = Threat(state), pattern_classes.usual(state)
    search.search(state, ev, SearchLimits(seconds=0.001))

    def overrun() -> float:
        began = time.monotonic()
        search.search(state, ev, SearchLimits(seconds=0.02))
        return time.monotonic() - began - 0.02

    # Other processes may use the machine, so one success in several attempts suffices.
    assert any(overrun() < 0.010 for _ in range(100))


def test_the_table_and_what_is_remembered_do_not_change_what_is_won() -> None:
    state = cases.after("a5 j1 b5 j10 c5 a10 d6 j5 d7 j7")
    search, ev = Threat(state, table=2), pattern_classes.usual(state)
    values = {search.search(state, ev, SearchLimits(depth=depth)).value for depth in (1, 2, 3)}
    assert min(values) > DECIDED
    assert 1 << 20 < search._tt.nbytes <= 2 << 20


def test_the_colour_with_more_to_expect_is_chosen() -> None:
    for moves in ("e5 a1 f5", "e5 e6 a1"):
        state = cases.after(moves, swap=True)
        result = found(state)
        assert result.value >= 0
        white_next = state.copy()
        cases.play(white_next, "white")
        worth = found(white_next).value
        assert cases.name(state, result.action) == ("white" if worth > 0 else "black")


def test_the_third_stone_of_a_swap_gives_neither_colour_much() -> None:
    state = cases.after("e5 f6", swap=True)
    result = found(state)
    cases.GAME.play(state, result.action)
    assert -60 <= result.value <= 0


WARMED = """
import sys
from kibitz_bots import load
from kibitz_search.five_in_a_row import pattern_board, report_levels, threat
from kibitz_protocol.wire.lobbies import ProgrammeItem
for spec in ("threat", "advanced"):
    load(f"five-in-a-row/{spec}")().prepare([ProgrammeItem(game="five-in-a-row")])
board = (pattern_board.place_stone, pattern_board.cell_of_class)
called = (threat.by_fours, threat.pvs, threat.generate_moves, *board, report_levels.judge)
print([len(each.signatures) for each in called])
"""


@pytest.mark.e2e
def test_a_bot_that_is_warm_has_compiled_all_that_it_calls() -> None:
    run = [sys.executable, "-c", WARMED]
    # Twice, because a compiling process also has variants that were inlined into callers.
    for _ in range(2):
        done = subprocess.run(run, capture_output=True, text=True, timeout=300, check=True)
    assert done.stdout == "[1, 1, 1, 1, 1, 1]\n"


PROGRAM = """
from kibitz_search.five_in_a_row import pattern_classes, report_levels, threat, utility
from kibitz_search.algorithms.limits import SearchLimits
from tests.search.five_in_a_row import cases
state = cases.after("c3 d4 c4 d3 b2", size=6)
for search, ev, depth in (
    (threat.Threat(state, table=1), pattern_classes.usual(state), 2),
    (report_levels.ReportLevel(state, plies=2), utility.usual(state), 0),
):
    found = search.search(state, ev, SearchLimits(depth=depth, seed=1))
    print(found.action, found.value, found.depth, found.nodes, found.line)
"""


@pytest.mark.e2e
def test_machine_code_and_plain_python_find_the_same() -> None:
    outputs = []
    for plain in ("0", "1"):
        run = [sys.executable, "-c", f"import os; os.environ['KIBITZ_PLAIN'] = '{plain}'{PROGRAM}"]
        done = subprocess.run(run, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr
        outputs.append(done.stdout)
    assert outputs[0] == outputs[1]
    assert len(outputs[0].splitlines()) == 2


# In this position the best move of seven plies loses at the next depth, and the search is
# stopped before it has completed another one.
FALLS = "g9 e10 f10 e7 e6 f7 f5 d7 c7 d8 g6 d6 d5 c5 f8 g7 h7"
CUT_SHORT = [(FALLS, seed, nodes, "e4", "i8") for seed in range(2) for nodes in (105_000, 165_000)]


@pytest.mark.parametrize(("moves", "seed", "nodes", "loses", "instead"), CUT_SHORT)
def test_a_move_that_was_just_shown_to_lose_is_not_played(
    moves: str, seed: int, nodes: int, loses: str, instead: str
) -> None:
    state = cases.after(moves, size=10)
    search, ev = Threat(state), pattern_classes.usual(state)
    result = search.search(state, ev, SearchLimits(nodes=nodes, seed=seed))
    ws: Any = search._ws
    fallen = pattern_board.actions_of(pattern_board.from_state(state, search._tb), (int(ws.best),))
    assert (cases.names(state, fallen), int(ws.best_value) < -threat.DECIDED) == ([loses], True)
    assert cases.name(state, result.action) == instead
    assert result.value > -DECIDED
    assert result.nodes < nodes + 1000
    deeper = search.search(state, ev, SearchLimits(nodes=4 * nodes, seed=seed))
    assert deeper.value > -DECIDED
    assert cases.name(state, deeper.action) != loses


def test_moves_that_the_depth_before_has_shown_to_lose_are_not_the_way_out() -> None:
    """Among moves not searched again the best-looking one counts, except for these."""
    state = cases.after("e5 f6")
    search = Threat(state)
    ws: Any = search._ws
    ws.moves[0, :4], ws.scores[0, :4] = (40, 50, 60, 70), (9, 8, 7, 6)
    ws.entered[0].moves, ws.tried, ws.rising = 4, 1, -1
    ws.best, ws.best_value = 40, 12 - threat.MATE
    ws.bounds[[40, 50, 60, 70]] = (-3, 30 - threat.MATE, -80, -80)
    before = threat._PrincipalVariation(35, 6, (40, 41))
    assert search._interrupted_result(before) == threat._PrincipalVariation(35, 6, (60,))
    ws.rising, ws.rising_value = 50, 20
    assert search._interrupted_result(before) == threat._PrincipalVariation(20, 6, (50,))
    ws.rising, ws.best_value = -1, -100
    ws.lengths[0], ws.line[0, 0] = 1, 40
    assert search._interrupted_result(before) == threat._PrincipalVariation(-100, 6, (40,))
    ws.best = -1
    assert search._interrupted_result(before) == before
