"""MP-mix: the choice of the strategy, and each strategy's result."""

from __future__ import annotations

from typing import Any

import pytest

from kibitz_games.compiled import operations as op
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.algorithms.maxn import Maxn
from kibitz_search.algorithms.mpmix import MpMix
from kibitz_search.algorithms.multiplayer import NOBODY
from kibitz_search.algorithms.paranoid import Paranoid
from kibitz_search.chinese_checkers.evaluation import euclid
from tests.search.algorithms import reference as plain


def edge(st: Any) -> tuple[int, float]:
    """Return the leader and the lead."""
    worths = [float(op.evaluate(euclid(st), st, seat)) for seat in range(int(st.seats))]
    first, second, *_ = sorted(worths, reverse=True)
    return worths.index(first), first - second


def led(own: bool) -> Any:
    """Return a position in which the own seat or another one leads."""
    return next(
        st
        for st in plain.positions(3, 4, size=2)
        if (edge(st)[0] == op.to_act(st)) == own and edge(st)[1] > 1
    )


def test_whoever_leads_by_enough_is_paranoid() -> None:
    st, ev = led(own=True), euclid(led(own=True))
    _, ahead = edge(st)
    assert MpMix(st, defend=ahead).strategy(st, ev) == ("paranoid", int(st.side))
    assert MpMix(st, defend=ahead + 0.1, attack=0).strategy(st, ev) == ("maxn", NOBODY)
    found = MpMix(st, defend=ahead).search(st, ev, SearchLimits(depth=3))
    assert found.value == Paranoid(st).search(st, ev, SearchLimits(depth=3)).value


def test_a_leader_who_is_far_enough_ahead_is_attacked() -> None:
    st, ev = led(own=False), euclid(led(own=False))
    leader, ahead = edge(st)
    assert MpMix(st, attack=ahead).strategy(st, ev) == ("offensive", leader)
    assert MpMix(st, attack=ahead + 0.1, defend=0).strategy(st, ev) == ("maxn", NOBODY)
    for depth in (1, 2, 3):
        found = MpMix(st, attack=ahead).search(st, ev, SearchLimits(depth=depth))
        wanted = plain.maxn(st, ev, depth, hurt=(int(op.to_act(st)), leader))
        assert found.values[leader] == pytest.approx(wanted[leader])
        assert found.value == pytest.approx(plain.reported(wanted[int(op.to_act(st))]))


def test_otherwise_it_is_maxn() -> None:
    for st in plain.some(3, 4, size=2):
        mixed = MpMix(st, defend=1e9, attack=1e9).search(st, euclid(st), SearchLimits(depth=2))
        assert mixed.values == Maxn(st).search(st, euclid(st), SearchLimits(depth=2)).values


def test_who_has_finished_leads_no_more() -> None:
    st = next(st for st in plain.positions(3, 0, size=2) if st.placed == 1)
    manner, target = MpMix(st, attack=0).strategy(st, euclid(st))
    assert manner in ("paranoid", "offensive", "maxn")
    assert target == NOBODY or st.rank[target] == 0
