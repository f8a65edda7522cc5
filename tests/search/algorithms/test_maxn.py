"""Max^n."""

from __future__ import annotations

from typing import Any

import pytest

from kibitz_games.compiled import operations as op
from kibitz_games.core import registry
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.algorithms.maxn import Maxn
from kibitz_search.algorithms.multiplayer import WIDTHS
from kibitz_search.chinese_checkers.evaluation import euclid, hand
from kibitz_search.five_in_a_row import evaluation as five_in_a_row_evaluation
from tests.search.algorithms import reference as plain
from tests.search.algorithms.positions import products


@pytest.mark.parametrize(("seats", "depth"), products([2, 3, 6], [1, 2, 3], slow=[(6, 3)]))
def test_it_finds_what_a_simple_search_finds(seats: int, depth: int) -> None:
    for st in plain.some(seats, 3, size=2):
        ev, seat = euclid(st), int(op.to_act(st))
        found = Maxn(st).search(st, ev, SearchLimits(depth=depth))
        wanted = [*map(plain.reported, plain.maxn(st, ev, min(depth, max(found.depth, 1))))]
        assert found.values[seat] == found.value == pytest.approx(wanted[seat])
        assert plain.strongest([*found.values], seat) == pytest.approx(
            plain.strongest(wanted, seat)
        )


def test_with_two_seats_it_is_minimax() -> None:
    for st in plain.some(2, 4, seed=5, size=2):
        found = Maxn(st).search(st, hand(st), SearchLimits(depth=3))
        wanted = plain.minimax(st, hand(st), found.depth, int(op.to_act(st)))
        assert found.value == pytest.approx(plain.reported(wanted))


@pytest.mark.slow
def test_it_plays_games_in_which_nobody_can_stand_still() -> None:
    game: Any = registry.get("five-in-a-row")
    options = game.Options(size=5, opening=("a1", "b1", "a2", "b2", "a3", "e5"))
    state = game.start(options, 2, game.deal(options, 2, 0))
    ev = five_in_a_row_evaluation.usual(state)
    found = Maxn(state).search(state, ev, SearchLimits(depth=2))
    wanted = plain.reported(plain.minimax(state, ev, 2, int(op.to_act(state))))
    assert found.value == pytest.approx(wanted)


def test_a_width_is_a_bound_of_the_replies() -> None:
    st = plain.start(3)
    narrow = Maxn(st, width=3).search(st, euclid(st), SearchLimits(depth=3))
    roots = len(plain.actions(st))
    assert narrow.nodes == roots + roots * 3 + roots * 3 * 3
    wide = Maxn(st, width=1000).search(st, euclid(st), SearchLimits(depth=3))
    full = Maxn(st).search(st, euclid(st), SearchLimits(depth=3))
    assert (wide.nodes, wide.value) == (full.nodes, full.value)


@pytest.mark.parametrize("seats", [2, 3, 6])
def test_without_a_width_it_is_as_narrow_as_served_best(seats: int) -> None:
    st = plain.start(seats)
    usual, wanted = (
        Maxn(st, width=width).search(st, euclid(st), SearchLimits(depth=3))
        for width in (None, WIDTHS[seats])
    )
    assert usual == wanted
    assert usual.nodes < Maxn(st).search(st, euclid(st), SearchLimits(depth=3)).nodes


def test_of_equal_actions_it_takes_the_one_after_which_its_strongest_rival_does_worse() -> None:
    ties = 0
    for st in plain.some(3, 12, seed=2, size=3):
        ev, seat = euclid(st), int(op.to_act(st))
        vectors = {m: plain.leads(plain.after(st, m), ev, {seat: 1}, 1) for m in plain.actions(st)}
        most = max(vector[seat] for vector in vectors.values())
        equals = {m: plain.strongest(v, seat) for m, v in vectors.items() if v[seat] == most}
        ties += len(equals) > 1
        found = Maxn(st).search(st, ev, SearchLimits(depth=1))
        assert equals[found.action] == min(equals.values())
    assert ties
