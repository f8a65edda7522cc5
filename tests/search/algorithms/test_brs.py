"""Best-reply search."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kibitz_games.compiled import operations as op
from kibitz_search.algorithms.brs import Brs
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.algorithms.paranoid import Paranoid
from kibitz_search.algorithms.utility import active_seats
from kibitz_search.chinese_checkers.evaluation import euclid
from tests.search.algorithms import reference as plain
from tests.search.algorithms.positions import products
from tests.search.algorithms.reference import CHECKERS


@pytest.mark.parametrize(("seats", "depth"), products([3, 6], [1, 2, 3], slow=[(6, 3)]))
def test_it_finds_what_a_simple_search_finds(seats: int, depth: int) -> None:
    for st in plain.some(seats, 3, seed=seats, size=2):
        ev, (me, *rivals) = euclid(st), active_seats(st)
        found = Brs(st).search(st, ev, SearchLimits(depth=depth))
        limit = min(depth, max(found.depth, 1))
        wanted = plain.reported(plain.best_reply(st, ev, limit, me, rivals))
        assert found.value == pytest.approx(wanted)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_with_two_seats_it_finds_what_the_paranoid_search_finds(depth: int) -> None:
    for st in plain.some(2, 5, size=3):
        found = Brs(st).search(st, euclid(st), SearchLimits(depth=depth))
        other = Paranoid(st).search(st, euclid(st), SearchLimits(depth=depth))
        assert found.value == other.value


def test_who_dropped_out_does_not_reply() -> None:
    st: Any = plain.some(6, 3, size=2)[1]
    for seat in range(6):
        if seat not in (op.to_act(st), (op.to_act(st) + 1) % 6):
            CHECKERS.forfeit(st, seat)
    found = Brs(st).search(st, euclid(st), SearchLimits(depth=3))
    me, *rivals = active_seats(st)
    assert len(rivals) == 1
    wanted = plain.reported(plain.best_reply(st, euclid(st), 3, me, rivals))
    assert found.value == pytest.approx(wanted)


def test_it_needs_a_game_that_lets_the_others_stand_still() -> None:
    state = np.zeros(1, np.dtype([("key", np.uint64)]))[0]
    assert "skipping turns" in str(Brs.supports(CHECKERS.info, state))
