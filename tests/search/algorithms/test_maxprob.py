"""Max-Prob."""

from __future__ import annotations

import math

import pytest

from kibitz_games.compiled import operations as op
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.algorithms.maxprob import MaxProb
from kibitz_search.algorithms.paranoid import Paranoid
from kibitz_search.chinese_checkers.evaluation import euclid, hand
from tests.search.algorithms import reference as plain
from tests.search.algorithms.positions import products


@pytest.mark.slow
@pytest.mark.parametrize("near", [0.0, 0.02])
@pytest.mark.parametrize(("seats", "depth"), products([2, 3, 6], [1, 2, 3], slow=[(6, 3)]))
def test_it_finds_what_a_simple_search_finds(seats: int, depth: int, near: float) -> None:
    for st in plain.some(seats, 2, seed=1, size=2):
        ev, seat = hand(st), int(op.to_act(st))
        found = MaxProb(st, scale=5.0, near=near).search(st, ev, SearchLimits(depth=depth))
        wanted = plain.max_prob(st, ev, min(depth, max(found.depth, 1)), 5.0, near)
        assert found.value == pytest.approx(wanted[seat])
        if found.values[seat] == found.value:
            assert [*found.values] == pytest.approx(wanted, abs=1e-6)


def test_with_two_seats_its_chances_are_those_of_the_minimax_value() -> None:
    for st in plain.some(2, 3, size=3)[:3]:
        found = MaxProb(st, scale=7.0).search(st, euclid(st), SearchLimits(depth=3))
        lead = Paranoid(st).search(st, euclid(st), SearchLimits(depth=3)).value
        assert found.value == pytest.approx(1 / (1 + math.exp(-lead / 7.0)))


def test_an_opponent_may_take_any_of_its_best_actions() -> None:
    """If two of a seat's actions are equal for it, the choice matters to a third seat."""
    differ = 0
    for st in plain.some(3, 6, seed=3, size=2):
        found = MaxProb(st, near=0.0).search(st, hand(st), SearchLimits(depth=3))
        vague = MaxProb(st, near=0.2).search(st, hand(st), SearchLimits(depth=3))
        differ += found.value != vague.value
    assert differ
