"""The common properties of the multiplayer searches: time, depth, seeds, and no side effects."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

from kibitz_games.compiled import operations as op
from kibitz_games.core import registry
from kibitz_search.algorithms.alphabeta import AlphaBeta
from kibitz_search.algorithms.brs import Brs
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.algorithms.maxn import Maxn
from kibitz_search.algorithms.maxprob import MaxProb
from kibitz_search.algorithms.mpmix import MpMix
from kibitz_search.algorithms.multiplayer import MAX_DEPTH
from kibitz_search.algorithms.paranoid import Paranoid
from kibitz_search.algorithms.result import WIN_SCORE
from kibitz_search.cancellation import CancelToken
from kibitz_search.chinese_checkers.evaluation import hand
from tests.search.algorithms import reference as plain
from tests.search.algorithms.reference import CHECKERS

KINDS: list[Any] = [Maxn, Paranoid, Brs, MpMix, MaxProb]
every = pytest.mark.parametrize("kind", KINDS)


@every
def test_the_state_is_left_as_it_was_however_it_ends(kind: Any) -> None:
    state = plain.start(6)
    search, ev, before = kind(state), hand(state), state.tobytes()
    for millis in (0, 1, 5, 20):
        found = search.search(state, ev, SearchLimits(seconds=millis / 1000))
        assert found.action in CHECKERS.legal(state)
        assert np.isfinite(found.value)
    search.search(state, ev, SearchLimits(depth=2))
    assert state.tobytes() == before


@every
@pytest.mark.parametrize("seats", [2, 3, 6])
def test_it_wins_at_once_if_it_can(kind: Any, seats: int) -> None:
    """In the last position of each play, the seat to act can finish immediately."""
    for seed in range(3):
        *_, last = plain.positions(seats, seed, size=2)
        seat = int(op.to_act(last))
        found = kind(last).search(last, hand(last), SearchLimits(depth=3, seed=seed))
        assert plain.after(last, found.action).rank[seat] > 0, (seat, found)
        assert len(found.line) == 1


@pytest.mark.parametrize("kind", [Maxn, Paranoid, Brs, MpMix])
def test_a_proven_result_says_how_many_plies_it_is_away(kind: Any) -> None:
    decided = 0
    for st in [*plain.positions(2, 1, size=2)][-6:]:
        found = kind(st).search(st, hand(st), SearchLimits(depth=3))
        exact = AlphaBeta(st, table=1, reductions=False)
        wanted = exact.search(st, hand(st), SearchLimits(depth=3)).value
        decided += abs(wanted) > WIN_SCORE / 2
        assert found.value == pytest.approx(wanted)
    assert decided


@pytest.mark.parametrize("kind", [Maxn, Paranoid, Brs, MpMix])
def test_the_first_of_three_to_finish_has_a_win_in_one_ply(kind: Any) -> None:
    won = [
        st for st in plain.positions(3, 1, size=2) if not st.rank.any() and plain.wins_at_once(st)
    ]
    for st in won:
        assert kind(st).search(st, hand(st), SearchLimits(depth=1)).value == WIN_SCORE - 1
    assert won


@every
def test_a_line_is_played_in_turn_and_begins_with_the_action(kind: Any) -> None:
    for st in plain.some(3, 3, size=2):
        found = kind(st).search(st, hand(st), SearchLimits(depth=3))
        assert found.line[0] == found.action
        for action in found.line:
            assert action in CHECKERS.legal(st)
            st = plain.after(st, action)


@every
def test_the_seed_decides_among_equals_and_repeats_the_play(kind: Any) -> None:
    state = plain.start(3)
    ev, search = hand(state), kind(state)
    founds = [search.search(state, ev, SearchLimits(depth=1, seed=seed)) for seed in range(12)]
    assert len({found.value for found in founds}) == 1
    assert len({found.action for found in founds}) > 1
    for depth in (1, 2):
        once, again = (
            kind(state).search(state, ev, SearchLimits(depth=depth, seed=7)) for _ in range(2)
        )
        assert (once.line, once.value, once.nodes) == (again.line, again.value, again.nodes)


@every
def test_time_ends_it(kind: Any) -> None:
    state = plain.start(3)
    search = kind(state)
    search.search(state, hand(state), SearchLimits(seconds=0))
    began = time.monotonic()
    found = search.search(state, hand(state), SearchLimits(seconds=0.05))
    assert 1 <= found.depth < MAX_DEPTH
    assert time.monotonic() - began < 5  # the complete search would take centuries


@every
def test_a_turn_that_is_called_off_ends_it(kind: Any) -> None:
    state, flag = plain.start(3), CancelToken()
    flag.set()
    found = kind(state).search(state, hand(state), SearchLimits(cancelled=flag))
    assert 1 <= found.depth < MAX_DEPTH


@every
def test_a_depth_that_was_hardly_begun_does_not_decide(kind: Any) -> None:
    state, flag = plain.start(3), CancelToken()
    flag.set()
    ev = hand(state)
    for seed in range(5):
        found = kind(state).search(state, ev, SearchLimits(cancelled=flag, seed=seed))
        first = kind(state).search(state, ev, SearchLimits(depth=1, seed=seed))
        assert found.depth >= 2 or found.action == first.action


@every
def test_when_all_is_seen_it_looks_no_further(kind: Any) -> None:
    *_, last = plain.positions(2, 1, size=2)
    found = kind(last).search(last, hand(last), SearchLimits())
    assert found.depth < MAX_DEPTH


@every
def test_what_hides_something_is_not_believed(kind: Any) -> None:
    tanks = registry.get("tanks")
    state = tanks.start(tanks.Options(), 4, tanks.deal(tanks.Options(), 4, 0))
    assert kind.supports(tanks.info, state) is not None
    assert kind.supports(CHECKERS.info, plain.start(6)) is None


@pytest.mark.parametrize("kind", [Maxn, MaxProb])
def test_of_all_replies_those_are_looked_at_that_the_evaluation_has_learned(kind: Any) -> None:
    state = plain.start(3)
    ev: Any = hand(state)
    chance = np.random.default_rng(5)
    ev.enter[:] = chance.permuted(np.tile(np.arange(ev.enter.shape[1]), (len(ev.enter), 1)), axis=1)
    ev.leave[:] = 0
    found = kind(state, width=1).search(state, ev, SearchLimits(depth=2))
    replied = plain.after(state, found.action)
    priors = {m: float(op.move_prior(ev, replied, m)) for m in CHECKERS.legal(replied)}
    assert priors[found.line[1]] == max(priors.values())
    usual = kind(state, width=1).search(state, hand(state), SearchLimits(depth=2))
    assert usual.line[1] != found.line[1]
