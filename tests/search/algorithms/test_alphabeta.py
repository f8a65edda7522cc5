"""Alpha-beta finds the same results as minimax while pruning irrelevant lines."""

from __future__ import annotations

import math
import random
import threading
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from kibitz_games.compiled import operations as op
from kibitz_games.core import registry
from kibitz_search.algorithms.alphabeta import MAX_DEPTH, AlphaBeta
from kibitz_search.algorithms.greedy import Greedy
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.algorithms.minimax import Minimax
from kibitz_search.algorithms.result import WIN_SCORE, SearchResult
from kibitz_search.algorithms.score import plies_to_end
from kibitz_search.cancellation import CancelToken
from kibitz_search.chinese_checkers.evaluation import euclid
from tests.search.algorithms.drawn import two_seats
from tests.search.algorithms.positions import SETTINGS, Setting, one_by_one, rhombus
from tests.search.algorithms.retrograde import Retrograde
from tests.tools import profiles

CHOICES = some.lists(some.integers(0, 10**6), max_size=30)
STAR = Setting("chinese-checkers", "hand")


def judged(setting: Setting, state: np.record, ev: np.record, found: SearchResult) -> float:
    """Return the value of the end of the found line for the seat to act at its start."""
    st, seat, game = state.copy(), setting.rules.to_act(state), setting.rules
    for action in found.line:
        assert action in game.legal(st)
        game.play(st, action)
    outcome = game.outcome(st)
    if outcome is not None:
        return (2 * outcome.scores[seat] - 1) * (WIN_SCORE - len(found.line))
    return float(op.evaluate(ev, st, seat)) - float(op.evaluate(ev, st, 1 - seat))


@pytest.mark.parametrize("setting", one_by_one(SETTINGS))
@settings(max_examples=profiles.examples(8), deadline=None)
@given(choices=CHOICES, depth=some.integers(1, 4))
def test_its_strict_values_are_those_of_minimax(
    setting: Setting, choices: list[int], depth: int
) -> None:
    state = setting.after(choices)
    ev = setting.weights(state)
    search = AlphaBeta(state, table=1, strict=True)
    found = search.search(state, ev, SearchLimits(depth=depth))
    expected = Minimax(state).search(state, ev, SearchLimits(depth=depth))
    assert found.value == expected.value == judged(setting, state, ev, found)
    assert found.line[0] == found.action


@pytest.mark.parametrize("pegs", [1, 2])
@settings(max_examples=profiles.examples(8), deadline=None)
@given(choices=some.lists(some.integers(0, 10**6), max_size=40))
def test_strict_values_know_how_the_match_has_come_about(pegs: int, choices: list[int]) -> None:
    """On a board where random moves repeat positions, some for the third time."""
    setting = Setting("chinese-checkers", "hand", {"board": "rhombus", "size": 3, "pegs": pegs})
    state = setting.after(choices)
    ev, search = setting.weights(state), AlphaBeta(state, table=1, strict=True)
    for depth in (3, 6):
        expected = Minimax(state).search(state, ev, SearchLimits(depth=depth)).value
        assert search.search(state, ev, SearchLimits(depth=depth)).value == expected


def test_the_table_forgets_what_it_knew_before_a_position_came_again() -> None:
    """The table's entries for the replies are from before those replies led to a draw."""
    for case in two_seats(2):
        search, ev = AlphaBeta(case.state, table=1), euclid(case.state)
        earlier = case.state.copy()
        for ply in range(int(earlier["ply"]) - 1, -1, -1):
            op.undo(earlier, np.int64(earlier["history"][ply]))
        for action in case.state["history"][: int(case.state["ply"])].tolist():
            if int(earlier["side"]) == int(case.state["side"]):
                search.search(earlier, ev, SearchLimits(depth=5))
            op.play(earlier, np.int64(action))
        assert search.search(earlier, ev, SearchLimits(depth=2)).action != case.action


@pytest.mark.parametrize("setting", one_by_one(SETTINGS))
def test_what_the_table_keeps_from_earlier_turns_changes_no_strict_value(setting: Setting) -> None:
    state, chance, game = setting.start(), random.Random(1), setting.rules
    ev, search = setting.weights(state), AlphaBeta(state, table=1, strict=True)
    while game.outcome(state) is None and int(state["ply"]) < 4:
        found = search.search(state, ev, SearchLimits(depth=3))
        expected = Minimax(state).search(state, ev, SearchLimits(depth=3))
        assert found.value == expected.value
        game.play(state, chance.choice(game.legal(state)))


@pytest.mark.parametrize(("size", "pegs"), [(3, 2), (3, 3)])
def test_it_finds_the_exact_values_of_small_boards(size: int, pegs: int) -> None:
    """Random positions known to retrograde analysis, searched to the end."""
    _agrees(Retrograde(size, pegs), pegs, least=1, most=99, positions=60)


def _agrees(exact: Retrograde, pegs: int, *, least: int, most: int, positions: int) -> None:
    """Search random positions that are decided in `least` to `most` plies."""
    chance, setting, tried = random.Random(exact.holes * pegs), SETTINGS[0], 0
    while tried < positions:
        holes = chance.sample(range(exact.holes), 2 * pegs)
        own, other = tuple(sorted(holes[:pegs])), tuple(sorted(holes[pegs:]))
        state = rhombus(math.isqrt(exact.holes), [own, other])
        value = exact.value(own, other)
        if not least <= abs(value) <= most:
            continue
        search = AlphaBeta(state, table=1, reductions=False)
        found = search.search(state, setting.weights(state), SearchLimits(depth=abs(value)))
        assert (plies_to_end(found.value), found.value > 0) == (abs(value), value > 0)
        tried += 1


@pytest.mark.slow
def test_it_finds_who_wins_from_the_start() -> None:
    setting = Setting("chinese-checkers", "hand", {"board": "rhombus", "size": 4, "pegs": 3})
    state = setting.start()
    found = AlphaBeta(state, table=512, reductions=False).search(
        state, setting.weights(state), SearchLimits(depth=21)
    )
    assert (found.value, found.depth) == (WIN_SCORE - 21, 21)


@pytest.mark.slow
@pytest.mark.parametrize(("size", "pegs", "plies"), [(4, 3, 21), (5, 3, 29), (7, 2, 33)])
def test_retrograde_analysis_knows_the_values_from_the_literature(
    size: int, pegs: int, plies: int
) -> None:
    """Alpha-beta agrees with retrograde analysis on positions nearer to the end.

    From the start of the larger boards the two are not comparable. In the analysis an endless play
    has no winner, while the game ends it at the third repetition in favor of the nearer player.
    """
    exact, holes = Retrograde(size, pegs), size * size
    assert exact.value(tuple(range(pegs)), tuple(range(holes - pegs, holes))) == plies
    _agrees(exact, pegs, least=5, most=8, positions=30)


@pytest.mark.parametrize("setting", one_by_one(SETTINGS))
def test_the_state_is_left_as_it_was_and_every_stop_leaves_a_legal_answer(
    setting: Setting,
) -> None:
    state = setting.start()
    before, search = state.tobytes(), AlphaBeta(state, table=1)
    for millis in (0, 1, 3, 10, 30):
        found = search.search(state, setting.weights(state), SearchLimits(seconds=millis / 1000))
        assert found.action in setting.rules.legal(state)
        assert np.isfinite(found.value)
        assert found.line[0] == found.action
    assert state.tobytes() == before


def test_a_search_that_was_cut_short_says_only_what_it_has_looked_at_to_the_end() -> None:
    """Its value is that of its move, at the reported depth or one ply deeper."""
    state, flag = STAR.start(), CancelToken()
    flag.set()
    ev = STAR.weights(state)
    for seed in range(5):
        search = AlphaBeta(state, table=1, strict=True)
        # On a busy machine it may be stopped late, and minimax must search as deep.
        found = search.search(state, ev, SearchLimits(cancelled=flag, seed=seed, depth=5))
        after = state.copy()
        op.play(after, np.int64(found.action))
        deeper = Minimax(after).search(after, ev, SearchLimits(depth=found.depth))
        whole = Minimax(state).search(state, ev, SearchLimits(depth=found.depth))
        assert found.value in (whole.value, -deeper.value)


def test_a_called_off_search_ends_soon() -> None:
    state, flag = STAR.start(), CancelToken()
    search = AlphaBeta(state)
    search.search(state, STAR.weights(state), SearchLimits(seconds=0))
    founds: list[SearchResult] = []
    thread = threading.Thread(
        target=lambda: founds.append(
            search.search(state, STAR.weights(state), SearchLimits(cancelled=flag))
        )
    )
    thread.start()
    flag.set()
    thread.join(100)
    assert founds[0].depth < MAX_DEPTH


def test_it_judges_fewer_positions_than_minimax() -> None:
    state = STAR.start()
    ev = STAR.weights(state)
    full = Minimax(state).search(state, ev, SearchLimits(depth=4))
    strict = AlphaBeta(state, reductions=False, strict=True)
    found = strict.search(state, ev, SearchLimits(depth=4))
    assert found.value == full.value
    assert found.nodes < full.nodes / 10


def test_reductions_spare_positions_in_the_middle_game() -> None:
    state = STAR.start()
    ev, greedy = STAR.weights(state), Greedy(state)
    for ply in range(24):
        STAR.rules.play(state, greedy.search(state, ev, SearchLimits(seed=ply)).action)
    whole = AlphaBeta(state, reductions=False).search(state, ev, SearchLimits(depth=5))
    assert AlphaBeta(state).search(state, ev, SearchLimits(depth=5)).nodes < whole.nodes / 2


WINNABLE = (*SETTINGS[:4], Setting("five-in-a-row", "usual", {"size": 8}))
"""Settings in which a move can win immediately; in Line-Nim, the player who moves there loses."""


@pytest.mark.parametrize("setting", one_by_one(WINNABLE))
def test_it_wins_at_once_where_it_can(setting: Setting) -> None:
    """Play greedily until a player can win with one move, which the search must then find."""
    state, game, chance = setting.start(), setting.rules, random.Random(3)
    ev = setting.weights(state)
    greedy, search = Greedy(state), AlphaBeta(state, table=1)
    for _ in range(200):
        found = search.search(state, ev, SearchLimits(depth=2))
        if _wins(setting, state):
            game.play(state, found.action)
            assert plies_to_end(found.value) == 1
            outcome = game.outcome(state)
            assert outcome is not None
            assert max(outcome.scores) == 1.0
            return
        action = greedy.search(state, ev, SearchLimits(seed=int(state["ply"]))).action
        game.play(state, action if chance.random() < 0.8 else chance.choice(game.legal(state)))
        if game.outcome(state) is not None:
            state = setting.start(chance.randrange(100))
    raise AssertionError("nobody ever came near a win")


def _wins(setting: Setting, state: np.record) -> bool:
    seat, game = setting.rules.to_act(state), setting.rules
    for action in game.legal(state):
        st = state.copy()
        game.play(st, action)
        outcome = game.outcome(st)
        if outcome is not None and outcome.scores[seat] == 1.0:
            return True
    return False


def test_other_weights_empty_the_table() -> None:
    state = STAR.start()
    search, ev = AlphaBeta(state, table=1), STAR.weights(state)
    before = search.search(state, ev, SearchLimits(depth=3)).value
    ev["weights"][:] = 0
    assert search.search(state, ev, SearchLimits(depth=3)).value == 0 != before


def test_where_all_lines_end_it_stops() -> None:
    setting = Setting("number-merge", "points", {"length": 9})
    state = setting.start()
    ev = setting.weights(state)
    whole = AlphaBeta(state, reductions=False).search(state, ev, SearchLimits())
    assert whole.depth == 8
    reduced = AlphaBeta(state).search(state, ev, SearchLimits())
    assert 8 <= reduced.depth < 20
    assert reduced.value == whole.value


def test_the_table_takes_the_memory_it_was_given() -> None:
    state = SETTINGS[0].start()
    for mib in (1, 3, 16):
        size = AlphaBeta(state, table=mib)._table.nbytes
        assert 0.99 * mib * 2**20 < size <= mib * 2**20


def test_foresight_agrees_with_what_playing_tells() -> None:
    """The expected moves of an evaluation are the ones that follow; it does not foresee the end."""
    game, chance, seen = STAR.rules, random.Random(2), 0
    for setting in (STAR, SETTINGS[1], SETTINGS[2]):
        state = setting.start()
        ev = setting.weights(state)
        while game.outcome(state) is None and int(state["ply"]) < 150:
            for action in game.legal(state)[::7]:
                seen += _foresees(ev, state, action)
            game.play(state, chance.choice(game.legal(state)))
    assert seen > 100


def _foresees(ev: Any, state: Any, action: int) -> bool:
    seat, m = int(op.to_act(state)), np.int64(action)
    st = state.copy()
    expected = float(op.eval_delta(ev, st, m))
    assert st.tobytes() == state.tobytes()
    if np.isnan(expected):
        return False
    before = float(op.evaluate(ev, st, seat)) - float(op.evaluate(ev, st, 1 - seat))
    op.play(st, m)
    assert not op.terminal(st)
    after = float(op.evaluate(ev, st, seat)) - float(op.evaluate(ev, st, 1 - seat))
    assert after == before + expected
    return True


def test_it_says_which_games_it_cannot_play() -> None:
    game: Any = registry.get("chinese-checkers")
    three = game.start(game.Options(), 3, {})
    assert AlphaBeta.supports(game.info, three) == "chinese-checkers has 3 seats here, not 2"


def test_time_ends_it() -> None:
    state = STAR.start()
    search = AlphaBeta(state)
    search.search(state, STAR.weights(state), SearchLimits(seconds=0))
    began = time.monotonic()
    found = search.search(state, STAR.weights(state), SearchLimits(seconds=0.05))
    assert 1 <= found.depth < MAX_DEPTH
    assert time.monotonic() - began < 5  # at the maximum depth it would take centuries
