"""Results: ranks, shares, and the reasons for dropped seats."""

from __future__ import annotations

import pytest

from kibitz_games.core.game import Outcome
from kibitz_protocol.wire.records import Cause
from kibitz_server.match.result import Departure, match_result, rank_by_departure, tie


@pytest.mark.parametrize(
    ("seats", "out", "ranks", "scores"),
    [
        (2, [], (1, 1), (0.5, 0.5)),
        (2, [0], (2, 1), (0.0, 1.0)),
        (3, [1], (1, 3, 1), (0.75, 0.0, 0.75)),
        (4, [2, 0], (3, 1, 4, 1), (1 / 3, 5 / 6, 0.0, 5 / 6)),
        (1, [], (1,), (0.0,)),
    ],
)
def test_who_stayed_ranks_before_who_left(
    seats: int, out: list[int], ranks: tuple[int, ...], scores: tuple[float, ...]
) -> None:
    outcome = rank_by_departure(seats, out)
    assert outcome.ranks == ranks
    assert outcome.scores == pytest.approx(scores)


def test_tied_seats_share_the_best_rank_and_the_score() -> None:
    outcome = Outcome((1, 2, 3, 4), (1.0, 2 / 3, 1 / 3, 0.0), "dropped")
    assert tie(outcome, [1, 2]) == Outcome((1, 2, 2, 4), (1.0, 0.5, 0.5, 0.0), "dropped")


def test_points_of_the_game_itself_are_told_where_it_counts() -> None:
    counted = Outcome((1, 2), (1.0, 0.0), "turns", (60.0, -3.0))
    assert [seat.points for seat in match_result(counted, {}, Cause.RULES, 7).seats] == [60.0, -3.0]
    assert tie(counted, [0, 1]) == Outcome((1, 1), (0.5, 0.5), "turns", (60.0, -3.0))
    plain = Outcome((1, 2), (1.0, 0.0), "goal")
    assert [seat.points for seat in match_result(plain, {}, Cause.RULES, 7).seats] == [None, None]


def test_each_seat_says_why_it_dropped_out_and_the_match_why_it_ended() -> None:
    outcome = Outcome((1, 2), (1.0, 0.0), "goal")
    result = match_result(outcome, {1: Departure(Cause.TIME, "the flag fell")}, Cause.TIME, 7)
    assert (result.cause, result.reason, result.plies) == (Cause.TIME, "", 7)
    assert match_result(outcome, {}, Cause.RULES, 7).reason == "goal"
    assert [(seat.rank, seat.cause, seat.detail) for seat in result.seats] == [
        (1, None, ""),
        (2, Cause.TIME, "the flag fell"),
    ]
