"""The values of a position for all seats."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kibitz_games.compiled import operations as op
from kibitz_search.algorithms.result import WIN_SCORE
from kibitz_search.algorithms.utility import active_seats, expected_scores, relative_scores
from kibitz_search.chinese_checkers.evaluation import hand
from tests.search.algorithms import reference as plain

LAST = np.zeros(op.MAX_SEATS, np.int64)


def leads_of(st: Any, ply: int = 0) -> list[float]:
    """Return the leads some plies after the root, with each seat's last action."""
    out = np.zeros(op.MAX_SEATS)
    relative_scores(st, hand(st), LAST + ply, np.int64(ply), out)
    return [float(lead) for lead in out[: int(st.seats)]]


def shares_of(st: Any, scale: float = 10.0) -> list[float]:
    out = np.zeros(op.MAX_SEATS)
    expected_scores(st, hand(st), LAST, np.int64(0), np.float64(scale), out)
    return [float(share) for share in out[: int(st.seats)]]


def ends(seats: int) -> Any:
    """Return a finished position."""
    last = list(plain.positions(seats, 3, size=2))[-1]
    return next(new for m in plain.actions(last) if op.terminal(new := plain.after(last, m)))


@pytest.mark.slow
@pytest.mark.parametrize("seats", [2, 3, 4, 6])
def test_what_one_gains_others_lose(seats: int) -> None:
    for st in [*plain.some(seats, 5, size=2), ends(seats)]:
        assert sum(leads_of(st)) == pytest.approx(0, abs=1e-6)
        assert sum(shares_of(st)) == pytest.approx(seats / 2)
        assert all(0 <= share <= 1 for share in shares_of(st))


def test_with_two_seats_the_lead_is_the_difference() -> None:
    for st in plain.some(2, 5):
        worths = [float(op.evaluate(hand(st), st, seat)) for seat in range(2)]
        assert leads_of(st) == [worths[0] - worths[1], worths[1] - worths[0]]


def test_a_play_that_is_over_is_worth_what_the_scores_say_the_sooner_the_more() -> None:
    st = ends(3)
    scores = plain.scores(st)
    assert sorted(scores) == [0.0, 0.5, 1.0]
    assert leads_of(st) == [WIN_SCORE * (2 * score - 1) for score in scores]
    later = leads_of(st, ply=5)
    assert max(later) < WIN_SCORE
    assert min(later) > -WIN_SCORE
    assert shares_of(st) == scores


def test_a_seat_that_has_finished_leads() -> None:
    st = next(st for st in plain.positions(3, 0, size=2) if st.placed == 1)
    done = int(np.argmax(st.rank[:3] == 1))
    assert leads_of(st)[done] == max(leads_of(st)) > WIN_SCORE / 2
    assert shares_of(st)[done] == pytest.approx(1.0)
    assert done not in active_seats(st)
    assert len(active_seats(st)) == 2


def test_the_scale_says_how_much_a_difference_means() -> None:
    st = plain.some(2, 3)[1]
    difference = leads_of(st)[0]
    assert shares_of(st, abs(difference))[0] == pytest.approx(
        1 / (1 + np.exp(-np.sign(difference)))
    )


@pytest.mark.parametrize("seats", [2, 3, 6])
def test_those_who_act_are_known_without_knowing_the_game(seats: int) -> None:
    st = plain.start(seats)
    assert active_seats(st) == list(range(seats))
    if seats > 2:
        plain.CHECKERS.forfeit(st, 1)
        assert active_seats(st) == [seat for seat in range(seats) if seat != 1]
