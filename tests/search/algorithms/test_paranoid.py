"""The paranoid search."""

from __future__ import annotations

import pytest

from kibitz_games.compiled import operations as op
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.algorithms.maxn import Maxn
from kibitz_search.algorithms.paranoid import Paranoid
from kibitz_search.chinese_checkers.evaluation import euclid, hand
from tests.search.algorithms import reference as plain
from tests.search.algorithms.positions import products


@pytest.mark.parametrize(("seats", "depth"), products([2, 3, 6], [1, 2, 3], slow=[(6, 3)]))
def test_it_finds_what_minimax_against_all_others_finds(seats: int, depth: int) -> None:
    for st in plain.some(seats, 3, seed=seats, size=2):
        ev = euclid(st)
        found = Paranoid(st).search(st, ev, SearchLimits(depth=depth))
        wanted = plain.minimax(st, ev, min(depth, max(found.depth, 1)), int(op.to_act(st)))
        assert found.value == pytest.approx(plain.reported(wanted))


@pytest.mark.parametrize("depth", [2, 4])
def test_with_two_seats_it_finds_what_maxn_finds(depth: int) -> None:
    for st in plain.some(2, 4, size=3):
        found = Paranoid(st).search(st, hand(st), SearchLimits(depth=depth))
        assert found.value == Maxn(st).search(st, hand(st), SearchLimits(depth=depth)).value


def test_it_prunes() -> None:
    st = plain.some(3, 3)[1]
    paranoid = Paranoid(st).search(st, hand(st), SearchLimits(depth=3))
    assert paranoid.nodes < Maxn(st).search(st, hand(st), SearchLimits(depth=3)).nodes / 4
