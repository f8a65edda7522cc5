"""The paranoid search."""

from __future__ import annotations

import pytest

from kibitz_bots.evaluate.chinese_checkers import euclid, hand
from kibitz_bots.search.limits import Limits
from kibitz_bots.search.maxn import Maxn
from kibitz_bots.search.paranoid import Paranoid
from kibitz_games import operations as op
from tests.bots.search import many_seats as plain


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("seats", [2, 3, 6])
def test_it_finds_what_minimax_against_all_others_finds(seats: int, depth: int) -> None:
    for st in plain.some(seats, 3, seed=seats, size=2):
        ev = euclid(st)
        found = Paranoid(st).search(st, ev, Limits(depth=depth))
        wanted = plain.minimax(st, ev, min(depth, max(found.depth, 1)), int(op.to_act(st)))
        assert found.value == pytest.approx(wanted)


@pytest.mark.parametrize("depth", [2, 4])
def test_with_two_seats_it_finds_what_maxn_finds(depth: int) -> None:
    for st in plain.some(2, 4, size=3):
        found = Paranoid(st).search(st, hand(st), Limits(depth=depth))
        assert found.value == Maxn(st).search(st, hand(st), Limits(depth=depth)).value


def test_it_prunes() -> None:
    st = plain.some(3, 3)[1]
    paranoid = Paranoid(st).search(st, hand(st), Limits(depth=3))
    assert paranoid.nodes < Maxn(st).search(st, hand(st), Limits(depth=3)).nodes / 4
